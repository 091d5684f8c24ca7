package stat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"deem/internal/golden"
	"deem/stat"
)

// metricsB are agreement, correlation, calibration and correction.
func metricsB() map[string]golden.Metric {
	return map[string]golden.Metric{
		"auroc":                  golden.Of(goldenAUROC),
		"average_precision":      golden.Of(goldenAveragePrecision),
		"brier_log_loss":         golden.Of(goldenLosses),
		"calibration_curve":      golden.Of(goldenCurve),
		"classification_metrics": golden.Of(goldenClassification),
		"cohen_kappa":            golden.Of(goldenKappa),
		"cohen_kappa_se":         golden.Of(goldenKappaErrors),
		"ece":                    golden.Of(goldenECE),
		"fleiss_kappa":           golden.Of(goldenFleiss),
		"gwet_ac":                golden.Of(goldenGwet),
		"isotonic":               golden.Of(goldenIsotonic),
		"kendall_tau_b":          golden.Of(goldenKendall),
		"krippendorff_alpha":     golden.Of(goldenKrippendorff),
		"pearson":                golden.Of(goldenPearson),
		"spearman":               golden.Of(goldenSpearman),
		"ppi_mean":               golden.Of(goldenPPI),
	}
}

// nan is what the references give where we give a warning or an error.
var nan = math.NaN()

// errReference stands for an exception of the reference where we give a warning.
var errReference = errors.New("the reference raises")

// bools reads zeros and ones.
func bools(y []int) []bool {
	b := make([]bool, len(y))
	for i, v := range y {
		b[i] = v == 1
	}
	return b
}

// missing reads numbers in which null is missing.
func missing(rows [][]*float64) [][]float64 {
	all := make([][]float64, len(rows))
	for i, row := range rows {
		all[i] = make([]float64, len(row))
		for j, v := range row {
			all[i][j] = nan
			if v != nil {
				all[i][j] = *v
			}
		}
	}
	return all
}

// unclipped returns an end of an interval, computed anew if it was cut off at a
// bound that the reference does not know.
func unclipped(end, bound, value, half float64) float64 {
	if end == bound {
		return value + half
	}
	return end
}

type scored struct {
	YTrue   []int     `json:"y_true"`
	YScore  []float64 `json:"y_score"`
	YProb   []float64 `json:"y_prob"`
	Weights []float64 `json:"sample_weight"`
	NBins   int       `json:"n_bins"`
}

func goldenAUROC(in scored) (any, error) {
	est, err := stat.AUROC(in.YScore, bools(in.YTrue), in.Weights)
	return est.Value, err
}

// scikit-learn warns and gives 0 where there is nothing to find.
func goldenAveragePrecision(in scored) (any, error) {
	value, err := stat.AveragePrecision(in.YScore, bools(in.YTrue), in.Weights)
	if err != nil && !slices.Contains(in.YTrue, 1) {
		return 0.0, nil
	}
	return value, err
}

func goldenLosses(in scored) (any, error) {
	brier, err := stat.Brier(in.YProb, bools(in.YTrue))
	loss, err2 := stat.LogLoss(in.YProb, bools(in.YTrue))
	return map[string]any{"brier": brier, "log_loss": loss}, errors.Join(err, err2)
}

// NumPy makes the ends of equal bins by adding tenths, which differ from ours in
// the last digit.
func goldenCurve(in scored) (any, error) {
	cuts := make([]float64, in.NBins-1)
	step := 1 / float64(in.NBins)
	for i := range cuts {
		cuts[i] = float64(i+1) * step
	}
	uniform, err := goldenBins(in, stat.Binning{Cuts: cuts})
	quantile, err2 := goldenBins(in, stat.Binning{Count: in.NBins, Mass: stat.MassQuantile})
	return map[string]any{"uniform": uniform, "quantile": quantile}, errors.Join(err, err2)
}

func goldenBins(in scored, b stat.Binning) (any, error) {
	bins, err := stat.Reliability(in.YProb, bools(in.YTrue), b)
	var observed, confidence []float64
	for _, bin := range bins {
		observed = append(observed, bin.Observed.Value)
		confidence = append(confidence, bin.Confidence)
	}
	return map[string]any{"prob_true": observed, "prob_pred": confidence}, err
}

