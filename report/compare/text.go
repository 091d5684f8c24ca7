package compare

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"deem"
	"deem/internal/words"
	"deem/report/internal/page"
	"deem/stat"
)

// Text writes the comparison for people: about a hundred columns, aligned, without
// colour or control characters whatever the data hold. What makes it unfair comes
// first, then the runs, their differences, and the items on which they differ.
func (c Comparison) Text(w io.Writer) error {
	p := &sheet{}
	p.head(c)
	p.lint(c)
	p.runs(c)
	switch {
	case c.Refused:
		p.WriteByte('\n')
		p.Wrap("", "The runs are not compared: they differ in more than their systems.")
	default:
		p.ranking(c)
		for _, pair := range c.Pairs {
			p.pair(c, pair)
		}
	}
	p.Notes(c.Notes...)
	_, err := io.WriteString(w, p.String())
	return err
}

// A sheet is a page that knows the parts of a comparison.
type sheet struct{ page.Page }

// head writes what is compared.
func (p *sheet) head(c Comparison) {
	base := c.Runs[0]
	p.Line("compare", words.Count(len(c.Runs), "run"), "metric "+c.Metric, fmt.Sprintf("baseline %s", base.called()))
	p.Line("judge", words.Clean(page.OrNone(base.Judge)), page.Prefix("hash ", words.Clean(deem.ShortHash(base.JudgeHash))),
		page.Prefix("reading ", words.Clean(base.Reading)), page.Prefix("model ", words.Clean(base.Model)))
	if c.Unpaired != "" {
		p.Line("items", c.Unpaired)
		return
	}
	p.Line("items", words.Comma(c.Items.All)+" in all", words.Comma(c.Items.Common)+" in every run", words.Comma(c.Items.Judged)+" judged in every run")
}

// lint writes what makes the comparison unfair, or that nothing was found.
func (p *sheet) lint(c Comparison) {
	p.Section("fairness")
	if len(c.Lint) == 0 {
		p.WriteString("  ok: same judge, same items, same references, same categories\n")
		return
	}
	for _, f := range c.Lint {
		p.Wrap(fmt.Sprintf("  %-8s ", f.Level), f.Message)
	}
}

// runs writes each run with its own numbers.
func (p *sheet) runs(c Comparison) {
	p.WriteByte('\n')
	g := &page.Grid{Align: "llerrell"}
	g.Add("run", "id", c.Metric+" "+percentLevel(c.Level), "n", "unjudged", "strict")
	for _, s := range c.Runs {
		n := s.Items - s.Unjudged
		judged, strict := page.Absent(n > 0), ""
		var warnings []string
		if s.Judged != nil {
			judged = page.Share(*s.Judged)
			warnings = append(warnings, s.Judged.Warnings...)
		}
		if s.Items > 0 {
			strict = page.Share(s.Strict)
			warnings = append(warnings, s.Strict.Warnings...)
		}
		g.Add(s.called(), page.Cell(s.Run.Run, page.NameWidth), judged, words.Comma(n), words.Comma(s.Unjudged), strict, p.Mark(warnings...))
	}
	p.Grid(g, "")
}

// percentLevel returns a confidence level as "[95%]".
func percentLevel(level float64) string { return "[" + page.Short(100*level) + "%]" }

// ranking writes the places of more than two runs, and what tells them apart.
func (p *sheet) ranking(c Comparison) {
	r := c.Ranking
	if r == nil || len(r.Places) < 3 {
		return
	}
	p.Section("ranking over the " + words.Count(c.Items.Judged, "item") + " that every run judged")
	g := &page.Grid{Align: "rlerl"}
	g.Add("rank", "run", c.Metric+" "+percentLevel(c.Level), "n")
	for _, place := range r.Places {
		g.Add(place.rank(), page.Cell(place.Name, page.NameWidth), page.Share(place.Estimate), words.Comma(place.Estimate.N), p.Mark(place.Estimate.Warnings...))
	}
	p.Grid(g, "")
	if !r.Ordered {
		p.Wrap("", NoOrder)
	}
	if q := r.Cochran; q != nil {
		p.Wrap("", r.EquallyGood()+page.Prefix(" ", p.Mark(q.Warnings...)))
	}
	p.matrix(c, *r)
}

// NoOrder stands in place of ranks when no run is better than another.
const NoOrder = "no order is established: no run is shown to be better than another, and the runs stand here by their scores"

// rank returns the rank of a run, or "-" when no order is established.
func (p Place) rank() string {
	if p.Rank == 0 {
		return "-"
	}
	return strconv.Itoa(p.Rank)
}

// EquallyGood says what the test of whether all runs are equally good found, and "" when
// there is none.
func (r Ranking) EquallyGood() string {
	q := r.Cochran
	switch {
	case q == nil:
		return ""
	case q.Method == "cochran-q":
		return fmt.Sprintf("test that all runs are equally good: %s (Cochran's Q = %.2f)", pEquals(q.P), q.Statistic)
	}
	return fmt.Sprintf("test that all runs are equally good: %s (whole clusters permuted between runs)", pEquals(q.P))
}

