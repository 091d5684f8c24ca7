package compare

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// maxShown is roughly the number of items that a page shows with their texts. A CSV file
// has them all.
const maxShown = 500

// HTML writes the comparison as one self-contained file, with items on which runs differ
// and their answers side by side. Of all flips it shows some hundred, equally many of each
// kind, and requests their texts.
func (c Comparison) HTML(w io.Writer, flips []Flip, texts func([]Flip) iter.Seq2[FlipText, error]) error {
	d := c.Summary()
	kinds := map[string][]Flip{}
	for _, f := range flips {
		kinds[f.Change()] = append(kinds[f.Change()], f)
	}
	most := max(maxShown/max(len(kinds), 1), 10)
	changes := slices.Sorted(maps.Keys(kinds))
	slices.Reverse(changes) // "won" before "lost"
	for _, change := range changes {
		list := kinds[change]
		title := fmt.Sprintf("%s: %s", words.UpperFirst(c.Passing(list[0])), words.Count(len(list), "item"))
		if len(list) > most {
			title += fmt.Sprintf(", the first %d are shown", most)
		}
		var items doc.Items
		for f, err := range texts(list[:min(len(list), most)]) {
			if err != nil {
				return err
			}
			items = append(items, c.Item(f))
		}
		d.Add(doc.Section{Title: title, Blocks: []doc.Block{items}})
	}
	return doc.HTML(w, d)
}

// Document lays out the comparison: the result first, then the details, and the first items
// on which runs differ.
func (c Comparison) Document() *doc.Document { return c.document(true) }

// Summary returns the document without items.
func (c Comparison) Summary() *doc.Document { return c.document(false) }

func (c Comparison) document(items bool) *doc.Document {
	var names []string
	for _, run := range c.Runs[1:] {
		names = append(names, run.called())
	}
	judge := "judge " + doc.OrNone(c.Runs[0].Judge)
	if m := c.Runs[0].Model; m != "" {
		judge += " (" + m + ")"
	}
	about := ""
	if c.Unpaired == "" {
		about = words.Count(c.Items.All, "item")
	}
	title := doc.Join(" · ", words.And(names)+" versus "+c.Runs[0].called(), judge, about)
	p := &paper{Comparison: c, Document: &doc.Document{Title: title, NotesInDetail: true}}
	p.answer()
	p.runs()
	p.matrix()
	several := len(c.Pairs) > 1 // Their differences take much room.
	if several {
		p.frontiers()
	}
	for i, pair := range c.Pairs {
		p.pair(i, pair)
		if items {
			p.flips(pair, pair.Second, pair.First, pair.Won)
			p.flips(pair, pair.First, pair.Second, pair.Lost)
		}
	}
	if !several {
		p.frontiers()
	}
	for i, pair := range c.Pairs {
		p.tests(i, pair)
	}
	base, fair := p.Runs[0], ""
	if len(p.Lint) == 0 {
		fair = "same judge, same items, same references, same categories"
	}
	paired := p.Unpaired
	if paired == "" {
		paired = fmt.Sprintf("%s in all, %s in every run, %s judged in every run", words.Comma(p.Items.All), words.Comma(p.Items.Common), words.Comma(p.Items.Judged))
	}
	list := doc.Facts{
		{Name: "metric", Text: p.Metric},
		{Name: "baseline", Text: base.called()},
		{Name: "judge", Text: doc.Join(", ", doc.OrNone(base.Judge), doc.Prefix("hash ", deem.ShortHash(base.JudgeHash)), doc.Prefix("parser ", base.Reading), base.Model)},
		{Name: "items", Text: paired},
		{Name: "fairness", Text: fair},
	}
	for _, s := range p.Runs {
		list = append(list, doc.Fact{Name: "run", Text: doc.Join(", ", s.called(), s.Run.Run)})
	}
	p.Add(doc.Section{ID: "made", Title: "How this was made", Detail: true, Blocks: []doc.Block{list}})
	p.Mark(c.Notes...)
	return p.Document
}

// A paper builds the document of a comparison.
type paper struct {
	Comparison
	*doc.Document
}