func goldenClassification(in struct {
	YTrue  []string `json:"y_true"`
	YPred  []string `json:"y_pred"`
	Labels []string `json:"labels"`
},
) (any, error) {
	c, err := stat.Classification(in.YTrue, in.YPred, in.Labels)
	if err != nil {
		return nil, err
	}
	var precision, recall, f1 []float64
	for _, r := range c.Each {
		precision, recall, f1 = append(precision, r.Precision), append(recall, r.Recall), append(f1, r.F1)
	}
	return map[string]any{
		"accuracy": c.Accuracy, "balanced_accuracy": c.BalancedAccuracy, "mcc": c.MCC, "confusion": c.Table,
		"per_class": map[string]any{"precision": precision, "recall": recall, "f1": f1},
		"macro":     ratesMap(c.Macro), "micro": ratesMap(c.Micro), "weighted": ratesMap(c.Weighted),
	}, nil
}

func ratesMap(r stat.Rates) any {
	return map[string]any{"precision": r.Precision, "recall": r.Recall, "f1": r.F1}
}

// goldenKappa makes the table from two lists of labels, which are strings or
// numbers, in the order of labels or sorted.
func goldenKappa(in struct {
	Y1     []any `json:"y1"`
	Y2     []any `json:"y2"`
	Labels []any `json:"labels"`
},
) (any, error) {
	labels := texts(in.Labels)
	if labels == nil {
		labels = slices.Sorted(slices.Values(slices.Concat(texts(in.Y1), texts(in.Y2))))
		labels = slices.Compact(labels)
	}
	c, err := stat.Classification(texts(in.Y1), texts(in.Y2), labels)
	if err != nil {
		return nil, err
	}
	value := func(w stat.Weighting) float64 {
		est := stat.WeightedKappa(c.Table, w, 0.95)
		if est.Has(stat.WarnOneClass) {
			return nan
		}
		return est.Value
	}
	return map[string]any{
		"none": value(stat.Unweighted), "linear": value(stat.Linear), "quadratic": value(stat.Quadratic),
	}, nil
}

// texts writes labels so that numbers sort like numbers.
func texts(list []any) []string {
	var all []string
	for _, v := range list {
		if n, ok := v.(json.Number); ok {
			all = append(all, fmt.Sprintf("%20s", n))
			continue
		}
		all = append(all, fmt.Sprint(v))
	}
	return all
}

func goldenKappaErrors(in struct{ Table [][]int }) (any, error) {
	fit := func(w stat.Weighting) any {
		est := stat.WeightedKappa(in.Table, w, 0.95)
		half := distuv.UnitNormal.Quantile(0.975) * est.SE
		return map[string]any{
			"kappa": est.Value, "var_kappa": est.SE * est.SE, "std_kappa0": stat.KappaNullSE(in.Table, w),
			"kappa_low": unclipped(est.Lo, -1, est.Value, -half),
			"kappa_upp": unclipped(est.Hi, 1, est.Value, half),
		}
	}
	return map[string]any{
		"none": fit(stat.Unweighted), "linear": fit(stat.Linear), "quadratic": fit(stat.Quadratic),
	}, nil
}

func goldenECE(in struct {
	Probs  []float64 `json:"probs"`
	Labels []int     `json:"labels"`
	NBins  int       `json:"n_bins"`
	Edges  []float64 `json:"torchmetrics_bin_edges"`
},
) (any, error) {
	truth := bools(in.Labels)
	torch, err := stat.ECE(in.Probs, truth, stat.Binning{Cuts: in.Edges[1:], LowerEnds: true})
	width, err2 := stat.ECE(in.Probs, truth, stat.Binning{Count: in.NBins})
	mass, err3 := stat.ECE(in.Probs, truth, stat.Binning{Count: in.NBins, Mass: stat.MassSplit})
	return map[string]any{
		"torchmetrics_l1": torch.Mean, "torchmetrics_l2": torch.RMS, "torchmetrics_max": torch.Largest,
		"vercal_ece": width.Mean, "vercal_ece_em": mass.Mean,
	}, errors.Join(err, err2, err3)
}

func goldenFleiss(in struct{ Table [][]int }) (any, error) {
	est := stat.Fleiss(in.Table, 0.95)
	value := est.Value
	if est.Has(stat.WarnUndefined) {
		value = nan
	}
	return map[string]any{"fleiss": value, "randolph": stat.Randolph(in.Table)}, nil
}

