package reports

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"deem/stat"
)

// The warnings of strengths.
const (
	warnClustersFit = "not more clusters than numbers to estimate: there is no interval"
	warnClustersOne = "all clusters say the same, so that their spread is unknown: there is no interval"
)

// A contest is one comparison of two systems, of which the judge saw one first.
type contest struct {
	First, Second int // the systems, from 0

	// Score gives the winner: above one half the first, below the second, and one half is a
	// tie.
	Score float64

	// Cluster names contests that depend on each other, such as those about one question. A
	// contest without a name is its own cluster.
	Cluster string
}

// A bradleyTerry gives the strengths of systems that were compared in pairs.
type bradleyTerry struct {
	// Strengths are log odds, with mean 0 over the systems that have one. The odds that one
	// system beats another, if they do not tie, are exp of the difference. A system without
	// a finite strength has the zero Estimate.
	Strengths []stat.Estimate

	// Order is the advantage of the first place in log odds, 0 if the order does not matter.
	Order stat.Estimate

	// Ties is Davidson's parameter: equal systems tie with probability Ties / (Ties + 2).
	// It is 0 if no contest is a tie.
	Ties float64

	// Extreme is 1 for a system that won every contest, and -1 for one that lost every
	// contest, not counting contests with extreme systems that were removed before it. They
	// have no finite strength. It is 0 for all others.
	Extreme []int

	// Reason says why there are no strengths, or is "".
	Reason string

	Contests, Clusters int

	level    float64
	index    []int       // of a system's parameter; -1 for extreme systems
	theta    []float64   // strengths, then order, then ties
	variance [][]float64 // of theta; nil without intervals
	warning  string      // why there are no intervals, or a caveat
}

// newBradleyTerry fits strengths to contests by maximum likelihood. The first of two
// systems i and j wins, they tie, or the second wins with probabilities in the ratio
//
//	exp((s_i-s_j+order)/2) : ties : exp(-(s_i-s_j+order)/2)
//
// Source: R. A. Bradley and M. E. Terry, Biometrika 39 (1952), 324-345; ties of R. R.
// Davidson, JASA 65 (1970), 317-328; the effect of order of R. R. Davidson and R. J.
// Beaver, Biometrics 33 (1977), 693-702, here with half of it on either side, which is the
// same model. Davidson's ties are used rather than those of P. V. Rao and L. L. Kupper
// (1967), because the odds of winning then do not depend on the ties, and the likelihood is
// concave: it has one maximum. The difference of two strengths, converted by
// chance, is the probability that one system beats the other if they do not
// tie and the order does not matter. A finite maximum exists if no group of systems won
// every contest with the others (L. R. Ford, American Mathematical Monthly 64 (1957),
// 28-33).
//
// The variance is the sandwich of K.-Y. Liang and S. L. Zeger, Biometrika 73 (1986), 13-22,
// with scores summed over each of G clusters and multiplied by G/(G-1), and the intervals
// use Student's t with G-1 degrees of freedom.
func newBradleyTerry(systems int, contests []contest, level float64) (bradleyTerry, error) {
	b := bradleyTerry{
		Strengths: make([]stat.Estimate, systems), Extreme: make([]int, systems), index: make([]int, systems),
		Contests: len(contests), level: level,
	}
	for i, c := range contests {
		if min(c.First, c.Second) < 0 || max(c.First, c.Second) >= systems || c.First == c.Second || !(c.Score >= 0 && c.Score <= 1) {
			return b, fmt.Errorf("contest %d of systems %d and %d with score %v is not a contest of two of %d systems", i+1, c.First, c.Second, c.Score, systems)
		}
	}
	if len(contests) == 0 {
		return b, errors.New("there are no contests")
	}
	contests = b.withoutExtremes(contests)
	n := 0
	for i := range b.index {
		b.index[i] = -1
		if b.Extreme[i] == 0 {
			b.index[i] = n
			n++
		}
	}
	clusters := b.gather(contests)
	b.Clusters = len(clusters)
	if b.Reason = b.unfit(n, contests); b.Reason != "" {
		return b, nil
	}
	inverse := b.maximise(n, clusters)
	if b.Reason != "" {
		return b, nil
	}
	b.sandwich(inverse, clusters)
	for s, at := range b.index {
		if at < 0 {
			continue
		}
		along := make([]float64, len(b.theta)) // shifts the strengths to mean 0
		for i := range n {
			along[i] = -1 / float64(n)
		}
		along[at]++
		b.Strengths[s] = b.linear(along)
	}
	order := make([]float64, len(b.theta))
	order[n] = 1
	b.Order = b.linear(order)
	return b, nil
}

