package agreement_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"deem/internal/agreement"
	"deem/internal/test/golden"
	"deem/stat"
)

// TestGolden compares the package with the results of scikit-learn, statsmodels, irrCAC and
// others.
func TestGolden(t *testing.T) {
	t.Parallel()
	golden.Test(t, map[string]golden.Metric{
		"auroc":              golden.Of(goldenAUROC),
		"brier_log_loss":     golden.Of(goldenLosses),
		"calibration_curve":  golden.Of(goldenCurve),
		"cohen_kappa":        golden.Of(goldenKappa),
		"cohen_kappa_se":     golden.Of(goldenKappaErrors),
		"ece":                golden.Of(goldenECE),
		"fleiss_kappa":       golden.Of(goldenFleiss),
		"gwet_ac":            golden.Of(goldenGwet),
		"kendall_tau_b":      golden.Of(goldenKendall),
		"krippendorff_alpha": golden.Of(goldenKrippendorff),
		"pearson":            golden.Of(goldenPearson),
		"spearman":           golden.Of(goldenSpearman),
	}, golden.Options{Relative: 1e-9, Numeric: true})
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
	est, err := agreement.AUROC(in.YScore, bools(in.YTrue), in.Weights)
	return est.Value, err
}

func goldenLosses(in scored) (any, error) {
	brier, err := agreement.Brier(in.YProb, bools(in.YTrue), nil)
	return map[string]any{"brier": brier}, err
}

// NumPy makes the ends of equal bins by adding tenths, which differ from ours in
// the last digit.
func goldenCurve(in scored) (any, error) {
	cuts := make([]float64, in.NBins-1)
	step := 1 / float64(in.NBins)
	for i := range cuts {
		cuts[i] = float64(i+1) * step
	}
	uniform, err := goldenBins(in, agreement.Binning{Cuts: cuts})
	return map[string]any{"uniform": uniform}, err
}

