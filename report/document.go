package report

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// The number of labels in a document, and of models in a line; JSON has them all.
const (
	maxLabels = 20
	maxSeen   = 3
)

// Text writes the short report, 80 columns wide: the score with its interval, the judged
// and unjudged items, the categories, the cost, and at most two warnings: the most important
// note, and one about the clusters of the score.
func (r Report) Text(w io.Writer) error { return doc.Text(w, r.Document(), doc.TextOptions{}) }

// HTML writes the whole report as one self-contained file: it loads nothing, runs no
// script, and follows the reader's choice of light or dark mode.
func (r Report) HTML(w io.Writer) error { return doc.HTML(w, r.Document()) }

// Document lays out the report: the score first, then the details.
func (r Report) Document() *doc.Document {
	p := &paper{Report: r, Document: &doc.Document{Title: r.title(), NotesInDetail: true}}
	p.headline()
	rest := p.categories()
	p.aspectsAndTrials()
	p.part(r.Members)
	p.part(r.Lost)
	p.part(r.Errata)
	published := r.PublishedText
	if published == "" && r.Published != nil { // a report that was read from JSON has no text
		text, err := json.MarshalIndent(r.Published, "", "  ")
		if err != nil {
			text = []byte(err.Error())
		}
		published = string(text)
	}
	p.Add(doc.Section{ID: "published", Title: "As the benchmark publishes it", Blocks: []doc.Block{doc.Pre(published)}})
	r.Retrieval.AddTo(p.Document)
	p.Document.AddSums(r.System)
	p.summary()
	p.failures()
	p.Add(rest)
	p.details()
	p.Add(doc.Section{ID: "made", Title: "How this was made", Detail: true, Blocks: []doc.Block{p.facts()}})
	p.Mark(r.Notes...)
	return p.Document
}

// part adds the section that another package supplies. A report read from JSON has none.
func (p *paper) part(of any) {
	if part, ok := of.(interface{ AddTo(d *doc.Document) }); ok {
		part.AddTo(p.Document)
	}
}

// A paper builds the document of a report.
type paper struct {
	Report
	*doc.Document
}

// mark returns the marks of the warnings, except a warning that a note already gives for
// all numbers.
func (p *paper) mark(warnings ...string) []int {
	if p.Clusters.few(p.Items) {
		warnings = slices.DeleteFunc(slices.Clone(warnings), func(w string) bool {
			return w == stat.ClusterWarning(veryFewClusters-1, false) || w == stat.ClusterWarning(veryFewClusters, false)
		})
	}
	return p.Mark(warnings...)
}

// estimate returns a cell with an estimate, or with the reason why it is missing.
func (p *paper) estimate(est *stat.Estimate, withheld bool) doc.Cell {
	if est == nil {
		return doc.T(doc.Absent(withheld))
	}
	return doc.Cell{Text: doc.Share(*est), Estimate: est, Marks: p.mark(est.Warnings...)}
}

// title returns what was judged, by which judge, and the number of items.
func (r Report) title() string {
	h := r.Head
	name := h.Dataset
	if !strings.Contains(name, ", ") {
		name = filepath.Base(name)
	}
	if h.Dataset == "" {
		name = doc.Prefix("run ", h.Run)
	}
	items := words.Count(r.Items, "item")
	if h.Items > r.Items {
		items = words.Comma(r.Items) + " of " + words.Count(h.Items, "item")
	}
	judge := "judge " + doc.OrNone(h.Judge)
	if h.Model != "" {
		judge += " (" + h.Model + ")"
	}
	return doc.Join(" · ", name, doc.Prefix("system ", h.System), judge, items)
}

