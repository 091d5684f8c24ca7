package server

import (
	"context"
	"sync"

	"deem/internal/store"
)

// Facets counts what the records of runs say, to choose from. The counts of a whole run
// are the same on every page until it goes on.
type facets struct {
	mu   sync.Mutex
	kept map[string]facet // by run
}

type facet struct {
	run    store.Run
	counts store.Counts
}

func newFacets() *facets { return &facets{kept: map[string]facet{}} }

// of returns the counts of a run.
func (fs *facets) of(ctx context.Context, b store.Browser, run store.Run) (store.Counts, error) {
	fs.mu.Lock()
	k, ok := fs.kept[run.ID]
	fs.mu.Unlock()
	if ok && same(k.run, run) {
		return k.counts, nil
	}
	counts, err := b.Count(ctx, run.ID, store.View{})
	if err != nil {
		return counts, err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(fs.kept) >= maxReports {
		clear(fs.kept) // They are made again in no time.
	}
	fs.kept[run.ID] = facet{run, counts}
	return counts, nil
}

// same reports whether nothing has happened to a run.
func same(a, b store.Run) bool {
	return a.Records == b.Records && a.State == b.State && a.Updated.Equal(b.Updated)
}
