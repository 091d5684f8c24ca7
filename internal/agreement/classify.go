package agreement

import "deem/stat"

// A Confusion compares the yes/no decisions of a judge with those of people: TP are right
// answers it accepted, FP wrong answers it accepted, FN right answers it rejected, and TN
// wrong answers it rejected. Negative counts are treated as 0.
type Confusion struct {
	TP int `json:"tp"`
	FP int `json:"fp"`
	FN int `json:"fn"`
	TN int `json:"tn"`
}

// Add counts one item: the decisions of people and of the judge.
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

// Accuracy returns the share of items on which the judge agrees with people. All shares of
// a confusion have Wilson's interval.
func (c Confusion) Accuracy(level float64) stat.Estimate {
	c = c.counts()
	return stat.Proportion(c.TP+c.TN, c.N(), level)
}

// JudgeRate returns the share of answers that the judge accepts.
func (c Confusion) JudgeRate(level float64) stat.Estimate {
	c = c.counts()
	return stat.Proportion(c.TP+c.FP, c.N(), level)
}

// Kappa returns Cohen's kappa of the judge and people; see [YesNo.Beyond].
func (c Confusion) Kappa(level float64) stat.Estimate {
	return c.weighted().Beyond(CohenKappa, c.N(), Design{}, level)
}

func share(k, n int) float64 { return float64(k) / float64(n) }