// headline shows the main score and the effect of unjudged items on it.
func (p *paper) headline() {
	var tiles doc.Tiles
	add := func(name, about string, est stat.Estimate) {
		tiles = append(tiles, doc.Tile{Name: name, Value: doc.Percent(est.Value), Interval: est.Ends("%.1f", 100), About: about, Marks: p.mark(est.Warnings...)})
	}
	for i, f := range p.Metrics {
		if f.Judged == nil {
			tiles = append(tiles, doc.Tile{Name: f.Metric, Value: doc.Absent(p.Hold != nil), About: p.counted(f), Tone: doc.Warning})
		} else {
			add(f.Metric, p.counted(f), *f.Judged)
		}
		if i > 0 {
			continue
		}
		what := p.open(f)
		if d := f.Decided; d != nil {
			add("decided", fmt.Sprintf("over the %s of items that the judge decides", doc.Percent(float64(d.N)/float64(f.Items))), *d)
		} else if what != "" {
			add("strict", what+" counted as wrong", f.Strict)
		}
		if what != "" {
			tiles = append(tiles, doc.Tile{
				Name: "band", Value: doc.Percent(f.Band.Lo) + " to " + doc.Percent(f.Band.Hi),
				About: "with all " + what + " wrong, or all right",
			})
		}
	}
	if name := p.Head.UpstreamName; name != "" && p.Items > 0 {
		add(name, "as upstream counts: unjudged items are wrong", p.Metrics[0].Strict)
	}
	blocks := []doc.Block{tiles}
	if p.Hold != nil {
		blocks = append(blocks, doc.Paragraph{Text: "The score is withheld: " + p.Hold.Reason + ".", Tone: doc.Warning})
	}
	if p.Stopped != nil {
		blocks = append(blocks, doc.Paragraph{Text: words.UpperFirst(p.Stopped.words(p.Head.Items)) + "."})
	}
	p.Add(doc.Section{ID: "score", Blocks: blocks})
}

// counted returns how many items the score counts and how many are unjudged.
func (p *paper) counted(f Figures) string {
	if f.Undecided == 0 {
		return fmt.Sprintf("%s judged, %s", words.Comma(f.Items-f.Unjudged), p.unjudged(f.Unjudged))
	}
	text := fmt.Sprintf("%s decided, %s counted by probability", words.Comma(f.Items-f.Unjudged-f.Undecided), words.Comma(f.Undecided))
	if f.Unjudged > 0 || len(p.Failures) > 0 {
		text += ", " + p.unjudged(f.Unjudged)
	}
	return text
}

// open describes the items that may be right or wrong. It returns "" if there are none.
func (p *paper) open(f Figures) string {
	switch {
	case f.Undecided > 0 && len(p.Failures) > 0:
		return "undecided and unjudged items"
	case f.Undecided > 0:
		return "undecided items"
	case len(p.Failures) > 0 && p.Head.Trials > 1:
		return "failed trials"
	case len(p.Failures) > 0:
		return "unjudged items"
	}
	return ""
}

// unjudged returns how many items are unjudged and why, with the id of a single one.
func (p *paper) unjudged(n int) string {
	text := words.Comma(n) + " unjudged"
	var kinds []string
	failed := 0
	for _, f := range p.Failures {
		failed += f.N
		if len(p.Failures) == 1 {
			kinds = append(kinds, kindName(f.Kind)+doc.Prefix(": ", doc.IDs(f.Examples, f.N)))
		} else {
			kinds = append(kinds, words.Comma(f.N)+" "+kindName(f.Kind))
		}
	}
	if len(kinds) == 0 {
		return text
	}
	if p.Head.Trials > 1 {
		text += fmt.Sprintf("; %s of %s failed", words.Comma(failed), words.Count(p.Records, "trial"))
	}
	return text + " (" + strings.Join(kinds, ", ") + ")"
}

func kindName(k deem.Kind) string { return doc.OrNone(string(k)) }

