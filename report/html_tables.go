package report

import (
	"fmt"
	"slices"
	"strconv"

	"deem/internal/words"
	"deem/report/internal/page"
	"deem/stat"
)

// heads returns headings; those of numbers begin with a sign that is taken away.
func heads(names ...string) []PageHead {
	out := make([]PageHead, len(names))
	for i, name := range names {
		if out[i].Text = name; name[0] == '#' {
			out[i] = PageHead{Text: name[1:], Number: true}
		}
	}
	return out
}

func heading(text string) PageCell { return PageCell{Text: text, Heading: true} }

func number[I ~int | ~int64](n I) PageCell { return PageCell{Text: words.Comma(n), Class: "n"} }
func plain(text string) PageCell           { return PageCell{Text: text} }

// about returns a cell with what the items that it counts have in common.
func about(c PageCell, filter, value string) PageCell {
	c.Filter, c.Value = filter, value
	return c
}

// estimateCell returns an estimate with the marks of its warnings.
func (p *Page) estimateCell(est *stat.Estimate, withheld bool) PageCell {
	if est == nil {
		return PageCell{Text: page.Absent(withheld), Class: "e"}
	}
	return PageCell{Text: page.Share(*est), Class: "e", Marks: p.mark(est.Warnings...)}
}

// metrics shows every metric with its three numbers.
func (p *Page) metrics(r Report) {
	t := PageTable{Title: "Metrics", Head: heads("metric", "value [95%]", "#n", "#unjudged", "strict [95%]", "band")}
	for _, f := range r.Metrics {
		if f.Items == 0 {
			continue
		}
		t.Rows = append(t.Rows, []PageCell{
			heading(f.Metric), p.estimateCell(f.Judged, r.Withheld()), number(f.Items - f.Unjudged), number(f.Unjudged),
			p.estimateCell(&f.Strict, false),
			{Text: page.Percent(f.Band.Lo) + " to " + page.Percent(f.Band.Hi), Class: "e"},
		})
	}
	if u := r.Upstream; u != nil && r.Items > 0 {
		t.Rows = append(t.Rows, []PageCell{
			heading(words.Clean(u.Name)), p.estimateCell(&u.Estimate, false), number(u.Estimate.N), number(u.Unjudged),
			plain(page.Treatment(u.Unjudged, "failures counted as wrong")), plain(""),
		})
	}
	p.table(t)
}

// table enters a table that has something to show.
func (p *Page) table(t PageTable) {
	if len(t.Rows)+len(t.Words) > 0 {
		p.Tables = append(p.Tables, t)
	}
}

func (p *Page) failures(rows []Failures) {
	t := PageTable{Title: "Unjudged items by kind", Head: heads("kind", "#items", "first ones")}
	for _, f := range rows {
		ids := page.Cells(f.Examples, page.IDWidth)
		if f.N > len(f.Examples) {
			ids += ", ..."
		}
		t.Rows = append(t.Rows, []PageCell{about(heading(kindName(f.Kind)), ByKind, string(f.Kind)), number(f.N), {Text: ids, Items: f.Examples}})
	}
	p.table(t)
}

func (p *Page) categories(rows []Category) {
	if len(rows) == 0 {
		return
	}
	t := PageTable{Title: "Categories", Head: heads("category", rows[0].Metric, "#n", "#unjudged", "strict", "less the rest, simultaneous", "#p adjusted")}
	for _, c := range rows {
		name := about(heading(words.Clean(c.Name)), ByCategory, c.Name)
		if c.Differs() {
			name.Marks = p.mark(Differs)
		}
		rest, adjusted := plain(""), plain("")
		if c.Rest != nil {
			rest = PageCell{Text: page.Points(c.Rest.Difference), Class: "e"}
			adjusted = PageCell{Text: pText(c.Rest.PAdjusted), Class: "n"}
		}
		t.Rows = append(t.Rows, []PageCell{
			name, p.estimateCell(c.Judged, c.Items > c.Unjudged), number(c.Items - c.Unjudged), number(c.Unjudged),
			p.estimateCell(&c.Strict, false), rest, adjusted,
		})
	}
	p.table(t)
}

// trials shows the trials, and how much of the uncertainty is the judge's.
func (p *Page) trials(r Report) {
	t := PageTable{Title: "Trials"}
	if len(r.Trials) > 0 {
		t.Head = heads("trial", r.Trials[0].Metric, "#n", "#unjudged", "strict")
	}
	row := func(name string, est *stat.Estimate, n, unjudged int, strict PageCell) {
		t.Rows = append(t.Rows, []PageCell{heading(name), p.estimateCell(est, true), number(n), number(unjudged), strict})
	}
	for _, tr := range r.Trials {
		row(strconv.Itoa(tr.Trial), tr.Judged, tr.Items-tr.Unjudged, tr.Unjudged, p.estimateCell(&tr.Strict, false))
	}
	if n := r.Noise; n != nil {
		if n.Mean != nil {
			row("mean of trials", n.Mean, n.Mean.N, n.Unjudged, plain(""))
			row("majority of trials", n.Majority, n.Majority.N, n.Unjudged, plain(""))
		}
		t.Words = append(t.Words, PageCell{Text: words.UpperFirst(n.Words()) + ".", Marks: p.mark(append(slices.Clone(n.Warnings), n.FlipRate.Warnings...)...)})
		if n.Flipped > 0 {
			t.Words = append(t.Words, plain("Items whose trials differ: "+n.flips()+"."))
		}
	}
	p.table(t)
}

func (p *Page) aspects(r Report) {
	t := PageTable{Title: "Aspects", Head: heads("aspect", "mean [95%]", "#n", "#unjudged", "from, to")}
	for _, a := range r.Aspects {
		mean := PageCell{Text: page.Absent(r.Withheld()), Class: "e"}
		if est := a.Judged; est != nil {
			mean = PageCell{Text: page.Coefficient(*est, 2), Class: "e", Marks: p.mark(est.Warnings...)}
		}
		t.Rows = append(t.Rows, []PageCell{
			heading(words.Clean(page.OrNone(a.Name))), mean, number(a.N), number(a.Unjudged),
			plain(page.Short(a.Min) + ", " + page.Short(a.Max)),
		})
	}
	p.table(t)
}

// other shows confidence, labels and other readings.
func (p *Page) other(r Report) {
	if c := r.Confidence; c != nil {
		p.table(PageTable{Title: "Confidence", Words: []PageCell{plain(words.UpperFirst(c.Words()) + ".")}})
	}
	labels := PageTable{Title: "Labels", Head: heads("label", "#verdicts")}
	for i, l := range r.Labels {
		if i == maxLabels {
			labels.Words = append(labels.Words, plain(fmt.Sprintf("And %d more.", len(r.Labels)-i)))
			break
		}
		labels.Rows = append(labels.Rows, []PageCell{about(heading(page.Cell(page.OrNone(l.Label), page.IDWidth)), ByLabel, l.Label), number(l.N)})
	}
	p.table(labels)
	readings := PageTable{Title: "Other readings of the same replies", Head: heads("reading", "value [95%]", "#n", "#unjudged", "strict", "what differs")}
	for _, rd := range r.Readings {
		readings.Rows = append(readings.Rows, []PageCell{
			heading(words.Clean(page.OrNone(rd.Reading))), p.estimateCell(rd.Judged, rd.Hold != nil), number(rd.Items - rd.Unjudged), number(rd.Unjudged),
			p.estimateCell(&rd.Strict, false), plain(differing(rd)),
		})
	}
	p.table(readings)
}
