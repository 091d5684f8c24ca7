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
	return func(yield func(deem.Record, error) bool) {
		for rec, err := range s.Store.Records(ctx, run, q) {
			rec.Position *= maxCriteria
			if err != nil || rec.Verdict == nil || len(rec.Verdict.Parts) == 0 {
				if !yield(rec, err) {
					return
				}
				continue
			}
			id, at := rec.Item.ID, rec.Position
			rec.Item.Cluster = cmp.Or(rec.Item.Cluster, id)
			for i, p := range rec.Verdict.Parts {
				one := rec
				one.Item.ID, one.Position, one.Verdict, one.Failure = fmt.Sprintf("%s#%d", id, i+1), at+i, nil, p.Failure
				if p.Score != nil {
					one.Verdict = &deem.Verdict{Label: p.Label, Score: *p.Score, Reason: p.Reason}
				}
				if !yield(one, nil) {
					return
				}
			}
		}
	}
}
