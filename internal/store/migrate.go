package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"deem"
)

// An Importer is a store that can import runs of another store unchanged. Callers check
// with a type assertion whether a [Store] is one; [Copy] does.
type Importer interface {
	// Import adds a run unchanged, with its id, times and state, but without records. If
	// the store already has a run with that id, it changes nothing, and added is false.
	Import(ctx context.Context, run Run) (added bool, err error)

	// PutReplies adds replies to the reply cache with their original cost, each under its
	// key. The first reply of a key stays.
	PutReplies(ctx context.Context, list []deem.Reply) error

	// Imported sets the state and the update time of a run to those in the other store. It
	// is called last, because appending records changes both.
	Imported(ctx context.Context, run Run) error
}

// A BatchLister is a store that lists the lines of its batches.
type BatchLister interface {
	// BatchLines returns the lines of a batch by key.
	BatchLines(ctx context.Context, runID, batch string) iter.Seq2[BatchLine, error]
}

// Copied is the result of [Copy].
type Copied struct {
	Runs    int `json:"runs"`    // that are in both stores now
	There   int `json:"there"`   // how many of them were already there, with all of their records
	Records int `json:"records"` // that were added
	Labels  int `json:"labels"`  // that were added, or replaced older ones
}

// copyRows is how many records are copied per commit.
const copyRows = 128

// Copy copies runs from one store to another: with their ids and times, records, calls,
// replies and batches, so that a bundle of a run is the same from either. Without ids it
// copies all runs, the oldest first, and all labels; a newer label in the other store
// stays.
//
// Runs that were already copied are not copied again, so that an interrupted copy can be
// repeated. A run that has different records in the other store is an error, and so is a
// run that is appended to while it is copied. Runs that are already in the other store
// count as older than the copied ones.
func Copy(ctx context.Context, from, to Store, ids ...string) (Copied, error) {
	var done Copied
	in, ok := to.(Importer)
	if !ok {
		return done, errors.New("the store takes in no runs of other stores")
	}
	runs, err := chosen(ctx, from, ids)
	if err != nil {
		return done, err
	}
	for _, run := range runs {
		c := copier{from: from, to: to, in: in, done: &done}
		if err := c.run(ctx, run); err != nil {
			return done, fmt.Errorf("copy run %s: %w", run.ID, err)
		}
		done.Runs++
	}
	if len(ids) == 0 {
		err = copyLabels(ctx, from, to, &done)
	}
	return done, err
}

// chosen returns the runs with the given ids, or all, ordered so that the run begun last
// comes last and "last" means the same run in the copy.
func chosen(ctx context.Context, from Store, ids []string) ([]Run, error) {
	var runs []Run
	for run, err := range from.Runs(ctx) {
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 || slices.Contains(ids, run.ID) {
			runs = append(runs, run)
		}
	}
	for _, id := range ids {
		if !slices.ContainsFunc(runs, func(run Run) bool { return run.ID == id }) {
			return nil, NotFound(id)
		}
	}
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(a.Asked, b.Asked) })
	return runs, nil
}

// A copier copies one run.
type copier struct {
	from, to Store
	in       Importer
	done     *Copied
}

func (c *copier) run(ctx context.Context, run Run) error {
	added, err := c.in.Import(ctx, run)
	if err != nil {
		return err
	}
	if !added {
		there, err := c.to.Run(ctx, run.ID)
		if err != nil {
			return err
		}
		if there.Key() != run.Key() || !there.Created.Equal(run.Created) {
			return deem.WithHint(errors.New("the other store has another run with that id"), "copy the others by naming them")
		}
		if sameRun(run, there) {
			c.done.There++
			return nil
		}
	}
	// Batches come first, because appending a record marks its line as taken.
	if err := c.batches(ctx, run.ID); err != nil {
		return err
	}
	if err := c.records(ctx, run.ID, added); err != nil {
		return err
	}
	return c.finish(ctx, run)
}

