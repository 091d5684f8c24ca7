package agreement_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"deem"
	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/reports/agree"
	"deem/internal/reports/compare"
	"deem/report"
)

// A grid is one line of a table of clusters: how many there are, their size or its mean, how
// alike their items are, and the share of right answers.
type grid struct {
	clusters, size int
	unequal        bool
	icc, p         float64
}

// grids are the lines of the table of clusters of a size.
func grids(size int) []grid {
	var list []grid
	for _, clusters := range []int{5, 10, 30, 100} {
		for _, icc := range []float64{0, 0.1, 0.3} {
			for _, p := range []float64{0.5, 0.8, 0.95, 0.99} {
				list = append(list, grid{clusters, size, false, icc, p}, grid{clusters, size, true, icc, p})
			}
		}
	}
	return list
}

func (g grid) String() string {
	size := fmt.Sprint(g.size)
	if g.unequal {
		size = "about " + size
	}
	return fmt.Sprintf("%d clusters of %s, ICC %g, share %g", g.clusters, size, g.icc, g.p)
}

// sizes returns the number of items of each cluster.
func (g grid) sizes(rng *rand.Rand) []int {
	sizes := make([]int, g.clusters)
	for i := range sizes {
		sizes[i] = g.size
		if g.unequal { // The largest of 100 is some ten times as large as the median.
			sizes[i] = max(1, int(math.Round(float64(g.size)*math.Exp(0.8*rng.NormFloat64()-0.32))))
		}
	}
	return sizes
}

// numbers returns a cell for each of several columns of the line.
func (g grid) numbers(draw func(*rand.Rand) []outcome, columns ...string) []cell {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = g.String() + ": " + column
	}
	cells := shared(names, nominal, 5, draw)
	for i := range cells {
		cells[i].row, cells[i].column = g.String(), columns[i]
	}
	return cells
}

// scoreCells are the share and the mean in a report, and the corrected score and kappa in an
// agreement.
func scoreCells() []cell {
	var cells []cell
	for _, g := range grids(20) {
		cells = append(cells, g.numbers(g.reports, "share", "mean")...)
		cells = append(cells, g.numbers(g.agreements, "corrected", "kappa")...)
	}
	return cells
}

// differenceCells are the difference in a comparison of a system with one that is better by
// the margin, and whether it is called not worse.
func differenceCells() []cell {
	var cells []cell
	for _, g := range grids(10) {
		for _, undecided := range []int{0, 10, 30, 60} {
			if g.unequal && undecided > 0 {
				continue
			}
			draw := func(rng *rand.Rand) []outcome { return g.comparison(rng, float64(undecided)/100) }
			both := g.numbers(draw, fmt.Sprintf("difference, %d%%", undecided), fmt.Sprintf("error, %d%%", undecided))
			both[1].want = alarms
			cells = append(cells, both...)
		}
	}
	return cells
}

// warns reports whether the text that a command prints by default has some of the words.
func warns(d *doc.Document, words ...string) bool {
	var text strings.Builder
	if err := doc.Text(&text, d, doc.TextOptions{Width: 10_000}); err != nil {
		panic(err)
	}
	return slices.ContainsFunc(words, func(words string) bool { return strings.Contains(text.String(), words) })
}

// offInterval are the words of warnings about an interval.
var offInterval = []string{"too narrow", "too wide"}

// reports returns the share of right answers in a report, and the mean of grades.
func (g grid) reports(rng *rand.Rand) []outcome {
	yes, grades := report.New(report.Head{Complete: true}), report.New(report.Head{Complete: true})
	shares := clusterShares(rng, g.clusters, g.p, g.icc)
	for i, size := range g.sizes(rng) {
		for j := range size {
			right := rng.Float64() < shares[i]
			rec := record(fmt.Sprint(i, " ", j), fmt.Sprint(i), "", right)
			yes.Add(rec)
			// The grade is the mean of two such verdicts.
			rec.Verdict = &deem.Verdict{Label: "grade", Score: (agreement.Number(right) + agreement.Number(rng.Float64() < shares[i])) / 2}
			grades.Add(rec)
		}
	}
	var list []outcome
	for _, b := range []*report.Builder{yes, grades} {
		r := b.Report()
		o := held(*r.Metrics[0].Judged, g.p)
		o.warned = warns(r.Document(), offInterval...)
		list = append(list, o)
	}
	return list
}

