package stat

import "math"

// MethodKappa is the large-sample interval of Cohen's kappa.
const MethodKappa = "fleiss-cohen-everitt"

// WarnOneClass says that agreement beyond chance is not defined.
const WarnOneClass = "both judges gave one label only, so agreement beyond chance is not defined"

// Kappa returns Cohen's kappa of a square table of counts, in which table[i][j]
// counts the items that the first judge put into class i and the second into class
// j (Cohen 1960). The interval uses the variance of Fleiss, Cohen and Everitt
// (1969); it holds for large n and is cut off at -1 and 1.
func Kappa(table [][]int, level float64) Estimate {
	n := 0
	for _, row := range table {
		for _, c := range row {
			n += c
		}
	}
	est := Estimate{Lo: -1, Hi: 1, Level: level, N: n, Method: MethodNone}
	if n == 0 {
		return est.Warn(WarnNoValues)
	}
	observed, expected, rows, cols := agreements(table, float64(n))
	if 1-expected < 1e-12 {
		return est.Warn(WarnOneClass)
	}
	k := (observed - expected) / (1 - expected)
	half := normalQuantile(level) * math.Sqrt(kappaVariance(table, float64(n), k, expected, rows, cols))
	est.Value, est.Lo, est.Hi, est.Method = k, max(k-half, -1), min(k+half, 1), MethodKappa
	return est
}

// agreements returns the share of items on the diagonal, the share that chance
// would put there, and the margins as shares.
func agreements(table [][]int, n float64) (observed, expected float64, rows, cols []float64) {
	rows, cols = make([]float64, len(table)), make([]float64, len(table))
	for i, row := range table {
		for j, c := range row {
			rows[i] += float64(c) / n
			cols[j] += float64(c) / n
		}
		observed += float64(row[i]) / n
	}
	for i := range rows {
		expected += rows[i] * cols[i]
	}
	return observed, expected, rows, cols
}

// kappaVariance is formula 13 of Fleiss, Cohen and Everitt (1969).
func kappaVariance(table [][]int, n, k, expected float64, rows, cols []float64) float64 {
	var diagonal, rest float64
	for i, row := range table {
		for j, c := range row {
			p := float64(c) / n
			if i == j {
				d := 1 - (rows[i]+cols[i])*(1-k)
				diagonal += p * d * d
			} else {
				s := cols[i] + rows[j]
				rest += p * s * s
			}
		}
	}
	last := k - expected*(1-k)
	v := (diagonal + (1-k)*(1-k)*rest - last*last) / ((1 - expected) * (1 - expected) * n)
	return max(v, 0)
}
