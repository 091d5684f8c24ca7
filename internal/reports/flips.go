package reports

import (
	"context"
	"iter"

	"deem/internal/reports/compare"
	"deem/internal/store"
)

// flipsAtOnce is the number of items that are read in one batch.
const flipsAtOnce = 200

// FlipTexts reads the texts of items on which runs differ, in batches, so that memory does
// not grow with their number.
func FlipTexts(ctx context.Context, st store.Store, runs []Compared, flips []compare.Flip) iter.Seq2[compare.FlipText, error] {
	return func(yield func(compare.FlipText, error) bool) {
		for len(flips) > 0 {
			n := min(len(flips), flipsAtOnce)
			list, err := flipTexts(ctx, st, runs, flips[:n])
			if err != nil {
				yield(compare.FlipText{}, err)
				return
			}
			for _, t := range list {
				if !yield(t, nil) {
					return
				}
			}
			flips = flips[n:]
		}
	}
}

// flipTexts reads the texts of some items from all runs.
func flipTexts(ctx context.Context, st store.Store, runs []Compared, flips []compare.Flip) ([]compare.FlipText, error) {
	list := make([]compare.FlipText, len(flips))
	place := map[string]int{}
	ids := make([]string, len(flips))
	for i, flip := range flips {
		list[i] = compare.FlipText{Flip: flip, Responses: make([]string, len(runs)), Reasons: make([]string, len(runs))}
		ids[i], place[flip.ID] = flip.ID, i
	}
	for j := len(runs) - 1; j >= 0; j-- { // the first run takes precedence
		for rec, err := range st.Records(ctx, runs[j].ID, store.Query{Trial: new(int), IDs: ids}) {
			if err != nil {
				return nil, err
			}
			t := &list[place[rec.Item.ID]]
			t.Question, t.References, t.Responses[j] = rec.Item.Question, rec.Item.References, rec.Item.Response
			if rec.Verdict != nil {
				t.Reasons[j] = rec.Verdict.Reason
			}
		}
	}
	return list, nil
}
