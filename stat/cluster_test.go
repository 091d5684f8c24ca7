package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"deem/stat"
)

// Values that stand alone are the case that Student solved, whether each is alone or
// several copies of it make a cluster.
func TestClusteredAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-5, 5), 2, 60).Draw(t, "values")
		copies := rapid.IntRange(1, 5).Draw(t, "copies")
		want := stat.Mean(gather(values...), 0.95, stat.Bounds{})
		var alone, copied stat.Clustered
		for i, x := range values {
			alone.Add("", x, 1)
			for range copies {
				copied.Add(fmt.Sprint(i), x, 1)
			}
		}
		for name, c := range map[string]*stat.Clustered{"alone": &alone, "copied": &copied} {
			got := c.Mean(0.95, stat.Bounds{})
			scale := 1e-9 * (1 + math.Abs(want.Hi-want.Lo))
			if !near(got.Value, want.Value, scale) || !near(got.Lo, want.Lo, scale) || !near(got.Hi, want.Hi, scale) {
				t.Fatalf("%s: %+v, want the ends of %+v", name, got, want)
			}
			if got.Clusters != len(values) {
				t.Fatalf("%s: %d clusters, want %d", name, got.Clusters, len(values))
			}
		}
	})
}

// Three clusters by hand: sums 3, 1, 2 of 4, 2, 4 values; the mean is 0.6.
func TestClusteredByHand(t *testing.T) {
	var c stat.Clustered
	for cluster, hits := range map[string][2]int{"a": {3, 1}, "b": {1, 1}, "c": {2, 2}} {
		for range hits[0] {
			c.Add(cluster, 1, 1)
		}
		for range hits[1] {
			c.Add(cluster, 0, 1)
		}
	}
	// The excesses are 0.6, -0.2 and -0.4, the shares of weight 0.4, 0.2 and 0.4.
	want := math.Sqrt((0.36/0.6 + 0.04/0.8 + 0.16/0.6) / 100)
	// Satterthwaite: 1 over the sum of squared entries of the covariance matrix.
	h, df := []float64{0.4, 0.2, 0.4}, 0.0
	for i := range h {
		for j := range h {
			entry := -h[i] * h[j] / math.Sqrt((1-h[i])*(1-h[j]))
			if i == j {
				entry = h[i]
			}
			df += entry * entry
		}
	}
	se, gotDF := c.StandardError()
	if !near(se, want, 1e-14) || !near(gotDF, 1/df, 1e-12) {
		t.Errorf("StandardError = %v with %v degrees of freedom, want %v with %v", se, gotDF, want, 1/df)
	}
	est := c.Mean(0.95, stat.Unit)
	if !near(est.Value, 0.6, 1e-15) || est.N != 10 || est.Clusters != 3 || !est.Has(stat.WarnVeryFewClusters) || est.SE != se {
		t.Errorf("Mean = %+v, want 0.6 of 10 values in 3 clusters, with a warning", est)
	}
}

// A system that never failed is not worse than one that failed once.
func TestNoFailureIsNotWorseThanOne(t *testing.T) {
	for _, clusters := range []int{2, 3, 4, 12, 40} {
		var perfect, failed stat.Clustered
		for i := range 60 {
			perfect.Add(fmt.Sprint(i%clusters), 1, 1)
			failed.Add(fmt.Sprint(i%clusters), float64(min(i, 1)), 1)
		}
		whole, once := perfect.Score(0.95, true), failed.Score(0.95, true)
		if whole.Lo < once.Lo-1e-12 || whole.Hi != 1 || !whole.Has(stat.WarnSteady) {
			t.Errorf("%d clusters: 60 of 60 has %+v, want an interval from %v on, as of 59 of 60", clusters, whole, once.Lo)
		}
	}
}

func TestClusteredDegenerate(t *testing.T) {
	nothing := &stat.Clustered{}
	one, equal := &stat.Clustered{}, &stat.Clustered{}
	for i := range 40 {
		one.Add("a", float64(i%2), 1)
		equal.Add(fmt.Sprint(i%35), 1, 1)
	}
	// Five clusters of two items and thirty of one are worth 40²/(5·4 + 30) = 32 at least.
	n, df := stat.AsItems(slices.Concat(slices.Repeat([]stat.Cluster{{Weight: 2}}, 5), slices.Repeat([]stat.Cluster{{Weight: 1}}, 30)))
	if !near(n, 32, 1e-12) {
		t.Errorf("40 items in 35 clusters are worth %v, want 32", n)
	}
	ofEqual, _ := stat.Wilson(1, 32, stat.StudentQuantile(0.95, df))
	heavy := &stat.Clustered{}
	heavy.Add("a", 0.2, 1e50)
	heavy.Add("b", 0.4, 1)
	skipped := &stat.Clustered{}
	skipped.Add("a", math.NaN(), 1)
	for _, tt := range []struct {
		name    string
		c       *stat.Clustered
		warning string
		lo, hi  float64
	}{
		{"nothing", nothing, stat.WarnNoValues, 0, 1},
		{"one cluster", one, stat.WarnOneCluster, 0, 1},
		{"one cluster has all the weight", heavy, stat.WarnOneCluster, 0, 1},
		{"nothing usable", skipped, stat.WarnSkipped, 0, 1},
		{"all equal", equal, stat.WarnSteady, ofEqual, 1},
	} {
		for _, est := range []stat.Estimate{tt.c.Mean(0.95, stat.Unit), tt.c.Bootstrap(stat.Resampling{Draws: 50}, stat.Unit)} {
			if !est.Has(tt.warning) || !near(est.Lo, tt.lo, 1e-12) || est.Hi != tt.hi {
				t.Errorf("%s: %+v, want [%v, %v] and the warning %q", tt.name, est, tt.lo, tt.hi, tt.warning)
			}
		}
	}
	if est := equal.Mean(0.95, stat.Unit); est.Has(stat.WarnFewClusters) {
		t.Errorf("35 clusters: %+v, want no warning about few", est)
	}
}

