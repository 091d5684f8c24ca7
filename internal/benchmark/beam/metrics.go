package beam

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
	"deem/judge"
)

// Metrics computes the published metrics from the records of a run: a mean for each ability
// and each size. Only the first trial of an item counts.
type Metrics struct {
	judge     string
	abilities map[string]*counts
	sizes     map[string]*counts
	overall   counts
	pass      int
	tau, f1   benchmark.Tally // of event ordering: tau_norm, and tau times F1
	rubrics   [][]string      // of event ordering
	counted   map[string]float64
	own       benchmark.Tally // counted like the program of a vendor
}

// counts contains the items of one line, and the data for upstream's score: the mean over
// chats of the mean over the questions of a chat.
type counts struct {
	benchmark.Tally
	chats map[string][]float64
}

func (c *counts) add(rec deem.Record) {
	c.Add(rec)
	if rec.Verdict == nil {
		return
	}
	if c.chats == nil {
		c.chats = map[string][]float64{}
	}
	c.chats[rec.Item.Cluster] = append(c.chats[rec.Item.Cluster], rec.Verdict.Score)
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// NewMetrics returns metrics without records.
func NewMetrics() *Metrics {
	return &Metrics{abilities: map[string]*counts{}, sizes: map[string]*counts{}, counted: map[string]float64{}}
}

// Add adds a record.
func (m *Metrics) Add(rec deem.Record) {
	if rec.Trial != 0 {
		return
	}
	m.judge = rec.Judge
	for _, group := range []struct {
		of   map[string]*counts
		name string
	}{{m.abilities, rec.Item.Category}, {m.sizes, rec.Item.Fields[fieldSize]}} {
		if group.of[group.name] == nil {
			group.of[group.name] = &counts{}
		}
		group.of[group.name].add(rec)
	}
	m.overall.add(rec)
	if rec.Item.Category == EventOrdering {
		if rubric, err := rubricOf(rec.Item); err == nil {
			m.rubrics = append(m.rubrics, rubric)
		}
	}
	m.countOwn(rec)
	v := rec.Verdict
	if v == nil {
		return
	}
	if v.Yes() {
		m.pass++
	}
	if tau, ok := v.Aspects["tau_norm"]; ok {
		m.tau.Score(rec.Item.Cluster, tau)
	}
	if final, ok := v.Aspects["final_score"]; ok {
		m.f1.Score(rec.Item.Cluster, final)
	}
	if len(v.Parts) == 0 {
		return
	}
	// The score if half points were truncated as upstream does, for nine abilities or for
	// all.
	kept, cut := 0.0, 0.0
	for _, p := range v.Parts {
		kept += *p.Score
		cut += math.Trunc(*p.Score)
		switch *p.Score {
		case 0, 0.5, 1:
			m.counted["nuggets scored "+text.Float(*p.Score)]++
		default:
			m.counted["nuggets scored otherwise"]++
		}
	}
	n := float64(len(v.Parts))
	m.counted["questions"]++
	m.counted["cut"] += cut / n
	if rec.Item.Category == EventOrdering {
		cut = kept
	}
	m.counted["cut but for event ordering"] += cut / n
}

// countOwn adds the score that the program of a vendor gives: a rubric item whose reply it
// cannot read counts as 0.
func (m *Metrics) countOwn(rec deem.Record) {
	if rec.Judge != Mem0Name && rec.Judge != OmniName {
		return
	}
	p, err := Protocol(rec.Judge, benchmark.Options{})
	if err != nil {
		return
	}
	p.zero = true
	if v, can, err := judge.Again(p, rec); can && err == nil {
		m.own.Score(rec.Item.Cluster, v.Score)
	}
}

// A Line is one line of the table.
type Line struct {
	Name string `json:"name"`
	benchmark.Line

	// Published is the mean over chats of the mean of each chat, as upstream's
	// report_results.py prints it, or nil if there are no items.
	Published *float64 `json:"published"`
}

// lines returns a line for each group, those that upstream lists first.
func (m *Metrics) lines(groups map[string]*counts, known []string) []Line {
	lines := []Line{}
	for _, name := range known {
		if c := groups[name]; c != nil {
			lines = append(lines, c.line(name, m.overall.Clustered()))
		}
	}
	for name, c := range groups {
		if !slices.Contains(known, name) && name != "" {
			lines = append(lines, c.line(name, m.overall.Clustered()))
		}
	}
	slices.SortStableFunc(lines[min(len(lines), len(known)):], func(a, b Line) int { return strings.Compare(a.Name, b.Name) })
	return lines
}

func (c *counts) line(name string, clustered bool) Line {
	l := Line{Name: name, Line: c.Line(clustered)}
	if len(c.chats) == 0 {
		return l
	}
	var means []float64
	for _, scores := range c.chats {
		means = append(means, mean(scores))
	}
	slices.Sort(means) // Map order is random, and the last digit depends on it.
	m := mean(means)
	l.Published = &m
	return l
}

// A Floor is the score for event ordering of an answer that does not know the order.
type Floor struct {
	Answer string  `json:"answer"`
	Tau    float64 `json:"tau_norm"`
	Fixed  float64 `json:"tau_times_f1"` // under the reading fixed
}

// floorAnswers are kinds of answers, made from a rubric.
var floorAnswers = []struct {
	name string
	make func(rubric []string) []string
}{
	{"refusing", func([]string) []string { return []string{"I do not know."} }},
	{"the first event alone", func(r []string) []string { return r[:1] }},
	{"the first two events", func(r []string) []string { return r[:min(2, len(r))] }},
	{"the last event alone", func(r []string) []string { return r[len(r)-1:] }},
	{"a perfect list under an opening line", func(r []string) []string { return slices.Concat([]string{"Here is the order:"}, r) }},
	{"a perfect list", func(r []string) []string { return r }},
}

// Floors returns the scores of these kinds of answers on rubrics with perfect alignment of
// lines.
func Floors(rubrics [][]string) []Floor {
	floors := []Floor{}
	for _, kind := range floorAnswers {
		f, n := Floor{Answer: kind.name}, 0.0
		for _, rubric := range rubrics {
			aligned := kind.make(rubric)
			if o, err := orderOf(rubric, aligned); err == nil {
				n++
				f.Tau += o.tau
				f.Fixed += fixedOrder(rubric, slices.DeleteFunc(slices.Clone(aligned), func(line string) bool { return !isEvent(line) })).final
			}
		}
		if n > 0 {
			f.Tau, f.Fixed = f.Tau/n, f.Fixed/n
			floors = append(floors, f)
		}
	}
	return floors
}

// Text writes the tables.
func (m *Metrics) Text(w io.Writer) error {
	var b strings.Builder
	row := func(l Line) {
		value, interval, published := "-", "-", "-"
		if l.Estimate != nil {
			value, interval, published = fmt.Sprintf("%.4f", l.Estimate.Value), l.Estimate.Ends("%.3f", 1), fmt.Sprintf("%.4f", *l.Published)
		}
		fmt.Fprintf(&b, "%-26s %7s  %-15s %9s %5d  %d\n", l.Name, value, interval, published, l.N, l.Unjudged)
	}
	fmt.Fprintf(&b, "%-26s %7s  %-15s %9s %5s  %s\n", "ability", "mean", "95% interval", "by chats", "n", "unjudged")
	for _, l := range m.lines(m.abilities, Abilities()) {
		row(l)
	}
	if sizes := m.lines(m.sizes, Sizes()); len(sizes) > 0 {
		fmt.Fprintf(&b, "\nsize\n")
		for _, l := range sizes {
			row(l)
		}
	}
	fmt.Fprintln(&b)
	row(m.overall.line("all questions", m.overall.Clustered()))
	if m.judge == Mem0Name {
		fmt.Fprintf(&b, "score of at least 0.5: %d of %d\n", m.pass, m.overall.N())
	} else {
		fmt.Fprintf(&b, "note: BEAM's script prints abilities and no overall number\n")
	}
	if m.own.N() > 0 && m.overall.Unjudged() > 0 {
		fmt.Fprintf(&b, "as the program of %s counts, which takes an item of a rubric that it cannot read for 0: %.4f over %d questions\n", m.judge, m.own.Mean(), m.own.N())
	}
	if n := m.counted["questions"]; n > 0 {
		fmt.Fprintf(&b, "rubric items: %.0f scored 1, %.0f scored 0.5, %.0f scored 0", m.counted["nuggets scored 1.0"], m.counted["nuggets scored 0.5"], m.counted["nuggets scored 0.0"])
		if other := m.counted["nuggets scored otherwise"]; other > 0 {
			fmt.Fprintf(&b, ", %.0f otherwise", other)
		}
		fmt.Fprintln(&b)
		if m.judge == Mem0Name {
			fmt.Fprintf(&b, "with half points cut off as upstream does: %.4f but for event ordering, %.4f in all abilities\n",
				m.counted["cut but for event ordering"]/n, m.counted["cut"]/n)
		}
	}
	if m.judge == UpstreamName && len(m.rubrics) > 0 {
		fmt.Fprintf(&b, "\nevent ordering: tau_norm %.4f, tau x F1 %.4f\n", m.tau.Mean(), m.f1.Mean())
		fmt.Fprintf(&b, "warning: tau_norm, which BEAM's script reports, is high for answers that know no order; on these rubrics, with lines aligned without a mistake:\n")
		fmt.Fprintf(&b, "%-38s %8s  %s\n", "answer", "tau_norm", "tau x F1 (reading fixed)")
		for _, f := range Floors(m.rubrics) {
			fmt.Fprintf(&b, "%-38s %8.2f  %.2f\n", f.Answer, f.Tau, f.Fixed)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// JSON returns the metrics as a value for encoding/json.
func (m *Metrics) JSON() any {
	out := map[string]any{
		"benchmark": Name, "judge": m.judge, "abilities": m.lines(m.abilities, Abilities()), "sizes": m.lines(m.sizes, Sizes()),
		"overall": m.overall.line("all questions", m.overall.Clustered()), "at_least_half": m.pass,
	}
	if n := m.counted["questions"]; n > 0 {
		out["cut"], out["cut_but_event_ordering"] = m.counted["cut"]/n, m.counted["cut but for event ordering"]/n
	}
	if m.own.N() > 0 {
		out["as_the_vendor_counts"] = m.own.Mean()
	}
	if m.judge == UpstreamName && len(m.rubrics) > 0 {
		out["event_ordering"] = map[string]any{"tau_norm": m.tau.Mean(), "tau_times_f1": m.f1.Mean(), "floors": Floors(m.rubrics)}
	}
	return out
}
