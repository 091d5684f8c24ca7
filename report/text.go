package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/stat"
)

// maxLabels is how many labels the text names; JSON has them all.
const maxLabels = 20

// Text writes the report for people: about a hundred columns, aligned, without
// colour or control characters whatever the data hold. A number comes with its
// interval, its n and the unjudged count, and what it warns of is a numbered note
// at the end.
func (r Report) Text(w io.Writer) error {
	p := &page{}
	p.head(r)
	p.headline(r)
	p.failures(r.Failures)
	p.categories(r.Categories)
	p.trials(r.Trials)
	p.aspects(r.Aspects, r.Withheld())
	p.labels(r.Labels)
	p.readings(r.Readings, r.Items)
	p.calls(r.Calls)
	p.notes(r.Notes)
	_, err := io.WriteString(w, p.String())
	return err
}

// A page is a text as it is written.
type page struct {
	strings.Builder
	footnotes []string
}

// mark returns the marks of the warnings, as "(1)(3)". Equal warnings share a
// footnote.
func (p *page) mark(warnings ...string) string {
	var marks strings.Builder
	for i, w := range warnings {
		if !slices.Contains(warnings[:i], w) {
			fmt.Fprintf(&marks, "(%d)", p.footnote(w))
		}
	}
	return marks.String()
}

// footnote returns the number of a footnote, entered when it is new.
func (p *page) footnote(text string) int {
	if i := slices.Index(p.footnotes, text); i >= 0 {
		return i + 1
	}
	p.footnotes = append(p.footnotes, text)
	return len(p.footnotes)
}

// section begins a section with an empty line and a title.
func (p *page) section(title string) { p.WriteString("\n" + title + "\n") }

// line writes one line of the head, or nothing when there is nothing to say.
func (p *page) line(name string, parts ...string) {
	parts = nonEmpty(parts)
	if len(parts) > 0 {
		wrap(&p.Builder, fmt.Sprintf("%-9s", name), strings.Join(parts, ", "))
	}
}

// head writes what was run.
func (p *page) head(r Report) {
	h := r.Head
	state := "complete"
	if !h.Complete {
		state = "not complete"
	}
	p.line("run", clean(h.Run), state, span(h.Started, h.Ended))
	p.line("judge", clean(orNone(h.Judge)), clean(h.JudgeKind), prefix("hash ", clean(deem.ShortHash(h.JudgeHash))),
		prefix("reading ", clean(h.Reading)))
	p.line("", fold(h.JudgeNote))
	p.line("model", clean(h.Model))
	items := ""
	if h.Items > 0 {
		items = count(h.Items, "item")
	}
	p.line("dataset", clean(h.Dataset), prefix("hash ", clean(deem.ShortHash(h.DatasetHash))), items)
	done := count(r.Items, "item")
	if h.Items > r.Items {
		done = comma(r.Items) + " of " + count(h.Items, "item")
	}
	records := fmt.Sprintf("%s: %s judged, %s unjudged", done, comma(r.Judged), comma(r.Unjudged))
	if r.Records != r.Items {
		records += fmt.Sprintf("; %s in all trials", count(r.Records, "record"))
	}
	p.line("records", records)
}

// headline writes the three numbers of each metric.
func (p *page) headline(r Report) {
	if r.Hold != nil {
		p.WriteByte('\n')
		wrap(&p.Builder, "", "The headline is withheld: "+r.Hold.Reason+".")
	}
	p.WriteByte('\n')
	g := &grid{align: "lellll"}
	g.add("", "value [95%]")
	for _, f := range r.Metrics {
		if f.Judged == nil {
			g.add(f.Metric, absent(r.Withheld()), nEquals(r.Judged), unjudged(f.Unjudged))
		} else {
			p.estimateRow(g, f.Metric, *f.Judged, f.Unjudged, "")
		}
		if f.Items == 0 {
			continue
		}
		p.estimateRow(g, "  strict", f.Strict, f.Unjudged, treatment(f.Unjudged, "failures counted as wrong"))
		g.add("  band", percent(f.Band.Lo)+" to "+percent(f.Band.Hi), nEquals(f.Items), unjudged(f.Unjudged),
			treatment(f.Unjudged, "from all failures wrong to all right"))
	}
	if u := r.Upstream; u != nil && r.Items > 0 {
		p.estimateRow(g, cell(u.Name, nameWidth), u.Estimate, u.Unjudged, treatment(u.Unjudged, "failures counted as wrong"))
	}
	g.write(&p.Builder, "")
}

// estimateRow adds a row with an estimate and a remark.
func (p *page) estimateRow(g *grid, name string, est stat.Estimate, missing int, remark string) {
	g.add(name, share(est), nEquals(est.N), unjudged(missing), remark, p.mark(est.Warnings...))
}

// failures writes the unjudged items by kind.
func (p *page) failures(rows []Failures) {
	if len(rows) == 0 {
		return
	}
	p.section("unjudged items by kind")
	g := &grid{align: "lrl"}
	for _, f := range rows {
		ids := cells(f.Examples, idWidth)
		if f.N > len(f.Examples) {
			ids += ", ..."
		}
		g.add(cell(orNone(string(f.Kind)), nameWidth), comma(f.N), ids)
	}
	g.write(&p.Builder, "  ")
}

// categories writes one row for each category.
func (p *page) categories(rows []Category) {
	if len(rows) == 0 {
		return
	}
	p.WriteByte('\n')
	g := figuresGrid("category", rows[0].Metric)
	for _, c := range rows {
		p.figuresRow(g, cell(c.Name, nameWidth), c.Figures)
	}
	g.write(&p.Builder, "")
}

