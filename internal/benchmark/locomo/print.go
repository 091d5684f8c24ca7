package locomo

import (
	"fmt"
	"io"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
	"deem/internal/words"
)

// upstreamOrder is the order in which upstream prints the categories.
var upstreamOrder = []string{SingleHop, MultiHop, Temporal, OpenDomain, Adversarial}

// digits is the number of digits to which upstream rounds.
const digits = 3

// An upstreamSum adds scores as upstream does: each is rounded to three digits when stored,
// and the rounded scores are added one by one.
type upstreamSum struct {
	n      int
	sum    float64
	float  bool // there was a float, so that Python prints the sum as one
	recall float64
	rag    bool // some item states what was retrieved
}

func (s *upstreamSum) add(u upstreamSum) {
	s.n += u.n
	s.sum += u.sum
	s.float = s.float || u.float
	s.recall += u.recall
	s.rag = s.rag || u.rag
}

// upstreamOf returns what upstream would have stored for a record of the rule, whatever the
// reading of the run, and reports false if it would have stored nothing.
func upstreamOf(rec deem.Record) (upstreamSum, bool) {
	rule, it := &F1{Upstream, Phrases}, rec.Item // the rule that scores every category
	if rec.Judge != F1Name || rec.Verdict == nil {
		return upstreamSum{}, false
	}
	v, err := rule.verdict(it)
	if err != nil {
		return upstreamSum{}, false // Upstream would have stopped here.
	}
	u := upstreamSum{n: 1, sum: v.Score}
	switch {
	case it.Category == MultiHop:
		// A mean by numpy is a numpy number, and numpy rounds differently.
		u.sum, u.float = text.NumpyRound(v.Score, digits), true
	case v.Score != 0 && it.Category != Adversarial: // upstream's 0, and both verdicts of category 5, are integers
		u.sum, u.float = text.Round(v.Score, digits), true
	}
	r, ok := rule.recall(it)
	u.rag = ok
	if ok && it.Fields[EvidenceField] != "" { // others count among the questions but not in the sum
		u.recall = text.Round(r, digits)
	}
	return u, true
}

// pythonNumber formats a sum as Python does.
func pythonNumber(x float64, float bool) string {
	if !float {
		return fmt.Sprintf("%.0f", x)
	}
	return text.Float(x)
}

// Upstream returns the output of upstream's analyze_aggr_acc for the same responses, or ""
// if the judge was not the published rule. It leaves out unjudged items, and categories
// without an item, for which upstream divides by zero.
func (m *Metrics) Upstream() string {
	if m.judge != F1Name || m.others || m.overall.upstream.n == 0 {
		return ""
	}
	var b, recalls strings.Builder
	b.WriteString("Total number of questions and corresponding accuracy in each category: \n")
	total, recall, n := 0.0, 0.0, 0
	for _, id := range upstreamOrder {
		t := m.lines[id]
		if t == nil || t.upstream.n == 0 {
			continue
		}
		u := t.upstream
		fmt.Fprintf(&b, "%s %d %s %s\n", id, u.n, pythonNumber(u.sum, u.float), text.Float(text.Round(u.sum/float64(u.n), digits)))
		// Upstream divides by all questions of a category, including those without
		// evidence, which add nothing.
		fmt.Fprintf(&recalls, "%s %s\n", id, text.Float(text.Round(u.recall/float64(u.n), digits)))
		total += u.sum
		recall += u.recall
		n += u.n
	}
	fmt.Fprintf(&b, "Overall accuracy:  %s\n", text.Float(text.Round(total/float64(n), digits)))
	if m.overall.upstream.rag {
		b.WriteString("Category and corresponding recall accuracy in each category: \n")
		b.WriteString(recalls.String())
		fmt.Fprintf(&b, "Overall recall accuracy:  %s\n", text.Float(recall/float64(n)))
	}
	return b.String()
}

// Text writes the scores with their intervals and, for the published rule, upstream's
// output.
func (m *Metrics) Text(w io.Writer) error {
	var b strings.Builder
	// The policy is always stated, because a score without it is not comparable.
	name := m.judge
	switch {
	case m.others:
		name = "several judges"
	case name == "":
		name = "no records"
	case name == F1Name:
		name += ", reading " + m.reading
	}
	fmt.Fprintf(&b, "locomo, %s: %s\n", name, m.policy().says())
	row := func(title, value, interval, n, unjudged, recall string) {
		fmt.Fprintf(&b, "%-16s %8s  %-14s %5s  %8s", title, value, interval, n, unjudged)
		if m.overall.recall.N() > 0 {
			fmt.Fprintf(&b, "  %8s", recall)
		}
		b.WriteString("\n")
	}
	row("category", "score", "95% interval", "n", "unjudged", "recall")
	for _, l := range append(m.Categories(), m.Overall()) {
		title := strings.TrimSpace(l.Category + " " + l.Name)
		row(title, value(l.Estimate), benchmark.Interval(l.Estimate), fmt.Sprint(l.N), fmt.Sprint(l.Unjudged), value(l.Recall))
	}
	for _, warning := range m.Warnings() {
		fmt.Fprintf(&b, "note: %s\n", warning)
	}
	if lines := m.Upstream(); lines != "" {
		fmt.Fprintf(&b, "\nas upstream's script prints it, over %s, each score rounded first:\n\n%s", words.Count(m.overall.upstream.n, "item"), lines)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// value returns the value of an estimate, or "-".
func value(e *benchmark.Estimate) string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100*e.Value)
}

// A summary is the metrics as JSON.
type summary struct {
	Benchmark  string   `json:"benchmark"`
	Judge      string   `json:"judge"`
	Reading    string   `json:"reading,omitempty"` // of the rule
	Category5  Policy   `json:"category_5"`
	Categories []Line   `json:"categories"`
	Overall    Line     `json:"overall"`
	Unjudged   []string `json:"unjudged"`
	Warnings   []string `json:"warnings"`
	Upstream   string   `json:"analyze_aggr_acc,omitempty"`
}

// JSON returns the metrics as a value for encoding/json.
func (m *Metrics) JSON() any {
	s := summary{
		Benchmark: Name, Judge: m.judge, Category5: m.policy(),
		Categories: append([]Line{}, m.Categories()...), Overall: m.Overall(),
		Unjudged: append([]string{}, m.Unjudged()...), Warnings: append([]string{}, m.Warnings()...), Upstream: m.Upstream(),
	}
	if m.judge == F1Name {
		s.Reading = m.reading
	}
	return s
}
