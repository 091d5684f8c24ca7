// Package bundled reads a run file as a store: one run that nobody writes to. So
// every command that reads a run reads a bundle as well.
//
// Records of a bundle lie in the order of the dataset, and are streamed. There is no
// index: to find one item, the file is read through.
package bundled

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"deem"
	"deem/bundle"
	"deem/internal/store"
)

// ErrReadOnly means that a bundle cannot be written to.
var ErrReadOnly = errors.New("a run file is only read")

// A Store is a bundle.
type Store struct {
	path string
	run  store.Run

	// Redacted means that texts are hashes.
	Redacted bool
}

var _ store.Store = (*Store)(nil)

// Open opens a bundle. It reads what stands before the first item; that the rest is
// whole, Records finds out when it comes to the end.
func Open(path string) (*Store, error) {
	s := &Store{path: path}
	f, r, err := s.open()
	if err != nil {
		return nil, err
	}
	s.run, s.Redacted = RunOf(r.Run, r.Judge), r.Header.Redacted
	return s, errors.Join(r.Close(), f.Close())
}

// open opens the file and reads its beginning.
func (s *Store) open() (io.Closer, *bundle.Reader, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, nil, err
	}
	r, err := bundle.NewReader(f)
	if err != nil {
		return nil, nil, errors.Join(s.explain(err), f.Close())
	}
	return f, r, nil
}

// explain says which file an error is about, and what helps.
func (s *Store) explain(err error) error {
	wrapped := fmt.Errorf("%s: %w", s.path, err)
	switch {
	case errors.Is(err, bundle.ErrNewer):
		return deem.WithHint(wrapped, "a newer deem reads it")
	case errors.Is(err, bundle.ErrDamaged):
		return deem.WithHint(wrapped, "deem verify %s says what is wrong with it", s.path)
	}
	return wrapped
}

// RunOf returns the run that a bundle describes.
func RunOf(r bundle.Run, j bundle.Judge) store.Run {
	return store.Run{
		ID: r.ID,
		Spec: store.Spec{
			Judge: store.JudgeSpec{Name: j.Name, Hash: j.Hash, Identity: j.Identity, Rule: j.Rule},
			Model: r.Model, Endpoint: r.Endpoint, Trials: r.Trials, Settings: r.Settings,
			Dataset: store.DatasetSpec{Names: r.Dataset.Names, Hash: r.Dataset.Hash, Items: r.Dataset.Items},
		},
		State: store.State(r.State), Created: r.Created, Updated: r.Updated,
		Records: r.Records, Unjudged: r.Unjudged, CostMicros: r.CostMicros,
	}
}

// Describe returns a run as a bundle describes it.
func Describe(run store.Run) (bundle.Run, bundle.Judge) {
	j := bundle.Judge{Name: run.Judge.Name, Hash: run.Judge.Hash, Identity: run.Judge.Identity, Rule: run.Judge.Rule}
	return bundle.Run{
		ID: run.ID, Model: run.Model, Endpoint: run.Endpoint, Trials: run.Trials, Settings: run.Settings,
		Dataset: bundle.Dataset{Names: run.Dataset.Names, Hash: run.Dataset.Hash, Items: run.Dataset.Items},
		State:   string(run.State), Created: run.Created, Updated: run.Updated,
		Records: run.Records, Unjudged: run.Unjudged, CostMicros: run.CostMicros,
	}, j
}

// Run returns the run of the bundle, if ref means it.
func (s *Store) Run(_ context.Context, ref string) (store.Run, error) {
	if _, err := store.Resolve(ref, []string{s.run.ID}, []string{s.run.ID}); err != nil {
		return store.Run{}, fmt.Errorf("%s: %w", s.path, err)
	}
	return s.run, nil
}

// Runs returns the run of the bundle.
func (s *Store) Runs(context.Context) iter.Seq2[store.Run, error] {
	return func(yield func(store.Run, error) bool) { yield(s.run, nil) }
}

// Records streams the records that q selects.
func (s *Store) Records(ctx context.Context, runID string, q store.Query) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		if err := s.eachRecord(ctx, runID, newSelection(q), func(rec deem.Record) bool { return yield(rec, nil) }); err != nil {
			yield(deem.Record{}, err)
		}
	}
}

// eachRecord hands the records that are selected to yield until it returns false.
func (s *Store) eachRecord(ctx context.Context, runID string, sel *selection, yield func(deem.Record) bool) error {
	if err := s.knows(runID); err != nil {
		return err
	}
	f, r, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _, _ = r.Close(), f.Close() }() // reading leaves nothing to lose
	for rec, err := range r.Records() {
		if err != nil {
			return s.explain(err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !sel.wants(rec) {
			continue
		}
		if !yield(sel.shape(rec)) || sel.done() {
			return nil
		}
	}
	return ctx.Err()
}

// knows refuses the id of another run.
func (s *Store) knows(runID string) error {
	if runID == s.run.ID {
		return nil
	}
	return deem.WithHint(fmt.Errorf("run %q: %w in %s", runID, store.ErrNotFound, s.path), "the file holds run %s", s.run.ID)
}

// Status reads the file through. Nobody continues a run in a bundle, so nobody asks
// for each item.
func (s *Store) Status(ctx context.Context, runID, itemID string, trial int) (store.Status, error) {
	status := store.Missing
	sel := newSelection(store.Query{IDs: []string{itemID}, Trial: &trial, Limit: 1})
	err := s.eachRecord(ctx, runID, sel, func(rec deem.Record) bool {
		status = store.Judged
		if rec.Failure != nil {
			status = store.Unjudged
		}
		return false
	})
	return status, err
}

// Reply reads the file through for the reply that was paid for. A redacted bundle has
// no replies to give.
func (s *Store) Reply(ctx context.Context, key string) (deem.Reply, bool, error) {
	var found *deem.Reply
	if key == "" || s.Redacted {
		return deem.Reply{}, false, nil
	}
	sel := newSelection(store.Query{WithCalls: true})
	err := s.eachRecord(ctx, s.run.ID, sel, func(rec deem.Record) bool {
		for _, c := range rec.Calls {
			if c.Reply != nil && c.Reply.Key == key && !c.Reply.Cached {
				found = c.Reply
			}
		}
		return found == nil
	})
	if err != nil || found == nil {
		return deem.Reply{}, false, err
	}
	return *found, true, nil
}

// Begin is refused.
func (s *Store) Begin(context.Context, store.Spec, bool) (store.Run, bool, error) {
	return store.Run{}, false, s.refuse()
}

// Finish is refused.
func (s *Store) Finish(context.Context, string) error { return s.refuse() }

// Append is refused.
func (s *Store) Append(context.Context, string, []deem.Record) error { return s.refuse() }

func (s *Store) refuse() error {
	return deem.WithHint(fmt.Errorf("%s: %w", s.path, ErrReadOnly), "deem run keeps what it judges in a database, named by --db")
}

// Release does nothing: nothing in a bundle is ever claimed.
func (s *Store) Release(string) error { return nil }

// Close does nothing: files are open only while they are read.
func (s *Store) Close() error { return nil }
