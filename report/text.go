package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/words"
	"deem/report/internal/page"
	"deem/stat"
)

// maxLabels is how many labels the text names; JSON has them all.
const maxLabels = 20

// Text writes the report for people: about a hundred columns, aligned, without
// colour or control characters whatever the data hold. A number comes with its
// interval, its n and the unjudged count, and what it warns of is a numbered note
// at the end.
func (r Report) Text(w io.Writer) error {
	p := &sheet{fewClusters: r.Clusters.few(r.Items)}
	p.head(r)
	p.headline(r)
	p.failures(r.Failures)
	p.categories(r.Categories)
	p.trials(r.Trials)
	p.noise(r.Noise)
	p.confidence(r.Confidence)
	p.aspects(r.Aspects, r.Withheld())
	p.labels(r.Labels)
	p.readings(r.Readings, r.Items)
	p.calls(r.Calls)
	p.Notes(r.Notes...)
	_, err := io.WriteString(w, p.String())
	return err
}

// A sheet is a page that knows the parts of a report.
type sheet struct {
	page.Page
	fewClusters bool // a note says so of all numbers
}

// Mark returns the marks of the warnings, without one that a note says of all numbers
// together.
func (p *sheet) Mark(warnings ...string) string {
	if p.fewClusters {
		warnings = slices.DeleteFunc(slices.Clone(warnings), func(w string) bool { return w == stat.WarnFewClusters })
	}
	return p.Page.Mark(warnings...)
}

// head writes what was run.
func (p *sheet) head(r Report) {
	h := r.Head
	state := "complete"
	if !h.Complete {
		state = "not complete"
	}
	if r.Stopped != nil && r.Stopped.Holds {
		state = "stopped by rule"
	}
	p.Line("run", words.Clean(h.Run), state, span(h.Started, h.Ended))
	p.Line("judge", words.Clean(page.OrNone(h.Judge)), words.Clean(h.JudgeKind), page.Prefix("hash ", words.Clean(deem.ShortHash(h.JudgeHash))),
		page.Prefix("reading ", words.Clean(h.Reading)))
	p.Line("", words.Fold(h.JudgeNote))
	p.Line("prompt", promptWords(h.harness().Prompts))
	p.Line("params", words.Clean(strings.Join(h.harness().ParamList(), ", ")))
	p.Line("not sent", words.Clean(strings.Join(h.harness().DroppedList(), "; ")))
	p.Line("model", words.Clean(h.Model), seenWords(r))
	p.Line("system", words.Clean(h.System), page.Prefix("model ", words.Clean(h.SystemModel)))
	items := ""
	if h.Items > 0 {
		items = words.Count(h.Items, "item")
	}
	p.Line("dataset", words.Clean(h.Dataset), page.Prefix("hash ", words.Clean(deem.ShortHash(h.DatasetHash))), items)
	p.Line("records", recordsLine(r))
	if r.Stopped != nil {
		p.Wrap("stop     ", r.Stopped.Words(h.Items))
	}
	p.Line("interval", intervals(r))
	p.harness(r)
}

// recordsLine says how many items there are and how many of them are judged.
func recordsLine(r Report) string {
	done := words.Count(r.Items, "item")
	if r.Head.Items > r.Items {
		done = words.Comma(r.Items) + " of " + words.Count(r.Head.Items, "item")
	}
	text := fmt.Sprintf("%s: %s judged, %s unjudged", done, words.Comma(r.Judged), words.Comma(r.Unjudged))
	if r.Records != r.Items {
		text += fmt.Sprintf("; %s in all trials", words.Count(r.Records, "record"))
	}
	return text
}

// headline writes the three numbers of each metric.
func (p *sheet) headline(r Report) {
	if r.Hold != nil {
		p.WriteByte('\n')
		p.Wrap("", "The headline is withheld: "+r.Hold.Reason+".")
	}
	p.WriteByte('\n')
	g := &page.Grid{Align: "lellll"}
	g.Add("", "value [95%]")
	for _, f := range r.Metrics {
		if f.Judged == nil {
			g.Add(f.Metric, page.Absent(r.Withheld()), page.NEquals(r.Judged), page.Unjudged(f.Unjudged))
		} else {
			p.estimateRow(g, f.Metric, *f.Judged, f.Unjudged, "")
		}
		if f.Items == 0 {
			continue
		}
		p.estimateRow(g, "  strict", f.Strict, f.Unjudged, page.Treatment(f.Unjudged, "failures counted as wrong"))
		g.Add("  band", page.Percent(f.Band.Lo)+" to "+page.Percent(f.Band.Hi), page.NEquals(f.Items), page.Unjudged(f.Unjudged),
			page.Treatment(f.Unjudged, "from all failures wrong to all right"))
	}
	if u := r.Upstream; u != nil && r.Items > 0 {
		p.estimateRow(g, page.Cell(u.Name, page.NameWidth), u.Estimate, u.Unjudged, page.Treatment(u.Unjudged, "failures counted as wrong"))
	}
	p.Grid(g, "")
	if r.Detectable != nil {
		p.Wrap("power    ", r.Detectable.Words())
	}
}

