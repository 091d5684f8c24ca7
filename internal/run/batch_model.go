package run

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"deem"
	"deem/internal/model"
	"deem/internal/store"
)

// A BatchModel answers from the results of a run's batches, and uses another model for requests
// without a result. See [NewBatchModel].
type BatchModel struct {
	inner deem.Model
	only  bool

	store store.Batches
	runID string

	mu            sync.Mutex
	recent, older map[string]struct{} // keys of replies that were returned as new
	cost          int64               // of those replies
}

var _ deem.Model = (*BatchModel)(nil)

// NewBatchModel returns a model that forwards everything to m until
// [BatchModel.Serve] is called.
//
// A reply from a batch is new the first time, with its cost, and cached afterwards. Whether
// it is new is known from the store once its record is there, and before that from the
// model. So the cost of a reply is in exactly one record, however many items use it and
// however often the process is killed.
//
// A line without a reply is sent as a direct call, unless a retry is useless: then its
// error is that of the request. If only is true, there are no direct calls: each line
// without a reply is the failure of its item.
func NewBatchModel(m deem.Model, only bool) *BatchModel {
	return &BatchModel{inner: m, only: only, recent: map[string]struct{}{}}
}

// Serve makes the model answer from the batches of a run. It must be called before the
// first request.
func (m *BatchModel) Serve(s store.Batches, runID string) { m.store, m.runID = s, runID }

// Name returns the name of the inner model.
func (m *BatchModel) Name() string { return m.inner.Name() }

// Unwrap returns the inner model.
func (m *BatchModel) Unwrap() deem.Model { return m.inner }

// Complete returns the result of the request in a batch, or calls the inner model.
func (m *BatchModel) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if m.store == nil {
		return m.inner.Complete(ctx, req)
	}
	key := model.Key(m.inner, req)
	l, ok, err := m.store.BatchLine(ctx, m.runID, key)
	switch {
	case err != nil && ctx.Err() != nil:
		return deem.Reply{}, ctx.Err()
	case err != nil:
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: fmt.Errorf("look up what a batch brought: %w", err)}
	case !ok:
		return m.inner.Complete(ctx, req)
	case l.Reply != nil:
		reply := *l.Reply
		if l.Taken || !m.first(l.Key, reply.CostMicros) {
			reply.Cached, reply.Attempts, reply.CostMicros, reply.Unpriced = true, 0, 0, false
		}
		if reply.Text == "" && reply.Refusal == "" {
			reply.Key = "" // An empty reply is transient and must not be cached.
		}
		reply.Sent, reply.Dropped = deem.WireOf(m.inner, req) // A line of a batch is the same call.
		return reply, nil
	case l.Failure == nil && l.State != store.BatchCollected:
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: errors.New("the batch with this request was not collected")}
	case (l.Failure == nil || l.Passing) && !m.only:
		return m.inner.Complete(ctx, req)
	case l.Failure == nil:
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Err: errors.New("the batch ended without an answer to the request")}
	}
	return deem.Reply{}, &deem.ModelError{Kind: l.Failure.Kind, Err: errors.New(l.Failure.Detail)}
}

// remembered is the minimum number of keys kept in memory. A record is in the store long
// before as many others have come.
const remembered = 1 << 16

// CostMicros returns the cost of the replies that were returned as new.
func (m *BatchModel) CostMicros() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost
}

// first reports whether a reply is returned for the first time, and if so counts its cost.
func (m *BatchModel) first(key string, cost int64) bool {
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
