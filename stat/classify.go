package stat

import (
	"fmt"
	"math"
	"slices"
)

// A Confusion counts how a judge that says yes or no did beside people: TP are
// right answers it accepted, FP wrong answers it accepted, FN right answers it
// rejected, and TN wrong answers it rejected. Negative counts are read as 0.
type Confusion struct {
	TP int `json:"tp"`
	FP int `json:"fp"`
	FN int `json:"fn"`
	TN int `json:"tn"`
}

// Add notes one item: what people said, and what the judge said.
func (c *Confusion) Add(truth, given bool) {
	switch {
	case truth && given:
		c.TP++
	case given:
		c.FP++
	case truth:
		c.FN++
	default:
		c.TN++
	}
}

// N returns the number of items.
func (c Confusion) N() int {
	c = c.counts()
	return c.TP + c.FP + c.FN + c.TN
}

// counts returns c without negative counts.
func (c Confusion) counts() Confusion {
	return Confusion{max(c.TP, 0), max(c.FP, 0), max(c.FN, 0), max(c.TN, 0)}
}

// Table returns the counts with people in the rows and the judge in the columns,
// yes first.
func (c Confusion) Table() [][]int {
	c = c.counts()
	return [][]int{{c.TP, c.FN}, {c.FP, c.TN}}
}

// Accuracy returns the share of items on which the judge agrees with people. All
// shares of a confusion have Wilson's interval.
func (c Confusion) Accuracy(level float64) Estimate {
	c = c.counts()
	return ProportionAt(c.TP+c.TN, c.N(), level)
}

// FalseAccept returns the share of wrong answers that the judge accepts.
func (c Confusion) FalseAccept(level float64) Estimate {
	c = c.counts()
	return ProportionAt(c.FP, c.FP+c.TN, level)
}

// FalseReject returns the share of right answers that the judge rejects.
func (c Confusion) FalseReject(level float64) Estimate {
	c = c.counts()
	return ProportionAt(c.FN, c.TP+c.FN, level)
}

// Precision returns the share of accepted answers that are right.
func (c Confusion) Precision(level float64) Estimate {
	c = c.counts()
	return ProportionAt(c.TP, c.TP+c.FP, level)
}

// Recall returns the share of right answers that the judge accepts, which is also
// called its sensitivity.
func (c Confusion) Recall(level float64) Estimate {
	c = c.counts()
	return ProportionAt(c.TP, c.TP+c.FN, level)
}

// Specificity returns the share of wrong answers that the judge rejects.
func (c Confusion) Specificity(level float64) Estimate {
	c = c.counts()
	return ProportionAt(c.TN, c.FP+c.TN, level)
}

// TruthRate returns the share of answers that people call right.
func (c Confusion) TruthRate(level float64) Estimate {
	c = c.counts()
	return ProportionAt(c.TP+c.FN, c.N(), level)
}

// JudgeRate returns the share of answers that the judge accepts.
func (c Confusion) JudgeRate(level float64) Estimate {
	c = c.counts()
	return ProportionAt(c.TP+c.FP, c.N(), level)
}

// Kappa returns Cohen's kappa of the judge and people; see [YesNo.Beyond].
func (c Confusion) Kappa(level float64) Estimate {
	return c.weighted().Beyond(CohenKappa, c.N(), Design{}, level)
}

// AC1 returns Gwet's AC1 of the judge and people; see [YesNo.Beyond].
func (c Confusion) AC1(level float64) Estimate {
	return c.weighted().Beyond(GwetAC, c.N(), Design{}, level)
}

// MCC returns Matthews' correlation coefficient (1975), the correlation of the two
// lists of zeros and ones. It is 0 where one of them has no spread.
func (c Confusion) MCC() float64 { return matthews(c.Table()) }

// BalancedAccuracy returns the mean of recall and specificity, or the one of the
// two that is defined.
//
// The interval is normal with the variances of both, which are independent of each
// other; n is the number of items. It is good when both kinds of answer occur some
// thirty times. The shares in the variance are those of Agresti and Coull (1998),
// so that an error rate of 0 does not claim to be certain.
func (c Confusion) BalancedAccuracy(level float64) Estimate {
	c = c.counts()
	right, wrong := c.TP+c.FN, c.FP+c.TN
	switch {
	case wrong == 0:
		return c.Recall(level)
	case right == 0:
		return c.Specificity(level)
	}
	level, warning := checkLevel(level)
	z := normalQuantile(level)
	value := (share(c.TP, right) + share(c.TN, wrong)) / 2
	se := math.Sqrt(plusShare(c.TP, right, float64(z*z)/2).variance+plusShare(c.TN, wrong, float64(z*z)/2).variance) / 2
	half := float64(z * se) // not fused; see wilson
	est := Estimate{
		Value: value, Lo: Unit.clip(value - half), Hi: Unit.clip(value + half),
		Level: level, N: c.N(), SE: se, Method: MethodNormal,
	}
	return warnIf(est, warning)
}

// MethodNormal is an interval of so many standard errors around the value.
const MethodNormal = "normal"

func share(k, n int) float64 { return float64(k) / float64(n) }