// withoutExtremes removes systems that won or lost everything, until there are none.
func (b *bradleyTerry) withoutExtremes(contests []contest) []contest {
	for {
		won, all := make([]float64, len(b.Extreme)), make([]float64, len(b.Extreme))
		for _, c := range contests {
			won[c.First] += decided(c.Score)
			won[c.Second] += 1 - decided(c.Score)
			all[c.First]++
			all[c.Second]++
		}
		found := false
		for i, n := range all {
			if n > 0 && (won[i] == 0 || won[i] == n) {
				b.Extreme[i], found = 1, true
				if won[i] == 0 {
					b.Extreme[i] = -1
				}
			}
		}
		if !found {
			return contests
		}
		contests = slices.DeleteFunc(slices.Clone(contests), func(c contest) bool { return b.Extreme[c.First] != 0 || b.Extreme[c.Second] != 0 })
	}
}

// decided returns 1 if the first won, 0 if the second did, and one half for a tie.
func decided(score float64) float64 {
	switch {
	case score > 0.5:
		return 1
	case score < 0.5:
		return 0
	}
	return 0.5
}

// A contestCell counts identical contests.
type contestCell struct {
	i, j int // indices of their parameters
	won  float64
	n    float64
}

// gather counts the contests of each cluster, in an order that does not depend on theirs.
func (b *bradleyTerry) gather(contests []contest) [][]contestCell {
	named := map[string]map[contestCell]float64{}
	var clusters [][]contestCell
	for _, c := range contests {
		cell := contestCell{i: b.index[c.First], j: b.index[c.Second], won: decided(c.Score)}
		if c.Cluster == "" {
			cell.n = 1
			clusters = append(clusters, []contestCell{cell})
			continue
		}
		if named[c.Cluster] == nil {
			named[c.Cluster] = map[contestCell]float64{}
		}
		named[c.Cluster][cell]++
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		var cells []contestCell
		for cell, n := range named[name] {
			cell.n = n
			cells = append(cells, cell)
		}
		slices.SortFunc(cells, compareCells)
		clusters = append(clusters, cells)
	}
	slices.SortStableFunc(clusters, func(x, y []contestCell) int { return slices.CompareFunc(x, y, compareCells) })
	return clusters
}

func compareCells(x, y contestCell) int {
	return cmp.Or(cmp.Compare(x.i, y.i), cmp.Compare(x.j, y.j), cmp.Compare(x.won, y.won), cmp.Compare(x.n, y.n))
}

// unfit says why contests allow no finite strengths, if that is known without a fit.
func (b *bradleyTerry) unfit(n int, contests []contest) string {
	if n < 2 {
		return "fewer than two systems both won and lost"
	}
	met, held := reflexive(n), reflexive(n)
	tied := 0
	for _, c := range contests {
		i, j, won := b.index[c.First], b.index[c.Second], decided(c.Score)
		met[i][j], met[j][i] = true, true
		held[i][j] = held[i][j] || won > 0
		held[j][i] = held[j][i] || won < 1
		if won == 0.5 {
			tied++
		}
	}
	switch {
	case !closed(met):
		return "some systems were never compared with the others, not even through a third one"
	case tied == len(contests):
		return "every comparison is a tie"
	case !closed(held):
		return "a group of systems won every comparison with the others"
	}
	return ""
}

// reflexive returns the relation in which everything is related only to itself.
func reflexive(n int) [][]bool {
	m := make([][]bool, n)
	for i := range m {
		m[i] = make([]bool, n)
		m[i][i] = true
	}
	return m
}