// agreements returns the corrected score and kappa of 100 labels, or of half of the items.
func (g grid) agreements(rng *rand.Rand) []outcome {
	const accepts, rejects = 0.95, 0.8
	b := agree.New(agree.Options{People: true, Draws: 2})
	shares := clusterShares(rng, g.clusters, g.p, g.icc)
	sizes := g.sizes(rng)
	n := 0
	for _, size := range sizes {
		n += size
	}
	labelled := make([]bool, n)
	for _, at := range rng.Perm(n)[:min(100, n/2)] {
		labelled[at] = true
	}
	at := 0
	for i, size := range sizes {
		for range size {
			right := rng.Float64() < shares[i]
			truth := &right
			if !labelled[at] {
				truth = nil
			}
			b.Add(judged(fmt.Sprint(at), fmt.Sprint(i), "", at, decide(rng, right, accepts, rejects), truth))
			at++
		}
	}
	a := b.Agreement()
	score := held(a.Corrected.Quoted(), g.p)
	kappa := held(a.All.Kappa, population(g.p, accepts, rejects).Beyond(agreement.CohenKappa, 1e9, agreement.Design{}, 0.95).Value)
	score.warned = warns(a.Document(), offInterval...)
	kappa.warned = score.warned
	return []outcome{score, kappa}
}

// calibrationError is how far the probabilities of undecided items are off, as a standard
// deviation: that of match, which is known from calibrationSets labelled sets.
const (
	calibrationError = 0.09
	calibrationSets  = 14
)

// gaps returns how far the probabilities of two runs by the same judge are off.
func gaps(rng *rand.Rand) [2]float64 {
	known := distuv.ChiSquared{K: calibrationSets, Src: rng}.Rand() / calibrationSets
	sd := calibrationError / math.Sqrt(known)
	return [2]float64{sd * rng.NormFloat64(), sd * rng.NormFloat64()}
}

// comparison returns the difference of two systems of which the second is worse by the
// margin, and whether it is called not worse. A share of the items is undecided in each run,
// and counts with a probability.
func (g grid) comparison(rng *rand.Rand, undecided float64) []outcome {
	const margin = 0.05
	runs := runsCalled(2)
	for i := range runs {
		runs[i].CalibrationError = calibrationError
	}
	b := compare.New(runs, compare.Options{Seed: 1, Margin: margin, MaxUnjudged: 1})
	gained := math.Min(0.03, (1-g.p)/2) // of all items, by the second
	first := clusterShares(rng, g.clusters, g.p, g.icc)
	lost := clusterShares(rng, g.clusters, (gained+margin)/g.p, g.icc)
	won := clusterShares(rng, g.clusters, gained/(1-g.p), g.icc)
	off := gaps(rng)
	for i, size := range g.sizes(rng) {
		for j := range size {
			var yes [2]bool
			yes[0] = rng.Float64() < first[i]
			if yes[1] = rng.Float64() < won[i]; yes[0] {
				yes[1] = rng.Float64() >= lost[i]
			}
			row := compare.Row{ID: fmt.Sprint(i, " ", j)}
			for s, right := range yes {
				c := compare.Cell{Present: true, Judged: true, Weight: 1, Cluster: fmt.Sprint(i), Label: "no"}
				if right {
					c.Label, c.Score = "yes", 1
				}
				if rng.Float64() < undecided {
					share := []float64{g.p, g.p - margin}[s]
					c.Judged, c.Label, c.Score, c.Guess = false, "", 0, new(guess(rng, right, share, off[s]))
				}
				row.Cells = append(row.Cells, c)
			}
			b.Add(row)
		}
	}
	c := b.Comparison()
	difference := held(*c.Pairs[0].Overall.Estimate, -margin)
	d := c.Document()
	difference.warned = warns(d, offInterval...)
	return []outcome{difference, {hit: c.Pairs[0].Overall.Equivalence.NonInferior, warned: warns(d, "this test errs")}}
}

// guess returns the probability that a rule gives to a response: calibrated, but for the gap.
func guess(rng *rand.Rand, right bool, share, gap float64) float64 {
	const ifRight, ifWrong = 0.8, 0.3 // how often the rule finds a sign that the response is right
	yes, no := ifRight, ifWrong
	if sign := decide(rng, right, ifRight, 1-ifWrong); !sign {
		yes, no = 1-ifRight, 1-ifWrong
	}
	return math.Min(math.Max(yes*share/(yes*share+no*(1-share))+gap, 0), 1)
}
