package memoryagentbench_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/longmemeval"
	"deem/internal/benchmark/memoryagentbench"
	"deem/judge"
)

func protocol(t *testing.T, reading string) *memoryagentbench.P {
	t.Helper()
	chats, err := longmemeval.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	p, err := memoryagentbench.Protocol(reading, chats)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPrompts compares the embedded prompts with the published bytes and NOTICE.
func TestPrompts(t *testing.T) {
	notice, err := os.ReadFile("../../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fluency", "recall", "precision"} {
		hash := fmt.Sprintf("%x", sha256.Sum256([]byte(protocol(t, "").Spec().Prompts[name])))
		if !strings.Contains(string(notice), hash) {
			t.Errorf("NOTICE does not name the prompt %s with SHA-256 %s", name, hash)
		}
		want, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "memoryagentbench", "prompts", name+"_prompt_book.fmt.txt"))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("the published prompts are not here: %v", err)
		}
		if err != nil || fmt.Sprintf("%x", sha256.Sum256(want)) != hash {
			t.Errorf("prompt %s is not the published one, error %v", name, err)
		}
	}
}

// TestRules checks that each part has its own metric, and that fixed requires whole words.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		source, response string
		answers          []string
		upstream, fixed  float64
	}{
		{"factconsolidation_sh_6k", "It was 2010.", []string{"10"}, 1, 0},
		{"factconsolidation_sh_6k", "The Maltese ferry", []string{"Cyprus", "a maltese Ferry"}, 1, 1},
		{"ruler_qa1_197K", "", []string{"France"}, 0, 0},
		{"eventqa_full", "Ida LOCKED the door. Then", []string{"ida locked", "then"}, 1, 1},
		{"eventqa_full", "Ida locked the door.", []string{"ida locked", "then"}, 0, 0},
		{"icl_banking77_5900shot_balance", "Let me think.\nanswer: Answer: 12\nmore", []string{"12"}, 1, 1},
		{"icl_banking77_5900shot_balance", "12 is the label", []string{"12"}, 0, 0},
		{"detective_qa", "Answer: B. The butler", []string{"b the butler"}, 1, 1},
		{"ruler_niah_mq", "9545877 and 3554438", []string{"3554438", "4077793"}, .5, .5},
	} {
		for i, reading := range benchmark.Readings() {
			j, err := memoryagentbench.Rules(reading)
			if err != nil {
				t.Fatal(err)
			}
			v, err := j.Judge(t.Context(), deem.Item{Category: c.source, Response: c.response, References: c.answers})
			if want := []float64{c.upstream, c.fixed}[i]; err != nil || v.Score != want {
				t.Errorf("%s, %s: %q = %v, error %v, want %v", c.source, reading, c.response, v.Score, err, want)
			}
		}
	}
	j, err := memoryagentbench.Rules("")
	if err != nil {
		t.Fatal(err)
	}
	it := deem.Item{Category: "recsys_redial_full", References: []string{"1", "2"}, Fields: map[string]string{"parsed_output": `["A","B","B","C","D","E"]`, "gt_movies": `["C","E"]`}}
	v, err := j.Judge(t.Context(), it)
	if err != nil || v.Score != .5 || v.Aspects["recsys_recall@10"] != 1 || v.Aspects["recsys_recall@1"] != 0 {
		t.Errorf("movies: %+v, error %v", v, err)
	}
	it.Fields = nil
	if _, err := j.Judge(t.Context(), it); err == nil {
		t.Error("an item without movies has a verdict")
	}
}

// open opens the example and returns its items by id.
func open(t *testing.T, rules bool, files ...string) map[string]deem.Item {
	t.Helper()
	for i, name := range files {
		files[i] = filepath.Join("..", "..", "..", "examples", "memoryagentbench", name)
	}
	by := memoryagentbench.UpstreamName
	if rules {
		by = memoryagentbench.RulesName
	}
	s, err := memoryagentbench.Open(t.Context(), memoryagentbench.Options{Data: files, Judges: []string{by}})
	if err != nil {
		t.Fatal(err)
	}
	items := map[string]deem.Item{}
	for it := range s.Items() {
		items[it.ID] = it
	}
	return items
}

// TestOpen checks that results are joined with the published data, which contains clusters,
// key points and types of questions; tokens and latency come from the results.
func TestOpen(t *testing.T) {
	items := open(t, false, "published.jsonl", "summary_results.json", "chats_results.json", "eventqa_results.json")
	chat, summary := items["longmemeval_s*/7a1"], items["infbench_sum_eng_shots2/infbench_sum_no1"]
	if chat.Question != "How many boats do I own?" || chat.Fields["question_type"] != "multi-session" || chat.Cluster != "longmemeval_s*/1" {
		t.Errorf("chat: %+v", chat)
	}
	if summary.Cluster != "infbench_sum_eng_shots2/2" || !strings.Contains(summary.Fields["keypoints"], "ferryman") || summary.Fields[deem.FieldLatency] != "1500" {
		t.Errorf("summary: %+v", summary)
	}
	if req, err := protocol(t, "").Request(chat); err != nil || !strings.Contains(req.Messages[0].Content, "Correct Answer: ['two']") {
		t.Errorf("upstream shows the list of answers as Python writes it, and not %q, error %v", req.Messages, err)
	}
	if items := open(t, true, "summary_results.json", "facts_results.json"); len(items) != 3 {
		t.Errorf("%d items need no model, want 3", len(items))
	}
	alone := open(t, false, "summary_results.json")["infbench_sum_eng_shots2/infbench_sum_no0"]
	if _, err := protocol(t, "").Request(alone); err == nil || !strings.Contains(err.Error(), "key points") {
		t.Errorf("a summary without key points: %v", err)
	}
	_, err := memoryagentbench.Open(t.Context(), memoryagentbench.Options{Data: []string{"../../../examples/memoryagentbench/summary_results.json"}, Judges: []string{memoryagentbench.RulesName}})
	if err == nil || !strings.Contains(deem.HintOf(err), "--judge memoryagentbench/upstream") {
		t.Errorf("nothing to judge by rule: %v, hint %q", err, deem.HintOf(err))
	}
}

