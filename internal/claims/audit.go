package claims

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"deem/internal/words"
	"deem/stat"
)

// Version is the version of the JSON of a [Report].
const Version = "deem.claims/1"

// DefaultRuns is the default number of runs that a number may be the mean of before it
// counts as impossible.
const DefaultRuns = 3

// A Report is the result of the audit of a table.
type Report struct {
	Version    string    `json:"version"`
	File       string    `json:"file"`
	Benchmark  string    `json:"benchmark,omitempty"`
	Runs       int       `json:"runs"`       // the maximum number of runs that was tried
	Impossible int       `json:"impossible"` // the number of findings of impossible numbers
	Numbers    []Number  `json:"numbers"`
	Systems    []System  `json:"systems"`
	Findings   []Finding `json:"findings"`
	Notes      []string  `json:"notes,omitempty"` // about how the table was read
}

// A Number is one number of the table.
type Number struct {
	System  string `json:"system"`
	Column  string `json:"column"`
	Printed string `json:"printed"`
	Size    int64  `json:"size"`

	// Runs is the smallest number of runs that gives the number, 0 if none does. Lo and Hi
	// bound the number of right answers over these runs.
	Runs     int      `json:"runs"`
	Rounding Rounding `json:"rounding,omitempty"`
	Lo       int64    `json:"lo"`
	Hi       int64    `json:"hi"`

	// Interval is the 95% Wilson interval for this number of questions.
	Interval stat.Estimate `json:"interval"`
}

// How certain the reading of a row is.
const (
	ReadAsLabelled = "as labelled" // the row is possible with its column names
	ReadOnly       = "only"        // as one run it is possible in exactly one other way
	ReadSeveral    = "several"     // as one run it is possible in several other ways; the first is given
	ReadNearest    = "nearest"     // it is impossible in every way; this reading, or the labels, misses by the fewest questions
)

// A System is one row of the table.
type System struct {
	Name string `json:"name"`
	Fits []Fit  `json:"fits"` // empty if the row is impossible as labelled
	Read string `json:"read"`

	// Reading gives the category that each column can be, if not the one that it names.
	Reading []Of `json:"reading,omitempty"`
}

// An Of gives the category that the number in a column can belong to.
type Of struct {
	Column string `json:"column"`
	Is     string `json:"is"` // the column whose size fits
	Size   int64  `json:"size"`
	Right  int64  `json:"right"` // the nearest whole number of right answers
}

// The kinds of findings.
const (
	KindNoCount    = "no-count"    // no whole number of questions gives the percentage
	KindRuns       = "runs"        // it needs several runs
	KindTruncated  = "truncated"   // digits were truncated, not rounded
	KindRounded    = "rounded"     // a number was rounded before it was printed
	KindCount      = "count"       // a percentage and its count differ
	KindSize       = "size"        // the denominator of a count differs from the size of the category
	KindCountsSum  = "counts-sum"  // the counts do not add up to the overall
	KindSum        = "sum"         // the parts do not give the overall
	KindPlainMean  = "plain-mean"  // the overall is the plain mean of the parts
	KindNaming     = "naming"      // the numbers fit another naming of the categories
	KindReading    = "reading"     // the numbers fit categories other than those of the columns
	KindMixed      = "mixed"       // rows of one table fit different categories
	KindAboveFault = "above-label" // a score above what the errors in the answer key allow
)

// A Finding is one or two sentences about the table: what arithmetic shows, and what it
// leaves open.
type Finding struct {
	Kind       string `json:"kind"`
	Impossible bool   `json:"impossible"`
	System     string `json:"system,omitempty"`
	Column     string `json:"column,omitempty"`
	Text       string `json:"text"`
}

// Audit checks the table. A number may be the mean of up to runs runs.
func (t *Table) Audit(runs int) *Report {
	a := &auditor{t: t, most: runs, steps: maxSteps, r: &Report{
		Version: Version, File: t.File, Benchmark: t.Benchmark, Runs: runs,
		Numbers: []Number{}, Systems: []System{}, Findings: []Finding{}, Notes: t.Notes,
	}}
	for _, row := range t.Rows {
		a.row(row)
	}
	a.together()
	for _, f := range a.r.Findings {
		if f.Impossible {
			a.r.Impossible++
		}
	}
	return a.r
}

