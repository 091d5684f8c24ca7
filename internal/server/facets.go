package server

import (
	"context"
	"sync"

	"deem/internal/store"
)

// maxFacets is how many counts are kept.
const maxFacets = 256

// Facets counts what the records of runs say, and keeps the counts: they are the same on
// every page of a filter until the run goes on.
type facets struct {
	mu   sync.Mutex
	kept map[facetKey]facet
}

// A facetKey names what was counted.
type facetKey struct {
	run    string
	filter filter // without its order
}

type facet struct {
	run, other store.Run // as they were
	counts     store.Counts
}

func newFacets() *facets { return &facets{kept: map[facetKey]facet{}} }

// of counts what a filter selects of a run. The other run is the one that the filter
// sets other it, if it does.
func (fs *facets) of(ctx context.Context, b store.Browser, run, other store.Run, f filter) (store.Counts, error) {
	f.Order, f.Descending = "", false
	key := facetKey{run.ID, f}
	fs.mu.Lock()
	k, ok := fs.kept[key]
	fs.mu.Unlock()
	if ok && same(k.run, run) && same(k.other, other) {
		return k.counts, nil
	}
	counts, err := b.Count(ctx, run.ID, f.view())
	if err != nil {
		return counts, err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(fs.kept) >= maxFacets {
		clear(fs.kept) // They are made again in no time.
	}
	fs.kept[key] = facet{run, other, counts}
	return counts, nil
}

// same reports whether nothing has happened to a run.
func same(a, b store.Run) bool {
	return a.Records == b.Records && a.State == b.State && a.Updated.Equal(b.Updated)
}
