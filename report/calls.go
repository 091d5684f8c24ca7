package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
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

	// Estimated counts the calls whose usage the vendor did not report, or not plausibly.
	// Their cost is an upper bound.
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

// A ledger sums up calls.
type ledger struct {
	sum     Calls
	latency doc.Histogram
	models  map[Model]int // without the number of replies
	wires   map[wired]int
}

func (l *ledger) add(c *deem.Call) {
	l.sum.N++
	r, attempts := c.Reply, c.Attempts
	if r != nil {
		l.models[Model{Asked: c.Model, Reported: r.Model, Fingerprint: r.Fingerprint}]++
		if r.Sent != "" || r.Dropped != "" {
			l.wires[wired{c.Model, r.Sent, r.Dropped}]++
		}
		if r.Cached {
			l.sum.Cached++
			return
		}
		attempts = r.Attempts
	}
	attempts = max(attempts, 1)
	l.sum.Attempts += attempts
	l.sum.Retries += attempts - 1
	if r == nil {
		l.sum.Failed++
		return
	}
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
	for m, n := range l.models {
		m.Replies = n
		c.Models = append(c.Models, m)
	}
	slices.SortFunc(c.Models, func(a, b Model) int {
		return cmp.Or(
			cmp.Compare(a.Asked, b.Asked),
			cmp.Compare(a.Reported, b.Reported),
			cmp.Compare(a.Fingerprint, b.Fingerprint),
		)
	})
	keys := slices.SortedFunc(maps.Keys(l.wires), func(a, b wired) int {
		return cmp.Or(cmp.Compare(a.model, b.model), cmp.Compare(a.sent, b.sent), cmp.Compare(a.dropped, b.dropped))
	})
	for _, k := range keys {
		c.Wire = append(c.Wire, Wire{Model: k.model, Sent: doc.ParseWire(k.sent), Dropped: doc.ParseWire(k.dropped), Replies: l.wires[k]})
	}
	return c
}

// A Wire is a set of parameters that a model was called with, under the vendor's names.
type Wire struct {
	Model   string            `json:"model"`
	Sent    map[string]string `json:"sent,omitempty"`
	Dropped map[string]string `json:"dropped,omitempty"` // parameters of the judge that were not sent, and why
	Replies int               `json:"replies"`
}

// wired is a wire before parsing.
type wired struct{ model, sent, dropped string }

// asked are the parameters of a judge that affect its requests. The parameters as sent
// replace them.
var asked = []string{"json", "max_tokens", "optional", "schema", "seed", "stop", "temperature", "top_logprobs", "top_p", "settings"}

// asSent returns the harness with the parameters as sent in place of those that the judge
// declares. If calls differ, it lists all their values.
func asSent(h doc.Harness, list []Wire) doc.Harness {
	if len(list) == 0 {
		return h
	}
	params := maps.Clone(h.Params)
	settings := doc.ParseWire(params["settings"])
	maps.DeleteFunc(params, func(name, _ string) bool {
		return slices.Contains(asked, name[strings.LastIndexByte(name, ' ')+1:]) // "abstention temperature" is one too
	})
	h.Params, h.Dropped = params, nil
	if params == nil {
		h.Params = map[string]string{}
	}
	if room := settings["room"]; room != "" {
		h.Params["room"] = room // part of the limit that was sent, which it explains
	}
	for _, w := range list {
		for name, value := range w.Sent {
			h.Params[name] = either(h.Params[name], value)
		}
		for name, why := range w.Dropped {
			if h.Dropped == nil {
				h.Dropped = map[string]string{}
			}
			h.Dropped[name] = either(h.Dropped[name], why)
		}
	}
	return h
}

// either adds a value to a list of alternatives.
func either(values, value string) string {
	if values == "" || slices.Contains(strings.Split(values, " or "), value) {
		return cmp.Or(values, value)
	}
	return values + " or " + value
}
