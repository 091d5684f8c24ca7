package bundle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"deem"
	"deem/judge"
)

// A judge that is made of others asks several models, some only because of what others
// said. So it is asked again as it was, by models that answer with what the record
// holds. Two things may be wrong then beside the verdict: it asks for what the record
// does not hold, or the record holds what nobody asked for.

// Recordings make the models of a judge that is asked again. They are made in the order
// of its members, since that is the order in which a record holds their calls. The zero
// value is ready to use.
type Recordings struct{ made int }

// Model returns a model of the given name and settings. It answers only within
// [Verify], with the calls of the record that is being checked.
func (r *Recordings) Model(name, settings string) deem.Model {
	r.made++
	return &recorded{name: name, settings: settings, place: r.made}
}

// recorded is a model that repeats itself.
type recorded struct {
	name, settings string
	place          int // among the models of the judge
}

var _ deem.Tuned = (*recorded)(nil)

func (m *recorded) Name() string     { return m.name }
func (m *recorded) Endpoint() string { return "" }
func (m *recorded) Settings() string { return m.settings }

// Complete returns what the record says that the model answered.
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
	t.compare(req, m.settings, *call.Reply)
	return *call.Reply, nil
}

// kindOf returns the kind of failure that an error was. A call does not say; the words
// of the verdict or of the failure do where they repeat the error.
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

// Taken returns a judge that stands for a member that cannot be made again. It has the
// member's name and spec, and says what the record that is being checked holds of
// the member.
func Taken(name string, spec judge.Spec, said func(deem.Record) (deem.Verdict, error)) deem.Identified {
	return &taken{name, spec, said}
}

type taken struct {
	name string
	spec judge.Spec
	said func(deem.Record) (deem.Verdict, error)
}

func (j *taken) Name() string  { return j.name }
func (j *taken) Identity() any { return j.spec }

func (j *taken) Judge(ctx context.Context, _ deem.Item) (deem.Verdict, error) {
	t, ok := ctx.Value(tapeKey{}).(*tape)
	if !ok {
		return deem.Verdict{}, fmt.Errorf("%s is asked while no bundle is checked", j.name)
	}
	return j.said(t.rec)
}

// Careful returns the judge that makes an error of a panic of j. A judge out of a file
// may be anything, and the members of a panel are asked in goroutines of their own.
func Careful(j deem.Judge) deem.Identified { return careful{j} }

type careful struct{ inside deem.Judge }

func (j careful) Name() string { return j.inside.Name() }

func (j careful) Identity() any { return judge.SpecOf(j.inside) }

func (j careful) Judge(ctx context.Context, it deem.Item) (v deem.Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panics over this record: %v", j.Name(), p)
		}
	}()
	return j.inside.Judge(ctx, it)
}

type tapeKey struct{}

// A request is how a call is found: whom it was to, and the hash of what was asked.
type request struct{ model, hash string }

// A tape is the calls of a record, while the judge is asked again. Its methods may be
// called at the same time, since the members of a panel are asked so.
type tape struct {
	rec   deem.Record
	calls []deem.Call
	held  map[request][]int // by request the calls, as indices
	order map[request][]int // by request the places of the models that ask, as seen before

	mu      sync.Mutex
	asked   map[request][]int // by request the places of the models that asked now
	used    []bool            // of calls
	missing []request
	wires   int      // calls whose parameters were compared
	unsent  []string // what is wrong with them
}

// compare compares what a call says that was sent with the request.
func (t *tape) compare(req deem.Request, settings string, reply deem.Reply) {
	problem, checked := checkSent(req, settings, reply)
	t.mu.Lock()
	defer t.mu.Unlock()
	if checked {
		t.wires++
	}
	if problem != "" {
		t.unsent = append(t.unsent, problem)
	}
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

// answer returns the call that answers a request. Calls of tries that were given up
// stand before the others, so that the last ones count.
func (t *tape) answer(key request, place int) (deem.Call, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := 0 // how often this model has asked the same already
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

// play asks the judge again. When several members make the same request, which of them
// got which reply is known only from their order; so they are asked once to learn who
// makes it, and once more to be answered.
func (t *tape) play(ctx context.Context, j deem.Judge) (deem.Verdict, error) {
	ask := func() (deem.Verdict, error) {
		lctx, _ := deem.WithLedger(context.WithValue(ctx, tapeKey{}, t), t.rec.Trial)
		return j.Judge(lctx, t.rec.Item)
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

// rest returns the calls that nobody asked for.
func (t *tape) rest() []deem.Call {
	var rest []deem.Call
	for i, c := range t.calls {
		if !t.used[i] {
			rest = append(rest, c)
		}
	}
	return rest
}

// replay asks a judge that is made of others again, and compares.
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
	if len(t.missing) == 0 {
		out.compareComposed(rec, v, err, c.again.Partly)
	}
	for rest := t.rest(); len(rest) > 0; {
		// These may be of a try that was given up, in which other members were asked.
		earlier := newTape(rec, rest)
		_, _ = earlier.play(ctx, c.again.Judge) // What came of it then is not in the record.
		left := earlier.rest()
		if len(left) == len(rest) {
			c.unasked(rec, left, out)
			return
		}
		rest = left
	}
}

// unasked finds fault with calls that the judge does not make.
func (c *checker) unasked(rec deem.Record, calls []deem.Call, out *outcome) {
	for _, call := range calls {
		if slices.Contains(c.again.Unchecked, call.Model) {
			continue
		}
		out.findIn(checkPrompt, rec, fmt.Sprintf("a call is recorded that nobody asked for: request %s to %s", deem.ShortHash(call.Request), call.Model))
	}
}

// compareComposed is compare. When what a member said is taken from the record, words
// are not compared: those of that member are not told from those of others.
func (out *outcome) compareComposed(rec deem.Record, v deem.Verdict, err error, partly bool) {
	_, failed := errors.AsType[*deem.Failure](err)
	switch {
	case partly && failed && rec.Failure != nil:
		out.verdicts++
		return
	case partly && err == nil && rec.Verdict != nil:
		v.Reason = rec.Verdict.Reason
	}
	out.compare(rec, v, err)
}
