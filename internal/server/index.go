package server

import (
	"context"
	"log/slog"
	"sync"

	"deem/internal/store"
)

// An indexer brings the index of words up to date in the background, for one run at a
// time, while people look.
type indexer struct {
	ctx   context.Context
	store store.Database
	log   *slog.Logger
	wg    sync.WaitGroup

	mu       sync.Mutex
	busy     bool
	next     string // the run that somebody wants next
	searched map[string]indexed
}

// An indexed run is known to the index as far as searched says, as it was then.
type indexed struct {
	run      store.Run
	searched store.Searched
}

func newIndexer(ctx context.Context, st store.Database, log *slog.Logger) *indexer {
	return &indexer{ctx: ctx, store: st, log: log, searched: map[string]indexed{}}
}

// wait waits until nothing is being indexed.
func (ix *indexer) wait() { ix.wg.Wait() }

// want asks for a run to be indexed. It returns at once. While another run is being
// indexed only the last wish is kept, since that is the page somebody looks at.
func (ix *indexer) want(run store.Run) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.ctx.Err() != nil || ix.complete(run) {
		return
	}
	ix.next = run.ID
	if !ix.busy {
		ix.busy = true
		ix.wg.Go(ix.work)
	}
}

// complete reports whether the index knows all of a run. The caller holds the lock.
func (ix *indexer) complete(run store.Run) bool {
	k, ok := ix.searched[run.ID]
	return ok && same(k.run, run) && k.searched.Complete()
}

// progress returns how far the index of a run is, nil when it is complete, and asks
// for the rest.
func (ix *indexer) progress(run store.Run) *store.Searched {
	ix.want(run)
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.complete(run) {
		return nil
	}
	s := ix.searched[run.ID].searched
	s.Total = max(s.Total, run.Records)
	return &s
}

// work indexes what is wanted until nothing is.
func (ix *indexer) work() {
	for {
		ix.mu.Lock()
		id := ix.next
		ix.next = ""
		if id == "" || ix.ctx.Err() != nil {
			ix.busy = false
			ix.mu.Unlock()
			return
		}
		ix.mu.Unlock()
		ix.index(id)
	}
}

// index indexes a run until it is complete or somebody wants another.
func (ix *indexer) index(id string) {
	for ix.ctx.Err() == nil {
		run, err := ix.store.Run(ix.ctx, id)
		if err != nil {
			return
		}
		s, err := ix.store.Index(ix.ctx, id)
		if err != nil {
			if ix.ctx.Err() == nil {
				ix.log.Error("index", "run", id, "error", err)
			}
			return
		}
		ix.mu.Lock()
		before := ix.searched[id]
		ix.searched[id] = indexed{run, s}
		other := ix.next != "" && ix.next != id
		ix.mu.Unlock()
		if s.Complete() || other || before.searched == s {
			return // What makes no progress is not tried for ever.
		}
	}
}
