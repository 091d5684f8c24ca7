package cli

import (
	"fmt"
	"strings"

	"deem/internal/imports"
	"deem/stat"
)

// besideTruth sets the recorded verdicts beside the column of the file that says what is
// true, over the items that have both, and lets claims be about what comes out.
func besideTruth(set *imports.Set) error {
	truth, ok := set.Truth()
	if !ok {
		return nil
	}
	var judge, right []float64
	var yes stat.Confusion
	for i, v := range majority(set) {
		if t := truth[i]; v != nil && t != nil {
			judge, right = append(judge, v.Score), append(right, t.Score)
			yes.Add(saysYes(*t), saysYes(*v))
		}
	}
	if len(judge) == 0 {
		return usagef("%s: no item has both a verdict and a truth", strings.Join(set.Names(), ", "))
	}
	means := [2]float64{stat.MomentsOf(judge).Mean(), stat.MomentsOf(right).Mean()}
	agreement, kappa := yes.Accuracy(stat.DefaultLevel), yes.Kappa(stat.DefaultLevel)
	known := map[string]float64{"judge_mean": means[0], "truth_mean": means[1], "agreement": agreement.Value, "kappa": kappa.Value}
	set.Note("beside the truth, over the %s of %s that have both, and no others: mean of the verdicts %.4f, of the truth %.4f; as yes or no, agreement %.4f, kappa %s, %d yes to right ones, %d yes to wrong ones, %d no to right ones, %d no to wrong ones",
		count(len(judge), "item"), thousands(set.Len()), means[0], means[1], agreement.Value, coefficient(kappa), yes.TP, yes.FP, yes.FN, yes.TN)
	var found []string
	for _, c := range []struct {
		name string
		of   func(x, y []float64) (stat.Correlation, error)
	}{{"Pearson", stat.Pearson}, {"Spearman", stat.Spearman}} {
		r, err := c.of(judge, right)
		if err != nil {
			found = append(found, c.name+": "+err.Error())
			continue
		}
		known[strings.ToLower(c.name)] = r.Value
		found = append(found, c.name+" "+coefficient(r.Estimate))
	}
	set.Note("verdicts and truth rise together, over the same items: %s", strings.Join(found, ", "))
	set.Know(known)
	return nil
}

// coefficient shows a coefficient with its interval.
func coefficient(e stat.Estimate) string {
	return fmt.Sprintf("%.4f [%.3f, %.3f]", e.Value, e.Lo, e.Hi)
}
