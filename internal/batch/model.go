package batch

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"deem"
	"deem/internal/store"
)

// A Model answers from what the batches of a run brought, and asks another model what they
// did not. See [NewModel].
type Model struct {
	inner deem.Model
	key   func(deem.Request) string
	only  bool

	store store.Batches
	runID string

	mu            sync.Mutex
	recent, older map[string]struct{} // keys of replies that were given as new
	cost          int64               // of those replies
}

var _ deem.Model = (*Model)(nil)

// NewModel returns a model that passes everything on to m until it is told of a run with
// [Model.Serve]. The function key is that of [Options].
//
// A reply of a batch is new the first time, with what it cost, and cached from then on.
// Whether it is new is known by the store, once its record is there; until then, by the
// model. So the cost of a reply is in one record, however many ask for it and however often
// the process is killed.
//
// A line that was not answered is asked in the ordinary way, unless asking again is no use:
// then its error is that of the request. With only, nothing is asked again: each line
// that was not answered ends its item.
func NewModel(m deem.Model, key func(deem.Request) string, only bool) *Model {
	return &Model{inner: m, key: key, only: only, recent: map[string]struct{}{}}
}

// Serve makes the model answer from the batches of a run. It is called before the first
// request.
func (m *Model) Serve(s store.Batches, runID string) { m.store, m.runID = s, runID }

// Name returns the name of the model inside.
func (m *Model) Name() string { return m.inner.Name() }

// Unwrap returns the model inside.
func (m *Model) Unwrap() deem.Model { return m.inner }

// Complete returns what came of the request in a batch, or asks the model inside.
func (m *Model) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if m.store == nil {
		return m.inner.Complete(ctx, req)
	}
	key := m.key(req)
	l, ok, err := m.store.BatchLine(ctx, m.runID, key)
	switch {
	case err != nil && ctx.Err() != nil:
		return deem.Reply{}, ctx.Err()
	case err != nil:
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: fmt.Errorf("look up what a batch brought: %w", err)}
	case !ok:
		return m.inner.Complete(ctx, req)
	case l.Reply != nil:
		reply := m.give(l)
		reply.Sent, reply.Dropped = deem.WireOf(m.inner, req) // A line of a batch is the same call.
		return reply, nil
	}
	return m.unanswered(ctx, req, l)
}

// give returns the reply of a line, as new or as cached.
func (m *Model) give(l store.BatchLine) deem.Reply {
	reply := *l.Reply
	if l.Taken || !m.first(l.Key, reply.CostMicros) {
		reply.Cached, reply.Attempts, reply.CostMicros, reply.Unpriced = true, 0, 0, false
	}
	if reply.Text == "" && reply.Refusal == "" {
		reply.Key = "" // Such a reply is a hiccup, and must not stay in the cache for good.
	}
	return reply
}

// remembered is how many keys are remembered at least. Records are in the store long before
// as many others have come.
const remembered = 1 << 16

// CostMicros returns what the replies cost that were given as new.
func (m *Model) CostMicros() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost
}

// first reports whether a reply is given for the first time, and counts its cost then.
func (m *Model) first(key string, cost int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, recently := m.recent[key]
	_, earlier := m.older[key]
	if recently || earlier {
		return false
	}
	if len(m.recent) >= remembered {
		m.older, m.recent = m.recent, map[string]struct{}{}
	}
	m.recent[key] = struct{}{}
	m.cost += cost
	return true
}

// unanswered decides what becomes of a line without a reply.
func (m *Model) unanswered(ctx context.Context, req deem.Request, l store.BatchLine) (deem.Reply, error) {
	f, again := l.Failure, l.Passing
	if f == nil {
		if l.State != store.BatchCollected {
			return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: errors.New("the batch with this request was not collected")}
		}
		f, again = deem.Failf(deem.Provider, "the batch ended without an answer to the request"), true
	}
	if again && !m.only {
		return m.inner.Complete(ctx, req)
	}
	return deem.Reply{}, &deem.ModelError{Kind: f.Kind, Err: errors.New(f.Detail)}
}