// closed reports whether everything is reached from everywhere.
func closed(m [][]bool) bool {
	for k := range m {
		for i := range m {
			for j := range m {
				m[i][j] = m[i][j] || m[i][k] && m[k][j]
			}
		}
	}
	return !slices.ContainsFunc(m, func(row []bool) bool { return slices.Contains(row, false) })
}

// farthest is the largest log odds between compared systems; beyond it the likelihood is
// considered to have no maximum, because one there would need exp(20) contests.
const farthest = 20

// maximise finds the maximum of the likelihood by Newton's method with step halving, and
// returns the inverse of the information there. The strength of the first system is fixed
// at 0, so its row is empty.
func (b *bradleyTerry) maximise(n int, clusters [][]contestCell) [][]float64 {
	all := slices.Concat(clusters...)
	ties := slices.ContainsFunc(all, func(c contestCell) bool { return c.won == 0.5 })
	b.theta = make([]float64, n+2)
	for range 200 {
		gradient, information := make([]float64, n+2), square(n+2)
		here := 0.0
		for _, c := range all {
			here += c.add(b.theta, ties, gradient, information)
		}
		free := len(b.theta) // the last parameter is that of ties
		if !ties {
			free--
		}
		inverse := invert(information, 1, free)
		if inverse == nil {
			b.Reason = "the strengths cannot be told from the effect of order: pairs were not compared in both orders"
			return nil
		}
		step := times(inverse, gradient)
		if !slices.ContainsFunc(step, func(x float64) bool { return !(math.Abs(x) < 1e-10) }) {
			if ties {
				b.Ties = math.Exp(b.theta[n+1])
			}
			return inverse
		}
		for half := 1.0; half > 1e-9; half /= 2 {
			next := slices.Clone(b.theta)
			for i := range next {
				next[i] += float64(half * step[i])
			}
			there := 0.0
			for _, c := range all {
				there += c.add(next, ties, nil, nil)
			}
			if there >= here-1e-12*math.Abs(here) {
				b.theta = next
				break
			}
		}
		if slices.ContainsFunc(all, func(c contestCell) bool { return math.Abs(c.odds(b.theta)) > farthest }) || math.Abs(b.theta[n+1]) > farthest {
			break
		}
	}
	b.Reason = "the order in which the two were shown explains every comparison that strengths do not"
	return nil
}

// odds returns the log odds that the first wins.
func (c contestCell) odds(theta []float64) float64 {
	return theta[c.i] - theta[c.j] + theta[len(theta)-2]
}

// add returns the log-likelihood of the cell, and adds its derivatives to the gradient and
// to the information unless they are nil.
func (c contestCell) add(theta []float64, ties bool, gradient []float64, information [][]float64) float64 {
	order, tie := len(theta)-2, len(theta)-1
	half := c.odds(theta) / 2
	top := math.Abs(half)
	if ties {
		top = max(top, theta[tie])
	}
	win, lose, tied := math.Exp(half-top), math.Exp(-half-top), 0.0
	if ties {
		tied = math.Exp(theta[tie] - top)
	}
	sum := win + lose + tied
	isTie, got := 0.0, 2*(c.won-0.5)*half
	if c.won == 0.5 {
		isTie, got = 1, theta[tie]
	}
	value := got - top - math.Log(sum)
	win, lose, tied = win/sum, lose/sum, tied/sum
	along := [...]struct {
		at   int
		sign float64
	}{{c.i, 1}, {c.j, -1}, {order, 1}}
	if gradient != nil {
		for _, a := range along {
			gradient[a.at] += c.n * a.sign * (c.won - 0.5 - (win-lose)/2)
		}
		gradient[tie] += c.n * (isTie - tied)
	}
	if information != nil {
		spread := (win + lose - (win-lose)*(win-lose)) / 4
		for _, a := range along {
			for _, o := range along {
				information[a.at][o.at] += c.n * a.sign * o.sign * spread
			}
			information[a.at][tie] -= c.n * a.sign * (win - lose) / 2 * tied
			information[tie][a.at] -= c.n * a.sign * (win - lose) / 2 * tied
		}
		information[tie][tie] += c.n * tied * (1 - tied)
	}
	return c.n * value
}