// An auditor builds the report of a table, one row after the other.
type auditor struct {
	t     *Table
	most  int
	steps int // as of line
	r     *Report

	// The current row.
	system  string
	columns []Column // those that have a size
	line    line
}

func (a *auditor) find(kind string, impossible bool, column, format string, args ...any) {
	where := a.system + ": "
	switch {
	case a.system == "":
		where = ""
	case column != "":
		where = a.system + ", " + column + ": "
	}
	a.r.Findings = append(a.r.Findings, Finding{kind, impossible, a.system, column, where + fmt.Sprintf(format, args...)})
}

func (a *auditor) row(row Row) { //nolint:gocyclo // A case for each way of counting.
	a.system, a.columns, a.line = row.Name, nil, line{steps: &a.steps}
	for i, c := range a.t.Columns {
		cell := row.Cells[i]
		if c.Size == 0 && cell.Count != nil {
			c.Size = cell.Count.Of
		}
		if c.Size == 0 {
			continue
		}
		a.columns = append(a.columns, c)
		a.line.parts, a.line.sizes = append(a.line.parts, cell), append(a.line.sizes, c.Size)
		a.count(c.Name, c.Size, cell)
	}
	if !slices.ContainsFunc(a.line.parts, Cell.says) {
		a.columns, a.line = nil, line{steps: &a.steps}
	}
	var whole Column
	overlap := a.t.Overlap
	if a.t.Overall != nil && row.Overall.says() {
		whole = *a.t.Overall
		for _, n := range a.line.sizes {
			a.line.total += n
		}
		if whole.Size == 0 && len(a.columns) > 0 && len(a.columns) == len(a.t.Columns) {
			whole.Size = a.line.total // no header gives the sizes, but the counts do
		}
		if whole.Size = cmp.Or(row.Size, whole.Size); whole.Size == 0 && row.Overall.Count != nil {
			whole.Size = row.Overall.Count.Of
		}
		overlap = overlap || whole.Size < a.line.total
		a.line.total = whole.Size
	}
	if whole.Size > 0 {
		a.count(whole.Name, whole.Size, row.Overall)
	}
	switch {
	case whole.Size > 0 && overlap:
		a.needsRuns(whole.Name, whole.Size, row.Overall)
	case whole.Size > 0:
		a.line.overall = row.Overall
		a.countsSum()
	case len(a.line.parts) == 0:
		return
	}
	fits := a.line.fits(a.most)
	a.r.Systems = append(a.r.Systems, System{Name: row.Name, Fits: append([]Fit{}, fits...), Read: ReadAsLabelled})
	switch {
	case len(fits) > 0:
		a.possible(fits)
	case !a.otherNaming() && !a.hiddenMean():
		a.impossible()
	}
	if len(fits) == 0 || fits[0].Runs > 1 {
		a.otherReading(len(fits) > 0)
	}
	if a.r.Systems[len(a.r.Systems)-1].Reading == nil {
		for i, c := range a.columns {
			a.ceiling(c, a.line.parts[i], 0)
		}
	}
	switch {
	case len(fits) == 0 || fits[0].Mean == "":
		a.ceiling(whole, row.Overall, 0)
	case fits[0].Mean == Weighted && fits[0].Runs == 1 && !fits[0].Printed:
		a.ceiling(whole, row.Overall, fits[0].Lo)
	case fits[0].Mean == Weighted:
		a.ceiling(whole, row.Overall, 0)
	}
}

