package stat_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"deem/internal/test/golden"
	"deem/stat"
)

// errReference stands for an exception of the reference where we give a warning.
var errReference = errors.New("the reference raises")

// TestGolden holds the package to what SciPy, statsmodels, NumPy and others gave.
func TestGolden(t *testing.T) {
	t.Parallel()
	golden.Test(t, metricsA(), golden.Options{Relative: 1e-9, Numeric: true})
}

// metricsA are intervals, tests, the bootstrap and quantiles.
func metricsA() map[string]golden.Metric {
	return map[string]golden.Metric{
		"wilson_interval":   golden.Of(wilsonVector),
		"clopper_pearson":   golden.Of(proportionVector),
		"binomtest":         golden.Of(binomialVector),
		"bootstrap_mean_ci": golden.Of(bootstrapVector),
		"mcnemar":           golden.Of(mcNemarVector),
		"ttest":             golden.Of(tTestVector),
		"multiple_testing":  golden.Of(multipleVector),
		"numpy_percentile": golden.Of(func(in struct{ A, Q []float64 }) (any, error) {
			values, all := slices.Sorted(slices.Values(in.A)), make([]float64, len(in.Q))
			for i, percent := range in.Q {
				all[i] = stat.Quantile(values, percent/100)
			}
			return all, nil
		}),
	}
}

type countVector struct {
	Count, Nobs int
	Alpha       float64
}

// ends returns the ends of an interval. Where there is nothing to estimate from,
// the references say NaN.
func ends(est stat.Estimate) []float64 {
	if est.Has(stat.WarnNoValues) {
		return []float64{math.NaN(), math.NaN()}
	}
	return []float64{est.Lo, est.Hi}
}

func wilsonVector(in countVector) (any, error) {
	return map[string]any{"wilson": ends(stat.Proportion(in.Count, in.Nobs, 1-in.Alpha))}, nil
}

func proportionVector(in countVector) (any, error) {
	exact := ends(stat.ClopperPearson(in.Count, in.Nobs, 1-in.Alpha))
	return map[string]any{"clopper_pearson": exact, "statsmodels_beta": exact}, nil
}

func binomialVector(in struct {
	K, N        int
	P           float64
	Alternative stat.Alternative
},
) (any, error) {
	return stat.BinomialTest(in.K, in.N, in.P, in.Alternative), nil
}

func bootstrapVector(in struct {
	Data    []float64
	Level   float64 `json:"confidence_level"`
	Indices [][]int
},
) (any, error) {
	est := stat.BootstrapMeanWith(in.Indices, in.Data, in.Level, stat.BootstrapBCa)
	got := map[string]any{"BCa": ends(est), "standard_error": est.SE}
	if est.Has(stat.WarnNoBCa) || est.Has(stat.WarnNoSpreadUnbounded) {
		got["BCa"] = []float64{math.NaN(), math.NaN()} // not defined; SciPy says NaN
	}
	got["percentile"] = ends(stat.BootstrapMeanWith(in.Indices, in.Data, in.Level, stat.BootstrapPercentile))
	return got, nil
}

// pair returns statistic and p-value.
func pair(test stat.Test) map[string]any {
	return map[string]any{"statistic": test.Statistic, "pvalue": test.P}
}

func mcNemarVector(in struct{ Table [2][2]int }) (any, error) {
	return map[string]any{"exact": pair(stat.McNemar(in.Table[0][1], in.Table[1][0]))}, nil
}

func tTestVector(in struct{ X, Y []float64 }) (any, error) {
	if len(in.X) != len(in.Y) {
		return nil, errReference // The paired test raises, and with it the vector.
	}
	differ := stat.MomentsOf(in.X).Mean() - stat.MomentsOf(in.Y).Mean()
	return map[string]any{"welch": tPair(stat.WelchTest(in.X, in.Y), differ)}, nil
}

// tPair returns statistic and p-value, or what SciPy says where the values have no
// spread: 0/0 without a difference, and an infinite t with one.
func tPair(test stat.Test, difference float64) map[string]any {
	switch {
	case test.Has(stat.WarnTooFew), test.Has(stat.WarnNoSpreadTest) && difference == 0:
		return map[string]any{"statistic": math.NaN(), "pvalue": math.NaN()}
	case test.Has(stat.WarnNoSpreadTest):
		return map[string]any{"statistic": math.Inf(int(math.Copysign(1, difference))), "pvalue": 0.0}
	}
	return pair(test)
}

func multipleVector(in struct {
	Pvals []float64
	Alpha float64
},
) (any, error) {
	got := map[string]any{}
	for name, f := range map[string]func([]float64) []float64{
		"holm": stat.Holm, "bonferroni": stat.Bonferroni,
	} {
		adjusted := f(in.Pvals)
		reject := make([]bool, len(adjusted))
		for i, p := range adjusted {
			reject[i] = p <= in.Alpha
		}
		got[name] = map[string]any{"pvals_corrected": adjusted, "reject": reject}
	}
	return got, nil
}
