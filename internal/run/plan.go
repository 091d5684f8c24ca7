package run

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/model"
	"deem/internal/words"
)

// PlanOptions describe the run.
type PlanOptions struct {
	Model  string       // for example "openai:gpt-4o-mini"
	Prices model.Prices // take precedence over the built-in prices; the zero value adds none
	Tier   string       // the service tier, if it has its own prices

	Concurrency int // concurrent calls; 0 means 8
	RPM         int // requests per minute; 0 means no limit
	TPM         int // tokens per minute; 0 means no limit

	// Latency is the duration of one call, measured or assumed. 0 means a guess: 0.6 s,
	// plus 20 ms for each token of the reply.
	Latency time.Duration

	Trials int // how many times each item is judged; 0 means once

	// Cached reports whether the reply to a request is cached. It is called once for each
	// distinct request. Nil means that no reply is cached.
	Cached func(ctx context.Context, req deem.Request) (bool, error)

	// Input is what the vendor counted in earlier replies of the same judge, divided by what
	// [Tokens] estimates for their requests. 0 means that there are none.
	Input float64

	// Room is how many tokens a request allows for reasoning in addition to its own limit;
	// 0 means that the model does not reason first.
	Room int

	// Output is the average number of tokens of a reply, from earlier replies of the same
	// judge. 0 means a guess: 3 if a request allows at most 16, 60 if it asks for JSON,
	// otherwise 120; and 300 more for models that reason first. A reply is never assumed to
	// be longer than its request and Room allow.
	Output int
}

// A Planner adds up requests. It is not safe for concurrent use.
type Planner struct {
	o       PlanOptions
	price   model.Price
	priced  bool
	longest int // the longest reply of the model, for requests without a limit

	// seen has 64 bits of the hash of each request. Among a million requests the
	// probability of a collision is one in forty million, and then the plan is off by one
	// call.
	seen map[uint64]struct{}

	plan        Plan
	unjudgeable error // the first
	unbounded   bool  // a request set no limit for its reply
	tooLong     int   // requests that do not fit into the context window
	cost        int64
	costMax     int64
}

// NewPlanner returns a planner for the run that the options describe.
func NewPlanner(o PlanOptions) *Planner {
	o.Concurrency = cmp.Or(max(o.Concurrency, 0), 8)
	o.Trials = max(o.Trials, 1)
	p := &Planner{o: o, longest: model.MostUsage(o.Model, deem.Request{}).Output, seen: map[uint64]struct{}{}}
	p.price, p.priced = o.Prices.Of(o.Model, o.Tier)
	return p
}

// Add adds an item with the requests that its judge would make in each trial, usually one.
// The error is that of ctx or of PlanOptions.Cached.
func (p *Planner) Add(ctx context.Context, reqs ...deem.Request) error {
	return p.add(ctx, nil, reqs)
}

// AddMissing adds an item that has some of its trials from an earlier run. Only the missing
// trials are planned.
func (p *Planner) AddMissing(ctx context.Context, missing []int, reqs ...deem.Request) error {
	if len(missing) == 0 {
		p.AddDone()
		return nil
	}
	p.plan.Done += p.o.Trials - len(missing)
	return p.add(ctx, missing, reqs)
}

// AddDone adds an item that has all its trials from an earlier run.
func (p *Planner) AddDone() {
	p.plan.Items++
	p.plan.Done += p.o.Trials
}

// AddDecided adds an item that the protocol decides without a call.
func (p *Planner) AddDecided() {
	p.plan.Items++
	p.plan.Decided++
}

// AddUnjudgeable adds an item that will fail before a model is called, and the reason.
func (p *Planner) AddUnjudgeable(err error) {
	p.plan.Items++
	p.plan.Unjudgeable++
	if p.unjudgeable == nil {
		p.unjudgeable = err
	}
}