// count adds a number to the report, and checks a percentage against a printed count.
func (a *auditor) count(column string, size int64, c Cell) {
	if !c.says() {
		return
	}
	n := Number{System: a.system, Column: column, Printed: c.Text, Size: size}
	runs, m := c.fewestRuns(size, a.most)
	k := nearestCount(c, size)
	if runs > 0 {
		n.Runs, n.Rounding = runs, m
		n.Lo, n.Hi = c.counts(size, runs, m)
	}
	n.Interval = stat.Proportion(int(k), int(size), stat.DefaultLevel)
	a.r.Numbers = append(a.r.Numbers, n)
	if c.Count == nil {
		return
	}
	if exact := big.NewRat(100*c.Count.Right, c.Count.Of); c.Percent != nil && !c.allows(exact, Loose) {
		a.find(KindCount, true, column, "%d of %d is %s%%, not %s. One of the three numbers is not what it says; arithmetic does not show which.",
			c.Count.Right, c.Count.Of, exact.FloatString(max(2, c.Percent.decimals)), c.Percent)
	}
	if c.Count.Of != size {
		a.find(KindSize, true, column, "%d/%d is a count of %s, and the category has %s. They are not the same questions; arithmetic does not show which were asked.",
			c.Count.Right, c.Count.Of, words.Count(int(c.Count.Of), "question"), words.Comma(int(size)))
	}
}

// nearestCount returns the number of right answers of n that is nearest to the cell.
func nearestCount(c Cell, n int64) int64 {
	if lo, hi := c.counts(n, 1, Nearest); lo <= hi {
		return (lo + hi) / 2
	}
	share, _ := c.value().Float64()
	return min(n, int64(math.Round(share*float64(n)/100)))
}

// countsSum checks the sum of printed counts against the overall.
func (a *auditor) countsSum() {
	var sum Count
	for _, c := range a.line.parts {
		if c.Count == nil {
			return
		}
		sum.Right, sum.Of = sum.Right+c.Count.Right, sum.Of+c.Count.Of
	}
	o := a.line.overall
	if len(a.line.parts) < 2 || !o.says() || sum.Of == 0 {
		return
	}
	exact := big.NewRat(100*sum.Right, sum.Of)
	if o.Count != nil && *o.Count == sum || o.Count == nil && (o.allows(exact, Loose) || o.allows(a.line.printedMean(false), Loose)) {
		return
	}
	a.find(KindCountsSum, true, a.t.Overall.Name, "the counts add up to %s of %s (%s%%), and the overall is %s. Either they are counts of other questions or one of them is misprinted; arithmetic does not show which.",
		words.Comma(int(sum.Right)), words.Comma(int(sum.Of)), exact.FloatString(2), o.Text)
}

// possible describes what a possible row requires: several runs, truncated digits, a plain
// mean.
func (a *auditor) possible(fits []Fit) {
	f := fits[0]
	if f.Runs > 1 {
		for i, c := range a.line.parts {
			a.needsRuns(a.columns[i].Name, a.line.sizes[i], c)
		}
		a.find(KindRuns, false, "", "the row is not possible as one run, and is possible as a mean of %d runs. Arithmetic does not show that there were so many.", f.Runs)
	}
	if f.Parts == Loose {
		a.find(KindRounded, false, "", "the row is possible only if a number was rounded before it was printed, as 85.046 to 85.05 and then 85.1, or as 96.6 to 97 and then 97.0.")
	}
	if f.Parts == Truncated || f.Overall == Truncated {
		where := "the overall"
		switch {
		case len(a.line.parts) == 0 || f.Parts == f.Overall && a.line.overall.says():
			where = "all numbers"
		case f.Parts == Truncated:
			where = "the parts"
		}
		a.find(KindTruncated, false, "", "the row is possible only if digits were cut off, not rounded, in %s. Cut off, 94.79 prints as 94.7.", where)
	}
	if f.Mean != Plain {
		return
	}
	weighted := ""
	if v := a.line.printedMean(true); v != nil {
		weighted = fmt.Sprintf(" Over all questions alike it would be about %s%%.", v.FloatString(2))
	}
	a.find(KindPlainMean, false, a.t.Overall.Name, "%s is the plain mean of the categories and not the share of all %s.%s",
		a.line.overall, words.Count(int(a.line.total), "question"), weighted)
}