// Neither order nor merging changes a digit.
func TestClusteredOrderAndMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := numbers().Draw(t, "values")
		n := len(values)
		weights := rapid.SliceOfN(rapid.Float64Range(0.001, 1000), n, n).Draw(t, "weights")
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c", "d"}), n, n).Draw(t, "names")
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		var whole, left, right stat.Clustered
		for i := range values {
			whole.Add(names[i], values[i], weights[i])
		}
		for _, i := range rapid.Permutation(indices(n)).Draw(t, "order") {
			if i < cut {
				left.Add(names[i], values[i], weights[i])
			} else {
				right.Add(names[i], values[i], weights[i])
			}
		}
		left.Merge(&right)
		r := stat.Resampling{Draws: 40, Seed: 1}
		one := []stat.Estimate{whole.Mean(0.95, stat.Bounds{}), whole.Mean(0.9, stat.Unit), whole.Bootstrap(r, stat.Bounds{})}
		other := []stat.Estimate{left.Mean(0.95, stat.Bounds{}), left.Mean(0.9, stat.Unit), left.Bootstrap(r, stat.Bounds{})}
		if diff := cmp.Diff(one, other); diff != "" {
			t.Fatalf("another order gave another answer (-one +other):\n%s", diff)
		}
		checkSane(t, one[0], stat.Bounds{})
		checkSane(t, one[1], stat.Unit)
		checkSane(t, one[2], stat.Bounds{})
		if whole.Moments().N() != left.Moments().N() || whole.Clusters() != left.Clusters() {
			t.Fatalf("%d values in %d clusters, merged %d in %d", whole.Moments().N(), whole.Clusters(), left.Moments().N(), left.Clusters())
		}
	})
}

// conversations are clusters of verdicts with a correlation within them.
type conversations struct {
	name        string
	sizes       []int
	share       float64
	correlation float64
}

// draw returns the verdicts of conversations whose own shares scatter about the
// share of all as the correlation says, and how many of how many are yes. A
// conversation is added as one value with its size for weight, which has the sums of
// its verdicts and takes less time.
func (c conversations) draw(rng *rand.Rand) (all *stat.Clustered, k, n int) {
	all = &stat.Clustered{}
	spread := 1/c.correlation - 1
	shares := distuv.Beta{Alpha: c.share * spread, Beta: (1 - c.share) * spread, Src: rng}
	for i, size := range c.sizes {
		own, yes := shares.Rand(), 0
		for range size {
			if rng.Float64() < own {
				yes++
			}
		}
		all.Add(fmt.Sprint(i), float64(yes)/float64(size), float64(size))
		k, n = k+yes, n+size
	}
	return all, k, n
}

// With 30 conversations, intervals hold the truth as often as they say, where an
// interval that takes items for independent does not come near.
func TestClusteredCoverage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	const rounds = 1500
	equal := slices.Repeat([]int{12}, 30)
	unequal := make([]int, 30)
	for i := range unequal {
		unequal[i] = 4 + i
	}
	for _, c := range []conversations{
		{"equal, 0.6", equal, 0.6, 0.2},
		{"equal, 0.85", equal, 0.85, 0.1},
		{"unequal, 0.7", unequal, 0.7, 0.1},
	} {
		rng := rand.New(rand.NewPCG(2002, 169))
		robust, bootstrap, naive := 0, 0, 0
		for round := range rounds {
			all, k, n := c.draw(rng)
			holds := func(est stat.Estimate) int {
				if est.Lo <= c.share && c.share <= est.Hi {
					return 1
				}
				return 0
			}
			robust += holds(all.Mean(0.95, stat.Unit))
			bootstrap += holds(all.Bootstrap(stat.Resampling{Draws: 200, Seed: uint64(round)}, stat.Unit))
			naive += holds(stat.Proportion(k, n, stat.DefaultLevel))
		}
		share := func(held int) float64 { return float64(held) / rounds }
		t.Logf("%-13s coverage: robust %.4f, bootstrap %.4f, as if independent %.4f",
			c.name, share(robust), share(bootstrap), share(naive))
		for name, held := range map[string]int{"robust": robust, "bootstrap": bootstrap} {
			if got := share(held); got < 0.935 || got > 0.965 {
				t.Errorf("%s, %s: coverage %.4f, want 0.935 to 0.965", c.name, name, got)
			}
		}
		if share(naive) > 0.92 {
			t.Errorf("%s: coverage %.4f as if independent, so the clusters prove nothing", c.name, share(naive))
		}
	}
}