// finish checks that the runs are the same, and marks the copy as imported.
func (c *copier) finish(ctx context.Context, run Run) error {
	now, err := c.from.Run(ctx, run.ID)
	if err != nil {
		return err
	}
	if !sameRun(run, now) {
		return deem.WithHint(errors.New("it was appended to meanwhile"), "copy it again when it is done; what is there already is not copied twice")
	}
	if err := c.in.Imported(ctx, run); err != nil {
		return err
	}
	copied, err := c.to.Run(ctx, run.ID)
	if err != nil {
		return err
	}
	if !sameRun(run, copied) {
		return deem.WithHint(fmt.Errorf("the copy has %d records, %d of them unjudged, and cost %d; the run has %d, %d and %d",
			copied.Records, copied.Unjudged, copied.CostMicros, run.Records, run.Unjudged, run.CostMicros),
			"the other store had records of this run that are not in this one")
	}
	return nil
}

// sameRun reports whether two runs with the same id have the same contents, by their
// metadata.
func sameRun(a, b Run) bool {
	return a.State == b.State && a.Updated.Equal(b.Updated) &&
		a.Records == b.Records && a.Unjudged == b.Unjudged && a.CostMicros == b.CostMicros
}

// records copies the records that the other store does not have, which are all if the run
// is fresh there. It appends them in the order in which they were read, which decides
// between equal positions.
func (c *copier) records(ctx context.Context, runID string, fresh bool) error {
	group := make([]deem.Record, 0, copyRows)
	for rec, err := range c.from.Records(ctx, runID, Query{WithCalls: true}) {
		if err != nil {
			return err
		}
		if !fresh {
			status, err := c.to.Status(ctx, runID, rec.Item.ID, rec.Trial)
			if err != nil {
				return err
			}
			if status != Missing {
				continue
			}
		}
		if group = append(group, rec); len(group) == copyRows {
			if err := c.group(ctx, runID, group); err != nil {
				return err
			}
			group = group[:0]
		}
	}
	return c.group(ctx, runID, group)
}

// group copies some records, after the cached replies of their calls.
func (c *copier) group(ctx context.Context, runID string, recs []deem.Record) error {
	if len(recs) == 0 {
		return nil
	}
	var replies []deem.Reply
	for _, rec := range recs {
		for _, call := range rec.Calls {
			if call.Reply == nil || call.Reply.Key == "" {
				continue
			}
			r, ok, err := c.from.Reply(ctx, call.Reply.Key)
			if err != nil {
				return err
			}
			if ok {
				replies = append(replies, r)
			}
		}
	}
	if err := c.in.PutReplies(ctx, replies); err != nil {
		return err
	}
	if err := c.to.Append(ctx, runID, recs); err != nil {
		return err
	}
	c.done.Records += len(recs)
	return nil
}

// batches copies the batches of a run, if both stores support them.
func (c *copier) batches(ctx context.Context, runID string) error {
	from, reads := c.from.(Batches)
	to, writes := c.to.(Batches)
	lister, lists := c.from.(BatchLister)
	if !reads || !writes || !lists {
		return nil
	}
	list, err := from.Batches(ctx, runID)
	if err != nil {
		return err
	}
	for _, b := range list {
		// The batch is put with its first lines, and also if it has none.
		var lines []BatchLine
		for l, err := range lister.BatchLines(ctx, runID, b.Key) {
			if err != nil {
				return err
			}
			if lines = append(lines, l); len(lines) == copyRows {
				if err := to.PutBatch(ctx, runID, b, lines); err != nil {
					return err
				}
				lines = lines[:0]
			}
		}
		if err := to.PutBatch(ctx, runID, b, lines); err != nil {
			return err
		}
	}
	return nil
}

// copyLabels copies labels, if both stores support them.
func copyLabels(ctx context.Context, from, to Store, done *Copied) error {
	source, reads := from.(Labels)
	target, writes := to.(Labels)
	if !reads || !writes {
		return nil
	}
	there := map[[2]string]Label{}
	for l, err := range target.Labels(ctx, LabelQuery{}) {
		if err != nil {
			return err
		}
		there[[2]string{l.Item, l.Annotator}] = l
	}
	var list []Label
	for l, err := range source.Labels(ctx, LabelQuery{}) {
		if err != nil {
			return err
		}
		if old, ok := there[[2]string{l.Item, l.Annotator}]; !ok || old.Labelled.Before(l.Labelled) {
			list = append(list, l)
		}
	}
	for group := range slices.Chunk(list, copyRows) {
		if err := target.PutLabels(ctx, group); err != nil {
			return err
		}
		done.Labels += len(group)
	}
	return nil
}
