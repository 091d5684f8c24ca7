package web

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"time"

	"deem/internal/doc"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/words"
	"deem/judge"
	"deem/report"
)

// A glance is the first screen of a run: the score, its components, and where to look next.
// The sections below it do not repeat its numbers.
type glance struct {
	scoreView
	Metric  string
	Facts   []glanceFact
	Shares  []glanceShare // right, wrong, undecided and unjudged items, if there is more than right and wrong
	Warning string

	Title string        // of the bars
	Bars  []glanceBar   // the most important first
	Rest  []glanceBar   // those that do not fit on the first screen
	Made  template.HTML // how the numbers were made, for the side panel
	Next  []glanceNext
}

// A glanceFact is a number next to the score.
type glanceFact struct {
	Name, Value, About, URL string
	Tone                    doc.Tone
}

// A glanceBar is the score of a category, drawn from 0 to 100.
type glanceBar struct {
	Name, URL, Value, Interval, About string
	Tone                              doc.Tone
	Width, Lo, Span                   float64
}

// A glanceNext is something worth looking at.
type glanceNext struct{ What, Why, URL string }

// glanceBars is how many categories fit on the first screen.
const glanceBars = 9

// newGlance returns the first screen for the report of a run, with the numbers next to the
// score.
func newGlance(run store.Run, r report.Report) *glance {
	g := &glance{scoreView: scoreOf(run, r), Warning: words.UpperFirst(r.Warning())}
	if len(r.Metrics) == 0 {
		g.Held = "no item has been judged yet"
		return g
	}
	m := r.Metrics[0]
	g.Metric = m.Metric
	c := r.Calls
	add := func(f glanceFact) { g.Facts = append(g.Facts, f) }
	judged := glanceFact{Name: "Judged", Value: words.Comma(r.Judged), About: "of " + words.Count(r.Items, "item")}
	if run.Trials > 1 {
		judged.About += fmt.Sprintf(", %d trials each", run.Trials)
	}
	add(judged)
	g.addShares(r)
	if n := m.Undecided; n > 0 {
		add(glanceFact{Name: "Undecided", Value: words.Comma(n), About: "counted by probability", Tone: doc.Warning, URL: itemsURL(run.ID) + "?kind=unsure"})
		if m.Decided != nil {
			add(glanceFact{Name: "Decided", Value: doc.Percent(m.Decided.Value), About: m.Decided.Ends("%.1f", 100) + " over " + words.Count(m.Items-m.Unjudged-n, "item")})
		}
		add(glanceFact{Name: "Band", Value: doc.Percent(m.Band.Lo) + " to " + doc.Percent(m.Band.Hi), About: "all undecided wrong, or all right"})
	}
	if len(r.Failures) > 0 {
		add(glanceFact{
			Name: "Unjudged", Value: words.Comma(r.Unjudged), Tone: doc.Warning, URL: itemsURL(run.ID) + "?verdict=unjudged",
			About: "counted as wrong: " + doc.Percent(m.Strict.Value),
		})
	}
	for _, other := range r.Metrics[1:] {
		if other.Judged != nil {
			add(glanceFact{Name: words.UpperFirst(other.Metric), Value: doc.Percent(other.Judged.Value), About: other.Judged.Ends("%.1f", 100)})
		}
	}
	if name := r.Head.UpstreamName; name != "" && len(r.Failures) > 0 {
		add(glanceFact{Name: name, Value: doc.Percent(m.Strict.Value), About: "as upstream counts: unjudged items are wrong"})
	}
	if c.N > 0 && r.Head.JudgeKind != judge.KindRecorded {
		add(glanceFact{Name: "Cost", Value: words.Dollars(c.CostMicros), About: words.Count(c.N, "call")})
	}
	if c.Latency != nil && c.Latency.P50 >= time.Millisecond { // a replay takes no time
		add(glanceFact{Name: "Latency", Value: took(c.Latency.P50), About: "p95 " + took(c.Latency.P95)})
	}
	if n := r.Noise; n != nil {
		add(glanceFact{Name: "Changed between trials", Value: doc.Percent(n.FlipRate.Value), About: words.Count(n.Flipped, "item")})
	}
	g.addBars(run, r)
	g.addNext(run, r)
	return g
}

// A glanceShare is a part of all items, drawn from X to X+Width of 100.
type glanceShare struct {
	Name, Class string
	X, Width    float64
}

// addShares adds the parts that are right, wrong, undecided and unjudged, if there is more
// than right and wrong. They are the band, so that they and the score say the same.
func (g *glance) addShares(r report.Report) {
	m := r.Metrics[0]
	open := m.Undecided + m.Unjudged
	if open == 0 || m.Items == 0 {
		return
	}
	apart := m.Band.Hi - m.Band.Lo
	x := 0.0
	for _, s := range []struct {
		name, class string
		share       float64
	}{
		{"right", "good", m.Band.Lo},
		{"wrong", "bad", 1 - m.Band.Hi},
		{"undecided", "open", apart * float64(m.Undecided) / float64(open)},
		{"unjudged", "none", apart * float64(m.Unjudged) / float64(open)},
	} {
		if s.share > 0 {
			g.Shares = append(g.Shares, glanceShare{s.name + " " + doc.Percent(s.share), s.class, tenth(100 * x), tenth(100 * s.share)})
		}
		x += s.share
	}
}

