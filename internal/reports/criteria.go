package reports

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"deem"
	"deem/internal/store"
)

// ByCriterion returns a store in which each criterion of an item is a separate item, so
// that code that compares items compares criteria. The n-th criterion of item q1 has the id
// q1#n, from 1, and the criteria of an item form a cluster. An item without verdicts on
// criteria is unchanged.
func ByCriterion(st store.Store) store.Store { return byCriterion{st} }

type byCriterion struct{ store.Store }

// maxCriteria exceeds the number of criteria of any item. Positions are multiplied by it to
// make room for criteria.
const maxCriteria = 1 << 20

// Records yields a record for each criterion.
func (s byCriterion) Records(ctx context.Context, run string, q store.Query) iter.Seq2[deem.Record, error] {
	return criteriaOf(s.Store.Records(ctx, run, q))
}

// criteriaOf yields a record for each criterion and trial, the trials of a criterion after
// one another.
func criteriaOf(records iter.Seq2[deem.Record, error]) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		for trials, err := range byItem(records) {
			if err != nil {
				yield(deem.Record{}, err)
				return
			}
			most := 0
			for _, rec := range trials {
				if rec.Verdict != nil {
					most = max(most, len(rec.Verdict.Parts))
				}
			}
			for i := range max(most, 1) {
				for _, rec := range trials {
					if rec = criterion(rec, i, most); !yield(rec, nil) {
						return
					}
				}
			}
		}
	}
}

// criterion returns the record of the i-th criterion of an item, of which there are n. A
// trial without it is one without a verdict.
func criterion(rec deem.Record, i, n int) deem.Record {
	rec.Position = rec.Position*maxCriteria + i
	if n == 0 {
		return rec
	}
	rec.Item.Cluster = cmp.Or(rec.Item.Cluster, rec.Item.ID)
	rec.Item.ID = fmt.Sprintf("%s#%d", rec.Item.ID, i+1)
	if rec.Verdict == nil {
		return rec
	}
	parts := rec.Verdict.Parts
	if rec.Verdict = nil; i >= len(parts) {
		rec.Failure = deem.Failf(deem.Unparseable, "the verdict has no criterion %d", i+1)
		return rec
	}
	p := parts[i]
	if rec.Failure = p.Failure; p.Score != nil {
		rec.Verdict = &deem.Verdict{Label: p.Label, Score: *p.Score, Reason: p.Reason}
	}
	return rec
}
