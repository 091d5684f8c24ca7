package agreement

import (
	"math"
	"math/rand/v2"
	"slices"

	"deem/stat"
)

// WarnOneClass means that agreement beyond chance is not defined.
const WarnOneClass = "both judges gave one label only, so agreement beyond chance is not defined"

// warnNoWidth means that the interval of kappa is too narrow.
const warnNoWidth = "the verdicts leave no spread to measure, as where both always agree or one says the same of everything: " +
	"the interval has no width"

// A Weighting defines partial agreement between labels that are near each other. The zero
// value counts only equal labels.
type Weighting string

// The weightings of a table of counts. Labels count by their place in the table:
// with k labels, i and j agree by 1 - |i-j|/(k-1), or by 1 minus the square of
// that distance (Cohen 1968).
const (
	Unweighted Weighting = ""
	Linear     Weighting = "linear"
	Quadratic  Weighting = "quadratic"
)

// A Crossed is a square table of labels whose items may have weights: Crossed[i][j] is
// the weight of the items that people put into class i and the judge into class j.
type Crossed [][]float64

// Kappa returns weighted kappa of n items drawn in this design. As in [YesNo.Beyond], the
// interval is that of the posterior distribution of the shares of the cells, for the number
// of independent items that the design is worth, and there is none below fewRated items. In
// simulations with 40 clusters of five items and a true kappa of 0.75, the interval of
// Fleiss, Cohen and Everitt with Student's t contained it in 91%.
func (c Crossed) Kappa(w Weighting, n int, d Design, level float64) stat.Estimate {
	t := c.table(w, n)
	est := t.estimate(d, level)
	switch {
	case est.Method == stat.MethodNone:
		return est
	case n < fewRated:
		return stat.NoInterval(est.Value, n, est.Level, plusMinusOne, warnFewRated)
	}
	est.Warnings = slices.DeleteFunc(est.Warnings, func(s string) bool { return s == warnNoWidth })
	ratio := normalQuantile(est.Level) / d.quantile(est.Level)
	scale := float64(n) / d.effect() * ratio * ratio / t.sum
	est.Lo, est.Hi, est.Method = est.Value, est.Value, methodPosterior
	for _, items := range []float64{1, 2} { // added to all cells together
		plus := items / float64(len(c)*len(c))
		rnd := rand.New(rand.NewPCG(1947, 1946))
		draw, draws := Crossed(matrix(len(c))), []float64{}
		for range posteriorDraws {
			for i, row := range c {
				for j, x := range row {
					draw[i][j] = drawGamma(rnd, float64(x*scale)+plus)
				}
			}
			if t := draw.table(w, 1); t.defined() {
				draws = append(draws, t.kappa())
			}
		}
		slices.Sort(draws)
		est.Lo = min(est.Lo, stat.Quantile(draws, (1-level)/2))
		est.Hi = max(est.Hi, stat.Quantile(draws, 1-(1-level)/2))
	}
	return est
}

// Influence returns the influence on weighted kappa of an item that people put into class i
// and the judge into class j, times the number of items.
func (c Crossed) Influence(w Weighting) func(i, j int) float64 {
	t := c.table(w, 1)
	if !t.defined() {
		return func(int, int) float64 { return 0 }
	}
	k := t.kappa()
	return func(i, j int) float64 {
		d := t.weight[i][j] - float64((t.rowMean[i]+t.colMean[j])*(1-k))
		return (d - (k - float64(t.expected*(1-k)))) / (1 - t.expected)
	}
}

