package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"deem"
	"deem/internal/words"
	"deem/report/internal/page"
)

//go:embed report.html.tmpl
var htmlText string

// htmlTemplate escapes what it is given for the place where it is put: names come from
// data, and data is untrusted.
var htmlTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("report").Parse(htmlText)) })

// HTML writes the report as one file that stands alone: it loads nothing, runs no
// script, and follows the reader's choice of light and dark. The plot of intervals is
// for the eye; tables hold the same for everybody.
func (r Report) HTML(w io.Writer) error { return newPage(r).html(w) }

// html writes the page, all of it or nothing.
func (p *Page) html(w io.Writer) error {
	var b bytes.Buffer
	if err := htmlTemplate().Execute(&b, p); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// A Page is a report laid out for a page: every number with its words, its marks and
// the notes that they mean. The file that [Report.HTML] writes is made of it, and so are
// pages elsewhere that show more around it.
type Page struct {
	Title, State, Held, Power string
	By                        string // who made the numbers, in one line
	Cards                     []PageCard
	Forest                    *forest // nil when there is nothing to draw; see [Page.Plot]
	Tables                    []PageTable
	Published                 string
	Card                      []PageFact
	Notes                     []PageNote
	Items                     *PageItems // nil when none were asked for

	footnotes []string
}

// The parts of a [Page]. Marks are the numbers of notes.
type (
	// A PageCard is one of the numbers in large letters.
	PageCard struct {
		Name, Value, Small string
		Marks              []int
	}

	// A PageTable is a table, or words under a title, or both.
	PageTable struct {
		Title string
		Head  []PageHead
		Rows  [][]PageCell
		Words []PageCell
	}

	// A PageHead is the heading of a column.
	PageHead struct {
		Text   string
		Number bool
	}

	// A PageCell is what stands in one place of a table.
	PageCell struct {
		Text    string
		Heading bool
		Class   string // "n" for a number, "e" for an estimate
		Marks   []int

		// What a page that can show items may link the cell to: those whose category,
		// label or kind of failure (Filter) has a Value, or the ones with these ids.
		Filter, Value string
		Items         []string
	}

	// A PageFact is one line about how the numbers were made.
	PageFact struct{ Name, Text string }

	// A PageNote is a footnote.
	PageNote struct {
		N    int
		Text string
	}
)

// What the items that a cell is about have in common.
const (
	ByCategory = "category"
	ByLabel    = "label"
	ByKind     = "kind"
)

// Page lays the report out for a page.
func (r Report) Page() *Page { return newPage(r) }

// Plot returns the plot of the headline and the categories as SVG, "" when there is
// nothing to draw. It has classes and no styles: report.html.tmpl shows which.
func (p *Page) Plot() (template.HTML, error) {
	if p.Forest == nil {
		return "", nil
	}
	var b bytes.Buffer
	if err := htmlTemplate().ExecuteTemplate(&b, "forest", p.Forest); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil //nolint:gosec // The template has escaped it.
}

func newPage(r Report) *Page {
	p := &Page{Title: "Report of a run", State: "complete"}
	if r.Head.Run != "" {
		p.Title = "Report of run " + words.Clean(r.Head.Run)
	}
	if !r.Head.Complete {
		p.State = "not complete"
	}
	if r.Stopped != nil && r.Stopped.Holds {
		p.State = "stopped by rule " + words.Clean(r.Stopped.Rule)
	}
	p.State = strings.Join(nonEmpty(p.State, span(r.Head.Started, r.Head.Ended), recordsLine(r)), ", ")
	p.By = byline(r)
	if r.Hold != nil {
		p.Held = "The headline is withheld: " + r.Hold.Reason + "."
	}
	if r.Detectable != nil {
		p.Power = words.UpperFirst(r.Detectable.Words())
	}
	p.cards(r)
	p.Forest = newForest(r)
	p.metrics(r)
	p.failures(r.Failures)
	p.categories(r.Categories)
	p.trials(r)
	p.aspects(r)
	p.other(r)
	p.Published = published(r)
	p.facts(r)
	p.mark(r.Notes...)
	for i, text := range p.footnotes {
		p.Notes = append(p.Notes, PageNote{i + 1, words.UpperFirst(text) + "."})
	}
	return p
}

// mark returns the numbers of the notes that the warnings are.
func (p *Page) mark(warnings ...string) []int {
	var marks []int
	for _, w := range warnings {
		at := slices.Index(p.footnotes, w)
		if at < 0 {
			at = len(p.footnotes)
			p.footnotes = append(p.footnotes, w)
		}
		if !slices.Contains(marks, at+1) {
			marks = append(marks, at+1)
		}
	}
	return marks
}

// cards shows the numbers that always go together in large letters.
func (p *Page) cards(r Report) {
	if len(r.Metrics) == 0 {
		return
	}
	f := r.Metrics[0]
	first := PageCard{Name: f.Metric, Value: page.Absent(r.Withheld()), Small: page.NEquals(r.Judged) + ", " + page.Unjudged(f.Unjudged)}
	if f.Judged != nil {
		first.Value = page.Percent(f.Judged.Value)
		first.Small = fmt.Sprintf("95%% interval [%s], %s, %s", ends(*f.Judged), page.NEquals(f.Judged.N), page.Unjudged(f.Unjudged))
		first.Marks = p.mark(f.Judged.Warnings...)
	}
	p.Cards = append(p.Cards, first)
	if f.Items == 0 {
		return
	}
	p.Cards = append(p.Cards, PageCard{
		Name: "strict: " + page.Treatment(f.Unjudged, "failures counted as wrong"), Value: page.Percent(f.Strict.Value),
		Small: fmt.Sprintf("95%% interval [%s], %s", ends(f.Strict), page.NEquals(f.Strict.N)), Marks: p.mark(f.Strict.Warnings...),
	}, PageCard{
		Name: "band: " + page.Treatment(f.Unjudged, "from all failures wrong to all right"), Value: page.Percent(f.Band.Lo) + " to " + page.Percent(f.Band.Hi),
		Small: page.NEquals(f.Items) + ", " + page.Unjudged(f.Unjudged),
	})
}

// facts shows who made the numbers and of what.
func (p *Page) facts(r Report) {
	h := r.Head
	c := r.Calls
	stopped := ""
	if r.Stopped != nil {
		stopped = r.Stopped.Words(h.Items)
	}
	list := []PageFact{
		{"judge", strings.Join(nonEmpty(words.Clean(page.OrNone(h.Judge)), words.Clean(h.JudgeKind), page.Prefix("reading ", words.Clean(h.Reading))), ", ")},
		{"judge hash", words.Clean(h.JudgeHash)},
		{"", words.Fold(h.JudgeNote)},
		{"model", words.Clean(h.Model)},
		{"dataset", words.Clean(h.Dataset)},
		{"dataset hash", words.Clean(h.DatasetHash)},
		{"stop", stopped},
		{"intervals", page.OrNone(intervals(r))},
		{"calls", callsLine(c)},
		{"cost", costLine(c)},
		{"latency", latencyLine(c)},
		{"report", r.Version},
	}
	for _, f := range slices.Concat(list, harnessFacts(r)) {
		if f.Name == "intervals" && f.Text == page.None {
			f.Text = "from formulas, items taken for independent"
		}
		if f.Text != "" {
			p.Card = append(p.Card, f)
		}
	}
	for _, m := range c.Models {
		p.Card = append(p.Card, PageFact{"replies", strings.Join(nonEmpty(words.Comma(m.Replies)+" from "+words.Clean(page.OrNone(m.Asked)),
			page.Prefix("reported as ", words.Clean(m.Reported)), page.Prefix("fingerprint ", words.Clean(m.Fingerprint))), ", ")})
	}
}

func callsLine(c Calls) string {
	if c.N == 0 {
		return ""
	}
	return strings.Join(nonEmpty(words.Comma(c.N), page.Optional(c.Cached, "cached"), page.Optional(c.Failed, "failed"),
		words.Count(c.Attempts, "attempt"), retries(c.Retries)), ", ")
}

func costLine(c Calls) string {
	if c.N == 0 {
		return ""
	}
	return strings.Join(nonEmpty(words.Dollars(c.CostMicros), page.Optional(c.Unpriced, "unpriced"), page.Optional(c.Estimated, "estimated"),
		words.Comma(c.InputTokens)+" tokens in", words.Comma(c.OutputTokens)+" out"), ", ")
}

func latencyLine(c Calls) string {
	if c.Latency == nil {
		return ""
	}
	return fmt.Sprintf("half of the replies within %s, 95%% within %s, n=%s",
		words.Round(c.Latency.P50, 3), words.Round(c.Latency.P95, 3), words.Comma(c.Latency.N))
}

// published returns the benchmark's own numbers: the text of its package or, if the
// report was read from JSON, that.
func published(r Report) string {
	if r.PublishedText != "" {
		return cleanLines(strings.TrimRight(r.PublishedText, "\n"))
	}
	if r.Published == nil {
		return ""
	}
	text, err := json.MarshalIndent(r.Published, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// cleanLines returns text cleaned, with its lines and tabs as they are.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		parts := strings.Split(line, "\t")
		for j, part := range parts {
			parts[j] = words.Clean(part)
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}

// nonEmpty returns the parts that are not empty.
func nonEmpty(parts ...string) []string {
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

// kindName returns the name of a kind of failure.
func kindName(k deem.Kind) string { return words.Clean(page.OrNone(string(k))) }

// pText returns a p-value in words that do not promise more than it holds.
func pText(p float64) string {
	if p < 0.001 {
		return "below 0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}
