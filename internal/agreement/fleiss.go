package agreement

import (
	"math"

	"deem/stat"
)

// The warnings of agreement among several judges.
const (
	warnNoPairs   = "no item was rated by two judges, so agreement is not defined"
	warnOneRated  = "one item gives no information about the spread of agreement: there is no interval"
	warnUndefined = "all judges gave the same label to every item, so agreement beyond chance is not defined"
	warnCertain   = "agreement does not differ between items, so its spread is unknown: the interval has no width"
)

// Fleiss returns Fleiss' kappa of a table in which table[i][k] is the number of judges who
// gave item i the label k. Items without a label are left out; items with one label
// contribute only to the frequencies of labels.
//
// Source: J. L. Fleiss, "Measuring nominal scale agreement among many raters",
// Psychological Bulletin 76 (1971), 378-382. The number of judges may differ between items,
// as in K. L. Gwet, Handbook of Inter-Rater Reliability (2014), whose linearised variance
// with Student's t gives the interval. It applies to similar items under the same judges,
// not to other judges, and needs some twenty items.
func Fleiss(table [][]int, level float64) stat.Estimate {
	items, share, negative := ratedItems(table)
	n := float64(len(items))
	est := stat.Estimate{Lo: -1, Hi: 1, Level: level, N: len(items), Method: stat.MethodNone}
	if negative {
		est = est.Warn(warnNegative)
	}
	var agreed exact
	pairs := 0.0
	for _, it := range items {
		if it.judges >= 2 {
			agreed.add(it.agreed)
			pairs++
		}
	}
	if pairs == 0 {
		return est.Warn(warnNoPairs)
	}
	expected := 0.0
	for _, s := range share {
		expected += float64(s * s) // not fused; see wilson
	}
	if 1-expected < 1e-12 || len(share) < 2 {
		return est.Warn(warnUndefined)
	}
	// Items rated by one judge may move it below -1.
	est.Value = max(-1, min((agreed.float()/pairs-expected)/(1-expected), 1))
	if len(items) == 1 {
		return est.Warn(warnOneRated)
	}
	// Each item has its own coefficient (Gwet 2014, section 6.3), and their variance gives
	// that of the mean.
	var squares exact
	for _, it := range items {
		own := 0.0
		if it.judges >= 2 {
			own = n / pairs * (it.agreed - expected) / (1 - expected)
		}
		chance := 0.0
		for k, c := range it.counts {
			chance += float64(c * share[k])
		}
		own -= 2 * (1 - est.Value) * (chance/it.judges - expected) / (1 - expected)
		squares.addProduct(own-est.Value, own-est.Value)
	}
	variance := squares.float() / (n * (n - 1))
	if variance < 1e-30 { // rounding error of a zero variance
		variance = 0
		est = est.Warn(warnCertain)
	}
	est.SE, est.Method = math.Sqrt(variance), "gwet"
	half := float64(stat.StudentQuantile(level, n-1) * est.SE)
	est.Lo, est.Hi = max(est.Value-half, -1), min(est.Value+half, 1)
	return est
}

// A ratedItem is an item with the labels that judges gave it.
type ratedItem struct {
	counts []float64 // by label
	judges float64
	agreed float64 // the share of pairs of judges that agree
}

// ratedItems returns the items of a table that have a label, and how frequent each label is,
// averaged over them.
func ratedItems(table [][]int) (items []ratedItem, share []float64, negative bool) {
	var labels int
	for _, row := range table {
		labels = max(labels, len(row))
	}
	sums := make([]exact, labels)
	for _, row := range table {
		it, agreed := ratedItem{counts: make([]float64, labels)}, 0.0
		for k, c := range row {
			negative = negative || c < 0
			x := float64(max(c, 0))
			it.counts[k] = x
			it.judges += x
			agreed += x * (x - 1)
		}
		if it.judges == 0 {
			continue
		}
		if it.judges >= 2 {
			it.agreed = agreed / (it.judges * (it.judges - 1))
		}
		for k, c := range it.counts {
			sums[k].add(c / it.judges)
		}
		items = append(items, it)
	}
	for k := range sums {
		share = append(share, sums[k].float()/max(float64(len(items)), 1))
	}
	return items, share, negative
}
