package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/agreement"
	"deem/internal/published"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/stat"
)

// compareWithTruth compares the recorded verdicts with the truth column of the file, over the
// items that have both, and makes the results available to claims. Kappa is undefined if
// both sides are constant, and then no claim can be about it.
func compareWithTruth(set *published.Set) error {
	truth, ok := set.Truth()
	if !ok {
		return nil
	}
	var judge, right []float64
	var said, known stat.Moments
	var yes agreement.Confusion
	for i, v := range majority(set) {
		if t := truth[i]; v != nil && t != nil {
			judge, right = append(judge, v.Score), append(right, t.Score)
			said.Add(v.Score, 1)
			known.Add(t.Score, 1)
			yes.Add(t.Yes(), v.Yes())
		}
	}
	if len(judge) == 0 {
		return usage.Mark(deem.WithHint(fmt.Errorf("%s: no item has both a verdict and a truth", strings.Join(set.Names(), ", ")),
			"--map label=COLUMN,truth=COLUMN says where the two are"))
	}
	agreed, kappa := yes.Accuracy(stat.DefaultLevel), yes.Kappa(stat.DefaultLevel)
	set.Know(map[string]float64{"judge_mean": said.Mean(), "truth_mean": known.Mean(), "agreement": agreed.Value})
	beyond := "undefined"
	if !slices.Contains(kappa.Warnings, agreement.WarnOneClass) {
		set.Know(map[string]float64{"kappa": kappa.Value})
		beyond = coefficient(kappa)
	}
	set.Note("compared with the truth, over the %s of %s that have both: mean of the verdicts %.4f, of the truth %.4f; "+
		"as yes or no, agreement %.4f, kappa %s, %d yes to right ones, %d yes to wrong ones, %d no to right ones, %d no to wrong ones",
		words.Count(len(judge), "item"), words.Comma(set.Len()), said.Mean(), known.Mean(),
		agreed.Value, beyond, yes.TP, yes.FP, yes.FN, yes.TN)
	pearson, err := agreement.Pearson(judge, right)
	spearman, err2 := agreement.Spearman(judge, right)
	if err := cmp.Or(err, err2); err != nil {
		set.Note("verdicts and truth cannot be correlated: %v", err)
		return nil
	}
	set.Know(map[string]float64{"pearson": pearson.Value, "spearman": spearman.Value})
	set.Note("correlation of verdicts and truth, over the same items: Pearson %s, Spearman %s", coefficient(pearson.Estimate), coefficient(spearman.Estimate))
	return nil
}

// coefficient formats a coefficient with its interval.
func coefficient(e stat.Estimate) string {
	return fmt.Sprintf("%.4f %s", e.Value, e.Ends("%.3f", 1))
}