// sandwich computes the variance of the parameters from the scores of clusters.
func (b *bradleyTerry) sandwich(inverse [][]float64, clusters [][]contestCell) {
	size, g := len(b.theta), float64(len(clusters))
	parameters := size - 1 // one strength is fixed
	if b.Ties == 0 {
		parameters--
	}
	if len(clusters) <= parameters {
		b.warning = warnClustersFit
		return
	}
	b.variance = square(size)
	for _, cells := range clusters {
		score := make([]float64, size)
		for _, c := range cells {
			c.add(b.theta, b.Ties > 0, score, nil)
		}
		influence := times(inverse, score)
		for i := range size {
			for j := range size {
				b.variance[i][j] += influence[i] * influence[j] * g / (g - 1)
			}
		}
	}
	// Few clusters make this interval too narrow, even if they are very few.
	b.warning = cmp.Or(stat.ClusterWarning(max(len(clusters), 8), false), b.warning)
}

// linear returns the estimate of the linear combination of parameters with these factors.
func (b *bradleyTerry) linear(along []float64) stat.Estimate {
	est := stat.Estimate{Level: b.level, N: b.Contests, Clusters: b.Clusters, Method: "bradley-terry"}
	variance := 0.0
	for i, a := range along {
		est.Value += a * b.theta[i]
		for j := range along {
			if b.variance != nil {
				variance += a * along[j] * b.variance[i][j]
			}
		}
	}
	if b.variance == nil || variance <= 1e-18 {
		why := b.warning
		if b.variance != nil {
			why = warnClustersOne
		}
		none := stat.NoInterval(est.Value, est.N, b.level, stat.Bounds{}, why)
		none.Clusters = b.Clusters
		return none
	}
	est.SE = math.Sqrt(variance)
	half := stat.StudentQuantile(b.level, float64(b.Clusters-1)) * est.SE
	est.Lo, est.Hi = est.Value-half, est.Value+half
	if b.warning != "" {
		est = est.Warn(b.warning)
	}
	return est
}

// Difference returns the strength of system i minus that of j, with the p-value of the test
// of whether it is 0. Both systems must have a strength.
func (b *bradleyTerry) Difference(i, j int) (stat.Estimate, float64) {
	along := make([]float64, len(b.theta))
	along[b.index[i]]++
	along[b.index[j]]--
	est := b.linear(along)
	if est.Method == stat.MethodNone {
		return est, 1
	}
	return est, stat.StudentTail(est.Value/est.SE, float64(b.Clusters-1))
}

// chance converts log odds to a probability.
func chance(e stat.Estimate) stat.Estimate {
	logistic := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	p := logistic(e.Value)
	e.Value, e.Lo, e.Hi, e.SE = p, logistic(e.Lo), logistic(e.Hi), e.SE*p*(1-p)
	return e
}

func square(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	return m
}

// invert returns the inverse of the rows and columns of m from lo up to hi, with zeros
// outside, by Gauss-Jordan elimination. It is nil if m is not positive definite there.
func invert(m [][]float64, lo, hi int) [][]float64 {
	out := square(len(m))
	scale := 0.0
	for i := lo; i < hi; i++ {
		m[i] = slices.Clone(m[i])
		out[i][i] = 1
		scale = max(scale, m[i][i])
	}
	for k := lo; k < hi; k++ {
		pivot := m[k][k]
		if !(pivot > 1e-13*scale) {
			return nil
		}
		for j := lo; j < hi; j++ {
			m[k][j] /= pivot
			out[k][j] /= pivot
		}
		for i := lo; i < hi; i++ {
			if f := m[i][k]; i != k {
				for j := lo; j < hi; j++ {
					m[i][j] -= f * m[k][j]
					out[i][j] -= f * out[k][j]
				}
			}
		}
	}
	return out
}

func times(m [][]float64, x []float64) []float64 {
	out := make([]float64, len(x))
	for i, row := range m {
		for j, v := range row {
			out[i] += v * x[j]
		}
	}
	return out
}
