package locomo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark/locomo"
)

func text(t *testing.T, m *locomo.Metrics) string {
	t.Helper()
	var b strings.Builder
	if err := m.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// record returns a record with a score, or without a verdict if the score is below 0.
func record(judge, id, category string, score float64) deem.Record {
	rec := deem.Record{Item: deem.Item{ID: id, Category: category, Cluster: "conv-1"}, Judge: judge}
	if score < 0 {
		rec.Failure = deem.Failf(deem.Empty, "no text")
		return rec
	}
	rec.Verdict = &deem.Verdict{Label: "x", Score: score}
	return rec
}

func TestMetricsEmpty(t *testing.T) {
	m := locomo.NewMetrics("", "")
	want := "locomo, no records: category 5 (adversarial) excluded\n" +
		"category            score  95% interval       n  unjudged\n" +
		"overall                 -  -                  0         0\n"
	if got := text(t, m); got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if b, err := json.Marshal(m.JSON()); err != nil || !strings.Contains(string(b), `"estimate":null`) || strings.Contains(string(b), "NaN") {
		t.Errorf("JSON %s, error %v", b, err)
	}
}

// TestMetricsUnjudged checks that unjudged items are named and excluded from every score.
func TestMetricsUnjudged(t *testing.T) {
	m := locomo.NewMetrics("", "")
	for _, rec := range []deem.Record{
		record("j", "b", "4", 1), record("j", "a", "4", -1), record("j", "c", "1", -1), record("j", "d", "4", 0),
	} {
		m.Add(rec)
		rec.Trial = 1
		m.Add(rec) // Only the first trial counts.
	}
	o := m.Overall()
	if o.N != 2 || o.Right != 1 || o.Unjudged != 2 || o.Estimate.Value != 0.5 || o.Estimate.Method != "none" {
		t.Errorf("overall %+v of %+v", o.Estimate, o)
	}
	c := m.Categories()
	if len(c) != 2 || c[0].Category != "1" || c[0].Name != "multi-hop" || c[0].Estimate != nil || c[0].Unjudged != 1 {
		t.Errorf("categories %+v", c)
	}
	want := []string{
		"2 items unjudged, in no number: a, c",
		"the questions are about 1 conversation: how far conversations differ cannot be seen from one, so there is no interval",
	}
	if diff := cmp.Diff(want, m.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if m.Upstream() != "" {
		t.Errorf("upstream's lines for a judge that is not upstream's: %s", m.Upstream())
	}
}

// TestMetricsPolicy checks that the policy is always stated, and that records that
// contradict it are noted.
func TestMetricsPolicy(t *testing.T) {
	for policy, want := range map[locomo.Policy]string{
		"":                "locomo, j: category 5 (adversarial) counted as recorded\n",
		locomo.Phrases:    "locomo, j: category 5 (adversarial) by upstream's two phrases\n",
		locomo.Abstention: "locomo, j: category 5 (adversarial) judged as abstention\n",
		"unheard of":      "locomo, j: category 5 (adversarial) counted as recorded\n",
	} {
		m := locomo.NewMetrics(policy, "")
		m.Add(record("j", "a", "5", 1))
		got := text(t, m)
		if !strings.HasPrefix(got, want) {
			t.Errorf("policy %q: text begins %q, want %q", policy, got[:min(len(got), 80)], want)
		}
		if belied := strings.Contains(got, "1 item of category 5 counted in overall, as recorded; most published scores leave them out\n"); belied != strings.Contains(want, "recorded") {
			t.Errorf("policy %q: text\n%s", policy, got)
		}
		m.Add(record("j", "b", "4", 0.5))
		m.Add(record("j", "c", "2", 0.25))
		if belied := strings.Contains(text(t, m), "leave them out, and without them it is 37.50% over 2 items"); belied != strings.Contains(want, "recorded") {
			t.Errorf("policy %q: text\n%s", policy, text(t, m))
		}
	}
	m := locomo.NewMetrics("", "")
	m.Add(record("j", "a", "4", 1))
	if got := text(t, m); !strings.HasPrefix(got, "locomo, j: category 5 (adversarial) excluded\n") {
		t.Errorf("without category 5: text\n%s", got)
	}
}

func TestMetricsSeveralJudges(t *testing.T) {
	m := locomo.NewMetrics("", "")
	m.Add(record("locomo/f1", "a", "4", 1))
	m.Add(record("j", "b", "4", 1))
	if got := text(t, m); !strings.Contains(got, "locomo, several judges") || !strings.Contains(got, "cannot be combined") || m.Upstream() != "" {
		t.Errorf("text\n%s", got)
	}
}

// TestUpstreamLines pins Python's formatting of sums: an integer if all terms are integers,
// and numpy's rounding in category 1.
func TestUpstreamLines(t *testing.T) {
	m := locomo.NewMetrics(locomo.Phrases, locomo.Fixed)
	for _, it := range []deem.Item{
		{ID: "a", Category: "4", Response: "x", References: []string{"y"}},
		{ID: "b", Category: "1", Response: "x", References: []string{"y"}},
		{ID: "c", Category: "1", Response: "x", References: []string{"x,"}}, // 0.5 upstream, 1 when fixed
		{ID: "d", Category: "2", Response: "x y", References: []string{"x"}},
		{ID: "e", Category: "5", Response: "not mentioned"},
		{ID: "f", Category: "5", Response: "x"},
	} {
		v, err := newF1(t, locomo.Fixed, locomo.Phrases).Judge(t.Context(), it)
		if err != nil {
			t.Fatal(err)
		}
		m.Add(deem.Record{Item: it, Judge: locomo.F1Name, Verdict: &v})
	}
	want := `Total number of questions and corresponding accuracy in each category: 
4 1 0 0.0
1 2 0.5 0.25
2 1 0.667 0.667
5 2 1 0.5
Overall accuracy:  0.361
`
	if diff := cmp.Diff(want, m.Upstream()); diff != "" {
		t.Errorf("upstream's lines (-want +got):\n%s", diff)
	}
	if got := m.Categories()[0].Estimate.Value; got != 0.5 {
		t.Errorf("category 1 scores %v by the fixed reading, want 0.5", got)
	}
}