// matrix writes the differences of all pairs: the run of the row less the one of the
// column.
func (p *sheet) matrix(c Comparison, r Ranking) {
	p.Section("row less column in pp; ~ not distinguishable from zero, Holm over " + words.Count(len(r.Pairs), "pair"))
	g := &page.Grid{Align: "l"}
	head := []string{""}
	for _, column := range r.Places[:len(r.Places)-1] {
		g.Align += "r"
		head = append(head, page.Cell(column.Name, 14))
	}
	g.Add(head...)
	for i, row := range r.Places {
		if i == 0 {
			continue
		}
		cells := []string{page.Cell(row.Name, page.NameWidth)}
		for _, column := range r.Places[:i] {
			cells = append(cells, r.between(column.Run, row.Run, len(c.Runs)))
		}
		g.Add(cells...)
	}
	p.Grid(g, "")
}

// between returns by how much the run named second exceeds the first.
func (r Ranking) between(first, second, k int) string {
	sign := 1.0
	if first > second {
		first, second, sign = second, first, -1
	}
	d := r.Pairs[place(first, second, k)]
	if d.Estimate == nil {
		return "-"
	}
	text := points(sign * d.Estimate.Value)
	return fmt.Sprintf("%s %1s", text, mark(d.Difference))
}

// pair writes the difference of a run from the baseline.
func (p *sheet) pair(c Comparison, pair Pair) {
	first, second := c.Runs[pair.First].called(), c.Runs[pair.Second].called()
	p.Section(second + " less " + first)
	if c.Hold != nil {
		p.Wrap("  ", "The difference is withheld: "+c.Hold.Reason+". The strict one counts failures as wrong.")
	}
	g := &page.Grid{Align: "lrrerrrlrel"}
	head := []string{"", "first", "second", "pp " + percentLevel(c.Level), "p", "adjusted", "won/lost/tied", ""}
	if pair.Overall.Unjudged > 0 {
		head = append(head, "unjudged", "strict")
	}
	g.Add(head...)
	for _, d := range pair.Categories {
		p.differenceRow(g, c, pair, page.Cell(d.Category, page.NameWidth), d)
	}
	p.differenceRow(g, c, pair, "overall", pair.Overall)
	if k := pair.Corrected; k != nil && k.Estimate != nil {
		p.differenceRow(g, c, pair, "corrected", k.Difference())
	}
	if pair.Score != nil {
		p.differenceRow(g, c, pair, MeanScore, *pair.Score)
	}
	p.Grid(g, "  ")
	p.WriteByte('\n')
	for _, sentence := range conclusions(c, pair) {
		p.Wrap("  ", sentence)
	}
	p.flips("won", second+" passes and "+first+" does not", pair.Won, pair)
	p.flips("lost", first+" passes and "+second+" does not", pair.Lost, pair)
}

// differenceRow adds a row with a difference. Items won, lost and tied are its n. What
// failures make of it is shown when the pair has any.
func (p *sheet) differenceRow(g *page.Grid, c Comparison, pair Pair, name string, d Difference) {
	cells := []string{name, "", "", page.Absent(c.Hold != nil && d.N > 0), "", "", "", ""}
	var warnings []string
	if d.Estimate != nil {
		cells[1], cells[2], cells[3] = page.Percent(d.First), page.Percent(d.Second), interval(*d.Estimate)+" "+mark(d)
		warnings = d.Estimate.Warnings
	}
	if d.Test != nil {
		cells[4] = pValue(d.Test.P)
	}
	if d.Adjusted != nil {
		cells[5] = pValue(*d.Adjusted)
	}
	if c.Unpaired == "" && d.Counted() {
		cells[6] = words.Comma(d.Wins) + "/" + words.Comma(d.Losses) + "/" + words.Comma(d.Ties)
	}
	if pair.Overall.Unjudged > 0 {
		unjudged := words.Comma(d.Unjudged)
		if !d.Counted() {
			unjudged = ""
		}
		cells = append(cells, unjudged, interval(d.Strict))
		warnings = slices.Concat(warnings, d.Strict.Warnings)
	}
	cells[7] = p.Mark(warnings...)
	g.Add(cells...)
}

// mark returns ~ for a difference that is not distinguishable from zero, and = for one
// that lies within the margin.
func mark(d Difference) string {
	switch d.Outcome {
	case Undecided:
		return "~"
	case Equivalent:
		return "="
	}
	return ""
}

// conclusions say in sentences what was found, and what it is after correction.
func conclusions(c Comparison, pair Pair) []string {
	list := []string{conclusion(c, pair, pair.Overall)}
	if k := pair.Corrected; k != nil && k.Estimate != nil {
		first, second := c.Runs[pair.First].called(), c.Runs[pair.Second].called()
		list = append(list, "Corrected by labels: "+conclusion(c, pair, k.Difference()), k.errors(first, second))
	}
	return list
}

