package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/store"
	"deem/internal/test/storetest"
)

// TestBulk checks that appending records all at once gives the same store as appending them
// one by one: with items, trials and replies that are new, that already exist, and that
// occur twice in the same append.
func TestBulk(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the test must be the same each time
		recs := jumble(rng, 100)
		whole, wholeRun := begin(t)
		single, singleRun := begin(t)
		for _, group := range [][]deem.Record{recs[:20], recs[20:]} {
			if err := whole.Append(t.Context(), wholeRun.ID, group); err != nil {
				t.Fatal(err)
			}
		}
		for i := range recs {
			if err := single.Append(t.Context(), singleRun.ID, recs[i:i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(contents(t, single, singleRun.ID), contents(t, whole, wholeRun.ID)); d != "" {
			t.Fatalf("seed %d: the stores differ (-one by one +at once):\n%s", seed, d)
		}
	}
}

// jumble returns records of few items, with few different replies.
func jumble(rng *rand.Rand, n int) []deem.Record {
	recs := make([]deem.Record, n)
	for i := range recs {
		rec := storetest.Record(rng.IntN(n))
		if rng.IntN(5) == 0 {
			rec = storetest.Failed(rng.IntN(n), deem.Empty)
		}
		rec.Trial = rng.IntN(2)
		if rng.IntN(3) == 0 {
			rec.Item.Response = storetest.Text(fmt.Sprint(rng.IntN(3)), 600)
		}
		for k := range rec.Calls {
			if r := rec.Calls[k].Reply; r != nil {
				changed := *r
				changed.Key = []string{"", r.Key, fmt.Sprint("key", rng.IntN(9))}[rng.IntN(3)]
				changed.Text = fmt.Sprint("text", rng.IntN(2))
				rec.Calls[k].Reply = &changed
			}
		}
		if rng.IntN(4) == 0 {
			rec.Calls = append(rec.Calls, rec.Calls...)
		}
		recs[i] = rec
	}
	return recs
}

// contents returns everything that a store returns about a run.
func contents(t *testing.T, s store.Store, runID string) map[string]any {
	t.Helper()
	var recs []deem.Record
	all := map[string]any{}
	for rec, err := range s.Records(t.Context(), runID, store.Query{WithCalls: true}) {
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec)
		for _, c := range rec.Calls {
			if c.Reply == nil || c.Reply.Key == "" {
				continue
			}
			r, ok, err := s.Reply(t.Context(), c.Reply.Key)
			if !ok || err != nil {
				t.Fatalf("Reply(%q) = %v, %v", c.Reply.Key, ok, err)
			}
			all["reply "+c.Reply.Key] = r
		}
	}
	run, err := s.Run(t.Context(), runID)
	if err != nil {
		t.Fatal(err)
	}
	all["records"], all["counts"] = recs, []any{run.Records, run.Unjudged, run.CostMicros}
	return all
}
