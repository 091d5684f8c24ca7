package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"deem"
	"deem/report"
)

// A markCell is a setting in which no category differs from the others, so every mark in
// its report is false.
type markCell struct {
	name     string
	sizes    []int   // items in each category
	p        float64 // the probability that an item is right
	clusters int     // 0 means independent items
	nested   bool    // a cluster has items of one category only
	graded   bool    // scores between 0 and 1
}

// markCells are the settings. Categories of a few items are the hard cases, because their
// score moves in large steps.
var markCells = []markCell{
	{name: "small categories", sizes: []int{200, 150, 100, 10, 6, 4, 3}, p: .9},
	{name: "tiny categories", sizes: []int{300, 8, 7, 6, 5, 4, 3, 2, 2, 1, 1}, p: .8},
	{name: "rare failures", sizes: []int{300, 12, 10, 8, 6, 5, 5, 4}, p: .97},
	{name: "even chances", sizes: []int{100, 10, 8, 6, 4}, p: .5},
	{name: "large categories", sizes: []int{120, 100, 80, 60}, p: .8},
	{name: "small graded categories", sizes: []int{200, 10, 6, 4, 3, 2}, p: .8, graded: true},
	{name: "small categories in shared clusters", sizes: []int{200, 150, 10, 6, 4, 3}, p: .9, clusters: 20},
	{name: "rare failures in shared clusters", sizes: []int{300, 12, 10, 8, 6, 5, 5, 4}, p: .97, clusters: 30},
	{name: "tiny categories in shared clusters", sizes: []int{300, 8, 7, 6, 5, 4, 3, 2, 2, 1, 1}, p: .9, clusters: 10},
	{name: "small graded categories in shared clusters", sizes: []int{200, 10, 6, 4, 3}, p: .8, clusters: 20, graded: true},
	{name: "graded categories in two clusters", sizes: []int{40, 40, 40, 40}, p: .8, clusters: 2, graded: true},
	{name: "graded categories in three clusters", sizes: []int{40, 40, 40, 40}, p: .8, clusters: 3, graded: true},
	{name: "graded categories in four clusters", sizes: []int{40, 40, 40, 40}, p: .8, clusters: 4, graded: true},
	{name: "small categories in clusters of their own", sizes: []int{200, 150, 20, 20, 10, 10}, p: .8, clusters: 40, nested: true},
	{name: "rare failures in clusters of their own", sizes: []int{200, 150, 20, 20, 10, 10}, p: .95, clusters: 80, nested: true},
	{name: "few clusters of their own", sizes: []int{120, 40, 40}, p: .8, clusters: 20, nested: true},
}

// records draws the records of one run.
func (c markCell) records(rng *rand.Rand) []deem.Record {
	var recs []deem.Record
	ease := func() float64 {
		if c.clusters == 0 {
			return c.p
		}
		// A beta distribution with this mean and an intraclass correlation of 0.1.
		a, b := gamma(rng, 9*c.p), gamma(rng, 9*(1-c.p))
		return a / (a + b)
	}
	shared := make([]float64, max(c.clusters, 1))
	for i := range shared {
		shared[i] = ease()
	}
	total := 0
	for _, size := range c.sizes {
		total += size
	}
	for k, size := range c.sizes {
		for i := range size {
			at, chance := 0, c.p
			name := ""
			if c.clusters > 0 {
				at = rng.IntN(c.clusters)
				name = fmt.Sprint(at)
			}
			if c.nested {
				per := max(total/c.clusters, 1)
				if i%per == 0 {
					shared[k] = ease()
				}
				at, name = k, fmt.Sprint(k, "-", i/per)
			}
			if c.clusters > 0 {
				chance = shared[at]
			}
			rec := yes(len(recs), rng.Float64() < chance)
			if c.graded {
				rec.Verdict = &deem.Verdict{Label: "graded", Score: math.Round(4*math.Min(1, chance*2*rng.Float64())) / 4}
			}
			rec.Item.Category, rec.Item.Cluster = fmt.Sprint("category ", k), name
			recs = append(recs, rec)
		}
	}
	return recs
}

// gamma draws from the gamma distribution of a shape (Marsaglia and Tsang 2000).
func gamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(rng, shape+1) * math.Pow(rng.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	for {
		x := rng.NormFloat64()
		v := 1 + x/math.Sqrt(9*d)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// If no category differs, a report marks one in at most 5% of runs, even if categories are
// small. This tests the whole path from records to marks.
func TestFalseMarks(t *testing.T) {
	runs := 300
	switch {
	case testing.Short():
		runs = 20
	case raced:
		runs = 60
	}
	most := float64(runs)/20 + 3*math.Sqrt(float64(runs)*.05*.95)
	for i, cell := range markCells {
		t.Run(cell.name, func(t *testing.T) {
			t.Parallel()
			marked := 0
			for run := range runs {
				rng := rand.New(rand.NewPCG(uint64(run), uint64(i)))
				if slices.ContainsFunc(build(head(), cell.records(rng)).Report().Categories, report.Category.Differs) {
					marked++
				}
			}
			t.Logf("%s: %.1f%% of runs have a false mark", cell.name, 100*float64(marked)/float64(runs))
			if float64(marked) > most {
				t.Errorf("%d of %d runs mark a category, want at most 5%%", marked, runs)
			}
		})
	}
}

// The mark, interval and p-value of a category agree, also if categories differ.
func TestMarkAndIntervalAgree(t *testing.T) {
	marked := 0
	for i, cell := range markCells {
		for run := range 20 {
			rng := rand.New(rand.NewPCG(uint64(run), uint64(100+i)))
			recs := cell.records(rng)
			for j := range recs {
				if recs[j].Item.Category == "category 1" && rng.Float64() < 0.3 {
					recs[j].Verdict = &deem.Verdict{Label: "no"}
				}
			}
			for _, c := range build(head(), recs).Report().Categories {
				d := c.Rest.Difference
				if outside, small := d.Lo > 0 || d.Hi < 0, c.Rest.PAdjusted < 0.05; c.Differs() != outside || c.Differs() != small {
					t.Errorf("%s, run %d, %s: marked %v beside [%v, %v] and p = %v", cell.name, run, c.Name, c.Differs(), d.Lo, d.Hi, c.Rest.PAdjusted)
				}
				if c.Differs() {
					marked++
				}
			}
		}
	}
	if marked < 20 {
		t.Errorf("%d categories are marked, want more for the test to mean something", marked)
	}
}