// figuresTable returns a table of figures with one row and one bar for each stratum. If the
// score is withheld, the strict score is shown instead.
func (p *paper) figuresTable(what, metric string) doc.Table {
	t := doc.Table{
		Columns: []doc.Column{doc.Col(what), doc.Est(metric), doc.Num("n"), doc.Num("unjudged").InDetail(), doc.Est("strict").InDetail()},
		Draw:    &doc.Draw{Column: 1, Caption: "Lines are 95% confidence intervals."},
	}
	switch {
	case p.Hold != nil:
		t.Columns[3].Detail, t.Columns[4].Detail, t.Draw.Column = false, false, 4
	case len(p.Metrics) > 0 && p.Metrics[0].Judged != nil:
		t.Draw.Line = &p.Metrics[0].Judged.Value
		t.Draw.Caption += " The dashed line is the score over all items."
	}
	return t
}

// figuresRow returns a row of such a table. Without unjudged items the strict score equals
// the score and is omitted. Both have nearly the same warnings and share their marks.
func (p *paper) figuresRow(name doc.Cell, f Figures) []doc.Cell {
	score, strict := p.estimate(f.Judged, f.Items > f.Unjudged), doc.Cell{}
	if (len(p.Failures) > 0 || p.Undecided != nil) && f.Items > 0 {
		strict = doc.Cell{Text: doc.Share(f.Strict), Estimate: &f.Strict}
		warnings := f.Strict.Warnings
		if f.Judged != nil {
			warnings = slices.Concat(f.Judged.Warnings, warnings)
		}
		score.Marks = p.mark(warnings...)
	}
	return []doc.Cell{name, score, doc.N(f.Items - f.Unjudged), doc.N(f.Unjudged), strict}
}

// about returns a cell that links to the items it names: those with this category, label or
// kind of failure.
func about(text, filter, value string) doc.Cell {
	return doc.Cell{Text: text, Link: doc.Link{Items: url.Values{filter: {value}}}}
}

// categories shows the score of each category, and which differ from the rest. It returns
// the section of the details that compares each with the rest.
func (p *paper) categories() doc.Section {
	if len(p.Categories) == 0 {
		return doc.Section{}
	}
	t := p.figuresTable("category", p.Categories[0].Metric)
	rest := doc.Table{Columns: []doc.Column{doc.Col("category"), doc.Est("minus the rest [95%]"), doc.Num("p adjusted")}}
	sides := map[bool][]string{}
	for _, c := range p.Categories {
		row := p.figuresRow(about(c.Name, "category", c.Name), c.Figures)
		if c.Rest != nil {
			adjusted := "below 0.001"
			if c.Rest.PAdjusted >= 0.001 {
				adjusted = strconv.FormatFloat(c.Rest.PAdjusted, 'f', 3, 64)
			}
			rest.Rows = append(rest.Rows, []doc.Cell{row[0], doc.T(doc.Points(c.Rest.Difference)), doc.T(adjusted)})
		}
		if c.Differs() {
			row[0].Marks, row[1].Tone = p.Mark(differs), doc.Warning
			above := c.Rest.Difference.Value > 0
			sides[above] = append(sides[above], doc.Clip(c.Name, 32))
		}
		t.Rows = append(t.Rows, row)
	}
	differ := doc.Join("; ", doc.Prefix("lower than the rest: ", strings.Join(sides[false], ", ")), doc.Prefix("higher than the rest: ", strings.Join(sides[true], ", ")))
	p.Add(doc.Section{ID: "categories", Blocks: []doc.Block{t, doc.Paragraph{Text: words.UpperFirst(differ)}}})
	return doc.Section{ID: "rest", Title: "Categories against the rest, intervals simultaneous", Detail: true, Blocks: []doc.Block{rest}}
}

