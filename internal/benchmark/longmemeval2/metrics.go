package longmemeval2

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
	"deem/internal/words"
)

// Metrics are upstream's metrics: aggregate_metrics in evaluation/harness.py, and LAFS if
// the latency is known.
type Metrics struct {
	tier       string
	categories map[string]*counts
	unjudged   []string

	latencies []float64 // in seconds, of judged items
	tokens    [2]float64
	withToken int
}

// counts contains the items of one line.
type counts struct {
	benchmark.Tally
	unknown int // judged items whose final answer is UNKNOWN
}

// NewMetrics returns metrics without records. With a tier, LAFS is computed against its
// fixed frontier; "" means no LAFS.
func NewMetrics(tier string) (*Metrics, error) {
	if tier != "" {
		if _, err := Frontier(tier); err != nil {
			return nil, err
		}
	}
	return &Metrics{tier: tier, categories: map[string]*counts{}}, nil
}

// Add adds a record.
func (m *Metrics) Add(rec deem.Record) {
	if rec.Trial != 0 {
		return
	}
	category := categoryOf[rec.Item.Category]
	if m.categories[category] == nil {
		m.categories[category] = &counts{}
	}
	m.categories[category].Tally.Add(rec)
	if rec.Verdict == nil {
		m.unjudged = append(m.unjudged, rec.Item.ID)
		return
	}
	if isUnknown(rec.Item.Response) {
		m.categories[category].unknown++
	}
	if ms, err := strconv.ParseFloat(rec.Item.Fields[deem.FieldLatency], 64); err == nil {
		m.latencies = append(m.latencies, ms/1000)
	}
	in, errIn := strconv.ParseFloat(rec.Item.Fields[deem.FieldTokensIn], 64)
	out, errOut := strconv.ParseFloat(rec.Item.Fields[deem.FieldTokensOut], 64)
	if errIn == nil && errOut == nil {
		m.tokens[0] += in
		m.tokens[1] += out
		m.withToken++
	}
}

// merge returns the combined counts of several categories.
func (m *Metrics) merge(categories ...string) *counts {
	all := &counts{}
	for _, name := range categories {
		if c := m.categories[name]; c != nil {
			all.Merge(&c.Tally)
			all.unknown += c.unknown
		}
	}
	return all
}

// A Line is one metric: the share of right responses, with its interval, and the number of
// responses that say UNKNOWN, which is wrong.
type Line struct {
	Name string `json:"name"`
	benchmark.Line
	Unknown int `json:"unknown"`
}

// Lines returns the metrics of upstream's leaderboard and their components.
func (m *Metrics) Lines() []Line {
	var list []Line
	add := func(name string, categories ...string) {
		c := m.merge(categories...)
		list = append(list, Line{Name: name, Line: c.Line(false), Unknown: c.unknown})
	}
	for _, name := range combinedAbs {
		add(name, name, name+"-abs")
	}
	add("gotchas", "gotchas")
	add("overall", append(append([]string{}, answerable...), unanswered...)...)
	add("without wrong premises", answerable...)
	add("wrong premises", unanswered...)
	return list
}

// A Score is the LAFS of upstream's fixed frontier together with this run, and the increase
// due to this run.
type Score struct {
	Tier      string  `json:"tier"`
	Point     Point   `json:"point"` // this run: overall accuracy and mean latency
	Reference float64 `json:"reference_lafs"`
	LAFS      float64 `json:"lafs"`
	Gain      float64 `json:"lafs_gain"`
	GainLo    float64 `json:"lafs_gain_lo"` // at the ends of the accuracy's interval
	GainHi    float64 `json:"lafs_gain_hi"`
}

// LAFS returns the score of the run, or the reason why there is none.
func (m *Metrics) LAFS() (*Score, string) {
	all := m.merge(append(append([]string{}, answerable...), unanswered...)...)
	switch {
	case m.tier == "":
		return nil, "LAFS needs the tier of the haystacks: --with tier=small or --with tier=medium"
	case all.N() == 0:
		return nil, "no LAFS, because no item is judged"
	case all.Unjudged() > 0:
		return nil, "no LAFS, because " + words.Count(all.Unjudged(), "item") + " " + words.IsAre(all.Unjudged()) + " unjudged"
	case len(m.latencies) != all.N():
		return nil, fmt.Sprintf("no LAFS, because %d of %s say how long they took: %s, or latency_ms", len(m.latencies), words.Count(all.N(), "item"), latencyColumn)
	}
	fixed, err := Frontier(m.tier)
	if err != nil {
		return nil, err.Error()
	}
	latency := text.NumpyMean(m.latencies)
	if latency <= 0 {
		return nil, "no LAFS, because the mean latency is 0"
	}
	est := all.Estimate(false)
	with := func(share float64) float64 {
		return LAFS(append(fixed[:len(fixed):len(fixed)], Point{100 * share, latency}))
	}
	s := &Score{Tier: m.tier, Point: Point{100 * est.Value, latency}, Reference: LAFS(fixed), LAFS: with(est.Value)}
	s.Gain, s.GainLo, s.GainHi = s.LAFS-s.Reference, with(est.Lo)-s.Reference, with(est.Hi)-s.Reference
	return s, ""
}