// otherNaming reports whether the row is possible in the other naming of the categories that
// is in use.
func (a *auditor) otherNaming() bool {
	l := a.line
	l.sizes = slices.Clone(l.sizes)
	var names []string
	for i, c := range a.columns {
		if c.Other > 0 && c.Other != c.Size {
			l.sizes[i] = c.Other
			names = append(names, fmt.Sprintf("%s has %s", c.Name, words.Comma(int(c.Other))))
		}
	}
	if len(names) == 0 || len(l.fits(a.most)) == 0 {
		return false
	}
	a.find(KindNaming, false, "", "the row is not possible with the sizes of %s, and is possible in another naming of its categories that is in use: %s questions. Compare it only with rows that use the same names.",
		a.t.Benchmark, strings.Join(names, ", "))
	return true
}

// hiddenMean reports whether the overall is possible as a plain mean of groups that the
// table does not show.
func (a *auditor) hiddenMean() bool {
	if len(a.line.parts) > 0 {
		return false
	}
	for i, sizes := range [][]int64{a.t.Categories, a.t.Conversations} {
		l := line{overall: a.line.overall, sizes: sizes, steps: &a.steps}
		ranges := make([][2]int64, len(sizes))
		l.parts = make([]Cell, len(sizes))
		for i, n := range sizes {
			ranges[i], l.parts[i] = [2]int64{0, n}, Cell{Count: &Count{0, n}}
		}
		if l.plainMean(ranges, 1, Nearest) {
			a.find(KindPlainMean, false, a.t.Overall.Name, "no whole number of %s gives %s, and a plain mean over %s can. Arithmetic does not show that it is one.",
				words.Count(int(a.line.total), "question"), a.line.overall, [...]string{"categories", "conversations"}[i])
			return true
		}
	}
	return false
}

// conversationMean reports whether the right answers of the parts can lie in conversations
// so that their plain mean is the overall. The fit is that of the parts alone.
func (a *auditor) conversationMean(alone Fit) bool {
	var total int64
	for _, n := range a.t.Conversations {
		total += n
	}
	if total == 0 || total != a.line.total || alone.Runs == 0 {
		return false
	}
	sizes := slices.Sorted(slices.Values(a.t.Conversations))
	// The mean is largest with the right answers in the shortest conversations.
	most := packed(sizes, alone.Hi, int64(alone.Runs))
	slices.Reverse(sizes)
	least := packed(sizes, alone.Lo, int64(alone.Runs))
	lo, hi := a.line.overall.span()
	return lo <= most && hi >= least
}

// packed returns the plain mean of groups whose right answers fill the first groups.
func packed(sizes []int64, right, runs int64) float64 {
	sum := 0.0
	for _, n := range sizes {
		k := min(right, n*runs)
		right -= k
		sum += float64(k) / float64(n*runs)
	}
	return sum / float64(len(sizes))
}

// needsRuns reports that one run does not give a number.
func (a *auditor) needsRuns(column string, size int64, c Cell) (runs int) {
	runs, m := c.fewestRuns(size, a.most)
	none := fmt.Sprintf("no whole number of %s gives %s", words.Count(int(size), "question"), c)
	switch {
	case runs == 1:
	case runs == 0:
		more := "No mean of up to " + words.Comma(maxRuns) + " runs gives it either."
		if r, _ := c.fewestRuns(size, maxRuns); r > 0 {
			more = fmt.Sprintf("A mean of %d runs could.", r)
		}
		a.find(KindNoCount, true, column, "%s, in one run or as a mean of up to %d. %s The size or the percentage may be other than printed, or a question may count in part; arithmetic does not show which.", none, a.most, more)
	default:
		lo, hi := c.counts(size, runs, m)
		a.find(KindRuns, false, column, "%s; a mean of %d runs can (%s of %s).", none, runs, spell(lo, hi), words.Comma(runs*int(size)))
	}
	return runs
}

// spell formats a range of counts.
func spell(lo, hi int64) string {
	switch hi - lo {
	case 0:
		return words.Comma(int(lo))
	case 1:
		return words.Comma(int(lo)) + " or " + words.Comma(int(hi))
	}
	return words.Comma(int(lo)) + " to " + words.Comma(int(hi))
}