// answer says which run is better, or why this is unknown, and what makes the comparison
// unfair.
func (p *paper) answer() {
	var blocks []doc.Block
	switch {
	case p.Refused:
		blocks = append(blocks, doc.Paragraph{Text: "The runs are not compared: they differ in more than their systems.", Tone: doc.Warning})
	case p.Hold != nil:
		blocks = append(blocks, doc.Paragraph{Text: "The differences are withheld: " + p.Hold.Reason + ". The strict ones count unjudged items as wrong.", Tone: doc.Warning})
	case len(p.Pairs) > 1:
		found := map[string][]string{}
		for _, pair := range p.Pairs {
			found[pair.Overall.Outcome] = append(found[pair.Overall.Outcome], p.Runs[pair.Second].called())
		}
		base := p.Runs[0].called()
		var parts []string
		for _, o := range []struct{ outcome, text string }{
			{Better, "better than"}, {Worse, "worse than"}, {Equivalent, "equivalent to"}, {Undecided, "not shown to differ from"},
		} {
			if names := found[o.outcome]; len(names) > 0 {
				parts = append(parts, fmt.Sprintf("%s %s %s %s", words.And(names), words.IsAre(len(names)), o.text, base))
			}
		}
		text := strings.Join(parts, "; ") + "."
		if len(parts) == 0 {
			text = "Nothing shows which run is better."
		}
		blocks = append(blocks, doc.Paragraph{Text: text, Tone: doc.Chosen})
	default:
		for _, pair := range p.Pairs {
			blocks = append(blocks, p.conclusions(pair)...)
		}
	}
	for _, f := range p.Lint {
		blocks = append(blocks, doc.Paragraph{Text: f.Level + ": " + f.Message, Tone: doc.Warning})
	}
	p.Add(doc.Section{ID: "answer", Blocks: blocks})
}

func toneOf(outcome string) doc.Tone {
	return map[string]doc.Tone{Better: doc.Good, Worse: doc.Bad, Undecided: doc.Dim, Equivalent: doc.Dim}[outcome]
}

