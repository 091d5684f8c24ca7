package pairwise_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"deem"
	"deem/judge"
	"deem/judge/pairwise"
	"deem/model/fake"
)

// FuzzJudge gives arbitrary replies to both orders of a pair. The verdict is A, B or a tie
// with a matching score, or a failure. A model that gives the same reply in both orders
// prefers neither.
func FuzzJudge(f *testing.F) {
	f.Add("A", "B", "x", "y")
	f.Add("A", "A", "x", "y")
	f.Add("Verdict: B", "tie", "x", "x")
	f.Add("Both are fine", "", "A", "Verdict: A")
	p, err := pairwise.Declaration().Protocol("")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, first, second, a, b string) {
		calls := 0
		m := fake.Func("fuzz", func(context.Context, deem.Request) (deem.Reply, error) {
			calls++
			return deem.Reply{Text: []string{first, second}[(calls-1)%2], Stop: deem.StopEnd}, nil
		})
		v, err := pairwise.New("", judge.New(p, m)).Judge(t.Context(), pair(a, b))
		if err != nil {
			if _, ok := errors.AsType[*deem.Failure](err); !ok {
				t.Errorf("%q and %q: %v, which is not a failure", first, second, err)
			}
			return
		}
		want := map[string]bool{"A": v.Score > 0.5, "B": v.Score < 0.5, pairwise.Tie: v.Score == 0.5}
		if !want[v.Label] {
			t.Errorf("%q and %q of a pair: %+v", first, second, v)
		}
		if first == second && v.Label != pairwise.Tie && !strings.Contains(first, a) && !strings.Contains(first, b) {
			t.Errorf("%q whatever the order: %+v, want a tie", first, v)
		}
	})
}
