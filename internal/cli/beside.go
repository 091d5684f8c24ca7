package cli

import (
	"context"
	"iter"

	"deem"
	"deem/internal/store"
	"deem/report/agree"
)

// besides sets the judges of two runs beside each other. Both runs are read in the
// order of their items, side by side, so that memory does not grow with them.
func besides(ctx context.Context, st store.Store, first, second store.Run) (agree.Pairing, error) {
	if first.Dataset.Hash != second.Dataset.Hash {
		return agree.Pairing{}, usagef("runs %s and %s judged different items: %s (%s) and %s (%s)", first.ID, second.ID,
			first.Dataset.Names, deem.ShortHash(first.Dataset.Hash), second.Dataset.Names, deem.ShortHash(second.Dataset.Hash))
	}
	pairs := agree.NewPairs(party(first), party(second))
	a, stopA := iter.Pull2(st.Records(ctx, first.ID, store.Query{Trial: new(int), Brief: true}))
	defer stopA()
	b, stopB := iter.Pull2(st.Records(ctx, second.ID, store.Query{Trial: new(int), Brief: true}))
	defer stopB()
	ra, errA, okA := a()
	rb, errB, okB := b()
	for okA || okB {
		switch {
		case errA != nil:
			return agree.Pairing{}, errA
		case errB != nil:
			return agree.Pairing{}, errB
		case okA && okB && ra.Position == rb.Position:
			pairs.Add(ra.Item, ra.Verdict, rb.Verdict)
			ra, errA, okA = a()
			rb, errB, okB = b()
		case okA && (!okB || ra.Position < rb.Position):
			pairs.Add(ra.Item, ra.Verdict, nil)
			ra, errA, okA = a()
		default:
			pairs.Add(rb.Item, nil, rb.Verdict)
			rb, errB, okB = b()
		}
	}
	return pairs.Pairing(), nil
}

func party(run store.Run) agree.Party {
	return agree.Party{Run: run.ID, Judge: run.Judge.Name, JudgeHash: run.Judge.Hash, Model: run.Model}
}