type rated struct {
	Ratings    [][]*float64 `json:"ratings"`
	Weights    string       `json:"weights"`
	Categories []float64    `json:"categories"`
}

// agree returns a coefficient. irrCAC raises where any is not defined.
func (in rated) agree(c stat.Coefficient) (stat.Agreement, error) {
	o := stat.RatingOptions{Categories: in.Categories}
	if in.Weights != "identity" {
		o.Weighting = stat.Weighting(in.Weights)
	}
	a := stat.Agree(missing(in.Ratings), c, o, 0.95)
	if a.Has(stat.WarnUndefined) || a.Has(stat.WarnOneRated) {
		return a, errReference
	}
	return a, nil
}

func goldenGwet(in rated) (any, error) {
	gwet, err := in.agree(stat.GwetAC)
	fleiss, err2 := in.agree(stat.FleissKappa)
	brennan, err3 := in.agree(stat.BrennanPrediger)
	return map[string]any{
		"coefficient": gwet.Value, "pa": gwet.Observed, "pe": gwet.Expected, "se": gwet.SE, "p_value": gwet.P,
		"fleiss": fleiss.Value, "brennan_prediger": brennan.Value,
	}, errors.Join(err, err2, err3)
}

func init() {
	left["ci"] = "TestGoldenGwetInterval compares it with another tolerance"
}

// TestGoldenGwetInterval compares the intervals of gwet_ac. SciPy 1.10 inverts
// Student's distribution to ten digits only (2.36462425101 for 7 degrees of freedom,
// where 2.36462425159 is right), so an end near 0 differs by more than a share of
// it. irrCAC cuts off the upper end at 1 and never the lower end.
func TestGoldenGwetInterval(t *testing.T) {
	t.Parallel()
	if os.Getenv("DEEM_GOLDEN_UPDATE") != "" {
		t.Log("TestGolden writes the vectors")
		return
	}
	metric := golden.Of(func(in rated) (any, error) {
		a, err := in.agree(stat.GwetAC)
		if _, err2 := in.agree(stat.FleissKappa); err2 != nil {
			err = err2
		}
		half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(a.N - 1)}.Quantile(0.975) * a.SE
		return map[string]any{"ci": []float64{unclipped(a.Lo, -1, a.Value, -half), a.Hi}}, err
	})
	rest := map[string]string{}
	for _, key := range []string{"coefficient", "pa", "pe", "se", "p_value", "fleiss", "brennan_prediger"} {
		rest[key] = "TestGolden compares it"
	}
	golden.Test(t, map[string]golden.Metric{"gwet_ac": metric}, golden.Options{
		Absolute: 1e-9, Relative: 1e-9, Numeric: true, Left: rest,
	})
}

func goldenIsotonic(in struct {
	X, Y, T    []float64
	Weights    []float64 `json:"sample_weight"`
	Increasing any       `json:"increasing"`
	Outside    string    `json:"out_of_bounds"`
	YMin       *float64  `json:"y_min"`
	YMax       *float64  `json:"y_max"`
},
) (any, error) {
	o := stat.IsotonicOptions{Direction: map[any]stat.Direction{false: stat.Falling, "auto": stat.EitherWay}[in.Increasing]}
	if in.YMin != nil || in.YMax != nil {
		o.Bounds = stat.Unbounded
	}
	if in.YMin != nil {
		o.Bounds.Lo = *in.YMin
	}
	if in.YMax != nil {
		o.Bounds.Hi = *in.YMax
	}
	fit, err := stat.Isotonic(in.X, in.Y, in.Weights, o)
	if err != nil {
		return nil, err
	}
	var fitted, predicted []float64
	for _, x := range in.X {
		fitted = append(fitted, fit.Predict(x))
	}
	for _, t := range in.T {
		p := fit.Predict(t)
		// scikit-learn knows no outside of a single point.
		if in.Outside == "nan" && !fit.In(t) && len(fit.X) > 1 {
			p = nan
		}
		predicted = append(predicted, p)
	}
	return map[string]any{
		"X_thresholds": fit.X, "y_thresholds": fit.Y, "increasing": !fit.Falling,
		"fitted": fitted, "predicted": predicted,
	}, nil
}

type pairs struct{ X, Y []float64 }

