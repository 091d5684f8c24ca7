package reports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"deem"
	"deem/bundle"
	"deem/internal/store"
)

// ErrReadOnly means that a bundle cannot be written to.
var ErrReadOnly = errors.New("a run file is only read")

// A RunFile is a run file read as a store: one read-only run. So every command that reads
// a run can read a file as well. Its records are in the order of the dataset and are
// streamed. There is no index: finding one item reads the whole file.
type RunFile struct {
	path string
	run  store.Run

	// Redacted means that texts are replaced by their hashes.
	Redacted bool
}

var _ store.Store = (*RunFile)(nil)

// OpenRunFile opens a bundle. It reads only the part before the first item; Records checks at the
// end that the rest is complete.
func OpenRunFile(path string) (*RunFile, error) {
	s := &RunFile{path: path}
	f, r, err := s.open()
	if err != nil {
		return nil, err
	}
	s.run, s.Redacted = RunOfFile(r.Run, r.Judge), r.Header.Redacted
	return s, f.Close()
}

func (s *RunFile) open() (io.Closer, *bundle.Reader, error) {
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

// explain adds the file and a hint to an error.
func (s *RunFile) explain(err error) error {
	wrapped := fmt.Errorf("%s: %w", s.path, err)
	switch {
	case errors.Is(err, bundle.ErrNewer):
		return deem.WithHint(wrapped, "a newer deem reads it")
	case errors.Is(err, bundle.ErrDamaged):
		return deem.WithHint(wrapped, "deem verify %s says what is wrong with it", s.path)
	}
	return wrapped
}

// RunOfFile returns the run described by a bundle.
func RunOfFile(r bundle.Run, j bundle.Judge) store.Run {
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

// DescribeRun returns the description of a run in a bundle.
func DescribeRun(run store.Run) (bundle.Run, bundle.Judge) {
	j := bundle.Judge{Name: run.Judge.Name, Hash: run.Judge.Hash, Identity: run.Judge.Identity, Rule: run.Judge.Rule}
	return bundle.Run{
		ID: run.ID, Model: run.Model, Endpoint: run.Endpoint, Trials: run.Trials, Settings: run.Settings,
		Dataset: bundle.Dataset{Names: run.Dataset.Names, Hash: run.Dataset.Hash, Items: run.Dataset.Items},
		State:   string(run.State), Created: run.Created, Updated: run.Updated,
		Records: run.Records, Unjudged: run.Unjudged, CostMicros: run.CostMicros,
	}, j
}

// Run returns the run of the bundle, if ref matches it.
func (s *RunFile) Run(_ context.Context, ref string) (store.Run, error) {
	if _, err := store.Resolve(ref, []string{s.run.ID}, []string{s.run.ID}); err != nil {
		return store.Run{}, fmt.Errorf("%s: %w", s.path, err)
	}
	return s.run, nil
}

// Runs returns the run of the bundle.
func (s *RunFile) Runs(context.Context) iter.Seq2[store.Run, error] {
	return func(yield func(store.Run, error) bool) { yield(s.run, nil) }
}

// Records streams the records that q selects.
func (s *RunFile) Records(ctx context.Context, runID string, q store.Query) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		if err := s.eachRecord(ctx, runID, q, func(rec deem.Record) bool { return yield(rec, nil) }); err != nil {
			yield(deem.Record{}, err)
		}
	}
}

// eachRecord passes the records that q selects to yield until it returns false.
func (s *RunFile) eachRecord(ctx context.Context, runID string, q store.Query, yield func(deem.Record) bool) error {
	if runID != s.run.ID {
		return deem.WithHint(fmt.Errorf("run %q: %w in %s", runID, store.ErrNotFound, s.path), "the file holds run %s", s.run.ID)
	}
	f, r, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // Closing after reading loses nothing.
	ids := map[string]bool{}
	for _, id := range q.IDs {
		ids[id] = true
	}
	passed, left := q.After == nil, q.Limit
	for rec, err := range r.Records() {
		if err != nil {
			return s.explain(err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if at := q.After; !passed {
			// Records of several items may have the same position; then the one that the
			// cursor names decides.
			switch {
			case rec.Position != at.Position:
				passed = rec.Position > at.Position
			case rec.Trial != at.Trial:
				passed = rec.Trial > at.Trial
			case rec.Item.ID == at.ID:
				passed = true
				continue
			}
		}
		switch {
		case !passed,
			len(ids) > 0 && !ids[rec.Item.ID],
			q.Trial != nil && rec.Trial != *q.Trial,
			len(q.Categories) > 0 && !slices.Contains(q.Categories, rec.Item.Category),
			len(q.Labels) > 0 && (rec.Verdict == nil || !slices.Contains(q.Labels, rec.Verdict.Label)),
			len(q.Kinds) > 0 && (rec.Failure == nil || !slices.Contains(q.Kinds, rec.Failure.Kind)),
			q.Unjudged && rec.Failure == nil:
			continue
		}
		if !q.WithCalls {
			rec.Calls = nil
		}
		if q.Brief {
			it := &rec.Item
			it.Question, it.References, it.Response, it.Fields, it.Messages = "", nil, "", nil, nil
			for _, c := range rec.Calls {
				if r := c.Reply; r != nil {
					r.Text, r.Refusal, r.Logprobs = "", "", nil
				}
			}
		}
		if left--; !yield(rec) || left == 0 { // without a limit it is never 0
			return nil
		}
	}
	return ctx.Err()
}

// Status reads the whole file. A run in a bundle is never resumed, so Status is not called
// for each item.
func (s *RunFile) Status(ctx context.Context, runID, itemID string, trial int) (store.Status, error) {
	status := store.Missing
	err := s.eachRecord(ctx, runID, store.Query{IDs: []string{itemID}, Trial: &trial, Limit: 1}, func(rec deem.Record) bool {
		status = store.Judged
		if rec.Failure != nil {
			status = store.Unjudged
		}
		return false
	})
	return status, err
}

// Reply searches the whole file for the original reply. A redacted bundle has no replies.
func (s *RunFile) Reply(ctx context.Context, key string) (deem.Reply, bool, error) {
	var found *deem.Reply
	if key == "" || s.Redacted {
		return deem.Reply{}, false, nil
	}
	err := s.eachRecord(ctx, s.run.ID, store.Query{WithCalls: true}, func(rec deem.Record) bool {
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

// Begin returns an error.
func (s *RunFile) Begin(context.Context, store.Spec, bool) (store.Run, bool, error) {
	return store.Run{}, false, s.refuse()
}

// Finish returns an error.
func (s *RunFile) Finish(context.Context, string) error { return s.refuse() }

// Append returns an error.
func (s *RunFile) Append(context.Context, string, []deem.Record) error { return s.refuse() }

func (s *RunFile) refuse() error {
	return fmt.Errorf("%s: %w", s.path, ErrReadOnly)
}

// Release does nothing: a run in a bundle is never claimed.
func (s *RunFile) Release(string) error { return nil }

// Close does nothing: files are open only while they are read.
func (s *RunFile) Close() error { return nil }
