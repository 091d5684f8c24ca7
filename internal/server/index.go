package server

import (
	"context"
	"log/slog"
	"sync"

	"deem/internal/store"
)

// An Indexer updates the search index in the background, one run at a time.
type Indexer struct {
	ctx   context.Context
	store store.Database
	log   *slog.Logger
	wg    sync.WaitGroup

	mu       sync.Mutex
	busy     bool
	next     string // the run to index next
	searched map[string]indexed
}

// An indexed is the progress of the index of a run, and the run as it was then.
type indexed struct {
	run      store.Run
	searched store.Searched
}

// Want requests that a run is indexed, and returns immediately. While another run is being
// indexed only the last request is kept, since it is for the page that is being viewed.
func (ix *Indexer) Want(run store.Run) {
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

// complete reports whether the index of a run is complete. The caller holds the lock.
func (ix *Indexer) complete(run store.Run) bool {
	k, ok := ix.searched[run.ID]
	return ok && k.run.Same(run) && k.searched.Complete()
}

// Progress returns the progress of the index of a run, or nil if it is complete. It requests
// the rest.
func (ix *Indexer) Progress(run store.Run) *store.Searched {
	ix.Want(run)
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.complete(run) {
		return nil
	}
	s := ix.searched[run.ID].searched
	s.Total = max(s.Total, run.Records)
	return &s
}

// work indexes the requested runs until there are none.
func (ix *Indexer) work() {
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

// index indexes a run until it is complete or another run is requested.
func (ix *Indexer) index(id string) {
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
			return // Stop also if there was no progress.
		}
	}
}