// conclusion says in a sentence what was found.
func conclusion(c Comparison, pair Pair, d Difference) string {
	first, second := c.Runs[pair.First].called(), c.Runs[pair.Second].called()
	if d.Estimate == nil {
		return "Nothing can be said about which of the two is better."
	}
	n := words.Count(d.N, "item") + " judged by both"
	if c.Unpaired != "" {
		n = words.Comma(c.Runs[pair.First].Judged.N) + " and " + words.Count(c.Runs[pair.Second].Judged.N, "item")
	}
	if k := pair.Corrected; d.Category == "" {
		n += ", " + words.Comma(d.Unjudged) + " unjudged"
	} else {
		n += fmt.Sprintf(", %s labelled of %s and %s of %s", words.Comma(k.Sides[0].Labels), first, words.Comma(k.Sides[1].Labels), second)
	}
	found := fmt.Sprintf("%s pp %s, ", points(d.Estimate.Value), ends(*d.Estimate))
	if d.Test != nil {
		found += fmt.Sprintf("%s (%s), ", pEquals(d.Test.P), d.Test.Method)
		if d.Adjusted != nil && *d.Adjusted != d.Test.P {
			found += pEquals(*d.Adjusted) + " after Holm, "
		}
	}
	found += n
	allowed := fmt.Sprintf("the data allow %s to %s pp", points(d.Estimate.Lo), points(d.Estimate.Hi))
	if d.Estimate.Method == stat.MethodNone {
		allowed = "the data allow no interval"
	}
	if d.cautious() {
		allowed = "its interval leaves out 0, and the test is more cautious"
	}
	switch d.Outcome {
	case Better:
		return fmt.Sprintf("%s is better than %s: %s%s.", second, first, found, d.within(" That is"))
	case Worse:
		return fmt.Sprintf("%s is worse than %s: %s%s.", second, first, found, d.within(" That is"))
	case Equivalent:
		return fmt.Sprintf("= %s is%s: %s.", second, d.within(""), found)
	}
	if d.Detectable < 1 {
		found += fmt.Sprintf("; a difference of %s pp would be detected with %s%% probability", points(d.Detectable), page.Short(100*stat.DefaultPower))
	}
	return fmt.Sprintf("~ The difference is not distinguishable from zero at %s%%; %s: %s%s.", page.Short(100*(1-c.Level)), allowed, found, d.within(" It is"))
}

// within says what is known about the margin, and "" when there is none. The
// interval is the one that must lie within it.
func (d Difference) within(lead string) string {
	e := d.Equivalence
	if e == nil {
		return ""
	}
	what := "not shown to be equivalent within ±%s pp (%s%% interval %s, %s)"
	switch {
	case e.Equivalent:
		what = "equivalent within ±%s pp (%s%% interval %s, %s)"
	case e.NonInferior:
		what = "not worse by %s pp or more (%s%% interval %s, %s)"
	}
	p := e.P
	if !e.Equivalent && e.NonInferior {
		p = e.NotWorse
	}
	text := fmt.Sprintf(what, points(e.Margin), page.Short(math.Round(1e6*e.Interval.Level)/1e4), ends(e.Interval), pEquals(p))
	if lead == "" {
		return " " + text
	}
	return "." + lead + " " + text
}

// flips lists the first items that one run passes and the other does not.
func (p *sheet) flips(name, what string, f Flips, pair Pair) {
	if f.N == 0 {
		return
	}
	p.Section(fmt.Sprintf("%s: %s: %s", name, what, words.Count(f.N, "item")))
	g := &page.Grid{Align: "lllll"}
	for _, flip := range f.First {
		g.Add(page.Cell(flip.ID, page.IDWidth), page.Cell(flip.Category, page.NameWidth),
			flip.Outcomes[pair.First].text(), "->", flip.Outcomes[pair.Second].text())
	}
	p.Grid(g, "  ")
	if more := f.N - len(f.First); more > 0 {
		p.WriteString("  and " + words.Comma(more) + " more\n")
	}
}

// text returns an outcome in a word, and its score when the label alone does not tell.
func (o Outcome) text() string {
	switch {
	case o.Failure != "":
		return page.Cell(string(o.Failure), page.NameWidth)
	case o.Score != 0 && o.Score != 1:
		return page.Cell(o.Label, page.NameWidth) + " " + page.Short(o.Score)
	}
	return page.Cell(o.Label, page.NameWidth)
}

// points returns a difference in percentage points with one decimal.
func points(x float64) string {
	text := strconv.FormatFloat(100*x, 'f', 1, 64)
	if text == "-0.0" {
		return "0.0"
	}
	return text
}

// interval returns a difference in percentage points with its interval.
func interval(est stat.Estimate) string {
	if est.Unknown() {
		return "-"
	}
	return points(est.Value) + " " + ends(est)
}

func ends(est stat.Estimate) string {
	if est.Method == stat.MethodNone {
		return "-"
	}
	return "[" + points(est.Lo) + ", " + points(est.Hi) + "]"
}

// pValue returns a p-value as people write it.
func pValue(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

// pEquals returns a p-value in a sentence.
func pEquals(p float64) string {
	if text := pValue(p); text[0] == '<' {
		return "p < " + text[1:]
	}
	return "p = " + pValue(p)
}
