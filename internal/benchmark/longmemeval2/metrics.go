package longmemeval2

import (
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

// share returns k/n, or nil if n is 0.
func share(k, n int) any {
	if n == 0 {
		return nil
	}
	return float64(k) / float64(n)
}

// breakdown returns an entry of upstream's file.
func (m *Metrics) breakdown(categories ...string) text.Dict {
	c := m.merge(categories...)
	return text.Dict{
		{Key: "count", Value: c.N()},
		{Key: "pct_correct", Value: share(c.Right(), c.N())},
		{Key: "pct_answered_wrong", Value: share(c.N()-c.Right()-c.unknown, c.N())},
		{Key: "pct_unknown", Value: share(c.unknown, c.N())},
	}
}

// WriteResults writes aggregated_metrics.json, which upstream's leaderboard reads, as far
// as records contain its values.
func (m *Metrics) WriteResults(w io.Writer) error {
	by := func(names []string, parts func(string) []string) text.Dict {
		var d text.Dict
		for _, name := range names {
			d = append(d, text.Member{Key: name, Value: m.breakdown(parts(name)...)})
		}
		return d
	}
	alone := func(name string) []string { return []string{name} }
	all, non, abs := m.merge(append(append([]string{}, answerable...), unanswered...)...), m.merge(answerable...), m.merge(unanswered...)
	file := text.Dict{
		{Key: "overall", Value: text.Dict{
			{Key: "overall_full_set", Value: share(all.Right(), all.N())},
			{Key: "overall_non_abstention_only", Value: share(non.Right(), non.N())},
			{Key: "overall_abstention_only", Value: share(abs.Right(), abs.N())},
			{Key: "count_all_questions", Value: all.N()},
			{Key: "count_non_abstention", Value: non.N()},
			{Key: "count_abstention", Value: abs.N()},
		}},
		{Key: "non_abstention_by_category", Value: by(answerable, alone)},
		{Key: "abstention_by_category", Value: by(unanswered, alone)},
		{Key: "combined_abstention_by_category", Value: by(combinedAbs, func(name string) []string { return []string{name, name + "-abs"} })},
		{Key: "abstention_overall", Value: m.breakdown(unanswered...)},
	}
	if n := all.N(); n > 0 && m.withToken == n {
		in, out := m.tokens[0], m.tokens[1]
		file = append(file, text.Member{Key: "tokens", Value: text.Dict{
			{Key: "prompt_tokens", Value: int(in)},
			{Key: "completion_tokens", Value: int(out)},
			{Key: "total_tokens", Value: int(in + out)},
			{Key: "avg_prompt_tokens", Value: in / float64(n)},
			{Key: "avg_completion_tokens", Value: out / float64(n)},
			{Key: "avg_total_tokens", Value: (in + out) / float64(n)},
		}})
	}
	if n := all.N(); n > 0 && len(m.latencies) == n {
		sum := 0.0
		for _, x := range m.latencies {
			sum += x
		}
		file = append(file, text.Member{Key: "memory_query", Value: text.Dict{{Key: "avg_seconds", Value: sum / float64(n)}, {Key: "total_seconds", Value: sum}}})
	}
	_, err := io.WriteString(w, benchmark.Dumps(file, "  ")+"\n")
	return err
}
