// Package judge makes judges out of models: a [Protocol] says what to ask about an
// item and how to read the reply, and protocol + model = [Judge].
//
// Most protocols are declared and not programmed. A [Declaration] is a YAML file
// with the prompt, its slots, the labels or aspects of a verdict, the ways to read
// a reply, and the parameters of the request. The judges that come with deem,
// "universal" and "rubric", are such files (see the folder judges), and users
// write their own in the same form; the JSON Schema of that form is [Schema].
//
// Declared protocols have named readings. "upstream" reads a reply as the
// published program does, for comparable numbers; "strict" reads it as carefully
// as deem can. In either, a reply that does not say one of the labels offered is a
// failure and never a label.
package judge

import (
	"context"
	"errors"
	"slices"
	"time"

	"deem"
	"deem/internal/extract"
	"deem/internal/text"
)

// A Protocol is a published way of asking. It is pure: the same item gives the
// same request, and the same reply the same verdict.
type Protocol interface {
	// Name identifies the protocol, as "universal".
	Name() string

	// Request returns what to ask about it. If the item lacks what the prompt
	// needs, the error is a *[deem.Failure] of kind input.
	Request(it deem.Item) (deem.Request, error)

	// Read returns the verdict on it that reply gives. If it gives none, the
	// error is a *[deem.Failure]. Callers use [Read], which refuses replies that say
	// nothing before a protocol sees them.
	Read(it deem.Item, reply deem.Reply) (deem.Verdict, error)
}

// A Decider is a protocol that can decide some items without asking, as published
// programs do for items that have nothing to ask about.
type Decider interface {
	Protocol

	// Decide returns the verdict on it, and whether there is one.
	Decide(it deem.Item) (deem.Verdict, bool)
}

// A Dialogue is a protocol that asks several times about one item, as one does that
// decides each criterion of an item on its own. [AsDialogue] tells it from a protocol that
// asks once.
type Dialogue interface {
	Protocol // Request and Read are those of the first call

	// Several reports whether the protocol asks several times. One that may or may not do
	// so, as a declared one, is a dialogue only if it does.
	Several() bool

	// Requests returns what the protocol may ask about it. If that depends on replies, it
	// is the most that it can be.
	Requests(it deem.Item) ([]deem.Request, error)

	// Talk returns the verdict on it. It makes each call with ask. A *[deem.Failure] of ask
	// concerns that call only; any other error ends the talk, which returns it.
	Talk(it deem.Item, ask Ask) (deem.Verdict, error)
}

// An Ask makes one call and returns the reply.
type Ask func(req deem.Request) (deem.Reply, error)

// AsDialogue returns the protocol as one that asks several times about an item, and
// whether it does.
func AsDialogue(p Protocol) (Dialogue, bool) {
	d, ok := p.(Dialogue)
	return d, ok && d.Several()
}

// Requests returns what a protocol may ask about it: one request, or those of a dialogue.
func Requests(p Protocol, it deem.Item) ([]deem.Request, error) {
	if d, ok := AsDialogue(p); ok {
		return d.Requests(it)
	}
	req, err := p.Request(it)
	return []deem.Request{req}, err
}

// A Judge is a model that follows a protocol.
type Judge struct {
	protocol Protocol
	model    deem.Model
}

var _ deem.Identified = (*Judge)(nil)

// New returns the judge that asks m as p says.
func New(p Protocol, m deem.Model) *Judge { return &Judge{protocol: p, model: m} }

// Name returns the name of the protocol.
func (j *Judge) Name() string { return j.protocol.Name() }

// Protocol returns the protocol that the judge follows.
func (j *Judge) Protocol() Protocol { return j.protocol }

// Judge asks the model about it and reads the reply.
func (j *Judge) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if d, ok := j.protocol.(Decider); ok {
		if v, ok := d.Decide(it); ok {
			return v, nil
		}
	}
	if d, ok := AsDialogue(j.protocol); ok {
		return d.Talk(it, func(req deem.Request) (deem.Reply, error) {
			req.Trial = deem.TrialOf(ctx)
			reply, err := ask(ctx, j.model, req)
			if err == nil {
				err = ctx.Err()
			}
			return reply, err
		})
	}
	req, err := j.protocol.Request(it)
	if err != nil {
		return deem.Verdict{}, err
	}
	req.Trial = deem.TrialOf(ctx)
	reply, err := ask(ctx, j.model, req)
	if err != nil {
		return deem.Verdict{}, err
	}
	if len(reply.Text) > longReply {
		select {
		case reading <- struct{}{}:
			defer func() { <-reading }()
		case <-ctx.Done():
			return deem.Verdict{}, ctx.Err()
		}
	}
	if err := ctx.Err(); err != nil {
		return deem.Verdict{}, err
	}
	return Read(j.protocol, it, reply)
}