// aspectsAndTrials shows the named parts of verdicts, each on its own scale, and the trials
// with how much of the uncertainty is due to the judge.
func (p *paper) aspectsAndTrials() {
	t := doc.Table{Columns: []doc.Column{doc.Col("aspect"), doc.Est("mean [95%]"), doc.Num("n"), doc.Num("unjudged"), doc.Col("range")}}
	for _, a := range p.Aspects {
		mean := doc.T(doc.Absent(p.Hold != nil))
		if a.Judged != nil {
			mean = p.Coefficient(*a.Judged, 2)
		}
		t.Rows = append(t.Rows, []doc.Cell{doc.T(doc.OrNone(a.Name)), mean, doc.N(a.N), doc.N(a.Unjudged), doc.T(doc.Short(a.Min) + " to " + doc.Short(a.Max))})
	}
	p.Add(doc.Section{ID: "aspects", Blocks: []doc.Block{t}})
	if len(p.Trials) == 0 {
		return
	}
	t = p.figuresTable("trial", p.Trials[0].Metric)
	for _, tr := range p.Trials {
		t.Rows = append(t.Rows, p.figuresRow(doc.T(strconv.Itoa(tr.Trial)), tr.Figures))
	}
	blocks := []doc.Block{t}
	if n := p.Noise; n != nil {
		blocks = append(blocks, doc.Paragraph{Text: words.UpperFirst(n.words()) + ".", Marks: p.mark(slices.Concat(n.Warnings, n.FlipRate.Warnings)...)})
		if n.Flipped > 0 {
			blocks = append(blocks, doc.Paragraph{Text: "Items whose trials differ: " + doc.IDs(n.Examples, n.Flipped)})
		}
	}
	p.Add(doc.Section{ID: "trials", Blocks: blocks})
}

// summary shows the cost of the run, the judge, and the most important warning.
func (p *paper) summary() {
	c := p.Calls
	var cost string
	if c.N > 0 {
		cost = p.judges() + "cost " + words.Dollars(c.CostMicros) + " · " + words.Count(c.N, "call")
		if c.Latency != nil {
			cost += " · median " + c.Latency.P50.String()
		}
	}
	took := ""
	if h := p.Head; h.Ended.After(h.Started) && !h.Started.IsZero() {
		took = "took " + words.Took(h.Ended.Sub(h.Started))
	}
	blocks := []doc.Block{
		doc.Paragraph{Text: words.UpperFirst(doc.Join(" · ", cost, took))},
		doc.Paragraph{Text: words.Fold(p.Head.JudgeNote)},
	}
	warning := p.Warning()
	if o := p.Overspent; o != nil && (p.Hold != nil || o.words() != warning) {
		blocks = append(blocks, doc.Paragraph{Text: words.UpperFirst(o.words()) + ".", Tone: doc.Warning})
	}
	if p.Hold == nil {
		blocks = append(blocks, doc.Paragraph{Text: warning, Tone: doc.Warning})
		if about := p.clusterWarning(); about != warning {
			blocks = append(blocks, doc.Paragraph{Text: about, Tone: doc.Warning})
		}
	}
	p.Add(doc.Section{ID: "cost", Blocks: blocks})
}

// judges returns "judge " if the report also shows the cost of the system under test, to
// distinguish the two.
func (p *paper) judges() string {
	if len(p.System) == 0 {
		return ""
	}
	return "judge "
}

// Warning returns the most important warning: a broken lock, a note about the whole run, or
// a warning of the score itself. It returns "" if there is none.
func (r Report) Warning() string {
	if l := r.Head.harness().Lock; l != nil && !l.Kept {
		return l.Words()
	}
	for _, n := range r.Notes {
		// A note that only explains how numbers were computed is no warning.
		if n != noteTrials(r.Head.Trials) && (n != noteClusters(r.Clusters, r.Items) || r.Clusters.few(r.Items)) {
			return n
		}
	}
	if len(r.Metrics) > 0 && r.Metrics[0].Judged != nil && len(r.Metrics[0].Judged.Warnings) > 0 {
		return r.Metrics[0].Judged.Warnings[0]
	}
	return ""
}