// addBars adds a bar for each category: first those that differ from the rest, then the
// lowest. Without categories it adds a bar for each metric.
func (g *glance) addBars(run store.Run, r report.Report) {
	list := slices.Clone(r.Categories)
	value := func(f report.Figures) float64 {
		if f.Judged != nil {
			return f.Judged.Value
		}
		return f.Strict.Value
	}
	slices.SortStableFunc(list, func(a, b report.Category) int {
		if a.Differs() != b.Differs() {
			if a.Differs() {
				return -1
			}
			return 1
		}
		return cmp.Compare(value(a.Figures), value(b.Figures))
	})
	for _, c := range list {
		bar := newGlanceBar(c.Name, c.Figures)
		bar.URL = itemsURL(run.ID) + "?" + url.Values{"category": {c.Name}}.Encode()
		if c.Differs() {
			bar.Tone = doc.Good
			if c.Rest.Difference.Value < 0 {
				bar.Tone = doc.Bad
			}
			bar.About += fmt.Sprintf(", %+.0f points", 100*c.Rest.Difference.Value)
		}
		g.Bars = append(g.Bars, bar)
	}
	g.Title = "Score by category"
	if len(list) == 0 && len(r.Metrics) > 1 {
		g.Title = "Metrics"
		for _, m := range r.Metrics {
			g.Bars = append(g.Bars, newGlanceBar(m.Metric, m))
		}
	}
	if len(g.Bars) > glanceBars {
		g.Bars, g.Rest = g.Bars[:glanceBars], g.Bars[glanceBars:]
	}
}

func newGlanceBar(name string, f report.Figures) glanceBar {
	est, about := f.Strict, "strict, "
	if f.Judged != nil {
		est, about = *f.Judged, ""
	}
	lo, hi := doc.Drawn(est)
	return glanceBar{
		Name: name, Value: doc.Percent(est.Value), Interval: est.Ends("%.1f", 100), About: about + "n = " + words.Comma(f.Items-f.Unjudged),
		Width: tenth(100 * est.Value), Lo: tenth(100 * lo), Span: tenth(100 * (hi - lo)),
	}
}

// glanceNexts is the maximum number of suggestions on the first screen.
const glanceNexts = 4

// addNext suggests what to look at next, the most urgent first.
func (g *glance) addNext(run store.Run, r report.Report) {
	items := func(pairs ...string) string { return server.Link(itemsURL(run.ID), url.Values{}, pairs...) }
	add := func(what, why, url string) { g.Next = append(g.Next, glanceNext{what, why, url}) }
	if len(r.Failures) > 0 {
		worst := slices.MaxFunc(r.Failures, func(a, b report.Failures) int { return cmp.Compare(a.N, b.N) })
		add(fmt.Sprintf("%s without a verdict: %s", words.Count(worst.N, "item"), worst.Kind), "The most frequent failure. It may be one cause.", items("kind", string(worst.Kind)))
	}
	for _, c := range r.Categories {
		if c.Differs() && c.Rest.Difference.Value < 0 {
			add("What is wrong in "+doc.Clip(c.Name, 32), fmt.Sprintf("%.1f points below the rest.", 100*math.Abs(c.Rest.Difference.Value)), items("category", c.Name, "verdict", "no"))
		}
	}
	if n := r.Noise; n != nil && n.Flipped > 0 {
		add(words.Count(n.Flipped, "item")+" with different verdicts", "The judge changes its mind between trials.", itemURL(run.ID, n.Examples[0]))
	}
	if c := r.Confidence; c != nil && c.Source == doc.FromVerdicts && c.N > 0 {
		add("The least sure verdicts", "Errors of the judge gather here.", items("sort", string(store.ByConfidence)))
	}
	if len(r.Readings) > 0 && r.Readings[0].Differ > 0 {
		rd := r.Readings[0]
		add(words.Count(rd.Differ, "reply")+" that another parser reads differently", "The parser "+rd.Reading+" gives another verdict.", itemURL(run.ID, rd.Examples[0]))
	}
	if m := r.Metrics[0]; len(g.Next) < 2 && m.Judged != nil && m.Judged.Value < 1 {
		add("All items that are wrong", "Read some before you quote the score.", items("verdict", "no"))
	}
	if !run.Probes() && len(g.Next) < 3 {
		add("Label some items yourself", "It shows how far the judge can be trusted.", labelURL(run.ID))
	}
	if len(g.Next) > glanceNexts {
		g.Next = g.Next[:glanceNexts]
	}
}
