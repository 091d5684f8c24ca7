// Package judge builds LLM judges: a [Protocol] says what to ask about an item and how to
// read the reply, and [New] adds the model.
//
// Most protocols are declared rather than programmed. A [Declaration] is a YAML file with
// the prompt, its slots, the labels or aspects of a verdict, the parsers of a reply, and
// the parameters of the request. The built-in judges such as "grade" are such files (see
// the folder judges), and users write their own in the same format; [Schema] is
// its JSON Schema.
//
// Declared protocols have named readings. "upstream" reads a reply as the published program
// does, for comparable scores; "strict" accepts a reply in the form that the prompt demands
// and nothing else. In both, a reply that does not state one of the offered labels is a
// failure, never a label.
package judge

import (
	"context"
	"errors"
	"slices"

	"deem"
	"deem/internal/text"
)

// A Protocol says what to ask about an item and how to read the reply. It is deterministic:
// the same item gives the same request, and the same reply the same verdict.
type Protocol interface {
	// Name identifies the protocol, for example "universal".
	Name() string

	// Request returns the request for an item. If the item lacks a value that the
	// prompt needs, the error is a *[deem.Failure] of kind input.
	Request(it deem.Item) (deem.Request, error)

	// Read returns the verdict that the reply gives on the item. If it gives none, the
	// error is a *[deem.Failure]. Callers use the function [Read], which rejects empty
	// and refused replies before the protocol sees them.
	Read(it deem.Item, reply deem.Reply) (deem.Verdict, error)
}

// A Decider is a protocol that can decide some items without a model, as published programs
// do for items with nothing to ask about.
type Decider interface {
	Protocol

	// Decide returns the verdict on the item, and reports whether there is one.
	Decide(it deem.Item) (deem.Verdict, bool)
}

// A Dialogue is a protocol that makes several calls for one item, for example one per
// criterion.
type Dialogue interface {
	Protocol // Request and Read are those of the first call

	// Requests returns the requests that the protocol may make for the item. If they
	// depend on replies, it returns the maximum.
	Requests(it deem.Item) ([]deem.Request, error)

	// Talk returns the verdict on the item. It makes each call with ask. If ask returns
	// a *[deem.Failure], only that call failed; Talk returns any other error
	// immediately.
	Talk(it deem.Item, ask func(deem.Request) (deem.Reply, error)) (deem.Verdict, error)
}

// Requests returns the requests that a protocol may make for an item: one, or those of a
// dialogue.
func Requests(p Protocol, it deem.Item) ([]deem.Request, error) {
	if d, ok := p.(Dialogue); ok {
		return d.Requests(it)
	}
	req, err := p.Request(it)
	return []deem.Request{req}, err
}

// An asker is a model that follows a protocol.
type asker struct {
	protocol Protocol
	model    deem.Model
}

var _ deem.Identified = (*asker)(nil)

// New returns a judge that follows p with the model m.
func New(p Protocol, m deem.Model) deem.Judge { return &asker{protocol: p, model: m} }

// Name returns the name of the protocol.
func (j *asker) Name() string { return j.protocol.Name() }

// Judge asks the model about the item and reads the reply.
func (j *asker) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if d, ok := j.protocol.(Decider); ok {
		if v, ok := d.Decide(it); ok {
			return v, nil
		}
	}
	if d, ok := j.protocol.(Dialogue); ok {
		return d.Talk(it, func(req deem.Request) (deem.Reply, error) {
			req.Trial = deem.TrialOf(ctx)
			reply, err := deem.Ask(ctx, j.model, req)
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
	reply, err := deem.Ask(ctx, j.model, req)
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

// Read returns the verdict that the reply gives on the item under p. It rejects refused,
// filtered, truncated and empty replies in the same way for every protocol.
func Read(p Protocol, it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	if f := reply.Failure(); f != nil {
		return deem.Verdict{}, f
	}
	said, cut := text.Strip(reply.Text), reply.Stop == deem.StopLength
	v, err := p.Read(it, reply)
	f, ok := errors.AsType[*deem.Failure](err)
	if !ok || f.Kind != deem.Unparseable && f.Kind != deem.Contradictory && f.Kind != deem.Empty {
		return v, err
	}
	switch {
	case cut:
		return deem.Verdict{}, deem.Failf(deem.Truncated, "the reply was cut off at its limit of tokens: %s", clip(said))
	case isRefusal(Answer(reply.Text)):
		return deem.Verdict{}, deem.Failf(deem.Refused, "%s", clip(said))
	}
	return v, err
}

// Again returns the verdict of p on the replies stored in a record. can is false if the
// record lacks a reply that p needs. It makes no calls.
func Again(p Protocol, rec deem.Record) (v deem.Verdict, can bool, err error) {
	d, several := p.(Dialogue)
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

// longReply is the size in bytes from which replies are read one at a time, because reading
// a reply takes several times its size in memory.
const longReply = 4 << 20

// reading is a semaphore for the long reply that is being read.
var reading = make(chan struct{}, 1)

// A Readable protocol has named readings: parsers that turn a reply into a verdict.
type Readable interface {
	Protocol

	// Spec returns the spec of the protocol, including the reading but without a model.
	Spec() Spec

	// Reading returns the name of the current reading.
	Reading() string

	// Reread returns the same protocol with another reading, or nil if it has only one.
	// Reading a stored reply again costs nothing.
	Reread() Readable

	// FailuresWrong reports whether the published program counts an unreadable reply as
	// wrong, so that its own score is the strict one.
	FailuresWrong() bool
}

// Identity returns the [Spec] of the judge: that of its protocol, with the model.
func (j *asker) Identity() any {
	s := Spec{Kind: KindModel, Name: j.protocol.Name()}
	if p, ok := j.protocol.(interface{ Spec() Spec }); ok {
		s = p.Spec()
	}
	s.Model, s.Settings = j.model.Name(), deem.SettingsOf(j.model)
	return s
}