// clusterWarning returns the warning about the clusters of the score, "" if there is none.
func (r Report) clusterWarning() string {
	switch {
	case len(r.Metrics) == 0 || r.Metrics[0].Judged == nil:
		return ""
	case r.Clusters.few(r.Items):
		return noteClusters(r.Clusters, r.Items)
	}
	return doc.ClusterWarning(*r.Metrics[0].Judged)
}

// failures lists the unjudged items, or failed trials of items, by kind.
func (p *paper) failures() {
	title, what := "Unjudged items by kind", "items"
	if p.Head.Trials > 1 {
		title, what = "Failed trials by kind", "trials"
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("kind"), doc.Num(what), doc.Col("first ones")}}
	for _, f := range p.Failures {
		t.Rows = append(t.Rows, []doc.Cell{about(kindName(f.Kind), "kind", string(f.Kind)), doc.N(f.N), {IDs: f.Examples, More: f.N > len(f.Examples)}})
	}
	p.Add(doc.Section{ID: "unjudged", Title: title, Detail: true, Blocks: []doc.Block{t}})
	if f := p.Undecided; f != nil {
		t := doc.Table{Columns: t.Columns, Rows: [][]doc.Cell{{about(kindName(f.Kind), "kind", string(f.Kind)), doc.N(f.N), {IDs: f.Examples, More: f.N > len(f.Examples)}}}}
		p.Add(doc.Section{ID: "undecided", Title: "Undecided " + what, Detail: true, Blocks: []doc.Block{t}})
	}
}

// details shows all numbers of all metrics if there are several, the smallest difference
// that the run could detect, the confidence of the judge, the number of verdicts with each
// label, and the scores under other readings of the same replies.
func (p *paper) details() {
	t := doc.Table{Columns: []doc.Column{doc.Col("metric"), doc.Est("value [95%]"), doc.Num("n"), doc.Num("unjudged"), doc.Est("strict [95%]"), doc.Est("band")}}
	for _, f := range p.Metrics {
		if f.Items > 0 && len(p.Metrics) > 1 {
			t.Rows = append(t.Rows, []doc.Cell{
				doc.T(f.Metric), p.estimate(f.Judged, p.Hold != nil), doc.N(f.Items - f.Unjudged), doc.N(f.Unjudged),
				p.estimate(&f.Strict, false), doc.T(doc.Percent(f.Band.Lo) + " to " + doc.Percent(f.Band.Hi)),
			})
		}
	}
	p.Add(doc.Section{ID: "metrics", Title: "Metrics", Detail: true, Blocks: []doc.Block{t}})
	if d := p.Detectable; d != nil {
		p.Add(doc.Section{ID: "power", Title: "Power", Detail: true, Blocks: []doc.Block{doc.Paragraph{Text: words.UpperFirst(d.String()) + "."}}})
	}
	if c := p.Confidence; c != nil {
		p.Add(doc.Section{ID: "confidence", Title: "Confidence", Detail: true, Blocks: []doc.Block{doc.Paragraph{Text: words.UpperFirst(c.Words()) + "."}}})
	}
	t = doc.Table{Columns: []doc.Column{doc.Col("label"), doc.Num("verdicts")}}
	for i, l := range p.Labels {
		if i == maxLabels {
			t.Rows = append(t.Rows, []doc.Cell{doc.T(fmt.Sprintf("and %d more", len(p.Labels)-i))})
			break
		}
		t.Rows = append(t.Rows, []doc.Cell{about(doc.OrNone(l.Label), "label", l.Label), doc.N(l.N)})
	}
	p.Add(doc.Section{ID: "labels", Title: "Labels", Detail: true, Blocks: []doc.Block{t}})
	t = doc.Table{Columns: []doc.Column{
		doc.Col("parser"), doc.Est("value [95%]"), doc.Num("n"), doc.Num("unjudged"), doc.Est("strict"), doc.Num("differ"), doc.Col("first ones"),
	}}
	for _, rd := range p.Readings {
		t.Rows = append(t.Rows, []doc.Cell{
			doc.T(doc.OrNone(rd.Reading)), p.estimate(rd.Judged, rd.Hold != nil), doc.N(rd.Items - rd.Unjudged), doc.N(rd.Unjudged),
			p.estimate(&rd.Strict, false), doc.N(rd.Differ),
			{IDs: rd.Examples, More: rd.Differ > len(rd.Examples)},
		})
	}
	p.Add(doc.Section{ID: "readings", Title: "Other parsers of the same replies", Detail: true, Blocks: []doc.Block{t}})
}

