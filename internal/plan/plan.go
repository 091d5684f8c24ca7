// Package plan says what a run would ask, cost and take, and calls nobody.
//
// The caller renders the requests of each item, as the run would, and hands them to
// a [Planner]. It keeps sums, and of each request eight bytes, so a plan of a million items
// is as light as the run:
//
//	p := plan.New(plan.Options{Model: "openai:gpt-4o-mini", Concurrency: 8})
//	for it := range items {
//		p.Add(ctx, render(it))
//	}
//	p.Plan().Text(os.Stdout)
//
// Two of its numbers are expectations. The length of replies is that of earlier ones, or a
// guess by what the requests ask for; beside it stands the most that they allow. The time is
// that of calls that all take as long as one, at the limits given.
package plan

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"deem"
	"deem/model"
)

// Options say what the run would be like.
type Options struct {
	Model  string       // the model to be asked, as "openai:gpt-4o-mini"
	Prices model.Prices // go before the built-in ones; the zero value adds nothing
	Tier   string       // the class of service, if it has prices of its own

	Concurrency int // calls at once; 0 means 8
	RPM         int // requests a minute; 0 means no limit
	TPM         int // tokens a minute; 0 means no limit

	// Latency is how long one call takes, from earlier calls or as assumed. 0 means a guess:
	// 0.6 s, and 20 ms for each token of the reply.
	Latency time.Duration

	Trials int // how often each item is judged; 0 means once

	// Cached reports whether the reply to a request is there already. It is asked once for
	// each distinct request. Nil means that none is.
	Cached func(ctx context.Context, req deem.Request) (bool, error)

	// Estimate means that tokens are estimated even where the model's tokenizer is known.
	// That loads no vocabulary, and is enough for a line before a run.
	Estimate bool

	// Room is how many tokens a request has for thoughts besides its own limit, for a model
	// that reasons before it answers; 0 means that it does not.
	Room int

	// Output is how many tokens a reply has on average, from earlier replies to the same
	// judge. 0 means a guess: 3 where a request allows no more than 16, 60 where it asks for
	// JSON, otherwise 120; and 300 more for models that think first. No reply is taken to be
	// longer than its request and the room for thoughts allow.
	Output int
}

// A Planner adds up requests. It may be used by one goroutine at a time.
type Planner struct {
	o       Options
	count   Counter
	price   model.Price
	priced  bool
	window  int
	longest int // the longest reply of the model, where a request sets no limit

	// seen holds 64 bits of the hash of each request. Among a million requests two collide
	// with a chance of one in forty million, and then the plan is off by one call.
	seen map[uint64]struct{}

	plan        Plan
	unjudgeable error // the first
	schema      bool  // a request had a schema
	unbounded   bool  // a request set no limit to its reply
	tooLong     int   // requests that do not fit into the window
	cost        int64
	costMax     int64
}

// New returns a planner for the run that the options describe.
func New(o Options) *Planner {
	o.Concurrency = cmp.Or(max(o.Concurrency, 0), 8)
	o.Trials = max(o.Trials, 1)
	p := &Planner{o: o, count: CounterOf(o.Model), longest: model.MaxOutput(o.Model), seen: map[uint64]struct{}{}}
	if o.Estimate {
		p.count = estimateOf(o.Model)
	}
	p.price, p.priced = o.Prices.OfTier(o.Model, o.Tier)
	p.window, _ = o.Prices.WindowOf(o.Model)
	return p
}

// Add adds an item with the requests that its judge would make, usually one, for every trial.
// The error is that of ctx or of Options.Cached.
func (p *Planner) Add(ctx context.Context, reqs ...deem.Request) error {
	return p.add(ctx, nil, reqs)
}

// AddMissing adds an item of which an earlier run has some trials: only those that are
// missing are asked.
func (p *Planner) AddMissing(ctx context.Context, missing []int, reqs ...deem.Request) error {
	if len(missing) == 0 {
		p.AddDone()
		return nil
	}
	p.plan.Done += p.o.Trials - len(missing)
	return p.add(ctx, missing, reqs)
}

// AddDone adds an item of which an earlier run has every trial.
func (p *Planner) AddDone() {
	p.plan.Items++
	p.plan.Done += p.o.Trials
}

// AddDecided adds an item that the protocol decides without asking.
func (p *Planner) AddDecided() {
	p.plan.Items++
	p.plan.Decided++
}

// AddUnjudgeable adds an item that will fail before a model is asked, and why.
func (p *Planner) AddUnjudgeable(err error) {
	p.plan.Items++
	p.plan.Unjudgeable++
	if p.unjudgeable == nil {
		p.unjudgeable = err
	}
}