// add adds an item with calls for the given trials, or for all trials if trials is nil.
func (p *Planner) add(ctx context.Context, trials []int, reqs []deem.Request) error {
	p.plan.Items++
	for _, req := range reqs {
		req.Trial = 0
		hash, err := strconv.ParseUint(req.Hash()[:16], 16, 64)
		if err != nil {
			return err // Cannot happen: a hash is hexadecimal.
		}
		calls := int64(0) // trials that must be paid for
		for i := range cmp.Or(len(trials), p.o.Trials) {
			req.Trial = i
			if trials != nil {
				req.Trial = trials[i]
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			p.plan.Requests++
			// Each trial of a request has a distinct key, because the factor is odd.
			key := hash + uint64(req.Trial)*0x9e3779b97f4a7c15
			if _, ok := p.seen[key]; ok {
				p.plan.Duplicates++
				continue
			}
			p.seen[key] = struct{}{}
			cached := false
			if p.o.Cached != nil {
				if cached, err = p.o.Cached(ctx, req); err != nil {
					return fmt.Errorf("look up reply: %w", err)
				}
			}
			if cached {
				p.plan.Cached++
			} else {
				calls++
			}
		}
		if calls > 0 {
			p.pay(req, calls)
		}
	}
	return nil
}

// pay adds the tokens and cost of a number of equal calls, and records the causes of
// warnings.
func (p *Planner) pay(req deem.Request, calls int64) {
	input := int(math.Ceil(float64(Tokens(req)) * cmp.Or(p.o.Input, 1)))
	inputMost := input + (input*margin+99)/100
	most := p.longest
	if req.MaxTokens > 0 {
		most = req.MaxTokens + p.o.Room
	}
	output := p.o.Output
	if output <= 0 {
		output = proseReply
		switch {
		case req.MaxTokens > 0 && req.MaxTokens <= labelRoom:
			output = labelReply
		case req.JSON || len(req.Schema) > 0:
			output = jsonReply
		}
		output += min(thought, max(p.o.Room, 0))
	}
	output = min(output, most)

	p.plan.Calls += int(calls)
	p.plan.InputTokens += calls * int64(input)
	p.plan.OutputTokens += calls * int64(output)
	p.plan.OutputTokensMax += calls * int64(most)
	p.plan.LongestPrompt = max(p.plan.LongestPrompt, input)
	p.unbounded = p.unbounded || req.MaxTokens <= 0
	if p.price.Window > 0 && input+max(req.MaxTokens, 0) > p.price.Window {
		p.tooLong++
	}
	if p.priced {
		p.cost += calls * p.price.Cost(deem.Usage{Input: input, Output: output})
		p.costMax += calls * p.price.Cost(deem.Usage{Input: inputMost, Output: most})
	}
}

// margin is by how many percent a prompt may exceed its estimate.
const margin = 30

// Plan returns the plan for the items added so far.
func (p *Planner) Plan() Plan { return p.plans(p.plan, p.cost, p.costMax) }

// PlanOf returns the plan of a dataset with the given number of items, of which only the
// first were added: the others are assumed to be like them. It equals Plan if all were
// added.
func (p *Planner) PlanOf(items int) Plan {
	seen := p.plan.Items
	if seen == 0 || items <= seen {
		return p.Plan()
	}
	grow := func(n int64) int64 { return int64(math.Round(float64(n) * float64(items) / float64(seen))) }
	out := p.plan
	for _, n := range []*int{&out.Items, &out.Decided, &out.Unjudgeable, &out.Done, &out.Requests, &out.Cached, &out.Duplicates, &out.Calls} {
		*n = int(grow(int64(*n)))
	}
	for _, n := range []*int64{&out.InputTokens, &out.OutputTokens, &out.OutputTokensMax} {
		*n = grow(*n)
	}
	return p.plans(out, grow(p.cost), grow(p.costMax))
}

// plans makes a plan from sums.
func (p *Planner) plans(out Plan, cost, most int64) Plan {
	out.Model, out.Trials, out.Concurrency, out.RPM, out.TPM = p.o.Model, p.o.Trials, p.o.Concurrency, p.o.RPM, p.o.TPM
	out.InputGuessed, out.OutputGuessed = p.o.Input == 0, p.o.Output <= 0
	out.Window, out.Room = p.price.Window, p.o.Room
	if p.priced {
		out.CostMicros, out.CostMaxMicros = &cost, &most
		if p.price.Batch > 0 && cost > 0 {
			out.BatchCostMicros, out.BatchCostMaxMicros = new(p.price.InBatch(cost)), new(p.price.InBatch(most))
		}
	} else {
		out.Unpriced = "no table knows the price of " + p.o.Model
		if paidBySubscription(p.o.Model) {
			out.Unpriced = "a subscription pays for " + p.o.Model + ", so calls have no price"
		}
		if p.o.Tier != "" {
			out.Unpriced += " with service-tier=" + p.o.Tier
		}
	}
	p.time(&out)
	// What the user should know before the run begins.
	warn := func(format string, args ...any) { out.Warnings = append(out.Warnings, fmt.Sprintf(format, args...)) }
	if out.Unjudgeable > 0 {
		warn("%s cannot be judged; the first: %v", words.Count(out.Unjudgeable, "item"), p.unjudgeable)
	}
	if p.tooLong > 0 {
		warn("%s not fit into the %s tokens that %s takes for prompt and reply; the longest has %s",
			words.Plural(p.tooLong, "prompt does", "prompts do"), words.Comma(int64(p.price.Window)), out.Model, about(int64(out.LongestPrompt)))
	}
	if p.unbounded && p.costMax > 0 {
		warn("no max_tokens set: the worst case assumes %s output tokens per call", words.Comma(int64(p.longest)))
	}
	switch {
	case out.Unpriced == "" || out.Calls == 0:
	case paidBySubscription(p.o.Model):
		warn("%s", out.Unpriced)
	default:
		warn("%s: give one with --prices", out.Unpriced)
	}
	return out
}

// paidBySubscription reports whether calls of a model have no price of their own: cli:claude
// and the like.
func paidBySubscription(name string) bool { return strings.HasPrefix(name, "cli:") }

// Guessed lengths of replies, in tokens. The numbers are rounded means of judges' replies
// that we have seen: a label alone, JSON with a label and a short reason, and prose. The
// last one is what models spend on reasoning about such a question, and is the least
// certain.
const (
	labelReply = 3
	jsonReply  = 60
	proseReply = 120
	thought    = 300

	labelRoom = 16 // A request that allows at most this many tokens expects a label alone.
)

// The guessed latency of a call is that of a large model under normal load.
const (
	firstToken = 600 * time.Millisecond
	nextToken  = 20 * time.Millisecond
)

// time adds how long the run takes within its limits, and which limit determines it.
func (p *Planner) time(out *Plan) {
	if out.Calls == 0 {
		return
	}
	out.Latency, out.LatencyGuessed = p.o.Latency, p.o.Latency <= 0
	if out.LatencyGuessed {
		out.Latency = firstToken + time.Duration(out.OutputTokens/int64(out.Calls))*nextToken
	}
	// The last call ends one latency after it began.
	calls := float64(out.Calls)
	out.Time, out.Bound = max(out.Latency, times(out.Latency, calls/float64(p.o.Concurrency))), ByConcurrency
	if p.o.RPM > 0 {
		out.wait(out.Latency+times(time.Minute, (calls-1)/float64(p.o.RPM)), ByRequests)
	}
	if p.o.TPM > 0 {
		out.wait(times(time.Minute, float64(out.InputTokens+out.OutputTokens)/float64(p.o.TPM)), ByTokens)
	}
}

// times returns n times d, capped to avoid overflow.
func times(d time.Duration, n float64) time.Duration {
	return time.Duration(min(math.Round(float64(d)*n), math.MaxInt64/2))
}

// wait makes a limit the one that determines the time, if it takes longer.
func (p *Plan) wait(d time.Duration, by Bound) {
	if d > p.Time {
		p.Time, p.Bound = d, by
	}
}
