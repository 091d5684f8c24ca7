package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"deem"
)

// A thinker is a model that may think before it answers. All wires of this module are
// thinkers.
type thinker interface {
	// Room returns how many tokens are added to the limit of each request for thinking, and
	// whether this is known to be enough.
	Room() (tokens int, known bool)
}

// RoomOf returns how many tokens m adds to the limit of each request for thinking.
func RoomOf(m deem.Model) int {
	if t, ok := As[thinker](m); ok {
		room, _ := t.Room()
		return room
	}
	return 0
}

// smallRoom is the room from which a model is assumed to reach an answer.
const smallRoom = 2048

// A probing model makes its first call alone. See newProbing.
type probing struct {
	decorator
	doubt bool // it is unknown whether the model thinks, or its room is small

	answered func() bool

	turn chan struct{} // held by the caller that makes the first call
	open chan struct{} // closed when all callers may proceed

	mu      sync.Mutex
	sure    bool  // a reply had text
	stopped error // the first reply had none
}

// newProbing returns a model that finds out whether m thinks, if neither its name nor its
// vendor says so. A model that thinks spends the few tokens that a judge allows before it
// begins to answer. Such replies cost money and are empty. So the first request is made
// alone. If its reply is of this kind, it is returned like any other, and later requests
// fail: the run stops with one reply paid for and recorded. It does not continue with more
// room: the room is part of the judge's identity, and the user must choose it.
//
// There is no probe if the model is known not to think, has enough room, or has answered
// before. answered reports the latter when the first request comes; nil means unknown.
func newProbing(m deem.Model, answered func() bool) *probing {
	if answered == nil {
		answered = func() bool { return false }
	}
	p := &probing{decorator: decorator{m}, answered: sync.OnceValue(answered), turn: make(chan struct{}, 1), open: make(chan struct{})}
	if t, ok := As[thinker](m); ok {
		room, known := t.Room()
		p.doubt = room < smallRoom && (room > 0 || !known)
	}
	return p
}

// Complete calls the model inside, at first one request at a time.
func (p *probing) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if !p.doubt || req.MaxTokens <= 0 || p.answered() {
		return p.inner.Complete(ctx, req)
	}
	select {
	case <-p.open:
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-deem.Stopping(ctx):
		return deem.Reply{}, deem.ErrStopped
	case <-ctx.Done():
		return deem.Reply{}, ctx.Err()
	}
	p.mu.Lock()
	stopped := p.stopped
	p.mu.Unlock()
	if stopped != nil {
		return deem.Reply{}, stopped
	}
	reply, err := p.inner.Complete(ctx, req)
	// An error says nothing about the model: then other callers need not wait, and the next
	// reply decides.
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.sure, errors.Is(err, deem.ErrStopped), errors.Is(err, context.Canceled):
		return reply, err
	case err == nil && silent(reply):
		room := RoomOf(p.inner)
		why := fmt.Errorf("%s is a reasoning model: its first reply used all %d tokens and was empty", p.Name(), req.MaxTokens+room)
		why = deem.WithHint(why, "give it room to think with --thinking medium, or low, high or a number of tokens above %d; the run stopped with one reply paid for", max(room, reply.Usage.Output))
		p.stopped = &deem.ModelError{Kind: deem.Truncated, Fatal: true, Err: why}
		return reply, nil
	}
	p.sure = err == nil
	select {
	case <-p.open:
	default:
		close(p.open)
	}
	return reply, err
}

// silent reports whether a reply was truncated before it had any text. Some servers return
// thoughts as text.
func silent(r deem.Reply) bool {
	text := strings.TrimSpace(r.Text)
	if strings.HasPrefix(text, "<think>") && !strings.Contains(text, "</think>") {
		text = ""
	}
	return r.Stop == deem.StopLength && text == "" && r.Refusal == ""
}