func goldenBins(in scored, b agreement.Binning) (any, error) {
	bins, err := agreement.Reliability(in.YProb, bools(in.YTrue), nil, b)
	var observed, confidence []float64
	for _, bin := range bins {
		observed = append(observed, bin.Observed.Value)
		confidence = append(confidence, bin.Confidence)
	}
	return map[string]any{"prob_true": observed, "prob_pred": confidence}, err
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
	table := make([][]int, len(labels))
	for i := range table {
		table[i] = make([]int, len(labels))
	}
	for n, label := range texts(in.Y1) {
		i, j := slices.Index(labels, label), slices.Index(labels, texts(in.Y2)[n])
		if i >= 0 && j >= 0 {
			table[i][j]++
		}
	}
	value := func(w agreement.Weighting) float64 {
		est := agreement.WeightedKappa(table, w, 0.95)
		if slices.Contains(est.Warnings, agreement.WarnOneClass) {
			return nan
		}
		return est.Value
	}
	return map[string]any{
		"none": value(agreement.Unweighted), "linear": value(agreement.Linear), "quadratic": value(agreement.Quadratic),
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
	fit := func(w agreement.Weighting) any {
		est := agreement.WeightedKappa(in.Table, w, 0.95)
		half := distuv.UnitNormal.Quantile(0.975) * est.SE
		return map[string]any{
			"kappa": est.Value, "var_kappa": est.SE * est.SE, "std_kappa0": agreement.KappaNullSE(in.Table, w),
			"kappa_low": unclipped(est.Lo, -1, est.Value, -half),
			"kappa_upp": unclipped(est.Hi, 1, est.Value, half),
		}
	}
	return map[string]any{
		"none": fit(agreement.Unweighted), "linear": fit(agreement.Linear), "quadratic": fit(agreement.Quadratic),
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
	torch, err := agreement.ECE(in.Probs, truth, nil, agreement.Binning{Cuts: in.Edges[1:], LowerEnds: true})
	width, err2 := agreement.ECE(in.Probs, truth, nil, agreement.Binning{Count: in.NBins})
	return map[string]any{
		"torchmetrics_l1": torch.Mean, "torchmetrics_l2": torch.RMS, "torchmetrics_max": torch.Largest,
		"vercal_ece": width.Mean,
	}, errors.Join(err, err2)
}

func goldenFleiss(in struct{ Table [][]int }) (any, error) {
	est := agreement.Fleiss(in.Table, 0.95)
	value := est.Value
	if slices.Contains(est.Warnings, agreement.WarnUndefined) {
		value = nan
	}
	return map[string]any{"fleiss": value}, nil
}

type rated struct {
	Ratings    [][]*float64 `json:"ratings"`
	Weights    string       `json:"weights"`
	Categories []float64    `json:"categories"`
}

// goldenGwet compares what deem has of irrCAC: Fleiss' kappa without weights, and AC1 of two
// judges who say yes or no. irrCAC raises where a coefficient is not defined.
func goldenGwet(in rated) (any, error) {
	categories := slices.Clone(in.Categories)
	for _, unit := range in.Ratings {
		for _, r := range unit {
			if r != nil && in.Categories == nil {
				categories = append(categories, *r)
			}
		}
	}
	slices.Sort(categories)
	categories = slices.Compact(categories)
	if in.Weights != "identity" || len(categories) == 0 {
		return golden.Skip, nil
	}
	var table [][]int
	var both agreement.YesNo
	yesNo := len(categories) == 2
	for _, unit := range in.Ratings {
		row, said := make([]int, len(categories)), []bool{}
		for _, r := range unit {
			if r != nil {
				k := slices.Index(categories, *r)
				row[k]++
				said = append(said, k == 0)
			}
		}
		table = append(table, row)
		if yesNo = yesNo && len(said) == 2; yesNo {
			both.Add(said[0], said[1], 1)
		}
	}
	fleiss := agreement.Fleiss(table, 0.95)
	if slices.Contains(fleiss.Warnings, agreement.WarnUndefined) || slices.Contains(fleiss.Warnings, agreement.WarnOneRated) {
		return nil, errReference
	}
	got := map[string]any{"fleiss": fleiss.Value}
	if yesNo {
		got["coefficient"] = both.Beyond(agreement.GwetAC, len(table), agreement.Design{}, 0.95).Value
	}
	return got, nil
}

type pairs struct{ X, Y []float64 }

// constant reports whether one side has no spread, where SciPy gives NaN.
func (p pairs) constant() bool {
	return slices.Min(p.X) == slices.Max(p.X) || slices.Min(p.Y) == slices.Max(p.Y)
}

func goldenPearson(in pairs) (any, error) {
	c, err := agreement.Pearson(in.X, in.Y)
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
func constant(err error) (agreement.Correlation, error) {
	if err == nil {
		return agreement.Correlation{}, errors.New("a list without spread is not an error")
	}
	return agreement.Correlation{Estimate: stat.Estimate{Value: nan, Lo: nan, Hi: nan}, P: nan}, nil
}

func goldenSpearman(in pairs) (any, error) {
	c, err := agreement.Spearman(in.X, in.Y)
	if in.constant() {
		c, err = constant(err)
	}
	if slices.Contains(c.Warnings, agreement.WarnTwoPairs) {
		c.P = nan
	}
	return map[string]any{"statistic": c.Value, "pvalue": c.P}, err
}

func goldenKendall(in pairs) (any, error) {
	c, err := agreement.KendallTauB(in.X, in.Y)
	if in.constant() {
		c, err = constant(err)
	}
	return map[string]any{"statistic": c.Value, "pvalue": c.P}, err
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
	for _, s := range []agreement.Scale{agreement.ScaleNominal, agreement.ScaleOrdinal, agreement.ScaleInterval, agreement.ScaleRatio} {
		alpha := agreement.KrippendorffInterval(ratings, s, 0, 0, 0.95)
		switch {
		case slices.Contains(alpha.Warnings, agreement.WarnOneRated): // No draws, no interval.
			got[string(s)] = alpha.Value
		case paired && len(values) > 1:
			got[string(s)] = nan
		default:
			got[string(s)] = errReference
		}
	}
	return got, nil
}
