package report

import (
	"cmp"
	"slices"
	"time"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
)

// Calls sums up the model calls of the judge over all trials. A cached reply was paid for
// earlier: it counts as a call and as cached, and in no other field.
type Calls struct {
	N        int `json:"n"`
	Cached   int `json:"cached"`
	Failed   int `json:"failed"`   // ended without a reply
	Attempts int `json:"attempts"` // requests sent to vendors
	Retries  int `json:"retries"`  // attempts beyond the first of each call

	CostMicros int64 `json:"cost_micros"` // millionths of a US dollar
	Unpriced   int   `json:"unpriced"`    // calls with an unknown price, which the cost does not include

	// Estimated counts the calls whose usage the vendor did not report. Their cost is an
	// upper bound.
	Estimated int `json:"estimated,omitempty"`

	InputTokens       int64 `json:"input_tokens"`
	OutputTokens      int64 `json:"output_tokens"` // reasoning tokens included
	CachedInputTokens int64 `json:"cached_input_tokens"`
	ReasoningTokens   int64 `json:"reasoning_tokens"`

	Latency *Latency `json:"latency"` // null if no uncached call succeeded
	Models  []Model  `json:"models"`

	// Wire lists the parameters that models were called with, for replies that report them.
	Wire []Wire `json:"wire,omitempty"`
}

// Latency is the distribution of reply times over calls that succeeded, except cached calls
// and batches. Quantiles are accurate to 1% and given with three digits.
type Latency struct {
	N   int           `json:"n"`
	P50 time.Duration `json:"p50_ns"`
	P95 time.Duration `json:"p95_ns"`
}

// A Model is a model as requested and as reported by its vendor.
type Model struct {
	Asked       string `json:"asked"`
	Reported    string `json:"reported,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	Replies     int    `json:"replies"` // cached ones included
}

// identity is what distinguishes two models.
type identity struct{ asked, reported, fingerprint string }

// A ledger sums up calls.
type ledger struct {
	sum     Calls
	latency doc.Histogram
	models  map[identity]int
	wires   map[wired]int
}

// add adds one call.
func (l *ledger) add(c *deem.Call) {
	l.sum.N++
	switch {
	case c.Reply == nil:
		l.sum.Failed++
		l.addAttempts(c.Attempts)
	case c.Reply.Cached:
		l.sum.Cached++
		l.addModel(c)
	default:
		l.addAttempts(c.Reply.Attempts)
		l.addModel(c)
		l.addReply(c.Reply)
	}
}

// addAttempts adds the attempts of one call, at least one.
func (l *ledger) addAttempts(n int) {
	n = max(n, 1)
	l.sum.Attempts += n
	l.sum.Retries += n - 1
}

// addReply adds the cost of a reply.
func (l *ledger) addReply(r *deem.Reply) {
	l.sum.CostMicros += r.CostMicros
	if r.Unpriced {
		l.sum.Unpriced++
	}
	if r.Usage.Estimated {
		l.sum.Estimated++
	}
	l.sum.InputTokens += int64(r.Usage.Input)
	l.sum.OutputTokens += int64(r.Usage.Output)
	l.sum.CachedInputTokens += int64(r.Usage.CachedInput)
	l.sum.ReasoningTokens += int64(r.Usage.Reasoning)
	if r.Batch == "" { // a batch does not report the time of each reply
		l.latency.Add(float64(r.Latency))
	}
}

// addModel counts the model that replied.
func (l *ledger) addModel(c *deem.Call) {
	if l.models == nil {
		l.models = map[identity]int{}
	}
	l.models[identity{c.Model, c.Reply.Model, c.Reply.Fingerprint}]++
	if c.Reply.Sent == "" && c.Reply.Dropped == "" {
		return
	}
	if l.wires == nil {
		l.wires = map[wired]int{}
	}
	l.wires[wired{c.Model, c.Reply.Sent, c.Reply.Dropped}]++
}

// calls returns the sums.
func (l *ledger) calls() Calls {
	c := l.sum
	if n := l.latency.N(); n > 0 {
		c.Latency = &Latency{
			N:   n,
			P50: words.Round(time.Duration(l.latency.Quantile(0.5)), 3),
			P95: words.Round(time.Duration(l.latency.Quantile(0.95)), 3),
		}
	}
	c.Models = make([]Model, 0, len(l.models))
	for id, n := range l.models {
		c.Models = append(c.Models, Model{Asked: id.asked, Reported: id.reported, Fingerprint: id.fingerprint, Replies: n})
	}
	slices.SortFunc(c.Models, func(a, b Model) int {
		return cmp.Or(
			cmp.Compare(a.Asked, b.Asked),
			cmp.Compare(a.Reported, b.Reported),
			cmp.Compare(a.Fingerprint, b.Fingerprint),
		)
	})
	c.Wire = wires(l.wires)
	return c
}
