package reports

import (
	"context"
	"iter"

	"deem"
	"deem/internal/store"
	"deem/report"
)

// Counted returns the records that the report of a run counts: all of them or, if the run
// has a stopping rule, those up to the place where it held.
func Counted(ctx context.Context, st store.Store, run store.Run, q store.Query) iter.Seq2[deem.Record, error] {
	if c, ok := st.(byCriterion); ok {
		return criteriaOf(Counted(ctx, c.Store, run, q))
	}
	records := st.Records(ctx, run.ID, q)
	h := Head(run, 1)
	if h.Until == nil {
		return records
	}
	return func(yield func(deem.Record, error) bool) {
		b, next := report.New(h), 0
		for rec, err := range records {
			if err != nil {
				yield(rec, err)
				return
			}
			// As in a report, the rule is looked at in the order of the items.
			if rec.Position != next || store.IsUnfinished(rec) || !b.Add(rec) {
				return
			}
			if next++; !yield(rec, nil) {
				return
			}
		}
	}
}

// byItem yields the records of each item, which follow one another.
func byItem(records iter.Seq2[deem.Record, error]) iter.Seq2[[]deem.Record, error] {
	return func(yield func([]deem.Record, error) bool) {
		var trials []deem.Record
		for rec, err := range records {
			if len(trials) > 0 && (err != nil || rec.Position != trials[0].Position || rec.Item.ID != trials[0].Item.ID) {
				if !yield(trials, nil) {
					return
				}
				trials = nil
			}
			if err != nil {
				yield(nil, err)
				return
			}
			trials = append(trials, rec)
		}
		if len(trials) > 0 {
			yield(trials, nil)
		}
	}
}