// add adds an item whose given trials are asked, all if there are none given.
func (p *Planner) add(ctx context.Context, trials []int, reqs []deem.Request) error {
	p.plan.Items++
	for _, req := range reqs {
		calls, err := p.calls(ctx, trials, req)
		if err != nil {
			return err
		}
		if calls > 0 {
			p.pay(req, int64(calls))
		}
	}
	return nil
}

// calls returns how many of the trials of a request must be paid for.
func (p *Planner) calls(ctx context.Context, trials []int, req deem.Request) (int, error) {
	req.Trial = 0
	hash := hash64(req)
	calls := 0
	for i := range cmp.Or(len(trials), p.o.Trials) {
		req.Trial = i
		if trials != nil {
			req.Trial = trials[i]
		}
		known, err := p.known(ctx, hash, req)
		if err != nil {
			return 0, err
		}
		if !known {
			calls++
		}
	}
	return calls, nil
}

// hash64 returns the beginning of the hash of a request.
func hash64(req deem.Request) uint64 {
	digits, err := hex.DecodeString(req.Hash()[:16])
	if err != nil {
		panic(err) // a hash is hexadecimal
	}
	n := uint64(0)
	for _, b := range digits {
		n = n<<8 | uint64(b)
	}
	return n
}

// known counts a request and reports whether its reply is there, or will be once an earlier
// request of this run has been answered.
func (p *Planner) known(ctx context.Context, hash uint64, req deem.Request) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	p.plan.Requests++
	// Trials of one request have hashes of their own; the factor is odd, so none are lost.
	key := hash + uint64(req.Trial)*0x9e3779b97f4a7c15
	if _, ok := p.seen[key]; ok {
		p.plan.Duplicates++
		return true, nil
	}
	p.seen[key] = struct{}{}
	if p.o.Cached == nil {
		return false, nil
	}
	cached, err := p.o.Cached(ctx, req)
	if err != nil {
		return false, fmt.Errorf("look up reply: %w", err)
	}
	if cached {
		p.plan.Cached++
	}
	return cached, nil
}

// pay adds what a number of equal calls need.
func (p *Planner) pay(req deem.Request, calls int64) {
	input := p.count.Count(req)
	most := p.longest
	if req.MaxTokens > 0 {
		most = req.MaxTokens + p.o.Room
	}
	output := min(p.output(req), most)

	p.plan.Calls += int(calls)
	p.plan.InputTokens += calls * int64(input)
	p.plan.OutputTokens += calls * int64(output)
	p.plan.OutputTokensMax += calls * int64(most)
	p.plan.LongestPrompt = max(p.plan.LongestPrompt, input)
	p.notice(req, input)
	if p.priced {
		p.cost += calls * p.price.Cost(deem.Usage{Input: input, Output: output})
		p.costMax += calls * p.price.Cost(deem.Usage{Input: p.atMost(req, input), Output: most})
	}
}

// margin is how much longer than its estimate a prompt may be, in per cent.
const margin = 30

// atMost returns the tokens that a prompt may have in the end.
func (p *Planner) atMost(req deem.Request, input int) int {
	if p.count.Exact() && len(req.Schema) == 0 {
		return input
	}
	return input + (input*margin+99)/100
}

// notice keeps what will be warned of.
func (p *Planner) notice(req deem.Request, input int) {
	p.schema = p.schema || len(req.Schema) > 0
	p.unbounded = p.unbounded || req.MaxTokens <= 0
	if p.window > 0 && input+max(req.MaxTokens, 0) > p.window {
		p.tooLong++
	}
}

// Plan returns what was added up so far.
func (p *Planner) Plan() Plan { return p.plans(p.plan, p.cost, p.costMax) }

// PlanOf returns the plan of a dataset of which only the first items were added: the
// others are taken to be like them. It is the same as Plan when all were added.
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

// plans makes a plan of sums.
func (p *Planner) plans(out Plan, cost, most int64) Plan {
	out.Model, out.Trials, out.Concurrency, out.RPM, out.TPM = p.o.Model, p.o.Trials, p.o.Concurrency, p.o.RPM, p.o.TPM
	out.InputExact, out.CountedBy = p.count.Exact() && !p.schema, p.count.How()
	out.OutputGuessed = p.o.Output <= 0
	out.Window, out.Room = p.window, p.o.Room
	p.money(&out, cost, most)
	p.time(&out)
	out.Warnings = p.warnings(out)
	return out
}
