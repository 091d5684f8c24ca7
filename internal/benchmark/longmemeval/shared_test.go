package longmemeval_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/benchmark/longmemeval"
	"deem/internal/text"
)

// shared is the folder of published data that deem does not ship.
const shared = "../../../../shared"

// failure returns the error as a failure, or fails the test.
func failure(tb testing.TB, err error) *deem.Failure {
	tb.Helper()
	f, ok := errors.AsType[*deem.Failure](err)
	if !ok {
		tb.Fatalf("error %v, want a failure", err)
	}
	return f
}

// A verdict is a row of a run judged by others.
type verdict struct {
	Run      string
	ID       string `json:"question_id"`
	Kind     string `json:"question_type"`
	Question string
	Answer   json.RawMessage `json:"reference"`
	Response string
	Label    bool   `json:"judge_label"`
	Reply    string `json:"raw_reply"`
}

// sharedVerdicts reads the rows of a set. It skips the test if the set is missing.
func sharedVerdicts(t *testing.T, set string) []verdict {
	t.Helper()
	f, err := os.Open(filepath.Join(shared, "data", set, "derived.jsonl.gz"))
	if err != nil {
		t.Skipf("the published verdicts are not here: %v", err)
	}
	defer f.Close() //nolint:errcheck // the file was only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var rows []verdict
	for dec := json.NewDecoder(z); ; {
		var row verdict
		if err := dec.Decode(&row); errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
}

// TestPublishedRuns reads replies recorded by others, and checks the published scores.
func TestPublishedRuns(t *testing.T) {
	for _, c := range []struct {
		set, run          string
		right, abstention int
		printed           []string
	}{
		{"lme_cognitive_memory", "cm_full_run", 363, 26, []string{
			"Task-averaged Accuracy: 0.7229", "Overall Accuracy: 0.726", "Abstention Accuracy: 0.8667 (30)",
			"\tsingle-session-user: 0.9 (70)", "\tsingle-session-preference: 0.4667 (30)", "\tsingle-session-assistant: 0.8214 (56)",
			"\tmulti-session: 0.7293 (133)", "\ttemporal-reasoning: 0.5865 (133)", "\tknowledge-update: 0.8333 (78)",
		}},
		{"lme_cognitive_memory", "naive_rag_results", 350, 25, []string{"Task-averaged Accuracy: 0.7065", "Overall Accuracy: 0.7\n", "Abstention Accuracy: 0.8333 (30)"}},
		{"lme_gemini_image_text", "gemini-2.5-flash-dynamic-thinking-text-context-eval", 443, -1, []string{"Overall Accuracy: 0.886"}},
	} {
		rows := sharedVerdicts(t, c.set)
		for _, reading := range []string{"upstream", "strict", "seed"} {
			m := longmemeval.NewMetrics()
			p := protocol(t, reading)
			for _, row := range rows {
				if row.Run == c.run {
					m.Add(judged(t, p, row.ID, row.Kind, row.Reply))
				}
			}
			if all := m.Overall(); all.Right != c.right || all.N != 500 || all.Unjudged != 0 {
				t.Errorf("%s read %s: %+v, want %d right of 500", c.run, reading, all, c.right)
			}
			if abs := m.Abstention(); c.abstention >= 0 && (abs.Right != c.abstention || abs.N != 30) {
				t.Errorf("%s read %s: %+v, want %d right of 30", c.run, reading, abs, c.abstention)
			}
			for _, line := range c.printed {
				if !strings.Contains(m.Upstream(), line) {
					t.Errorf("%s: upstream prints\n%s\nwant %q", c.run, m.Upstream(), line)
				}
			}
		}
	}
}

// TestRealQuestions joins the 500 questions with a real run, and renders the prompt for
// each.
func TestRealQuestions(t *testing.T) {
	rows := sharedVerdicts(t, "lme_cognitive_memory")
	var hyps strings.Builder
	labels := map[string]bool{}
	for _, row := range rows {
		if row.Run != "cm_full_run" {
			continue
		}
		line, err := json.Marshal(map[string]string{"question_id": row.ID, "hypothesis": row.Response})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&hyps, "%s\n", line)
		labels[row.ID] = row.Label
	}
	o := longmemeval.Options{
		Data:      []string{filepath.Join(shared, "data/lme_questions/derived.jsonl")},
		Responses: []string{write(t, "hyp.jsonl", hyps.String())}, RequireAll: true,
	}
	s := open(t, o)
	if s.Len() != 500 || len(s.Notes()) != 0 {
		t.Fatalf("%d items, notes %q, want 500 and none", s.Len(), s.Notes())
	}
	p := protocol(t, "")
	for i, it := range itemsOf(t, s) {
		row := rows[i]
		if it.ID != row.ID || it.Question != row.Question || it.References[0] != text.Str(row.Answer) || it.Category != row.Kind {
			t.Errorf("item %+v differs from %+v", it, row)
		}
		if _, err := p.Request(it); err != nil {
			t.Errorf("%s: %v", it.ID, err)
		}
	}
	var out strings.Builder
	left, err := longmemeval.WriteResults(t.Context(), &out, o, "openai:gpt-4o-2024-08-06", func(id string) (bool, bool) {
		label, ok := labels[id]
		return label, ok
	})
	if err != nil || left != 0 || strings.Count(out.String(), `"label": true}}`) != 363 {
		t.Errorf("results: %d left out, %v, %d true", left, err, strings.Count(out.String(), `"label": true}}`))
	}
}

// TestPublishedFile opens the published file of a run that contains questions and responses
// under its own column names.
func TestPublishedFile(t *testing.T) {
	name := filepath.Join(shared, "data/lme_cognitive_memory/longmemeval/results/cm_full_run.json")
	if _, err := os.Stat(name); err != nil {
		t.Skipf("the published file is not here: %v", err)
	}
	s := open(t, longmemeval.Options{Data: []string{name}})
	if s.Len() != 500 {
		t.Errorf("%d items, want 500", s.Len())
	}
}