// Rates are precision, recall and their harmonic mean. Each is 0 where it is not
// defined.
type Rates struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// A Classified says how a judge with several labels did beside people.
type Classified struct {
	Labels []string `json:"labels"`

	// Table counts items with the label of people in the rows and that of the
	// judge in the columns. Items with a label that is not listed are not in it.
	Table [][]int `json:"table"`

	N                int     `json:"n"`
	Accuracy         float64 `json:"accuracy"`
	BalancedAccuracy float64 `json:"balanced_accuracy"` // mean recall of the labels that people gave
	MCC              float64 `json:"mcc"`

	Each     []Rates `json:"each"`     // by label
	Macro    Rates   `json:"macro"`    // the mean of each
	Micro    Rates   `json:"micro"`    // of all decisions together
	Weighted Rates   `json:"weighted"` // the mean by how often people gave the label
}

// Classification compares the labels a judge gave with those of people. Labels says
// which labels are counted one by one, and in what order; nil means all, sorted.
// Accuracy, balanced accuracy and MCC always count every item. It is an error if
// the lists differ in length or are empty.
//
// Source: C. J. van Rijsbergen, Information Retrieval (1979), for the rates; J.
// Gorodkin, Computational Biology and Chemistry 28 (2004), for MCC with more than
// two labels.
func Classification(truth, given, labels []string) (Classified, error) {
	if len(truth) != len(given) {
		return Classified{}, fmt.Errorf("%d labels cannot be compared with %d", len(given), len(truth))
	}
	if len(truth) == 0 {
		return Classified{}, fmt.Errorf("there are no labels to compare")
	}
	all := allLabels(truth, given, labels)
	if labels == nil {
		labels = all
	}
	table := labelTable(truth, given, all)
	c := Classified{Labels: slices.Clone(labels), N: len(truth), Table: labelTable(truth, given, labels)}
	c.Accuracy = float64(diagonal(table)) / float64(c.N)
	c.BalancedAccuracy = balanced(table)
	c.MCC = matthews(table)
	// The listed labels come first in the table of all.
	c.rate(table)
	return c, nil
}

// allLabels returns the listed labels and then all others, sorted.
func allLabels(truth, given, listed []string) []string {
	all := slices.Concat(truth, given)
	slices.Sort(all)
	all = slices.Compact(all)
	all = slices.DeleteFunc(all, func(l string) bool { return slices.Contains(listed, l) })
	return slices.Concat(listed, all)
}

// labelTable counts pairs of labels. Labels that are not listed are left out.
func labelTable(truth, given, labels []string) [][]int {
	at := make(map[string]int, len(labels))
	table := make([][]int, len(labels))
	for i := len(labels) - 1; i >= 0; i-- {
		at[labels[i]] = i // the first of two equal labels counts
		table[i] = make([]int, len(labels))
	}
	for i := range truth {
		row, ok := at[truth[i]]
		col, also := at[given[i]]
		if ok && also {
			table[row][col]++
		}
	}
	return table
}

// rate sets the rates of the labels from the table of all labels.
func (c *Classified) rate(table [][]int) {
	rows, cols := margins(table)
	var hits, said, meant int
	for i := range c.Labels {
		r := rates(table[i][i], cols[i], rows[i])
		c.Each = append(c.Each, r)
		hits, said, meant = hits+table[i][i], said+cols[i], meant+rows[i]
		c.Macro.add(r, 1/float64(len(c.Labels)))
	}
	c.Micro = rates(hits, said, meant)
	for i, r := range c.Each {
		if meant > 0 {
			c.Weighted.add(r, share(rows[i], meant))
		}
	}
}

func (r *Rates) add(other Rates, weight float64) {
	r.Precision += float64(weight * other.Precision)
	r.Recall += float64(weight * other.Recall)
	r.F1 += float64(weight * other.F1)
}

// rates returns the rates of a label that was given said times, meant so many
// times, and both hits times.
func rates(hits, said, meant int) Rates {
	var r Rates
	if said > 0 {
		r.Precision = share(hits, said)
	}
	if meant > 0 {
		r.Recall = share(hits, meant)
	}
	if hits > 0 {
		r.F1 = 2 * r.Precision * r.Recall / (r.Precision + r.Recall)
	}
	return r
}

// balanced returns the mean recall of the labels that occur in a row.
func balanced(table [][]int) float64 {
	rows, _ := margins(table)
	sum, n := 0.0, 0
	for i, r := range rows {
		if r > 0 {
			sum += share(table[i][i], r)
			n++
		}
	}
	return sum / float64(max(n, 1))
}

func diagonal(table [][]int) int {
	sum := 0
	for i := range table {
		sum += table[i][i]
	}
	return sum
}

func margins(table [][]int) (rows, cols []int) {
	rows, cols = make([]int, len(table)), make([]int, len(table))
	for i, row := range table {
		for j, c := range row {
			rows[i] += c
			cols[j] += c
		}
	}
	return rows, cols
}

// matthews returns the correlation coefficient of a table, 0 if a side has no
// spread. The products are floats, because counts to the fourth power overflow.
func matthews(table [][]int) float64 {
	rows, cols := margins(table)
	n, both, rr, cc := 0.0, 0.0, 0.0, 0.0
	for i := range rows {
		r, c := float64(rows[i]), float64(cols[i])
		n += r
		both += r * c
		rr += r * r
		cc += c * c
	}
	spread := (n*n - rr) * (n*n - cc)
	if spread <= 0 {
		return 0
	}
	return (float64(diagonal(table))*n - both) / math.Sqrt(spread)
}
