package web

import (
	"context"
	"sync"

	"deem/internal/server"
	"deem/internal/store"
)

// maxFacets is the maximum number of cached counts.
const maxFacets = 256

// facets counts the records of runs and caches the counts: they are the same on every page
// of a filter until the run changes.
type facets struct {
	mu   sync.Mutex
	kept map[facetKey]facet
}

// A facetKey is the cache key of a count.
type facetKey struct {
	run    string
	filter server.Filter // without its order
}

type facet struct {
	run, other store.Run // as they were when counted
	counts     store.Counts
}

func newFacets() *facets { return &facets{kept: map[facetKey]facet{}} }

// of counts the records of a run that a filter selects. If the filter compares the run with
// another (Against), other is that run; otherwise it is the zero Run.
func (fs *facets) of(ctx context.Context, b store.Browser, run, other store.Run, f server.Filter) (store.Counts, error) {
	f.Order, f.Descending = "", false
	key := facetKey{run.ID, f}
	fs.mu.Lock()
	k, ok := fs.kept[key]
	fs.mu.Unlock()
	if ok && k.run.Same(run) && k.other.Same(other) {
		return k.counts, nil
	}
	counts, err := b.Count(ctx, run.ID, f.View())
	if err != nil {
		return counts, err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(fs.kept) >= maxFacets {
		clear(fs.kept) // Counting again is fast.
	}
	fs.kept[key] = facet{run, other, counts}
	return counts, nil
}