// runs shows each run with its score, its rank, its difference from the baseline, and the
// cost of its responses. The runs are in the order of their ranks, if they have any.
func (p *paper) runs() {
	t := doc.Table{
		Columns: []doc.Column{doc.Col("run"), doc.Num("rank"), doc.Est(p.Metric), doc.Num("n"), doc.Num("unjudged").InDetail(), doc.Est("strict").InDetail()},
		Draw:    &doc.Draw{Column: 2, Caption: "Lines are " + percentLevel(p.Level) + " confidence intervals."},
	}
	if p.Hold != nil {
		t.Columns[4].Detail, t.Columns[5].Detail, t.Draw.Column = false, false, 5
	}
	order, ranks := p.order()
	if len(p.Pairs) > 1 {
		t.Columns = append(t.Columns, doc.Est("minus "+p.Runs[0].called()).OnPage())
	}
	failures := slices.ContainsFunc(p.Runs, func(s Side) bool { return s.Unjudged > 0 })
	for _, i := range order {
		s := p.Runs[i]
		n := s.Items - s.Unjudged
		judged, strict := doc.T(doc.Absent(n > 0)), doc.Cell{}
		if s.Judged != nil {
			judged = p.Share(*s.Judged)
		}
		if s.Items > 0 && failures {
			strict = p.Share(s.Strict)
		}
		row := []doc.Cell{{Text: s.called(), Link: doc.Link{Run: s.Run.Run}}, doc.T(ranks[i]), judged, doc.N(n), doc.N(s.Unjudged), strict}
		if len(p.Pairs) > 1 {
			cell := doc.Cell{}
			if at := slices.IndexFunc(p.Pairs, func(pair Pair) bool { return pair.Second == i }); at >= 0 {
				cell = doc.T(doc.Absent(false))
				if d := p.Pairs[at].Overall; d.Estimate != nil {
					cell = doc.Cell{Text: doc.Join(" ", doc.Points(*d.Estimate), mark(d)), Tone: toneOf(d.Outcome)}
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	p.addSpent(&t, order, false, func(name string) doc.Column { return doc.Num(name).OnPage() })
	blocks := []doc.Block{t}
	if r := p.Ranking; r != nil && len(r.Places) > 2 {
		text := fmt.Sprintf("A rank is one more than the number of runs that are better, over the %s that every run judged.", words.Count(p.Items.Judged, "item"))
		if !r.Ordered {
			text = "No order is established: no run is shown to be better than another. The runs are sorted by score."
		}
		blocks = append(blocks, doc.Paragraph{Text: text, Tone: doc.Dim})
		if q := r.Cochran; q != nil {
			how := "whole clusters permuted between runs"
			if q.Method == "cochran-q" {
				how = fmt.Sprintf("Cochran's Q = %.2f", q.Statistic)
			}
			blocks = append(blocks, doc.Paragraph{Text: fmt.Sprintf("Test that all runs are equally good: %s (%s).", pEquals(q.P), how), Marks: p.Mark(q.Warnings...), Tone: doc.Dim})
		}
	}
	p.Add(doc.Section{ID: "runs", Blocks: blocks})
}

// order returns the runs as indices in the order of their ranks, and the ranks by run.
func (p *paper) order() (order []int, ranks []string) {
	ranks = make([]string, len(p.Runs))
	if p.Ranking == nil || len(p.Ranking.Places) < 3 {
		for i := range p.Runs {
			order = append(order, i)
		}
		return order, ranks
	}
	for _, place := range p.Ranking.Places {
		order = append(order, place.Run)
		if place.Rank > 0 {
			ranks[place.Run] = strconv.Itoa(place.Rank)
		}
	}
	return order, ranks
}

// percentLevel formats a confidence level, for example "95%".
func percentLevel(level float64) string { return doc.Short(100*level) + "%" }

// matrix shows the differences between all of more than two runs.
func (p *paper) matrix() {
	r := p.Ranking
	if r == nil || len(r.Places) < 3 {
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("minus")}}
	for i, line := range r.Places {
		if i < len(r.Places)-1 {
			t.Columns = append(t.Columns, doc.Num(doc.Clip(line.Name, 14)))
		}
		row := []doc.Cell{doc.T(line.Name)}
		for _, column := range r.Places[:i] {
			first, second, sign := column.Run, line.Run, 1.0
			if first > second {
				first, second, sign = second, first, -1
			}
			cell := doc.T("-")
			if d := r.Pairs[place(first, second, len(r.Places))]; d.Estimate != nil {
				cell = doc.T(fmt.Sprintf("%s %1s", points(sign*d.Estimate.Value), mark(d.Difference)))
			}
			row = append(row, cell)
		}
		if i > 0 {
			t.Rows = append(t.Rows, row)
		}
	}
	note := fmt.Sprintf("Tested with Holm's correction for %s.", words.Count(len(r.Pairs), "pair"))
	if slices.ContainsFunc(r.Pairs, func(d Pairing) bool { return d.Outcome == Undecided }) {
		note = "~ not distinguishable from zero. " + note
	}
	p.Add(doc.Section{ID: "matrix", Title: "Row minus column, in pp", Blocks: []doc.Block{t, doc.Paragraph{Text: note, Tone: doc.Dim}}})
}

// rows returns the differences of a pair, the overall one last.
func (p Pair) rows() []Difference {
	overall := p.Overall
	overall.Category = "overall"
	rows := append(slices.Clone(p.Categories), overall)
	if p.Corrected != nil && p.Corrected.Estimate != nil {
		rows = append(rows, p.Corrected.Difference())
	}
	if p.Score != nil {
		score := *p.Score
		score.Category = MeanScore
		rows = append(rows, score)
	}
	return rows
}

// pair shows the difference of a run from the baseline, overall and in each category.
func (p *paper) pair(i int, pair Pair) {
	first, second := p.Runs[pair.First].called(), p.Runs[pair.Second].called()
	caption := fmt.Sprintf("Lines are %s confidence intervals. To the right of the dashed line %s is better.", percentLevel(p.Level), second)
	t := doc.Table{
		Columns: []doc.Column{doc.Col("category"), doc.Num(doc.Clip(first, 14)), doc.Num(doc.Clip(second, 14)), doc.Est("difference")},
		Draw:    &doc.Draw{Column: 3, Line: new(float64), Points: true, Caption: caption},
	}
	strict := doc.Table{
		Columns: []doc.Column{doc.Col("category"), doc.Num("unjudged"), doc.Est("strict difference")},
		Draw:    &doc.Draw{Column: 2, Line: new(float64), Points: true, Caption: caption},
	}
	undecided := false
	for _, d := range pair.rows() {
		row := []doc.Cell{doc.T(d.Category), {}, {}, doc.T(doc.Absent(false))}
		if d.Estimate != nil {
			difference := p.Points(*d.Estimate)
			difference.Text, difference.Tone = doc.Join(" ", difference.Text, mark(d)), toneOf(d.Outcome)
			row[1], row[2], row[3] = doc.T(doc.Percent(d.First)), doc.T(doc.Percent(d.Second)), difference
			undecided = undecided || d.Outcome == Undecided
		}
		if p.Hold == nil || d.Estimate != nil {
			t.Rows = append(t.Rows, row)
		}
		if pair.Overall.Unjudged > 0 && d.Counted() {
			strict.Rows = append(strict.Rows, []doc.Cell{doc.T(d.Category), doc.N(d.Unjudged), p.Points(d.Strict)})
		}
	}
	note := ""
	if undecided {
		note = "~ = not distinguishable from zero"
	}
	blocks := []doc.Block{t, doc.Paragraph{Text: note, Tone: doc.Dim}}
	if len(p.Pairs) > 1 && p.Hold == nil {
		blocks = append(p.conclusions(pair), blocks...)
	}
	p.Add(doc.Section{ID: fmt.Sprintf("pair%d", i+1), Title: second + " minus " + first, Blocks: blocks})
	p.Add(doc.Section{ID: fmt.Sprintf("strict%d", i+1), Title: second + " minus " + first + ", with unjudged items as wrong", Detail: p.Hold == nil, Blocks: []doc.Block{strict}})
}

// tests shows how each difference of a pair was tested, and its wins and losses.
func (p *paper) tests(i int, pair Pair) {
	t := doc.Table{Columns: []doc.Column{doc.Col("category"), doc.Num("won"), doc.Num("lost"), doc.Num("tied"), doc.Num("p"), doc.Num("p, adjusted")}}
	for _, d := range pair.rows() {
		row := []doc.Cell{doc.T(d.Category), {}, {}, {}, {}, {}}
		if p.Unpaired == "" && d.Counted() {
			row[1], row[2], row[3] = doc.N(d.Wins), doc.N(d.Losses), doc.N(d.Ties)
		}
		if d.Test != nil {
			row[4] = doc.T(pValue(d.Test.P))
		}
		if d.Adjusted != nil {
			row[5] = doc.T(pValue(*d.Adjusted))
		}
		t.Rows = append(t.Rows, row)
	}
	title := "Tests of " + p.Runs[pair.Second].called() + " minus " + p.Runs[pair.First].called()
	p.Add(doc.Section{ID: fmt.Sprintf("tests%d", i+1), Title: title, Detail: true, Blocks: []doc.Block{t}})
}

// mark returns ~ for a difference that is not significant, and = for one within the margin.
func mark(d Difference) string {
	return map[string]string{Undecided: "~", Equivalent: "="}[d.Outcome]
}

// conclusions returns sentences on the difference, raw and corrected.
func (c Comparison) conclusions(pair Pair) []doc.Block {
	first := doc.Paragraph{Text: c.conclusion(pair, pair.Overall)}
	if tone := toneOf(pair.Overall.Outcome); tone != doc.Dim && len(c.Pairs) == 1 {
		first.Tone = tone
	}
	list := []doc.Block{first}
	if est := pair.Overall.Estimate; est != nil {
		list = append(list, doc.Paragraph{Text: words.UpperFirst(doc.ClusterWarning(*est)), Tone: doc.Warning})
		if slices.Contains(est.Warnings, WarnGuesses) {
			list = append(list, doc.Paragraph{Text: words.UpperFirst(WarnGuesses), Tone: doc.Warning})
		}
	}
	for _, run := range []int{pair.First, pair.Second} {
		list = append(list, doc.Paragraph{Text: words.UpperFirst(c.Runs[run].StoppedBy()), Tone: doc.Warning})
	}
	if k := pair.Corrected; k != nil && k.Estimate != nil {
		first, second := c.Runs[pair.First].called(), c.Runs[pair.Second].called()
		a, b := k.Sides[0], k.Sides[1]
		errors := fmt.Sprintf("By the labels, the judge accepts %s of %s wrong responses of %s and %s of %s of %s; it rejects %s of %s right ones of %s and %s of %s of %s.",
			words.Comma(a.Accepted), words.Comma(a.Wrong), first, words.Comma(b.Accepted), words.Comma(b.Wrong), second,
			words.Comma(a.Rejected), words.Comma(a.Right), first, words.Comma(b.Rejected), words.Comma(b.Right), second)
		list = append(list, doc.Paragraph{Text: "Corrected by labels: " + c.conclusion(pair, k.Difference())}, doc.Paragraph{Text: errors})
	}
	return list
}

func (c Comparison) conclusion(pair Pair, d Difference) string {
	first, second := c.Runs[pair.First].called(), c.Runs[pair.Second].called()
	if d.Estimate == nil {
		return fmt.Sprintf("Nothing shows whether %s or %s is better.", second, first)
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
	found := doc.Points(*d.Estimate) + ", "
	if d.Test != nil {
		found += fmt.Sprintf("%s (%s), ", pEquals(d.Test.P), d.Test.Method)
		if d.Adjusted != nil && *d.Adjusted != d.Test.P {
			found += pEquals(*d.Adjusted) + " after Holm, "
		}
	}
	found += n
	switch d.Outcome {
	case Better:
		return fmt.Sprintf("%s is better than %s: %s%s.", second, first, found, d.within(" That is"))
	case Worse:
		return fmt.Sprintf("%s is worse than %s: %s%s.", second, first, found, d.within(" That is"))
	case Equivalent:
		return fmt.Sprintf("= %s is%s: %s.", second, d.within(""), found)
	}
	if d.cautious() {
		found += "; the interval excludes 0, but the test is more cautious"
	}
	if d.Detectable < 1 {
		found += fmt.Sprintf("; smallest detectable difference %s pp (%s power)", points(d.Detectable), percentLevel(stat.DefaultPower))
	}
	return fmt.Sprintf("~ No difference between %s and %s is shown at the %s level: %s%s.", second, first, percentLevel(1-c.Level), found, d.within(" It is"))
}

// within describes the result for the margin, "" without a margin. The interval is the one
// that must be within it.
func (d Difference) within(lead string) string {
	e := d.Equivalence
	if e == nil {
		return ""
	}
	what, p := "not shown to be equivalent within ±%s pp (%s%% interval %s, %s)", e.P
	switch {
	case e.Equivalent:
		what = "equivalent within ±%s pp (%s%% interval %s, %s)"
	case e.NonInferior:
		what, p = "not worse by %s pp or more (%s%% interval %s, %s)", e.NotWorse
	}
	text := fmt.Sprintf(what, points(e.Margin), doc.Short(math.Round(1e6*e.Interval.Level)/1e4), e.Interval.Ends("%+.1f", 100), pEquals(p))
	if slices.Contains(e.Interval.Warnings, WarnOneSided) {
		text += " (" + WarnOneSided + ")"
	}
	if lead == "" {
		return " " + text
	}
	return "." + lead + " " + text
}

// flips lists the first items that one run passes and the other does not.
func (p *paper) flips(pair Pair, passes, fails int, f Flips) {
	var items doc.Items
	for _, flip := range f.First {
		both := Flip{ID: flip.ID, Category: flip.Category, Outcomes: []Outcome{flip.Outcomes[pair.First], flip.Outcomes[pair.Second]}}
		items = append(items, p.Item(FlipText{Flip: both}))
	}
	blocks := []doc.Block{items}
	if more := f.N - len(f.First); more > 0 {
		blocks = append(blocks, doc.Paragraph{Text: "and " + words.Comma(more) + " more", Tone: doc.Dim})
	}
	name := "Won"
	if passes == pair.First {
		name = "Lost"
	}
	p.Add(doc.Section{Title: fmt.Sprintf("%s: %s passes and %s does not: %s", name, p.Runs[passes].called(), p.Runs[fails].called(), words.Count(f.N, "item")), Blocks: blocks})
}

// Item returns an item on which runs differ, with a side for each run.
func (c Comparison) Item(f FlipText) doc.Item {
	it := doc.Item{ID: f.ID, Category: f.Category, Question: f.Question, References: f.References}
	for i, o := range f.Outcomes {
		side := doc.Side{Label: o.Label, Tone: doc.Bad}
		switch {
		case o.Yes == nil && o.Failure == "":
			side.Label, side.Tone = "not in this run", "plain"
		case o.Yes == nil:
			side.Label, side.Tone = "unjudged: "+string(o.Failure), doc.Warning
		case *o.Yes:
			side.Tone = doc.Good
		}
		if o.Yes != nil && o.Score != 0 && o.Score != 1 {
			side.Score = doc.Short(o.Score)
		}
		if f.Responses != nil {
			side.Name, side.Response, side.Reason = c.Runs[i].called(), f.Responses[i], f.Reasons[i]
			side.Link = doc.Link{Run: c.Runs[i].Run.Run, Item: f.ID}
		}
		it.Sides = append(it.Sides, side)
	}
	return it
}

// Passing says which runs pass an item, which do not, and which have no verdict.
func (c Comparison) Passing(f Flip) string {
	var sides [3][]string
	for i, o := range f.Outcomes {
		at := 2
		if o.Yes != nil {
			at = map[bool]int{true: 0, false: 1}[*o.Yes]
		}
		sides[at] = append(sides[at], c.Runs[i].called())
	}
	text := "passed by " + strings.Join(sides[0], ", ") + ", failed by " + strings.Join(sides[1], ", ")
	if len(sides[2]) > 0 {
		text += ", unjudged in " + strings.Join(sides[2], ", ")
	}
	return text
}

// points formats a difference in percentage points with one decimal.
func points(x float64) string {
	text := strconv.FormatFloat(100*x, 'f', 1, 64)
	if text == "-0.0" {
		return "0.0"
	}
	return text
}

// pValue formats a p-value.
func pValue(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

// pEquals formats a p-value for a sentence.
func pEquals(p float64) string {
	if p < 0.0001 {
		return "p < 0.0001"
	}
	return "p = " + pValue(p)
}
