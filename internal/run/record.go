package run

import (
	"context"
	"errors"
	"iter"

	"deem"
	"deem/internal/store"
)

// Record stores verdicts that were not made here as a run, and reports whether the store
// had the whole run already.
func Record(ctx context.Context, st store.Store, spec store.Spec, records iter.Seq[deem.Record], fresh bool) (r store.Run, had bool, err error) {
	r, resumed, err := st.Begin(ctx, spec, fresh)
	if err != nil {
		return r, false, err
	}
	if resumed && r.State == store.Done {
		return r, true, st.Release(r.ID)
	}
	w := store.NewWriter(st, r.ID, store.WriterOptions{})
	for rec := range records {
		if err = w.Put(ctx, rec); err != nil {
			break
		}
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return r, false, errors.Join(err, st.Release(r.ID))
	}
	if err := st.Finish(ctx, r.ID); err != nil {
		return r, false, err
	}
	r, err = st.Run(ctx, r.ID)
	return r, false, err
}