// impossible explains why a row is not possible as labelled.
func (a *auditor) impossible() {
	single := true // each part alone is possible
	for i, c := range a.line.parts {
		if c.says() && a.needsRuns(a.columns[i].Name, a.line.sizes[i], c) == 0 {
			single = false
		}
	}
	if len(a.line.parts) == 0 {
		a.needsRuns(a.t.Overall.Name, a.line.total, a.line.overall)
		return
	}
	alone := a.partsAlone().fits(a.most)
	switch {
	case len(alone) > 0:
		a.sum(alone[0])
	case single:
		a.find(KindRuns, true, "", "each number is possible as a mean of a few runs, and no number of runs up to %d gives all of them. Arithmetic does not show which is other than printed.", a.most)
	case !a.line.near():
		a.sum(Fit{})
	}
}

// near reports whether the overall is within what the printed parts allow as a weighted or
// plain mean, for any number of runs.
func (l line) near() bool {
	if !l.overall.says() {
		return true
	}
	var weighted, plain [2]float64
	rest, said := float64(l.total), 0.0
	for i, c := range l.parts {
		if !c.says() {
			continue
		}
		lo, hi := c.span()
		n := float64(l.sizes[i])
		weighted[0], weighted[1] = weighted[0]+n*lo, weighted[1]+n*hi
		plain[0], plain[1] = plain[0]+lo, plain[1]+hi
		rest, said = rest-n, said+1
	}
	lo, hi := l.overall.span()
	const slack = 1e-9
	within := func(v [2]float64, of, rest float64) bool {
		return of > 0 && v[0]/of <= hi+slack && (v[1]+rest)/of >= lo-slack
	}
	return within(weighted, float64(l.total), rest) || within(plain, said, 0)
}

// sum reports that the parts do not give the overall. The fit is that of the parts alone,
// empty if they have none.
func (a *auditor) sum(alone Fit) {
	l := a.line
	total := words.Comma(int(l.total))
	parts := "the parts"
	weighted := l.printedMean(true)
	switch {
	case alone.Runs == 1 && !slices.ContainsFunc(l.parts, func(c Cell) bool { return !c.says() }):
		parts += fmt.Sprintf(" give %s of %s", spell(alone.Lo, alone.Hi), total)
		if alone.Lo == alone.Hi {
			parts += fmt.Sprintf(" (%s%%)", big.NewRat(100*alone.Lo, l.total).FloatString(2))
		}
	case weighted != nil:
		parts += fmt.Sprintf(" give about %s%% of %s questions", weighted.FloatString(2), total)
	default:
		parts += " give another number"
	}
	overall := l.overall.String()
	if lo, hi := l.overall.counts(l.total, 1, Nearest); lo <= hi {
		overall += ", which is " + spell(lo, hi)
	}
	plain := ""
	if v := l.printedMean(false); v != nil {
		plain = fmt.Sprintf(" The plain mean of the parts is %s%%.", v.FloatString(2))
	}
	if a.conversationMean(alone) {
		plain += " A plain mean over conversations can be it; only the rows can show that."
	}
	a.find(KindSum, true, a.t.Overall.Name, "%s, and the overall says %s.%s One of these numbers or sizes is other than printed, or they are of different runs; arithmetic does not show which.", parts, overall, plain)
}

// otherReading looks for categories that the numbers of the row fit as one run.
func (a *auditor) otherReading(possible bool) {
	readings, complete := a.line.readings()
	if !complete || len(a.line.parts) < 2 {
		return
	}
	read, reading := ReadNearest, []Of(nil)
	switch {
	case len(readings) == 1:
		read, reading = ReadOnly, a.assign(readings[0])
		a.find(KindReading, false, "", "as one run the numbers fit only this reading of the columns: %s. That the numbers fit does not show that the columns were swapped.", a.spellReading(reading))
	case len(readings) > 1:
		read, reading = ReadSeveral, a.assign(readings[0])
		a.find(KindReading, false, "", "as one run the numbers fit %d other readings of the columns, for example: %s. That the numbers fit does not show that the columns were swapped.", len(readings), a.spellReading(reading))
	case !possible && len(a.partsAlone().fitsWith(a.most, roundings)) == 0:
		best, gap := a.line.nearest()
		if before := a.line.gap(); before >= gap+1 {
			reading = a.assign(best)
			a.find(KindReading, false, "", "no reading of the columns fits as one run. The nearest misses by %s, as labelled the row misses by %s: %s.",
				spellGap(gap), spellGap(before), a.spellReading(reading))
		}
	}
	if s := &a.r.Systems[len(a.r.Systems)-1]; !possible {
		s.Read, s.Reading = read, reading
	}
}

