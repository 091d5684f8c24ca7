package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"deem"
)

// Copied is the result of [Copy].
type Copied struct {
	Runs    int `json:"runs"`    // that are in both stores now
	There   int `json:"there"`   // how many of them were already there, with all of their records
	Records int `json:"records"` // that were added
	Labels  int `json:"labels"`  // that were added, or replaced older ones
}

// copyRows is how many records are copied per commit.
const copyRows = 128

// Copy copies runs from one database to another: with their ids and times, records, calls,
// replies and batches, so that a bundle of a run is the same from either. Without ids it
// copies all runs, the oldest first, and all labels; a newer label in the other database
// stays.
//
// Runs that were already copied are not copied again, so that an interrupted copy can be
// repeated. A run that has different records in the other database is an error, and so is a
// run that is appended to while it is copied. Runs that are already in the other database
// count as older than the copied ones.
func Copy(ctx context.Context, from, to Database, ids ...string) (Copied, error) {
	c := copier{from: from, to: to}
	var runs []Run
	for run, err := range from.Runs(ctx) {
		if err != nil {
			return c.done, err
		}
		if len(ids) == 0 || slices.Contains(ids, run.ID) {
			runs = append(runs, run)
		}
	}
	for _, id := range ids {
		if !slices.ContainsFunc(runs, func(run Run) bool { return run.ID == id }) {
			return c.done, NotFound(id)
		}
	}
	// The run begun last comes last, so that "last" means the same run in the copy.
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(a.Asked, b.Asked) })
	for _, run := range runs {
		if err := c.run(ctx, run); err != nil {
			return c.done, fmt.Errorf("copy run %s: %w", run.ID, err)
		}
		c.done.Runs++
	}
	if len(ids) > 0 {
		return c.done, nil
	}
	there := map[[2]string]Label{}
	for l, err := range to.Labels(ctx, LabelQuery{}) {
		if err != nil {
			return c.done, err
		}
		there[[2]string{l.Item, l.Annotator}] = l
	}
	var list []Label
	for l, err := range from.Labels(ctx, LabelQuery{}) {
		if err != nil {
			return c.done, err
		}
		if old, ok := there[[2]string{l.Item, l.Annotator}]; !ok || old.Labelled.Before(l.Labelled) {
			list = append(list, l)
		}
	}
	for group := range slices.Chunk(list, copyRows) {
		if err := to.PutLabels(ctx, group); err != nil {
			return c.done, err
		}
		c.done.Labels += len(group)
	}
	return c.done, nil
}

// A copier copies runs.
type copier struct {
	from, to Database
	done     Copied
}

func (c *copier) run(ctx context.Context, run Run) error {
	added, err := c.to.Import(ctx, run)
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
	now, err := c.from.Run(ctx, run.ID)
	if err != nil {
		return err
	}
	if !sameRun(run, now) {
		return deem.WithHint(errors.New("it was appended to meanwhile"), "copy it again when it is done; what is there already is not copied twice")
	}
	if err := c.to.Imported(ctx, run); err != nil {
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
	return a.Same(b) && a.Unjudged == b.Unjudged && a.CostMicros == b.CostMicros
}

// records copies the records that the other store does not have, which are all if the run
// is fresh there. It appends them in the order in which they were read, which decides
// between equal positions.
func (c *copier) records(ctx context.Context, runID string, fresh bool) error {
	var recs []deem.Record
	var replies []deem.Reply // that the calls of recs may have from the cache
	put := func() error {
		if len(recs) == 0 {
			return nil
		}
		if err := c.to.PutReplies(ctx, replies); err != nil {
			return err
		}
		if err := c.to.Append(ctx, runID, recs); err != nil {
			return err
		}
		c.done.Records += len(recs)
		recs, replies = recs[:0], replies[:0]
		return nil
	}
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
		if recs = append(recs, rec); len(recs) == copyRows {
			if err := put(); err != nil {
				return err
			}
		}
	}
	return put()
}

func (c *copier) batches(ctx context.Context, runID string) error {
	list, err := c.from.Batches(ctx, runID)
	if err != nil {
		return err
	}
	for _, b := range list {
		// The batch is put with its first lines, and also if it has none.
		var lines []BatchLine
		for l, err := range c.from.BatchLines(ctx, runID, b.Key) {
			if err != nil {
				return err
			}
			if lines = append(lines, l); len(lines) == copyRows {
				if err := c.to.PutBatch(ctx, runID, b, lines); err != nil {
					return err
				}
				lines = lines[:0]
			}
		}
		if err := c.to.PutBatch(ctx, runID, b, lines); err != nil {
			return err
		}
	}
	return nil
}