// Where nearly all clusters are all right, resamples without spread are common.
func TestClusteredSteadyDraws(t *testing.T) {
	var c stat.Clustered
	for i := range 40 {
		for j := range 5 {
			c.Add(fmt.Sprint(i), float64(min(i+j, 1)), 1)
		}
	}
	est := c.Bootstrap(stat.Resampling{}, stat.Unit)
	want := c.Mean(0.95, stat.Unit).Warn(stat.WarnSteadyDraws)
	if diff := cmp.Diff(want, est); diff != "" {
		t.Errorf("Bootstrap (-want the robust one +got):\n%s", diff)
	}
}

// The draws of a seed are the same on any number of processors, and few of them are
// told.
func TestClusteredBootstrapSame(t *testing.T) {
	c, _, _ := conversations{"", slices.Repeat([]int{8}, 40), 0.7, 0.2}.draw(rand.New(rand.NewPCG(6, 6)))
	want := c.Bootstrap(stat.Resampling{Seed: 5}, stat.Unit)
	before := runtime.GOMAXPROCS(5)
	got := c.Bootstrap(stat.Resampling{Seed: 5}, stat.Unit)
	runtime.GOMAXPROCS(before)
	if diff := cmp.Diff(want, got); diff != "" || want.Method != stat.MethodClusterBootstrap || want.Warnings != nil {
		t.Errorf("on five processors (-want +got):\n%s\nof %+v", diff, want)
	}
	robust := c.Mean(0.95, stat.Unit)
	if !near(want.Lo, robust.Lo, 0.03) || !near(want.Hi, robust.Hi, 0.03) {
		t.Errorf("bootstrap %+v is far from %+v", want, robust)
	}
	if few := c.Bootstrap(stat.Resampling{Draws: 20}, stat.Unit); !few.Has(stat.WarnFewDraws) {
		t.Errorf("twenty draws: %+v, want a warning", few)
	}
}

func BenchmarkClusteredBootstrap(b *testing.B) {
	rng := rand.New(rand.NewPCG(4, 4))
	var c stat.Clustered
	for i, x := range verdicts(rng, 100_000, 0.7) {
		c.Add(fmt.Sprint(i%5000), x, 1)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Bootstrap(stat.Resampling{}, stat.Unit)
	}
}

func BenchmarkClusteredAdd(b *testing.B) {
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	var c stat.Clustered
	for i := 0; b.Loop(); i++ {
		c.Add(names[i%len(names)], float64(i%11)/10, 1)
	}
}

// TestNoNarrower holds that few clusters make no interval narrower than independent
// items do, and that many may.
func TestNoNarrower(t *testing.T) {
	for _, tt := range []struct {
		clusters int
		lucky    bool
	}{{15, true}, {stat.FewClusters - 1, true}, {stat.FewClusters, false}} {
		// Most clusters have two right items of four: clusters differ less than chance has
		// it.
		var c stat.Clustered
		right := 0
		for i := range tt.clusters {
			good := 2
			switch i % 10 {
			case 0:
				good = 3
			case 1:
				good = 1
			}
			for k := range 4 {
				x := 0.0
				if k < good {
					x = 1
					right++
				}
				c.Add(fmt.Sprint("c", i), x, 1)
			}
		}
		alone := stat.Proportion(right, 4*tt.clusters, stat.DefaultLevel)
		est := c.Mean(0.95, stat.Unit)
		got := est.AtLeastAsWide(alone)
		if got.Has(stat.WarnLucky) != tt.lucky {
			t.Errorf("%d clusters: [%v, %v] beside [%v, %v] of items: lucky %v, want %v", tt.clusters, est.Lo, est.Hi, alone.Lo, alone.Hi, got.Has(stat.WarnLucky), tt.lucky)
		}
		if tt.lucky && (got.Lo > alone.Lo || got.Hi < alone.Hi) {
			t.Errorf("%d clusters: [%v, %v], want at least [%v, %v]", tt.clusters, got.Lo, got.Hi, alone.Lo, alone.Hi)
		}
		if !tt.lucky && (got.Lo != est.Lo || got.Hi != est.Hi) {
			t.Errorf("%d clusters: [%v, %v], want [%v, %v]", tt.clusters, got.Lo, got.Hi, est.Lo, est.Hi)
		}
	}
}
