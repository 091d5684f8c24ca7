package report

import (
	"fmt"
	"slices"
	"strconv"

	"deem/report/internal/page"
	"deem/stat"
)

// heads returns headings; those of numbers begin with a sign that is taken away.
func heads(names ...string) []htmlHead {
	out := make([]htmlHead, len(names))
	for i, name := range names {
		if out[i].Text = name; name[0] == '#' {
			out[i] = htmlHead{Text: name[1:], Number: true}
		}
	}
	return out
}

func heading(text string) htmlCell { return htmlCell{Text: text, Heading: true} }

func number[I ~int | ~int64](n I) htmlCell { return htmlCell{Text: page.Comma(n), Class: "n"} }
func words(text string) htmlCell           { return htmlCell{Text: text} }

// estimateCell returns an estimate with the marks of its warnings.
func (p *htmlPage) estimateCell(est *stat.Estimate, withheld bool) htmlCell {
	if est == nil {
		return htmlCell{Text: page.Absent(withheld), Class: "e"}
	}
	return htmlCell{Text: page.Share(*est), Class: "e", Marks: p.mark(est.Warnings...)}
}

// metrics shows every metric with its three numbers.
func (p *htmlPage) metrics(r Report) {
	t := htmlTable{Title: "Metrics", Head: heads("metric", "value [95%]", "#n", "#unjudged", "strict [95%]", "band")}
	for _, f := range r.Metrics {
		if f.Items == 0 {
			continue
		}
		t.Rows = append(t.Rows, []htmlCell{
			heading(f.Metric), p.estimateCell(f.Judged, r.Withheld()), number(f.Items - f.Unjudged), number(f.Unjudged),
			p.estimateCell(&f.Strict, false),
			{Text: page.Percent(f.Band.Lo) + " to " + page.Percent(f.Band.Hi), Class: "e"},
		})
	}
	if u := r.Upstream; u != nil && r.Items > 0 {
		t.Rows = append(t.Rows, []htmlCell{
			heading(page.Clean(u.Name)), p.estimateCell(&u.Estimate, false), number(u.Estimate.N), number(u.Unjudged),
			words(page.Treatment(u.Unjudged, "failures counted as wrong")), words(""),
		})
	}
	p.table(t)
}

// table enters a table that has something to show.
func (p *htmlPage) table(t htmlTable) {
	if len(t.Rows)+len(t.Words) > 0 {
		p.Tables = append(p.Tables, t)
	}
}

func (p *htmlPage) failures(rows []Failures) {
	t := htmlTable{Title: "Unjudged items by kind", Head: heads("kind", "#items", "first ones")}
	for _, f := range rows {
		ids := page.Cells(f.Examples, page.IDWidth)
		if f.N > len(f.Examples) {
			ids += ", ..."
		}
		t.Rows = append(t.Rows, []htmlCell{heading(kindName(f.Kind)), number(f.N), words(ids)})
	}
	p.table(t)
}

func (p *htmlPage) categories(rows []Category) {
	if len(rows) == 0 {
		return
	}
	t := htmlTable{Title: "Categories", Head: heads("category", rows[0].Metric, "#n", "#unjudged", "strict", "less the rest", "#p (Holm)")}
	for _, c := range rows {
		name := heading(page.Clean(c.Name))
		if c.Differs() {
			name.Marks = p.mark(Differs)
		}
		rest, holm := words(""), words("")
		if c.Rest != nil {
			d := c.Rest.Difference
			rest = htmlCell{Text: fmt.Sprintf("%+.1f pp [%+.1f, %+.1f]", 100*d.Value, 100*d.Lo, 100*d.Hi), Class: "e"}
			holm = htmlCell{Text: pText(c.Rest.PHolm), Class: "n"}
		}
		t.Rows = append(t.Rows, []htmlCell{
			name, p.estimateCell(c.Judged, c.Items > c.Unjudged), number(c.Items - c.Unjudged), number(c.Unjudged),
			p.estimateCell(&c.Strict, false), rest, holm,
		})
	}
	p.table(t)
}

// trials shows the trials, and how much of the uncertainty is the judge's.
func (p *htmlPage) trials(r Report) {
	t := htmlTable{Title: "Trials"}
	if len(r.Trials) > 0 {
		t.Head = heads("trial", r.Trials[0].Metric, "#n", "#unjudged", "strict")
	}
	row := func(name string, est *stat.Estimate, n, unjudged int, strict htmlCell) {
		t.Rows = append(t.Rows, []htmlCell{heading(name), p.estimateCell(est, true), number(n), number(unjudged), strict})
	}
	for _, tr := range r.Trials {
		row(strconv.Itoa(tr.Trial), tr.Judged, tr.Items-tr.Unjudged, tr.Unjudged, p.estimateCell(&tr.Strict, false))
	}
	if n := r.Noise; n != nil {
		if n.Mean != nil {
			row("mean of trials", n.Mean, n.Mean.N, n.Unjudged, words(""))
			row("majority of trials", n.Majority, n.Majority.N, n.Unjudged, words(""))
		}
		t.Words = append(t.Words, htmlCell{Text: upperFirst(n.Words()) + ".", Marks: p.mark(append(slices.Clone(n.Warnings), n.FlipRate.Warnings...)...)})
		if n.Flipped > 0 {
			t.Words = append(t.Words, words("Items whose trials differ: "+n.flips()+"."))
		}
	}
	p.table(t)
}

func (p *htmlPage) aspects(r Report) {
	t := htmlTable{Title: "Aspects", Head: heads("aspect", "mean [95%]", "#n", "#unjudged", "from, to")}
	for _, a := range r.Aspects {
		mean := htmlCell{Text: page.Absent(r.Withheld()), Class: "e"}
		if est := a.Judged; est != nil {
			mean = htmlCell{Text: fmt.Sprintf("%.2f [%.2f, %.2f]", est.Value, est.Lo, est.Hi), Class: "e", Marks: p.mark(est.Warnings...)}
		}
		t.Rows = append(t.Rows, []htmlCell{
			heading(page.Clean(page.OrNone(a.Name))), mean, number(a.N), number(a.Unjudged),
			words(page.Short(a.Min) + ", " + page.Short(a.Max)),
		})
	}
	p.table(t)
}

// other shows confidence, labels and other readings.
func (p *htmlPage) other(r Report) {
	if c := r.Confidence; c != nil {
		p.table(htmlTable{Title: "Confidence", Words: []htmlCell{words(upperFirst(c.Words()) + ".")}})
	}
	labels := htmlTable{Title: "Labels", Head: heads("label", "#verdicts")}
	for i, l := range r.Labels {
		if i == maxLabels {
			labels.Words = append(labels.Words, words(fmt.Sprintf("And %d more.", len(r.Labels)-i)))
			break
		}
		labels.Rows = append(labels.Rows, []htmlCell{heading(page.Cell(page.OrNone(l.Label), page.IDWidth)), number(l.N)})
	}
	p.table(labels)
	readings := htmlTable{Title: "Other readings of the same replies", Head: heads("reading", "value [95%]", "#n", "#unjudged", "strict", "what differs")}
	for _, rd := range r.Readings {
		readings.Rows = append(readings.Rows, []htmlCell{
			heading(page.Clean(page.OrNone(rd.Reading))), p.estimateCell(rd.Judged, rd.Hold != nil), number(rd.Items - rd.Unjudged), number(rd.Unjudged),
			p.estimateCell(&rd.Strict, false), words(differing(rd)),
		})
	}
	p.table(readings)
}
