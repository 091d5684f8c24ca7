package agreement_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/agreement"
)

func TestCochranQ(t *testing.T) {
	// Rows with 2, 1, 1, 3, 0 and 2 yes; columns with 5, 3 and 1: by hand
	// Q = 2·(3·(25+9+1) - 81)/(27 - 19) = 6.
	got := agreement.CochranQ([][]float64{{1, 1, 0}, {1, 0, 0}, {1, 0, 0}, {1, 1, 1}, {0, 0, 0}, {1, 1, 0}})
	if math.Abs(got.Statistic-6) > 1e-12 || math.Abs(got.P-math.Exp(-3)) > 1e-12 || got.Method != "cochran-q" || got.N != 6 || got.Warnings != nil {
		t.Errorf("CochranQ = %+v, want 6 with p = exp(-3)", got)
	}
	for name, rows := range map[string][][]float64{"nothing": nil, "one run": {{1}, {0}}, "no difference": {{1, 1}, {0, 0}}} {
		for _, test := range []float64{agreement.CochranQ(rows).P, agreement.ClusteredQ(rows, 1).P} {
			if test != 1 {
				t.Errorf("%s: p = %v, want 1", name, test)
			}
		}
		if len(agreement.CochranQ(rows).Warnings) != 1 || len(agreement.ClusteredQ(rows, 1).Warnings) != 1 {
			t.Errorf("%s: no warning", name)
		}
	}
}

// With two runs, Cochran's test is McNemar's without correction.
func TestCochranQOfTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []float64 {
			return []float64{float64(rapid.IntRange(0, 1).Draw(t, "x")), float64(rapid.IntRange(0, 1).Draw(t, "y"))}
		}), 1, 60).Draw(t, "rows")
		up, differ := 0.0, 0.0
		for _, row := range rows {
			up += row[0] - row[1]
			differ += math.Abs(row[0] - row[1])
		}
		want := 1.0
		if differ > 0 {
			want = math.Erfc(math.Abs(up) / math.Sqrt(2*differ))
		}
		if q := agreement.CochranQ(rows); math.Abs(q.P-want) > 1e-9 {
			t.Fatalf("CochranQ = %+v, McNemar's p is %v", q, want)
		}
	})
}

// Whole clusters are permuted: three runs that differ in all of few clusters alike are not a
// finding, and many clusters that point one way are one.
func TestClusteredQ(t *testing.T) {
	if test := agreement.ClusteredQ([][]float64{{9, 5, 1}}, 1); test.P < 0.3 { // 2 of 6 orders are as extreme
		t.Errorf("one cluster gives p = %v", test.P)
	}
	var many [][]float64
	for range 20 {
		many = append(many, []float64{9, 5, 1})
	}
	many = append(many, []float64{3, 3, 3})
	if test := agreement.ClusteredQ(many, 1); test.P > 0.001 || test.N != 20 {
		t.Errorf("twenty clusters give %+v", test)
	}
}