// Text writes the metrics with their intervals.
func (m *Metrics) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s %9s  %-15s %8s %5s  %s\n", "accuracy", "value", "95% interval", "unknown", "n", "unjudged")
	for _, l := range m.Lines() {
		value, unknown := "-", "-"
		if l.Estimate != nil {
			value, unknown = fmt.Sprintf("%.2f%%", 100*l.Estimate.Value), fmt.Sprintf("%.1f%%", 100*float64(l.Unknown)/float64(l.N))
		}
		fmt.Fprintf(&b, "%-24s %9s  %-15s %8s %5d  %d\n", l.Name, value, benchmark.Interval(l.Estimate), unknown, l.N, l.Unjudged)
	}
	for _, note := range benchmark.Note(nil, m.unjudged, "item", "unjudged, counted in no value") {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	s, why := m.LAFS()
	if s == nil {
		fmt.Fprintf(&b, "note: %s\n", why)
	} else {
		fmt.Fprintf(&b, "\nLAFS, tier %s: %.2f, %+.2f [%+.2f, %+.2f] over the reference %.2f, at %.2f%% and %.1f s\n",
			s.Tier, s.LAFS, s.Gain, s.GainLo, s.GainHi, s.Reference, s.Point.Accuracy, s.Point.Latency)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// JSON returns the metrics as a value for encoding/json.
func (m *Metrics) JSON() any {
	s, why := m.LAFS()
	return struct {
		Benchmark string   `json:"benchmark"`
		Lines     []Line   `json:"lines"`
		Unjudged  []string `json:"unjudged"`
		LAFS      *Score   `json:"lafs"` // null if there is none
		NoLAFS    string   `json:"no_lafs,omitempty"`
	}{Name, m.Lines(), append([]string{}, m.unjudged...), s, why}
}

// A number is a float in Python's format, null for nil.
type number struct{ of *float64 }

func (n number) MarshalJSON() ([]byte, error) {
	if n.of == nil {
		return []byte("null"), nil
	}
	return []byte(text.Float(*n.of)), nil
}

func share(k, n int) number {
	if n == 0 {
		return number{}
	}
	return number{new(float64(k) / float64(n))}
}

// A breakdown is a line of upstream's file.
type breakdown struct {
	Count   int    `json:"count"`
	Correct number `json:"pct_correct"`
	Wrong   number `json:"pct_answered_wrong"`
	Unknown number `json:"pct_unknown"`
}

func (m *Metrics) breakdown(categories ...string) breakdown {
	c := m.merge(categories...)
	return breakdown{c.N(), share(c.Right(), c.N()), share(c.N()-c.Right()-c.unknown, c.N()), share(c.unknown, c.N())}
}

// An ordered is an object that keeps the order of its keys.
type ordered []struct {
	key   string
	value any
}

func (o ordered) MarshalJSON() ([]byte, error) {
	out := []byte("{")
	for i, m := range o {
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(strconv.AppendQuote(out, m.key), ':'), value...)
	}
	return append(out, '}'), nil
}

// WriteResults writes aggregated_metrics.json, which upstream's leaderboard reads, as far
// as records contain its values.
func (m *Metrics) WriteResults(w io.Writer) error {
	by := func(names []string, parts func(string) []string) ordered {
		var o ordered
		for _, name := range names {
			o = append(o, struct {
				key   string
				value any
			}{name, m.breakdown(parts(name)...)})
		}
		return o
	}
	alone := func(name string) []string { return []string{name} }
	all, non, abs := m.merge(append(append([]string{}, answerable...), unanswered...)...), m.merge(answerable...), m.merge(unanswered...)
	file := ordered{
		{"overall", ordered{
			{"overall_full_set", share(all.Right(), all.N())},
			{"overall_non_abstention_only", share(non.Right(), non.N())},
			{"overall_abstention_only", share(abs.Right(), abs.N())},
			{"count_all_questions", all.N()},
			{"count_non_abstention", non.N()},
			{"count_abstention", abs.N()},
		}},
		{"non_abstention_by_category", by(answerable, alone)},
		{"abstention_by_category", by(unanswered, alone)},
		{"combined_abstention_by_category", by(combinedAbs, func(name string) []string { return []string{name, name + "-abs"} })},
		{"abstention_overall", m.breakdown(unanswered...)},
	}
	if n := all.N(); n > 0 && m.withToken == n {
		file = append(file, ordered{{"tokens", ordered{
			{"prompt_tokens", int(m.tokens[0])},
			{"completion_tokens", int(m.tokens[1])},
			{"total_tokens", int(m.tokens[0] + m.tokens[1])},
			{"avg_prompt_tokens", number{new(m.tokens[0] / float64(n))}},
			{"avg_completion_tokens", number{new(m.tokens[1] / float64(n))}},
			{"avg_total_tokens", number{new((m.tokens[0] + m.tokens[1]) / float64(n))}},
		}}}...)
	}
	if n := all.N(); n > 0 && len(m.latencies) == n {
		sum := 0.0
		for _, x := range m.latencies {
			sum += x
		}
		file = append(file, ordered{{"memory_query", ordered{{"avg_seconds", number{new(sum / float64(n))}}, {"total_seconds", number{&sum}}}}}...)
	}
	out, err := json.MarshalIndent(file, "", "  ")
	if err == nil {
		_, err = w.Write(append(out, '\n'))
	}
	return err
}