// facts lists where the numbers come from.
func (p *paper) facts() doc.Facts {
	h, n, c := p.Head, p.Head.harness(), p.Calls
	state := "complete"
	switch {
	case p.Stopped != nil && p.Stopped.Holds:
		state = "stopped by rule " + p.Stopped.Rule
	case !h.Complete:
		state = "not complete"
	}
	span := ""
	if !h.Started.IsZero() {
		span = "started " + h.Started.UTC().Format("2006-01-02 15:04:05") + " UTC"
		if h.Ended.After(h.Started) {
			span += ", took " + words.Took(h.Ended.Sub(h.Started))
		}
	}
	list := doc.Facts{
		{Name: "run", Text: doc.Join(", ", h.Run, state, span)},
		{Name: "judge", Text: doc.Join(", ", doc.OrNone(h.Judge), h.JudgeKind, doc.Prefix("parser ", h.Reading))},
		{Name: "judge hash", Text: h.JudgeHash},
	}
	seen := p.Seen()
	if more := len(seen) - maxSeen; more > 0 {
		seen = append(seen[:maxSeen], fmt.Sprintf("and %d more", more))
	}
	for _, pr := range n.Prompts {
		list = append(list, doc.Fact{Name: "prompt", Text: doc.Join(", ", pr.Name, "sha256 "+pr.SHA256)})
	}
	list = append(list, doc.Facts{
		{Name: "parameters", Text: strings.Join(n.ParamList(), ", ")},
		{Name: "replies by", Text: n.Structured()},
		{Name: "not sent", Text: strings.Join(n.DroppedList(), "; ")},
		{Name: "model", Text: doc.Join(", ", h.Model, doc.Prefix("seen as ", strings.Join(seen, ", ")))},
		{Name: "system", Text: doc.Join(", ", h.System, doc.Prefix("model ", h.SystemModel))},
		{Name: "reader", Text: h.readerText()},
		{Name: "dataset", Text: h.Dataset},
		{Name: "dataset hash", Text: h.DatasetHash},
		{Name: "records", Text: recordsLine(p.Report)},
	}...)
	if p.Stopped != nil {
		list = append(list, doc.Fact{Name: "stop", Text: p.Stopped.words(h.Items)})
	}
	if p.Items > 0 {
		list = append(list, doc.Fact{Name: "counts", Text: p.Counts()})
	}
	list = append(list,
		doc.Fact{Name: "intervals", Text: intervals(p.Report)},
		doc.Fact{Name: "errata", Text: n.Errata.Words()},
		doc.Fact{Name: "lock", Text: n.Lock.Card()},
		doc.Fact{Name: "deem", Text: n.Deem},
	)
	if c.N > 0 {
		list = append(list,
			doc.Fact{Name: p.judges() + "calls", Text: doc.Join(", ", words.Comma(c.N), doc.Optional(c.Cached, "cached"), doc.Optional(c.Failed, "failed"),
				words.Count(c.Attempts, "attempt"), doc.Optional(c.Retries, "repeated"))},
			doc.Fact{Name: p.judges() + "cost", Text: doc.Join(", ", words.Dollars(c.CostMicros), doc.Optional(c.Unpriced, "unpriced"), doc.Optional(c.Estimated, "estimated"))},
			doc.Fact{Name: p.judges() + "tokens", Text: doc.Join(", ", words.Comma(c.InputTokens)+" in", doc.Optional(c.CachedInputTokens, "of them cached"),
				words.Comma(c.OutputTokens)+" out", doc.Optional(c.ReasoningTokens, "of them reasoning"))})
	}
	if l := c.Latency; l != nil {
		list = append(list, doc.Fact{Name: p.judges() + "latency", Text: fmt.Sprintf("median %s, 95%% within %s, %s", l.P50, l.P95, doc.NEquals(l.N))})
	}
	for _, m := range c.Models {
		list = append(list, doc.Fact{Name: "replies", Text: doc.Join(", ", words.Comma(m.Replies)+" from "+doc.OrNone(m.Asked),
			doc.Prefix("reported as ", m.Reported), doc.Prefix("fingerprint ", m.Fingerprint))})
	}
	return append(list, doc.Fact{Name: "report", Text: p.Version})
}