// estimateRow adds a row with an estimate and a remark.
func (p *sheet) estimateRow(g *page.Grid, name string, est stat.Estimate, missing int, remark string) {
	g.Add(name, page.Share(est), page.NEquals(est.N), page.Unjudged(missing), remark, p.Mark(est.Warnings...))
}

// failures writes the unjudged items by kind.
func (p *sheet) failures(rows []Failures) {
	if len(rows) == 0 {
		return
	}
	p.Section("unjudged items by kind")
	g := &page.Grid{Align: "lrl"}
	for _, f := range rows {
		ids := page.Cells(f.Examples, page.IDWidth)
		if f.N > len(f.Examples) {
			ids += ", ..."
		}
		g.Add(page.Cell(page.OrNone(string(f.Kind)), page.NameWidth), words.Comma(f.N), ids)
	}
	p.Grid(g, "  ")
}

// categories writes one row for each category.
func (p *sheet) categories(rows []Category) {
	if len(rows) == 0 {
		return
	}
	p.WriteByte('\n')
	t := newTable("category", rows[0].Metric)
	for _, c := range rows {
		var warnings []string
		if c.Differs() {
			warnings = append(warnings, Differs)
		}
		t.add(page.Cell(c.Name, page.NameWidth), c.Figures, warnings...)
	}
	p.table(t)
}

// trials writes one row for each trial.
func (p *sheet) trials(rows []Trial) {
	if len(rows) == 0 {
		return
	}
	p.WriteByte('\n')
	t := newTable("trial", rows[0].Metric)
	for _, row := range rows {
		var warnings []string
		if row.Hold != nil {
			warnings = append(warnings, "too many items of the trial are unjudged for an estimate over the others")
		}
		t.add(strconv.Itoa(row.Trial), row.Figures, warnings...)
	}
	p.table(t)
}

// aspects writes one row for each aspect.
func (p *sheet) aspects(rows []Aspect, withheld bool) {
	if len(rows) == 0 {
		return
	}
	p.WriteByte('\n')
	g := &page.Grid{Align: "lerrll"}
	g.Add("aspect", "mean", "n", "unjudged", "from, to")
	for _, a := range rows {
		mean, marks := page.Absent(withheld), ""
		if est := a.Judged; est != nil {
			mean = page.Coefficient(*est, 2)
			marks = p.Mark(est.Warnings...)
		}
		g.Add(page.Cell(page.OrNone(a.Name), page.NameWidth), mean, words.Comma(a.N), words.Comma(a.Unjudged), page.Short(a.Min)+", "+page.Short(a.Max), marks)
	}
	p.Grid(g, "")
}

// labels writes how often each label was given.
func (p *sheet) labels(rows []Label) {
	if len(rows) == 0 {
		return
	}
	p.WriteByte('\n')
	parts := make([]string, 0, maxLabels+1)
	for i, l := range rows {
		if i == maxLabels {
			parts = append(parts, fmt.Sprintf("and %d more", len(rows)-i))
			break
		}
		parts = append(parts, page.Cell(page.OrNone(l.Label), page.NameWidth)+" "+words.Comma(l.N))
	}
	p.Line("labels", parts...)
}

// readings writes what other readings would have given.
func (p *sheet) readings(rows []Reading, items int) {
	for _, r := range rows {
		p.WriteByte('\n')
		name := page.Cell(page.OrNone(r.Reading), page.NameWidth)
		text := fmt.Sprintf("reading %s would give %s", name, p.figure(r))
		if r.Items != items {
			text += fmt.Sprintf(", over %s of %s", words.Comma(r.Items), words.Count(items, "item"))
		}
		p.Wrap("", text+"; "+differing(r))
	}
}

// figure returns the number of a reading in a sentence.
func (p *sheet) figure(r Reading) string {
	switch {
	case r.Judged != nil:
		return fmt.Sprintf("%s with n=%d, %s%s", page.Share(*r.Judged), r.Judged.N,
			page.Unjudged(r.Unjudged), page.Prefix(" ", p.Mark(r.Judged.Warnings...)))
	case r.Items == 0:
		return "nothing"
	}
	return fmt.Sprintf("no headline, since %d of %d items would be unjudged; with failures counted as wrong %s with n=%d, %s%s",
		r.Unjudged, r.Items, page.Share(r.Strict), r.Items,
		page.Unjudged(r.Unjudged), page.Prefix(" ", p.Mark(r.Strict.Warnings...)))
}

// differing names the items that another reading decides differently.
func differing(r Reading) string {
	if r.Differ == 0 {
		return "no item differs"
	}
	verb := "differ"
	if r.Differ == 1 {
		verb = "differs"
	}
	text := fmt.Sprintf("%s %s: %s", words.Count(r.Differ, "item"), verb, page.Cells(r.Examples, page.IDWidth))
	if r.Differ > len(r.Examples) {
		text += ", ..."
	}
	return text
}
