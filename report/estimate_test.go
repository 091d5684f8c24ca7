package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deem"
	"deem/report"
	"deem/stat"
)

// clustered returns records of items in clusters, some of which are harder than others.
func clustered(rng *rand.Rand, clusters, items int, fractions bool) []deem.Record {
	ease := make([]float64, clusters)
	for i := range ease {
		ease[i] = 0.3 + 0.5*rng.Float64()
	}
	recs := make([]deem.Record, items)
	for i := range recs {
		c := rng.IntN(clusters)
		rec := yes(i, rng.Float64() < ease[c])
		if fractions {
			rec.Verdict = &deem.Verdict{Label: "graded", Score: ease[c] * rng.Float64()}
		}
		rec.Item.Cluster = fmt.Sprint("c", c)
		recs[i] = rec
	}
	return recs
}

// near reports whether two numbers are equal up to rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

// The report keeps fixed-point sums by cluster. They must give the same result as package
// stat gives for the items themselves.
func TestClustersAreThoseOfStat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		recs := clustered(rng, rapid.IntRange(2, 12).Draw(t, "clusters"), rapid.IntRange(20, 60).Draw(t, "items"), rapid.Bool().Draw(t, "fractions"))
		var judged, strict stat.Clustered
		h := head()
		h.MaxUnjudged = new(1.0)
		for i := range recs {
			rec := &recs[i]
			rec.Item.Weight = rapid.SampledFrom([]float64{0, 1, 0.3, 7}).Draw(t, "weight")
			if rapid.IntRange(0, 5).Draw(t, "alone") == 0 {
				rec.Item.Cluster = ""
			}
			weight := rec.Item.Weight
			if weight == 0 {
				weight = 1
			}
			if rapid.IntRange(0, 6).Draw(t, "failure") == 0 {
				rec.Verdict, rec.Failure = nil, deem.Failf(deem.Empty, "")
				strict.Add(rec.Item.Cluster, 0, weight)
				continue
			}
			judged.Add(rec.Item.Cluster, rec.Verdict.Score, weight)
			strict.Add(rec.Item.Cluster, rec.Verdict.Score, weight)
		}
		r := build(h, recs).Report()
		if !r.Clusters.Robust || judged.Clusters() == 0 {
			return // no item has a cluster, or nothing was judged
		}
		f := r.Metrics[0]
		compareEstimates(t, "judged", *f.Judged, judged.Mean(0.95, stat.Unit))
		compareEstimates(t, "strict", f.Strict, strict.Mean(0.95, stat.Unit))
		if f.Strict.Method == "wilson" || f.Strict.Method == "t" {
			t.Fatalf("method = %q, want one that allows for clusters", f.Strict.Method)
		}
	})
}

// compareEstimates compares the estimate of the report with that of stat. With few
// clusters, the report may only widen the interval.
func compareEstimates(t *rapid.T, what string, got, want stat.Estimate) {
	t.Helper()
	const rounding = 1e-9
	if slices.ContainsFunc(got.Warnings, lucky) && got.Lo <= want.Lo+rounding && got.Hi >= want.Hi-rounding {
		want.Lo, want.Hi = got.Lo, got.Hi
	}
	if !near(got.Value, want.Value) || !near(got.Lo, want.Lo) || !near(got.Hi, want.Hi) || !near(got.SE, want.SE) ||
		!near(got.EffectiveN, want.EffectiveN) || got.N != want.N || got.Clusters != want.Clusters || got.Method != want.Method {
		t.Fatalf("%s = %+v, want %+v as stat.Clustered has it", what, got, want)
	}
}

func lucky(warning string) bool { return strings.HasPrefix(warning, "with so few clusters") }

// Few clusters whose items differ more than elsewhere do not narrow an interval; many do.
func TestFewClustersNarrowNothing(t *testing.T) {
	for clusters, narrower := range map[int]bool{6: false, 60: true} {
		var recs []deem.Record
		for i := range 20 * clusters {
			rec := yes(i, i%20 < 9+i/20%3) // about as many right as wrong in each cluster
			rec.Item.Cluster = fmt.Sprint(i / 20)
			recs = append(recs, rec)
		}
		est := build(head(), recs).Report().Metrics[0].Judged
		alone := stat.Proportion(10*clusters, 20*clusters, stat.DefaultLevel)
		if got := est.Hi-est.Lo < alone.Hi-alone.Lo; got != narrower || slices.ContainsFunc(est.Warnings, lucky) == narrower {
			t.Errorf("%d clusters: [%v, %v] beside [%v, %v] with warnings %q; want narrower: %t", clusters, est.Lo, est.Hi, alone.Lo, alone.Hi, est.Warnings, narrower)
		}
	}
}

