package bundle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"deem"
)

// A composite judge calls several models, some of them depending on earlier replies. So it
// is run again with models that answer from the record. In addition to a different verdict,
// two errors are possible: it makes a request that the record does not contain, or the
// record contains a call that it does not make.

// recorded is a model that answers from a record. It answers only within [Verify], with the
// calls of the record that is being checked.
type recorded struct {
	name, settings string
	place          int // among the models of the judge
}

var _ deem.Tuned = (*recorded)(nil)

func (m *recorded) Name() string     { return m.name }
func (m *recorded) Endpoint() string { return "" }
func (m *recorded) Settings() string { return m.settings }

// Complete returns the model's answer from the record.
func (m *recorded) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if err := ctx.Err(); err != nil {
		return deem.Reply{}, err
	}
	t, ok := ctx.Value(tapeKey{}).(*tape)
	if !ok {
		return deem.Reply{}, &deem.ModelError{Fatal: true, Err: errors.New("a recorded model answers only while a bundle is checked")}
	}
	call, ok := t.answer(request{m.name, req.Hash()}, m.place)
	switch {
	case !ok:
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Err: errors.New("the record holds no answer")}
	case call.Reply == nil:
		return deem.Reply{}, &deem.ModelError{Kind: kindOf(t.rec, call.Error), Attempts: call.Attempts, Err: errors.New(call.Error)}
	}
	problem, checked := checkSent(req, m.settings, *call.Reply)
	t.mu.Lock()
	defer t.mu.Unlock()
	if checked {
		t.wires++
	}
	if problem != "" {
		t.unsent = append(t.unsent, problem)
	}
	return *call.Reply, nil
}

// kindOf returns the kind of failure of an error. A call does not contain it; the text of
// the verdict or of the failure does if it repeats the error.
func kindOf(rec deem.Record, message string) deem.Kind {
	words, kind := "", deem.Provider
	if rec.Verdict != nil {
		words = rec.Verdict.Reason
		for _, p := range rec.Verdict.Parts {
			if p.Failure != nil {
				words += "\n" + p.Failure.Error()
			}
		}
	}
	if rec.Failure != nil {
		words, kind = rec.Failure.Detail, rec.Failure.Kind
	}
	for _, k := range deem.Kinds() {
		if strings.Contains(words, (&deem.Failure{Kind: k, Detail: message}).Error()) {
			return k
		}
	}
	return kind
}

// recordOf returns the record that is being checked, given the context of a judge that is run
// again.
func recordOf(ctx context.Context) (deem.Record, bool) {
	t, ok := ctx.Value(tapeKey{}).(*tape)
	if !ok {
		return deem.Record{}, false
	}
	return t.rec, true
}

type tapeKey struct{}

// A request is the key of a call: its model, and the hash of the request.
type request struct{ model, hash string }

// A tape is the calls of a record while the judge is run again. Its methods may be called
// concurrently, because the members of a panel run concurrently.
type tape struct {
	rec   deem.Record
	calls []deem.Call
	held  map[request][]int // indices of calls by request
	order map[request][]int // indices of the models by request, as seen in the first pass

	given *string // the answer that a reader gave in this pass

	mu      sync.Mutex
	asked   map[request][]int // indices of the models by request, in this pass
	used    []bool            // of calls
	missing []request
	wires   int      // calls whose parameters were compared
	unsent  []string // errors in them
}

func newTape(rec deem.Record, calls []deem.Call) *tape {
	t := &tape{rec: rec, calls: calls, held: map[request][]int{}}
	for i, c := range calls {
		key := request{c.Model, c.Request}
		t.held[key] = append(t.held[key], i)
	}
	t.rewind()
	return t
}

func (t *tape) rewind() {
	t.asked, t.used, t.missing = map[request][]int{}, make([]bool, len(t.calls)), nil
	t.wires, t.unsent = 0, nil
}

// answer returns the call that answers a request. Calls of abandoned attempts come before
// the others, so the last ones count.
func (t *tape) answer(key request, place int) (deem.Call, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := 0 // how many times this model has made the same request
	for _, p := range t.asked[key] {
		if p == place {
			before++
		}
	}
	t.asked[key] = append(t.asked[key], place)
	held := t.held[key]
	at := len(held) - 1
	if order := t.order[key]; len(order) > 1 {
		at = len(held) - len(order) + max(0, slices.Index(order, place)) + before
	}
	if at < 0 || at >= len(held) {
		t.missing = append(t.missing, key)
		return deem.Call{}, false
	}
	t.used[held[at]] = true
	return t.calls[held[at]], true
}

// play runs the judge again. If several members make the same request, only their order
// shows which of them got which reply. So they run once to learn which members make it, and
// once more to be answered.
func (t *tape) play(ctx context.Context, j deem.Judge) (deem.Verdict, error) {
	ask := func() (deem.Verdict, error) {
		lctx, _ := deem.WithLedger(context.WithValue(ctx, tapeKey{}, t), t.rec.Trial)
		v, err := j.Judge(lctx, t.rec.Item)
		t.given = deem.AnswerOf(lctx)
		return v, err
	}
	v, err := ask()
	twice := false
	for _, places := range t.asked {
		slices.Sort(places)
		twice = twice || len(places) > 1
	}
	if !twice {
		return v, err
	}
	t.order = t.asked
	t.rewind()
	return ask()
}

// rest returns the calls that were not requested.
func (t *tape) rest() []deem.Call {
	var rest []deem.Call
	for i, c := range t.calls {
		if !t.used[i] {
			rest = append(rest, c)
		}
	}
	return rest
}

// replay runs a composite judge again, and compares the result. If a member's verdict is
// taken from the record, texts are not compared, because that member's texts cannot be
// distinguished from others.
func (c *checker) replay(ctx context.Context, rec deem.Record, out *outcome) {
	t := newTape(rec, rec.Calls)
	v, err := t.play(ctx, c.again.Judge)
	out.prompts += len(rec.Calls)
	out.wires += t.wires
	for _, problem := range t.unsent {
		out.findIn(checkWire, rec, problem)
	}
	for _, key := range t.missing {
		out.findIn(checkPrompt, rec, fmt.Sprintf("the judge asked for something the record does not hold: request %s to %s", deem.ShortHash(key.hash), key.model))
	}
	if c.again.Partly && err == nil && rec.Verdict != nil {
		v.Reason = rec.Verdict.Reason
	}
	if len(t.missing) == 0 && !same(rec.Answer, t.given, func(a, b string) bool { return a == b }) {
		out.findIn(checkVerdict, rec, "the answer is not the one that the reader's reply gives")
	}
	_, failed := errors.AsType[*deem.Failure](err)
	switch {
	case len(t.missing) > 0:
	case c.again.Partly && failed && rec.Failure != nil:
		out.verdicts++
	default:
		out.compare(rec, v, err)
	}
	for rest := t.rest(); len(rest) > 0; {
		// These may belong to an abandoned attempt, in which other members were called.
		earlier := newTape(rec, rest)
		_, _ = earlier.play(ctx, c.again.Judge) // The result of that attempt is not in the record.
		left := earlier.rest()
		if len(left) < len(rest) {
			rest = left
			continue
		}
		for _, call := range left {
			if !slices.Contains(c.again.Unchecked, call.Model) {
				out.findIn(checkPrompt, rec, fmt.Sprintf("a call is recorded that nobody asked for: request %s to %s", deem.ShortHash(call.Request), call.Model))
			}
		}
		return
	}
}