// Read returns the verdict on it that reply gives under p. Whether a reply was refused,
// filtered, cut off or is empty is decided here, the same for every protocol.
func Read(p Protocol, it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	said, cut := text.Strip(reply.Text), reply.Stop == deem.StopLength
	switch {
	case reply.Refusal != "":
		return deem.Verdict{}, deem.Failf(deem.Refused, "%s", clip(reply.Refusal))
	case reply.Stop == deem.StopFilter:
		return deem.Verdict{}, deem.Failf(deem.Refused, "stopped by a content filter")
	case said == "" && cut:
		return deem.Verdict{}, deem.Failf(deem.Truncated, "the limit of tokens was reached before the reply began")
	case said == "":
		return deem.Verdict{}, deem.Failf(deem.Empty, "the reply has no text")
	}
	v, err := p.Read(it, reply)
	f, ok := errors.AsType[*deem.Failure](err)
	if !ok || f.Kind != deem.Unparseable && f.Kind != deem.Contradictory && f.Kind != deem.Empty {
		return v, err
	}
	switch {
	case cut:
		return deem.Verdict{}, deem.Failf(deem.Truncated, "the reply was cut off at its limit of tokens: %s", clip(said))
	case extract.Refusal(extract.Mask(extract.Body(reply.Text), it.Response)):
		return deem.Verdict{}, deem.Failf(deem.Refused, "%s", clip(said))
	}
	return v, err
}

// Again returns the verdict that p makes of the replies in a record, and whether it can:
// the record may lack a reply that p needs. It costs nothing.
func Again(p Protocol, rec deem.Record) (v deem.Verdict, can bool, err error) {
	d, several := AsDialogue(p)
	if !several {
		for _, call := range slices.Backward(rec.Calls) {
			if call.Reply != nil {
				v, err = Read(p, rec.Item, *call.Reply)
				return v, true, err
			}
		}
		return v, false, nil
	}
	missing := errors.New("the record lacks a reply")
	v, err = d.Talk(rec.Item, func(req deem.Request) (deem.Reply, error) {
		req.Trial = rec.Trial
		hash := req.Hash()
		for _, call := range slices.Backward(rec.Calls) {
			switch {
			case call.Request != hash:
			case call.Reply != nil:
				return *call.Reply, nil
			default:
				return deem.Reply{}, &deem.Failure{Kind: deem.Provider, Detail: call.Error}
			}
		}
		return deem.Reply{}, missing
	})
	if errors.Is(err, missing) {
		return deem.Verdict{}, false, nil
	}
	return v, len(rec.Calls) > 0, err
}

// longReply is the length in bytes from which replies are read one at a time. To read one
// takes several times its memory.
const longReply = 4 << 20

// reading is the place of the one long reply that is being read.
var reading = make(chan struct{}, 1)

// ask makes one call and notes it in the ledger. An error that ends the item is a
// *[deem.Failure]; an error that ends the run is returned as it is.
func ask(ctx context.Context, m deem.Model, req deem.Request) (deem.Reply, error) {
	call := deem.Call{Model: m.Name(), Request: req.Hash(), Started: time.Now().UTC()}
	reply, err := m.Complete(ctx, req)
	if err == nil {
		call.Reply = &reply
		deem.NoteCall(ctx, call)
		return reply, nil
	}
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || ctx.Err() != nil {
		return deem.Reply{}, err
	}
	call.Error, call.Attempts = me.Error(), me.Attempts
	deem.NoteCall(ctx, call)
	if me.Fatal {
		return deem.Reply{}, err
	}
	kind := me.Kind
	if kind == "" {
		kind = deem.Provider
	}
	return deem.Reply{}, &deem.Failure{Kind: kind, Detail: me.Error()}
}

// A Readable protocol has named readings: ways in which a reply becomes a verdict.
type Readable interface {
	Protocol

	// Spec returns what this protocol is, reading included, without a model.
	Spec() Spec

	// Reading returns the name of the reading in force.
	Reading() string

	// Reread returns the same protocol under another reading, or nil when it has
	// only one. Reading a reply again costs nothing.
	Reread() Readable

	// FailuresWrong says that the published program counts a reply that it cannot
	// read as wrong, so that its own number is the strict one.
	FailuresWrong() bool
}

// Identity returns the [Spec] of the judge: that of its protocol, with the model.
func (j *Judge) Identity() any {
	s := Spec{Kind: KindModel, Name: j.protocol.Name()}
	if p, ok := j.protocol.(interface{ Spec() Spec }); ok {
		s = p.Spec()
	}
	s.Model, s.Settings = j.model.Name(), deem.SettingsOf(j.model)
	return s
}