// The detectable difference is bounded by the number of clusters: a comparison flips whole
// clusters, and five clusters have only 32 combinations.
func TestDetectableInFewClusters(t *testing.T) {
	least := func(clusters int) float64 {
		recs := many(301, 600)
		for i := range recs {
			if clusters > 0 {
				recs[i].Item.Cluster = fmt.Sprint("c", i%clusters) // nearly identical, so that clustering itself has no cost
			}
		}
		return build(head(), recs).Report().Detectable.Difference
	}
	alone := least(0)
	for _, tt := range []struct {
		clusters int
		lo, hi   float64 // as multiples of the difference that independent items show
	}{
		{1, 1 / alone, 1 / alone},
		{5, 1 / alone, 1 / alone},
		{6, 1.4, 1.7},
		{10, 1.05, 1.3},
		{60, 1, 1.04},
	} {
		if got := least(tt.clusters) / alone; !(got >= tt.lo-1e-9 && got <= tt.hi+1e-9) {
			t.Errorf("%d clusters show %.2f times what items alone do, want %.2f to %.2f", tt.clusters, got, tt.lo, tt.hi)
		}
	}
}

// Fully dependent items of one cluster count as one item.
func TestClustersWiden(t *testing.T) {
	recs := many(0, 400)
	for i := range recs {
		recs[i] = yes(i, i%40 < 20)
		recs[i].Item.Cluster = fmt.Sprint(i % 40)
	}
	r := build(head(), recs).Report()
	est := r.Metrics[0].Judged
	if est.Method != "cluster-robust" || est.Clusters != 40 {
		t.Fatalf("method %q with %d clusters, want %q with 40", est.Method, est.Clusters, "cluster-robust")
	}
	one := stat.Proportion(20, 40, stat.DefaultLevel)
	if width := est.Hi - est.Lo; math.Abs(width-(one.Hi-one.Lo)) > 0.02 {
		t.Errorf("the interval [%v, %v] is %v wide, want about that of 40 items, %v", est.Lo, est.Hi, width, one.Hi-one.Lo)
	}
	if d := r.Clusters.DesignEffect; d < 9 || d > 11 {
		t.Errorf("design effect = %v, want about 10", d)
	}
}

// With more clusters than can be kept apart, intervals stay valid and do not depend on the
// order.
func TestManyClusters(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	n := report.MaxNamed + 5_000
	var recs []deem.Record
	var exact stat.Clustered
	for c := range n {
		right := rng.IntN(2) == 0
		for k := range 2 {
			rec := item(2*c + k)
			rec.Verdict = &deem.Verdict{Label: "x"}
			if right {
				rec.Verdict.Score = 1
			}
			rec.Item.Cluster = fmt.Sprint("conversation ", c)
			recs = append(recs, rec)
			exact.Add(rec.Item.Cluster, rec.Verdict.Score, 1)
		}
	}
	r := build(head(), recs).Report()
	if !r.Clusters.More || !r.Clusters.Robust {
		t.Errorf("clusters = %+v, want more than are told apart", r.Clusters)
	}
	got, want := r.Metrics[0].Judged, exact.Mean(0.95, stat.Unit)
	if got.Clusters > report.MaxNamed {
		t.Errorf("%d groups are kept, want at most %d", got.Clusters, report.MaxNamed)
	}
	if ratio := got.SE / want.SE; ratio < 0.98 || ratio > 1.02 {
		t.Errorf("standard error = %v, want within 2%% of %v", got.SE, want.SE)
	}
	rng.Shuffle(len(recs), func(i, j int) { recs[i], recs[j] = recs[j], recs[i] })
	if again := build(head(), recs).Report().Metrics[0].Judged; again.Lo != got.Lo || again.Hi != got.Hi {
		t.Errorf("in another order the interval is [%v, %v], want [%v, %v]", again.Lo, again.Hi, got.Lo, got.Hi)
	}
}

// Fixed-point sums are accurate to the last digits in any order.
func TestFixed(t *testing.T) {
	tests := []struct {
		numbers []float64
		want    float64
	}{
		{nil, 0},
		{[]float64{1}, 1},
		{[]float64{0.1}, 0.1},
		{[]float64{1e9, 1e-9}, 1e9 + 1e-9},
		{[]float64{0.1, 0.2, 0.3}, 0.6},
		{[]float64{1e-40}, 0},
		{[]float64{-1, math.NaN()}, 0},
		{[]float64{math.Ldexp(1, 55)}, math.Ldexp(1, 55)},
		{[]float64{1e300}, math.Ldexp(1, 56)},
		{[]float64{math.Ldexp(1, 55), math.Ldexp(1, 55), 1}, math.Ldexp(1, 56)},
		{[]float64{math.Ldexp(1, -72), math.Ldexp(1, -73)}, math.Ldexp(1, -71)},
	}
	for _, tt := range tests {
		if got := report.Fixed(tt.numbers...); math.Abs(got-tt.want) > 1e-15*tt.want {
			t.Errorf("the sum of %v = %v, want %v", tt.numbers, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Float64Range(0, 1e9), 1, 20).Draw(t, "numbers")
		a := report.Fixed(numbers...)
		if b := report.Fixed(rapid.Permutation(numbers).Draw(t, "order")...); a != b {
			t.Fatalf("the sum is %v in one order and %v in another", a, b)
		}
		sum := 0.0
		for _, x := range numbers {
			sum += x
		}
		if math.Abs(a-sum) > 1e-12*sum+1e-20 {
			t.Fatalf("the sum of %v = %v, want %v", numbers, a, sum)
		}
	})
}

