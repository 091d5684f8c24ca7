package server

import (
	"context"
	"sync"

	"deem/internal/store"
)

// An indexer brings the index of words up to date in the background, for one run at a
// time, while people look.
type indexer struct {
	ctx     context.Context
	browser store.Browser // nil when the store has no index
	wg      sync.WaitGroup

	mu       sync.Mutex
	busy     bool
	searched map[string]store.Searched
}

func newIndexer(ctx context.Context, st store.Store) *indexer {
	ix := &indexer{ctx: ctx, searched: map[string]store.Searched{}}
	ix.browser, _ = st.(store.Browser)
	return ix
}

// wait waits until nothing is being indexed.
func (ix *indexer) wait() { ix.wg.Wait() }
