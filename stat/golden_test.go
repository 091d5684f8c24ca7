package stat_test

import (
	"maps"
	"math"
	"testing"

	"deem/internal/golden"
	"deem/stat"
)

// left are the keys of vectors that are not compared on purpose, with the reason.
var left = map[string]string{}

// TestGolden holds the package to what SciPy, statsmodels, NumPy and others gave.
func TestGolden(t *testing.T) {
	t.Parallel()
	metrics := metricsA()
	maps.Copy(metrics, metricsB())
	golden.Test(t, metrics, golden.Options{Relative: 1e-9, Numeric: true, Left: left})
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
		"wilcoxon":          golden.Of(wilcoxonVector),
		"multiple_testing":  golden.Of(multipleVector),
		"numpy_percentile": golden.Of(func(in struct{ A, Q []float64 }) (any, error) {
			return stat.Percentiles(in.A, in.Q), nil
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
	level := 1 - in.Alpha
	got := map[string]any{"wilson": ends(stat.ProportionAt(in.Count, in.Nobs, level))}
	if in.Nobs > 0 { // SciPy takes no tests without tries
		got["wilsoncc"] = ends(stat.WilsonCorrected(in.Count, in.Nobs, level))
	}
	return got, nil
}

func proportionVector(in countVector) (any, error) {
	k, n, level := in.Count, in.Nobs, 1-in.Alpha
	exact := ends(stat.ClopperPearson(k, n, level))
	return map[string]any{
		"clopper_pearson":  exact,
		"statsmodels_beta": exact,
		"agresti_coull":    ends(stat.AgrestiCoull(k, n, level)),
		"jeffreys":         rawJeffreys(k, n, level),
		"normal":           ends(stat.Wald(k, n, level)),
	}, nil
}

// rawJeffreys returns Jeffreys's interval without the modification at 0 and n,
// which statsmodels does not have. The end that we move is held to 0 or 1, and the
// quantile that stood there to the vector.
func rawJeffreys(k, n int, level float64) []float64 {
	list := ends(stat.Jeffreys(k, n, level))
	if k == 0 && list[0] == 0 {
		list[0] = stat.BetaQuantile((1-level)/2, 0.5, float64(n)+0.5)
	}
	if k == n && list[1] == 1 {
		list[1] = 1 - stat.BetaQuantile((1-level)/2, 0.5, float64(n)+0.5)
	}
	return list
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
	got := map[string]any{}
	for name, method := range map[string]stat.BootstrapMethod{
		"percentile": stat.BootstrapPercentile, "basic": stat.BootstrapBasic, "BCa": stat.BootstrapBCa,
	} {
		est, err := stat.BootstrapMeanWith(in.Indices, in.Data, in.Level, method)
		if err != nil {
			return nil, err
		}
		got[name] = ends(est)
		if method == stat.BootstrapBCa && (est.Has(stat.WarnNoBCa) || est.Has(stat.WarnNoSpreadUnbounded)) {
			got[name] = []float64{math.NaN(), math.NaN()} // not defined; SciPy says NaN
		}
		got["standard_error"] = est.SE
	}
	return got, nil
}

// pair returns statistic and p-value.
func pair(test stat.Test) map[string]any {
	return map[string]any{"statistic": test.Statistic, "pvalue": test.P}
}

func mcNemarVector(in struct{ Table [2][2]int }) (any, error) {
	b, c := in.Table[0][1], in.Table[1][0]
	got := map[string]any{
		"exact":          pair(stat.McNemar(b, c)),
		"chi2_corrected": pair(stat.McNemarChi2(b, c, true)),
		"chi2":           pair(stat.McNemarChi2(b, c, false)),
	}
	if stat.McNemarChi2(b, c, false).Has(stat.WarnNoDifference) {
		// 0/0, and (0-1)²/0: where nothing differs we say p = 1 instead.
		got["chi2"] = map[string]any{"statistic": math.NaN(), "pvalue": math.NaN()}
		got["chi2_corrected"] = map[string]any{"statistic": math.Inf(1), "pvalue": 0.0}
	}
	return got, nil
}

func tTestVector(in struct{ X, Y []float64 }) (any, error) {
	paired, err := stat.TTestPaired(in.X, in.Y)
	if err != nil {
		return nil, err
	}
	differ := stat.MomentsOf(in.X).Mean() - stat.MomentsOf(in.Y).Mean()
	return map[string]any{
		"ttest_rel":     tPair(paired, differ),
		"welch":         tPair(stat.WelchTest(in.X, in.Y), differ),
		"ttest_1samp_0": tPair(stat.TTest(in.X, 0), stat.MomentsOf(in.X).Mean()),
		"mannwhitneyu":  pair(stat.MannWhitney(in.X, in.Y)),
	}, nil
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

func wilcoxonVector(in struct {
	X, Y        []float64
	ZeroMethod  string `json:"zero_method"`
	Correction  bool
	Alternative stat.Alternative
	Method      string
},
) (any, error) {
	test, err := stat.Wilcoxon(in.X, in.Y, stat.WilcoxonOptions{
		Zeros: in.ZeroMethod, Correction: in.Correction, Alternative: in.Alternative, Method: in.Method, Untied: true,
	})
	if err != nil {
		return nil, err
	}
	return pair(test), nil
}

func multipleVector(in struct {
	Pvals []float64
	Alpha float64
},
) (any, error) {
	got := map[string]any{}
	for name, f := range map[string]func([]float64) []float64{
		"fdr_bh": stat.BenjaminiHochberg, "fdr_by": stat.BenjaminiYekutieli, "holm": stat.Holm,
		"bonferroni": stat.Bonferroni, "sidak": stat.Sidak, "hommel": stat.Hommel,
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