// Resampled intervals match those of package stat.
func TestBootstrapIsThatOfStat(t *testing.T) {
	h := head()
	h.Bootstrap = &report.Bootstrap{Draws: 300, Seed: 5}
	set := stat.Resampling{Draws: 300, Seed: 5}
	recs := many(70, 100)
	values := make([]float64, 100)
	for i := range 70 {
		values[i] = 1
	}
	est := build(h, recs).Report().Metrics[0].Judged
	if want := stat.BootstrapMean(values, nil, set); est.Lo != want.Lo || est.Hi != want.Hi || est.Method != "bootstrap-bca" {
		t.Errorf("yes and no: %+v, want %+v", *est, want)
	}
	weights := make([]float64, 100)
	for i := range recs {
		values[i], weights[i] = float64((i*i)%17)/16, float64(1+i%4)
		recs[i].Verdict, recs[i].Item.Weight = &deem.Verdict{Score: values[i]}, weights[i]
	}
	est = build(h, recs).Report().Metrics[0].Judged
	if want := stat.BootstrapMean(values, weights, set); !near(est.Lo, want.Lo) || !near(est.Hi, want.Hi) {
		t.Errorf("weighted scores: [%v, %v], want [%v, %v]", est.Lo, est.Hi, want.Lo, want.Hi)
	}
	var c stat.Clustered
	for i := range recs {
		recs[i].Item.Cluster = fmt.Sprint(i % 35)
		c.Add(recs[i].Item.Cluster, values[i], weights[i])
	}
	est = build(h, recs).Report().Metrics[0].Judged
	if want := c.Bootstrap(set, stat.Unit); !near(est.Lo, want.Lo) || !near(est.Hi, want.Hi) || est.Method != "cluster-bootstrap" {
		t.Errorf("clusters: %+v, want %+v", *est, want)
	}
}

// Without spread there is nothing to resample, and an interval of width 0 would be wrong.
func TestBootstrapWithoutSpread(t *testing.T) {
	h := head()
	h.Bootstrap = &report.Bootstrap{Draws: 200}
	if est := build(h, many(50, 50)).Report().Metrics[0].Judged; est.Lo > 0.95 || est.Method != "wilson" {
		t.Errorf("50 of 50 = [%v, %v] by %s, want Wilson's interval", est.Lo, est.Hi, est.Method)
	}
}

// A report on a hundred thousand records with all intervals resampled takes seconds and
// little memory.
func TestBootstrapOfManyRecords(t *testing.T) {
	if testing.Short() || raced {
		t.Log("left out: it measures time and memory")
		return
	}
	for _, tt := range []struct {
		name    string
		cluster func(i int) string
		method  string
		held    int
	}{
		{"no clusters", func(int) string { return "" }, "bootstrap-bca", 16 << 20},
		{"500 clusters", func(i int) string { return fmt.Sprint(i % 500) }, "cluster-bootstrap", 4 << 20},
		{"33,334 clusters", func(i int) string { return fmt.Sprint(i / 3) }, "cluster-bootstrap", 48 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) { bootstrapMany(t, tt.cluster, tt.method, tt.held) })
	}
}

func bootstrapMany(t *testing.T, cluster func(int) string, method string, limit int) {
	recs := benchRecords(1000)
	h := head()
	h.Bootstrap = &report.Bootstrap{Seed: 1}
	start := time.Now()
	before := heap()
	b := report.New(h)
	for i := range 100_000 {
		rec := recs[i%1000]
		rec.Position, rec.Item.ID, rec.Item.Cluster = i, fmt.Sprint("q", i), cluster(i)
		b.Add(rec)
	}
	held := heap() - before
	if held > limit {
		t.Errorf("the builder holds %d bytes after 100,000 records, want at most %d", held, limit)
	}
	if got := b.Report().Metrics[0].Judged.Method; got != method {
		t.Errorf("method = %q, want %q", got, method)
	}
	runtime.KeepAlive(recs)
	t.Logf("100,000 records in %v, %d KiB held", time.Since(start).Round(time.Millisecond), held>>10)
}

// heap returns the memory in use.
func heap() int {
	runtime.GC()
	runtime.GC() // frees what a pool or a finalizer kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