// table returns the shares, the margins and the agreement of n items.
func (c Crossed) table(w Weighting, n int) *crossTable {
	k := len(c)
	t := &crossTable{
		n: n, share: matrix(k), weight: matrix(k), rows: make([]float64, k), cols: make([]float64, k),
		rowMean: make([]float64, k), colMean: make([]float64, k),
	}
	for i, row := range c {
		for j, x := range row {
			t.sum += x
			d := math.Abs(float64(i-j)) / float64(k-1)
			switch {
			case i == j:
				t.weight[i][j] = 1
			case w == Linear:
				t.weight[i][j] = 1 - d
			case w == Quadratic:
				t.weight[i][j] = 1 - float64(d*d)
			}
		}
	}
	if t.sum == 0 {
		return t
	}
	for i, row := range c {
		for j, x := range row {
			p := x / t.sum
			t.share[i][j] = p
			t.rows[i] += p
			t.cols[j] += p
			t.observed += float64(p * t.weight[i][j])
		}
	}
	for i := range k {
		for j := range k {
			t.expected += float64(t.rows[i] * t.cols[j] * t.weight[i][j])
			t.rowMean[i] += float64(t.cols[j] * t.weight[i][j])
			t.colMean[j] += float64(t.rows[i] * t.weight[i][j])
		}
	}
	return t
}

// estimate returns Cohen's kappa of a table in which labels that are near each other
// may agree in part.
//
// Source: J. Cohen, "Weighted kappa", Psychological Bulletin 70 (1968), 213-220;
// the interval uses the variance of J. L. Fleiss, J. Cohen and B. S. Everitt,
// "Large sample standard errors of kappa and weighted kappa", Psychological
// Bulletin 72 (1969), 323-327. It holds for large n: with fewer than some fifty
// items, or a rare label, it is too narrow. If kappa is not defined, because both
// judges gave the same label to everything, the value is 0, the interval is the whole
// range, and there is a warning. There is another warning if the interval has no width,
// because the variance is 0.
func (t *crossTable) estimate(d Design, level float64) stat.Estimate {
	est := stat.Estimate{Lo: -1, Hi: 1, Level: level, N: t.n, Method: stat.MethodNone}
	switch {
	case t.n == 0 || t.sum == 0:
		return est.Warn(stat.WarnNoValues)
	case !t.defined():
		return est.Warn(WarnOneClass)
	}
	k := t.kappa()
	// Formula 16 of Fleiss, Cohen and Everitt (1969), which is their formula 13 when the
	// weights are 0 and 1.
	sum := 0.0
	for i, row := range t.share {
		for j, p := range row {
			by := t.weight[i][j] - float64((t.rowMean[i]+t.colMean[j])*(1-k))
			sum += float64(p * by * by)
		}
	}
	last := k - float64(t.expected*(1-k))
	est.SE = math.Sqrt(t.scaled(sum-float64(last*last)) * d.effect())
	half := float64(d.quantile(level) * est.SE) // not fused; see wilson
	est.Value, est.Lo, est.Hi, est.Method = k, max(k-half, -1), min(k+half, 1), "fleiss-cohen-everitt"
	if half < 1e-9 { // what rounding leaves of no spread at all
		est = est.Warn(warnNoWidth)
	}
	return d.mark(est, plusMinusOne)
}

// A crossTable is a square table of shares with the weight of each cell.
type crossTable struct {
	n          int     // items
	sum        float64 // their weight
	share      [][]float64
	weight     [][]float64
	rows, cols []float64 // margins

	observed, expected float64   // weighted agreement, and that expected by chance
	rowMean, colMean   []float64 // mean weight of a row and of a column, by the margins
}

// defined reports whether agreement by chance is below 1.
func (t *crossTable) defined() bool { return 1-t.expected >= 1e-12 }

func (t *crossTable) kappa() float64 {
	// Rounding may leave it slightly outside.
	return max(-1, min((t.observed-t.expected)/(1-t.expected), 1))
}

// scaled returns a variance from the sum in its formula.
func (t *crossTable) scaled(v float64) float64 {
	rest := 1 - t.expected
	return max(v/(rest*rest*float64(t.n)), 0)
}

// matrix returns a square of zeros.
func matrix(k int) [][]float64 {
	m := make([][]float64, k)
	cells := make([]float64, k*k)
	for i := range m {
		m[i] = cells[i*k : (i+1)*k : (i+1)*k]
	}
	return m
}