// constant reports whether one side has no spread, where SciPy gives NaN.
func (p pairs) constant() bool {
	return slices.Min(p.X) == slices.Max(p.X) || slices.Min(p.Y) == slices.Max(p.Y)
}

func goldenPearson(in pairs) (any, error) {
	c, err := stat.Pearson(in.X, in.Y)
	if in.constant() {
		c, err = constant(err)
	}
	got := map[string]any{"statistic": c.Value, "pvalue": c.P}
	if len(in.X) > 3 { // below that SciPy gives everything, and the vectors leave it out
		got["ci95"] = []float64{c.Lo, c.Hi}
	}
	return got, err
}

// constant returns what SciPy gives for lists without spread, provided that we
// called it an error.
func constant(err error) (stat.Correlation, error) {
	if err == nil {
		return stat.Correlation{}, errors.New("a list without spread is not an error")
	}
	return stat.Correlation{Estimate: stat.Estimate{Value: nan, Lo: nan, Hi: nan}, P: nan}, nil
}

func goldenSpearman(in pairs) (any, error) {
	c, err := stat.Spearman(in.X, in.Y)
	if in.constant() {
		c, err = constant(err)
	}
	if c.Has(stat.WarnTwoPairs) {
		c.P = nan
	}
	return map[string]any{"statistic": c.Value, "pvalue": c.P}, err
}

func goldenKendall(in pairs) (any, error) {
	c, err := stat.KendallTauB(in.X, in.Y)
	tauC, err2 := stat.KendallTauC(in.X, in.Y)
	if in.constant() {
		c, err = constant(err)
		tauC, err2 = nan, nil
	}
	return map[string]any{"statistic": c.Value, "pvalue": c.P, "tau_c": tauC}, errors.Join(err, err2)
}

// The reference raises where nothing can be paired or one value was given, and
// gives NaN where only what can be paired is one value.
func goldenKrippendorff(in struct {
	Ratings [][]*float64 `json:"reliability_data"`
},
) (any, error) {
	ratings := missing(in.Ratings)
	values, paired := map[float64]bool{}, false
	for unit := range ratings[0] {
		n := 0
		for _, judge := range ratings {
			if !math.IsNaN(judge[unit]) {
				n++
				values[judge[unit]] = true
			}
		}
		paired = paired || n > 1
	}
	got := map[string]any{}
	for _, s := range []stat.Scale{stat.ScaleNominal, stat.ScaleOrdinal, stat.ScaleInterval, stat.ScaleRatio} {
		alpha, err := stat.Krippendorff(ratings, s)
		switch {
		case err == nil:
			got[string(s)] = alpha
		case paired && len(values) > 1:
			got[string(s)] = nan
		default:
			got[string(s)] = err
		}
	}
	return got, nil
}

// One-sided intervals are ends of a two-sided one at another level, and one-sided
// p-values are made of the two-sided one.
func goldenPPI(in struct {
	Y, Yhat     []float64
	Unlabelled  []float64 `json:"Yhat_unlabeled"`
	Alpha       float64
	Alternative string
	Lambda      *float64 `json:"lam"`
},
) (any, error) {
	level := 1 - in.Alpha
	if in.Alternative != "two-sided" {
		level = 1 - 2*in.Alpha
	}
	ppi, err := stat.NewPPI(in.Y, in.Yhat, in.Unlabelled, stat.PPIOptions{Level: level, Lambda: in.Lambda})
	zero := 0.0
	classical, err2 := stat.PPIMean(in.Y, in.Yhat, in.Unlabelled, stat.PPIOptions{Level: level, Lambda: &zero})
	p := ppi.P(0.5)
	if in.Alternative != "two-sided" {
		p /= 2
		if (ppi.Value > 0.5) == (in.Alternative == "smaller") {
			p = 1 - p
		}
	}
	return map[string]any{
		"pointestimate": ppi.Value, "ci": oneSided(ppi.Estimate, in.Alternative),
		"pval_null_0.5": p, "classical_ci": oneSided(classical, in.Alternative),
	}, errors.Join(err, err2)
}

func oneSided(est stat.Estimate, alternative string) []float64 {
	switch alternative {
	case "smaller":
		return []float64{math.Inf(-1), est.Hi}
	case "larger":
		return []float64{est.Lo, math.Inf(1)}
	}
	return []float64{est.Lo, est.Hi}
}
