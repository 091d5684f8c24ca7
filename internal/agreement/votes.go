package agreement

import (
	"math"

	"deem/stat"
)

// Votes collects on which items each of several judges is wrong. The zero value is ready to
// use.
type Votes struct {
	rows []voteRow
}

type voteRow struct {
	cluster string
	weight  float64
	wrong   []bool // by judge
}

// Add adds an item that all judges have decided: which of them are wrong.
func (v *Votes) Add(cluster string, weight float64, wrong []bool) {
	v.rows = append(v.rows, voteRow{cluster, weight, wrong})
}

// Items returns the number of items.
func (v *Votes) Items() int { return len(v.rows) }

// The reasons why there is no number of effective votes.
const (
	warnOneVoter = "fewer than two judges are wrong on some items and right on others: their errors have no correlation"
	warnAsMany   = "errors are not shared: the number is that of the judges"
)

// Effective returns how many judges whose errors are independent k judges are worth,
// k/(1 + (k-1)r) with the mean r of the correlations of the errors of two judges, and r
// itself. It is from 1, if all judges make the same errors, to k. A judge that is right on
// all items, or on none, shares no error and is left out of r.
//
// Source: L. Kish, Survey Sampling (1965), section 5.4, for the number of independent values
// with the variance of the mean of k values of which any two have the correlation r; the
// same number underlies the effective number of classifiers in an ensemble. The interval is
// that of r, from the influence of the items, which is summed over clusters.
func (v *Votes) Effective(level float64) (effective, correlation stat.Estimate) {
	k := 0
	if len(v.rows) > 0 {
		k = len(v.rows[0].wrong)
	}
	most := stat.Bounds{Lo: 1, Hi: float64(max(k, 1))}
	errs := v.standardised(k)
	if len(errs) < 2 || len(v.rows) < 2 {
		return stat.NoInterval(most.Hi, 0, level, most, warnOneVoter), stat.NoInterval(0, 0, level, stat.Bounds{Lo: -1, Hi: 1}, warnOneVoter)
	}
	r, list := v.meanCorrelation(errs)
	se, df, few := stat.RobustError(list)
	correlation = stat.Estimate{Value: r, SE: se, Level: level, N: len(v.rows), Method: "influence"}
	if len(list) < len(v.rows) {
		correlation.Clusters = len(list)
	}
	half := math.Inf(1)
	if df > 0 {
		half = stat.StudentQuantile(level, df) * se
	}
	correlation.Lo, correlation.Hi = max(r-half, -1), min(r+half, 1)
	if warning := stat.ClusterWarning(len(list), few); warning != "" && correlation.Clusters > 0 {
		correlation = correlation.Warn(warning)
	}
	worth := func(r float64) float64 {
		return most.Clip(float64(k) / max(1+float64(k-1)*r, 1))
	}
	effective = correlation
	effective.SE = 0
	effective.Value, effective.Lo, effective.Hi = worth(r), worth(correlation.Hi), worth(correlation.Lo)
	if r <= 0 {
		effective = effective.Warn(warnAsMany)
	}
	return effective, correlation
}

// standardised returns the errors of each judge that makes some and not only errors: in
// standard deviations from their mean.
func (v *Votes) standardised(k int) [][]float64 {
	var list [][]float64
	for j := range k {
		var m stat.Moments
		for _, row := range v.rows {
			m.Add(Number(row.wrong[j]), row.weight)
		}
		p := m.Mean()
		if !(p > 0 && p < 1) {
			continue
		}
		z := make([]float64, len(v.rows))
		for i, row := range v.rows {
			z[i] = (Number(row.wrong[j]) - p) / math.Sqrt(p*(1-p))
		}
		list = append(list, z)
	}
	return list
}

// meanCorrelation returns the mean correlation of two of the judges, and the influence of the
// items on it by cluster: for judges a and b it is ab - r(a²+b²)/2.
func (v *Votes) meanCorrelation(errs [][]float64) (float64, []stat.Cluster) {
	k, pairs := len(errs), float64(len(errs)*(len(errs)-1))/2
	total := 0.0
	r := make([][]float64, k)
	for a := range errs {
		r[a] = make([]float64, k)
	}
	for i, row := range v.rows {
		total += row.weight
		for a := range errs {
			for b := range a {
				r[a][b] += row.weight * errs[a][i] * errs[b][i]
			}
		}
	}
	mean := 0.0
	for a := range errs {
		for b := range a {
			r[a][b] /= total
			mean += r[a][b] / pairs
		}
	}
	places, list := map[string]int{}, []stat.Cluster{}
	for i, row := range v.rows {
		influence := 0.0
		for a, za := range errs {
			for b := range a {
				zb := errs[b][i]
				influence += (float64(za[i]*zb) - r[a][b]*(float64(za[i]*za[i])+float64(zb*zb))/2) / pairs
			}
		}
		at, seen := places[row.cluster]
		if !seen || row.cluster == "" {
			at = len(list)
			places[row.cluster] = at
			list = append(list, stat.Cluster{})
		}
		list[at].Weight += row.weight
		list[at].Influence += row.weight * influence
	}
	return mean, list
}