// trials writes one row for each trial.
func (p *page) trials(rows []Trial) {
	if len(rows) == 0 {
		return
	}
	p.WriteByte('\n')
	g := figuresGrid("trial", rows[0].Metric)
	for _, t := range rows {
		var warnings []string
		if t.Hold != nil {
			warnings = append(warnings, "too many items of the trial are unjudged for an estimate over the others")
		}
		p.figuresRow(g, strconv.Itoa(t.Trial), t.Figures, warnings...)
	}
	g.write(&p.Builder, "")
}

// figuresGrid returns a table of figures with its first row.
func figuresGrid(what, metric string) *grid {
	g := &grid{align: "lerrel"}
	g.add(what, metric, "n", "unjudged", "strict")
	return g
}

// figuresRow adds a row of figures. Both numbers of a row nearly always warn of
// the same, so they share their marks.
func (p *page) figuresRow(g *grid, name string, f Figures, warnings ...string) {
	n := f.Items - f.Unjudged
	judged, strict := absent(n > 0), ""
	if f.Judged != nil {
		judged = share(*f.Judged)
		warnings = append(warnings, f.Judged.Warnings...)
	}
	if f.Items > 0 {
		strict = share(f.Strict)
		warnings = append(warnings, f.Strict.Warnings...)
	}
	g.add(name, judged, comma(n), comma(f.Unjudged), strict, p.mark(warnings...))
}

// aspects writes one row for each aspect.
func (p *page) aspects(rows []Aspect, withheld bool) {
	if len(rows) == 0 {
		return
	}
	p.WriteByte('\n')
	g := &grid{align: "lerrll"}
	g.add("aspect", "mean", "n", "unjudged", "from, to")
	for _, a := range rows {
		mean, marks := absent(withheld), ""
		if est := a.Judged; est != nil {
			mean = fmt.Sprintf("%.2f [%.2f, %.2f]", est.Value, est.Lo, est.Hi)
			marks = p.mark(est.Warnings...)
		}
		g.add(cell(orNone(a.Name), nameWidth), mean, comma(a.N), comma(a.Unjudged), short(a.Min)+", "+short(a.Max), marks)
	}
	g.write(&p.Builder, "")
}

// labels writes how often each label was given.
func (p *page) labels(rows []Label) {
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
		parts = append(parts, cell(orNone(l.Label), nameWidth)+" "+comma(l.N))
	}
	p.line("labels", parts...)
}

// readings writes what other readings would have given.
func (p *page) readings(rows []Reading, items int) {
	for _, r := range rows {
		p.WriteByte('\n')
		name := cell(orNone(r.Reading), nameWidth)
		text := fmt.Sprintf("reading %s would give %s", name, p.figure(r))
		if r.Items != items {
			text += fmt.Sprintf(", over %s of %s", comma(r.Items), count(items, "item"))
		}
		wrap(&p.Builder, "", text+"; "+differing(r))
	}
}

// figure returns the number of a reading in a sentence.
func (p *page) figure(r Reading) string {
	switch {
	case r.Judged != nil:
		return fmt.Sprintf("%s with n=%d, %s%s", share(*r.Judged), r.Judged.N,
			unjudged(r.Unjudged), prefix(" ", p.mark(r.Judged.Warnings...)))
	case r.Items == 0:
		return "nothing"
	}
	return fmt.Sprintf("no headline, since %d of %d items would be unjudged; with failures counted as wrong %s with n=%d, %s%s",
		r.Unjudged, r.Items, share(r.Strict), r.Items,
		unjudged(r.Unjudged), prefix(" ", p.mark(r.Strict.Warnings...)))
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
	text := fmt.Sprintf("%s %s: %s", count(r.Differ, "item"), verb, cells(r.Examples, idWidth))
	if r.Differ > len(r.Examples) {
		text += ", ..."
	}
	return text
}

// calls writes what was asked and what it cost.
func (p *page) calls(c Calls) {
	if c.N == 0 {
		return
	}
	p.WriteByte('\n')
	p.line("calls", comma(c.N), optional(c.Cached, "cached"), optional(c.Failed, "failed"),
		count(c.Attempts, "attempt"), retries(c.Retries))
	p.line("cost", dollars(c.CostMicros), optional(c.Unpriced, "unpriced"))
	p.line("tokens", "in "+comma(c.InputTokens), "out "+comma(c.OutputTokens),
		"cached in "+comma(c.CachedInputTokens), "reasoning "+comma(c.ReasoningTokens))
	if l := c.Latency; l != nil {
		p.line("latency", "p50 "+l.P50.String(), "p95 "+l.P95.String(), nEquals(l.N))
	}
	name := "replies"
	for _, m := range c.Models {
		reported := m.Reported
		if reported == m.Asked {
			reported = "" // said already
		}
		p.line(name, comma(m.Replies)+" from "+cell(orNone(m.Asked), idWidth), prefix("reported as ", cell(reported, idWidth)),
			prefix("fingerprint ", cell(m.Fingerprint, idWidth)))
		name = ""
	}
}

// notes writes the footnotes, and after them what belongs to no single number.
func (p *page) notes(notes []string) {
	for _, n := range notes {
		p.footnote(n)
	}
	if len(p.footnotes) == 0 {
		return
	}
	p.WriteByte('\n')
	for i, n := range p.footnotes {
		wrap(&p.Builder, fmt.Sprintf("%-5s", fmt.Sprintf("(%d)", i+1)), n)
	}
}

// span returns when a run began and how long it took.
func span(started, ended time.Time) string {
	if started.IsZero() {
		return ""
	}
	text := "started " + started.UTC().Format("2006-01-02 15:04:05") + " UTC"
	if ended.After(started) {
		text += ", took " + took(ended.Sub(started))
	}
	return text
}