// recordsLine returns the number of items and how many of them are judged.
func recordsLine(r Report) string {
	done := words.Count(r.Items, "item")
	if r.Head.Items > r.Items {
		done = words.Comma(r.Items) + " of " + words.Count(r.Head.Items, "item")
	}
	text := fmt.Sprintf("%s: %s judged, %s unjudged", done, words.Comma(r.Judged), words.Comma(r.Unjudged))
	if r.Undecided != nil {
		text += fmt.Sprintf(", %s undecided", words.Comma(r.Metrics[0].Undecided))
	}
	if r.Records != r.Items {
		text += fmt.Sprintf("; %s in all trials", words.Count(r.Records, "record"))
	}
	return text
}

// intervals describes how the intervals were computed, unless by the usual formulas.
func intervals(r Report) string {
	b := r.Head.Bootstrap
	switch {
	case r.Stopped != nil:
		return "anytime-valid (betting): that of the score holds at every look"
	case b != nil && r.Clusters.Robust:
		return fmt.Sprintf("by resampling clusters, %s draws, seed %d", words.Comma(b.Draws), b.Seed)
	case b != nil:
		return fmt.Sprintf("by resampling items (BCa), %s draws, seed %d", words.Comma(b.Draws), b.Seed)
	case r.Clusters.Robust:
		return "cluster-robust"
	}
	return "from formulas, items taken as independent"
}

// harness returns the harness of the head, or an empty one.
func (h Head) harness() doc.Harness {
	if h.Harness == nil {
		return doc.Harness{}
	}
	return *h.Harness
}

// Seen returns the models that vendors reported, for example "gpt-4o-2024-08-06 (fp_a1)".
func (r Report) Seen() []string {
	var list []string
	for _, m := range r.Calls.Models {
		name := m.Reported
		if m.Fingerprint != "" {
			name = strings.TrimSpace(name + " (" + m.Fingerprint + ")")
		}
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// Counts describes which items the score counts: the category policy, the excluded items
// and the denominators.
func (r Report) Counts() string {
	h := r.Head.harness()
	policy := h.Policy
	switch n := len(r.Categories); {
	case policy != "":
	case n == 0:
		policy = "no categories"
	case n == 1:
		policy = "one category"
	default:
		policy = fmt.Sprintf("all %s categories together", words.Comma(n))
	}
	left := ""
	if len(h.Excluded) > 0 {
		left = "left out: " + strings.Join(h.Excluded, ", ")
	}
	over := fmt.Sprintf("%s over %s judged, strict over all %s", r.metric(), words.Comma(r.Judged), words.Comma(r.Items))
	if r.Undecided != nil {
		over = fmt.Sprintf("%s over %s judged and undecided, strict over all %s", r.metric(), words.Comma(r.Items-r.Unjudged), words.Comma(r.Items))
	}
	return doc.Join("; ", policy, left, over)
}

// metric returns the name of the headline.
func (r Report) metric() string {
	if len(r.Metrics) == 0 {
		return doc.Score
	}
	return r.Metrics[0].Metric
}
