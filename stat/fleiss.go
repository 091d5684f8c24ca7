package stat

// Fleiss returns Fleiss' kappa of a table in which table[i][k] counts the judges
// who gave item i the label k.
//
// Source: J. L. Fleiss, "Measuring nominal scale agreement among many raters",
// Psychological Bulletin 76 (1971), 378-382. The number of judges may differ
// between items, as in Gwet (2014), who also gives the interval; see [Agree].
func Fleiss(table [][]int, level float64) Estimate {
	p, negative := tablePile(table)
	est := p.agreement(FleissKappa, level).Estimate
	if negative {
		est = est.Warn(WarnNegative)
	}
	return est
}

// Randolph returns Randolph's kappa of a table in which table[i][k] counts the
// judges who gave item i the label k: all labels are equally likely by chance, so
// every column counts, also an empty one. It is 0 where it is not defined, which
// is without two judges or two labels.
//
// Source: J. J. Randolph, "Free-marginal multirater kappa" (2005); for two judges
// it is the coefficient of Brennan and Prediger (1981).
func Randolph(table [][]int) float64 {
	p, _ := tablePile(table)
	return p.agreement(BrennanPrediger, DefaultLevel).Value
}

// AC1 returns Gwet's AC1 of two judges from a square table of counts, in which
// table[i][j] counts the items that the first put into class i and the second into
// class j. Every row of the table is a label, also an empty one. The interval is
// that of [Agree].
func AC1(table [][]int, level float64) Estimate {
	counts, _, negative := squareCounts(table)
	k := len(counts)
	var rows [][]float64
	var times []float64
	for i, row := range counts {
		for j, c := range row {
			if c > 0 {
				unit := make([]float64, k)
				unit[i]++
				unit[j]++
				rows, times = append(rows, unit), append(times, c)
			}
		}
	}
	est := newPile(rows, times, kappaWeights(k, Unweighted)).agreement(GwetAC, level).Estimate
	if negative {
		est = est.Warn(WarnNegative)
	}
	return est
}

// tablePile returns the counts of a table whose rows are items. Rows without a
// count are left out.
func tablePile(table [][]int) (p *pile, negative bool) {
	k := 0
	for _, row := range table {
		k = max(k, len(row))
	}
	var counts [][]float64
	for _, row := range table {
		unit, n := make([]float64, k), 0
		for j, c := range row {
			negative = negative || c < 0
			unit[j] = float64(max(c, 0))
			n += max(c, 0)
		}
		if n > 0 {
			counts = append(counts, unit)
		}
	}
	return newPile(counts, nil, kappaWeights(k, Unweighted)), negative
}