// spellGap formats a number of questions that may be a fraction.
func spellGap(questions float64) string {
	if questions < 0.1 {
		return "less than 0.1 questions"
	}
	return fmt.Sprintf("%.1f questions", questions)
}

// partsAlone returns the line without its overall.
func (a *auditor) partsAlone() line {
	l := a.line
	l.overall = Cell{}
	return l
}

func (a *auditor) assign(reading []int) []Of {
	var list []Of
	for i, j := range reading {
		of := Of{Column: a.columns[i].Name, Is: a.columns[j].Name, Size: a.line.sizes[j]}
		if a.line.parts[i].says() {
			of.Right = nearestCount(a.line.parts[i], of.Size)
		}
		list = append(list, of)
	}
	return list
}

// spellReading formats a reading, for example "single-hop 89.36% = 252 of 282; ...".
func (a *auditor) spellReading(list []Of) string {
	var pieces []string
	for i, of := range list {
		piece := fmt.Sprintf("%s %s = ", of.Column, a.line.parts[i])
		if a.line.parts[i].says() {
			piece += words.Comma(int(of.Right)) + " of "
		}
		pieces = append(pieces, fmt.Sprintf("%s%s (the size of %s)", piece, words.Comma(int(of.Size)), of.Is))
	}
	return strings.Join(pieces, "; ")
}

// ceiling compares one number with its ceiling. At least least answers are right.
func (a *auditor) ceiling(col Column, c Cell, least int64) {
	if !c.says() || col.Faulty == 0 {
		return
	}
	lo, _ := c.span()
	least = max(least, int64(math.Ceil(lo*float64(col.Size)-1e-9)))
	top := col.Size - col.Faulty
	if least <= top {
		return
	}
	a.find(KindAboveFault, false, col.Name, "%s is above %s%%, the most that right answers can score: %s of the %s references are known to be wrong. At least %s counted as right against a wrong reference. Arithmetic does not show how.",
		c, big.NewRat(100*top, col.Size).FloatString(2), words.Comma(int(col.Faulty)), words.Comma(int(col.Size)), words.Plural(int(least-top), "answer was", "answers were"))
}

// together looks for columns that contain different categories in different rows.
func (a *auditor) together() {
	type group struct {
		size  int64
		names []string
	}
	a.system = ""
	if len(a.r.Systems) < 2 || !slices.ContainsFunc(a.r.Systems, func(s System) bool { return s.Reading != nil }) {
		return
	}
	var columns []string
	for _, c := range a.t.Columns {
		var groups []group
		for _, s := range a.r.Systems {
			if s.Read == ReadSeveral {
				continue
			}
			size := c.Size
			if i := slices.IndexFunc(s.Reading, func(of Of) bool { return of.Column == c.Name }); i >= 0 {
				size = s.Reading[i].Size
			}
			i := slices.IndexFunc(groups, func(g group) bool { return g.size == size })
			if i < 0 {
				i, groups = len(groups), append(groups, group{size: size})
			}
			groups[i].names = append(groups[i].names, s.Name)
		}
		var pieces []string
		for _, g := range groups {
			pieces = append(pieces, fmt.Sprintf("%s for %s", words.Comma(int(g.size)), strings.Join(g.names, ", ")))
		}
		if len(groups) > 1 {
			columns = append(columns, fmt.Sprintf("%s %s", c.Name, strings.Join(pieces, ", and ")))
		}
	}
	if len(columns) > 0 {
		a.find(KindMixed, true, "", "no one reading of the columns fits every row. The sizes that fit, or come nearest, are: %s. Numbers in such a column are not of the same questions; arithmetic does not show whose names are right.", strings.Join(columns, "; "))
	}
}
