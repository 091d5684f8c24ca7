package benchmark_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/benchmark"
	"deem/stat"
)

func judged(score float64) deem.Record {
	return deem.Record{Verdict: &deem.Verdict{Score: score}}
}

func unjudged() deem.Record {
	return deem.Record{Failure: deem.Failf(deem.Empty, "nothing")}
}

func of(records ...deem.Record) *benchmark.Tally {
	var t benchmark.Tally
	for _, rec := range records {
		t.Add(rec)
	}
	return &t
}

// TestRightOrWrong checks that verdicts of 0 and 1 have Wilson's interval, to the last
// digit, for any number of items.
func TestRightOrWrong(t *testing.T) {
	for n := 1; n <= 60; n++ {
		for k := 0; k <= n; k++ {
			var got benchmark.Tally
			for i := range n {
				score := 0.0
				if i < k {
					score = 1
				}
				got.Score("", score)
			}
			if diff := cmp.Diff(stat.Proportion(k, n, stat.DefaultLevel), *got.Estimate(false)); diff != "" || got.Right() != k {
				t.Fatalf("%d of %d: Right = %d, estimate (-want +got):\n%s", k, n, got.Right(), diff)
			}
		}
	}
}

func TestGraded(t *testing.T) {
	got := of(judged(0.5), unjudged(), judged(1), judged(0))
	if got.N() != 3 || got.Unjudged() != 1 || got.All() != 4 || got.Right() != 1 || got.Mean() != 0.5 {
		t.Errorf("N, Unjudged, All, Right, Mean = %d, %d, %d, %d, %v, want 3, 1, 4, 1, 0.5",
			got.N(), got.Unjudged(), got.All(), got.Right(), got.Mean())
	}
	if est := got.Estimate(false); est.Method != "t" || est.Value != 0.5 || est.N != 3 {
		t.Errorf("Estimate = %+v, want 0.5 of 3 by Student", *est)
	}
}

// TestSum checks that the sum is that of upstream, in order of the scores, and that the
// mean does not depend on the order.
func TestSum(t *testing.T) {
	scores := []float64{0.1, 0.2, 0.3}
	there, back := of(), of()
	for i := range scores {
		there.Score("", scores[i])
		back.Score("", scores[len(scores)-1-i])
	}
	if there.Sum() == back.Sum() {
		t.Errorf("Sum = %v both ways, want the last digits to differ", there.Sum())
	}
	if there.Mean() != back.Mean() {
		t.Errorf("Mean = %v and %v, want the same", there.Mean(), back.Mean())
	}
}

// TestNothing checks that a line without a verdict has no number: unjudged is not wrong.
func TestNothing(t *testing.T) {
	l := of(unjudged(), unjudged()).Line(false)
	if diff := cmp.Diff(benchmark.Line{Unjudged: 2}, l); diff != "" {
		t.Errorf("Line (-want +got):\n%s", diff)
	}
	if got := benchmark.Interval(l.Estimate); got != "-" {
		t.Errorf("Interval = %q, want -", got)
	}
	data, err := json.Marshal(l)
	if want := `{"n":0,"unjudged":2,"estimate":null}`; err != nil || string(data) != want {
		t.Errorf("JSON = %s, %v, want %s", data, err, want)
	}
	if diff := cmp.Diff(benchmark.Line{Unjudged: 4}, benchmark.Mean([]benchmark.Line{l, l})); diff != "" {
		t.Errorf("Mean of nothing (-want +got):\n%s", diff)
	}
}

func TestInterval(t *testing.T) {
	if got := benchmark.Interval(&benchmark.Estimate{Lo: 0.1234, Hi: 1}); got != "[12.3, 100.0]" {
		t.Errorf("Interval = %q, want [12.3, 100.0]", got)
	}
}

// TestMeanOfOne checks that the mean over one line is that line.
func TestMeanOfOne(t *testing.T) {
	l := of(judged(1), judged(0), judged(1)).Line(false)
	got := benchmark.Mean([]benchmark.Line{l, {Unjudged: 5}})
	if got.N != 3 || got.Unjudged != 5 || got.Estimate.Method != benchmark.MethodMover {
		t.Errorf("Mean = %+v by %s, want 3 judged, 5 unjudged, by mover", got, got.Estimate.Method)
	}
	for _, pair := range [][2]float64{
		{got.Estimate.Value, l.Estimate.Value},
		{got.Estimate.Lo, l.Estimate.Lo},
		{got.Estimate.Hi, l.Estimate.Hi},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-15 {
			t.Errorf("Mean = %+v, want %+v", *got.Estimate, *l.Estimate)
		}
	}
}

// TestMean checks that each line has the same weight, and that the interval contains the
// value, stays within 0 and 1, and is not wider than the widest line.
func TestMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines []benchmark.Line
		sum, widest := 0.0, 0.0
		for range rapid.IntRange(1, 8).Draw(t, "lines") {
			var one benchmark.Tally
			for _, score := range rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 9).Draw(t, "scores") {
				one.Score("", score)
			}
			lines = append(lines, one.Line(false))
			sum += one.Estimate(false).Value
			widest = max(widest, one.Estimate(false).Hi-one.Estimate(false).Lo)
		}
		est := benchmark.Mean(lines).Estimate
		if want := sum / float64(len(lines)); math.Abs(est.Value-want) > 1e-12 {
			t.Errorf("Mean = %v, want %v", est.Value, want)
		}
		if est.Lo < 0 || est.Lo > est.Value || est.Hi < est.Value || est.Hi > 1 || est.Hi-est.Lo > widest+1e-12 {
			t.Errorf("Mean = %v in [%v, %v], want the value within, and at most %v wide", est.Value, est.Lo, est.Hi, widest)
		}
	})
}