// TestSummary checks fluency times F1, and that replies are read like parse_json.
func TestSummary(t *testing.T) {
	it := open(t, false, "published.jsonl", "summary_results.json")["infbench_sum_eng_shots2/infbench_sum_no0"]
	for _, c := range []struct {
		fluency, recall, precision string
		upstream, fixed            float64 // -1 for none
	}{
		{`{"fluency": 1}`, `{"supported_key_points": [1, 2], "recall": 2}`, `{"precision": 1, "sentence_count": 2}`, 4. / 7, 4. / 7},
		{`{"fluency": 0}`, `{"recall": 2}`, `{"precision": 1, "sentence_count": 2}`, 0, 0},
		{`{"fluency": true}`, `{"recall": 0}`, `{"precision": 0, "sentence_count": 0}`, 0, -1},
		{`{"fluency": 1}`, `{"recall": 6}`, `{"precision": 2, "sentence_count": 1}`, 2, -1},
		{"Score {\"fluency\": 1} in the format {example}", `{"recall": 3}`, `{"precision": 1, "sentence_count": 1}`, -1, 1},
		{"```json\n{\"fluency\": 1, \"why\": \"x\"}\n```", `{"recall": 3}`, `{"precision": 1, "sentence_count": 1}`, 1, 1},
		{"```json\n{\"fluency\": 1, \"why\": {\"a\": 1}}\n```", `{"recall": 3}`, `{"precision": 1, "sentence_count": 1}`, 1, -1},
		{`{"fluency": 0} The text says {"fluency": 1}`, `{"recall": 3}`, `{"precision": 1, "sentence_count": 1}`, 1, -1},
		{`{"fluency": 1}`, "I cannot say.", `{"precision": 1, "sentence_count": 1}`, -1, -1},
		{`{"fluency": 1}`, `{"recall": "3"}`, `{"precision": 1, "sentence_count": 1}`, -1, -1},
	} {
		for i, reading := range benchmark.Readings() {
			replies := []string{c.fluency, c.recall, c.precision}
			v, err := protocol(t, reading).Talk(it, func(deem.Request) (deem.Reply, error) {
				reply := deem.Reply{Text: replies[0], Stop: deem.StopEnd}
				replies = replies[1:]
				return reply, nil
			})
			want := []float64{c.upstream, c.fixed}[i]
			_, failed := errors.AsType[*deem.Failure](err)
			if failed != (want < 0) || !failed && math.Abs(v.Score-want) > 1e-15 {
				t.Errorf("%s: %q = %v, error %v, want %v", reading, []string{c.fluency, c.recall, c.precision}, v.Score, err, want)
			}
		}
	}
}

// TestResults writes upstream's file and checks that reading it gives the same items.
func TestResults(t *testing.T) {
	items := open(t, false, "published.jsonl", "summary_results.json")
	records := func(items map[string]deem.Item) iter.Seq2[deem.Record, error] {
		return func(yield func(deem.Record, error) bool) {
			for _, it := range items {
				v := deem.Verdict{Score: .5, Aspects: map[string]float64{"fluency": 1, "recall": .5, "precision": .5}, Parts: []deem.Part{{Name: "recall", Label: "1/2", Reason: "r"}}}
				if !yield(deem.Record{Item: it, Verdict: &v}, nil) {
					return
				}
			}
		}
	}
	var out bytes.Buffer
	if left, err := memoryagentbench.WriteResults(&out, "m", records(items)); err != nil || left != 0 {
		t.Fatal(left, err)
	}
	var file struct {
		Data []struct {
			Scores map[string]any `json:"gpt-4-scores"`
		} `json:"data"`
		Averaged map[string]float64 `json:"averaged_metrics"`
	}
	if err := json.Unmarshal(out.Bytes(), &file); err != nil || file.Averaged["gpt-4-f1"] != .5 || file.Data[0].Scores["recall_found"] != 1. || file.Data[0].Scores["recall_total"] != 2. {
		t.Errorf("%s, error %v", out.String(), err)
	}
	name := filepath.Join(t.TempDir(), "again.json")
	if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := memoryagentbench.Open(t.Context(), memoryagentbench.Options{Data: []string{name}, Judges: []string{memoryagentbench.UpstreamName}})
	if err != nil || s.Len() != 2 {
		t.Fatalf("%v, error %v", s, err)
	}
	for it := range s.Items() {
		if _, err := judge.Requests(protocol(t, ""), it); err != nil {
			t.Errorf("%s: %v", it.ID, err)
		}
	}
	mixed := open(t, false, "published.jsonl", "summary_results.json", "chats_results.json")
	if _, err := memoryagentbench.WriteResults(&out, "m", records(mixed)); err == nil || deem.HintOf(err) == "" {
		t.Errorf("two parts in one file: %v", err)
	}
}
