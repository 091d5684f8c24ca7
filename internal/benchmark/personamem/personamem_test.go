package personamem_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"deem"
	"deem/internal/benchmark/personamem"
	"deem/judge"
)

// field returns the content of a published file that deem does not ship.
func field(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "personamem-v2", name))
	if err != nil {
		t.Skipf("the published file is not here: %v", err)
	}
	return data
}

// cloned returns a folder with the prompts in a Python file, as in the repository.
func cloned(t *testing.T, change func(string) string) string {
	t.Helper()
	escape := strings.NewReplacer(`\`, `\\`)
	file := "import os\n\nJUDGE_PROMPT_NARROW_POSITIVE = \"\"\"" + escape.Replace(string(field(t, "prompts/judge_narrow_positive.fmt.txt"))) +
		"\"\"\"\n\nJUDGE_PROMPT_NARROW_NEGATIVE = \"\"\"" + escape.Replace(string(field(t, "prompts/judge_narrow_negative.fmt.txt"))) + "\"\"\"\n"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "inference_utils.py"), []byte(change(file)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func same(s string) string { return s }

func open(t *testing.T, reading string) *personamem.OpenAnswers {
	t.Helper()
	p, err := personamem.Protocol(reading, map[string]string{"positive": "+{preference}|{user_query}|{model_response}{{}}", "negative": "-{preference}"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPrompts checks that the prompts are read from a clone, byte for byte, and that others
// are rejected.
func TestPrompts(t *testing.T) {
	prompts, err := personamem.Prompts(cloned(t, same))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"positive", "negative"} {
		if want := string(field(t, "prompts/judge_narrow_"+name+".fmt.txt")); prompts[name] != want {
			t.Errorf("the prompt %s is not the published one:\n%s", name, prompts[name])
		}
	}
	for _, tt := range []struct{ repo, want string }{
		{"", "judge personamem/open needs a clone of github.com/bowen-upenn/PersonaMem-v2"},
		{t.TempDir(), "is not a clone of github.com/bowen-upenn/PersonaMem-v2: it has no inference_utils.py"},
		{cloned(t, func(s string) string { return strings.Replace(s, "helpful", "nice", 1) }), "inference_utils.py does not have the prompt of commit fc1603041d3520b97fec6d073c1c234b5a191347 with the SHA-256 1f0d8e02"},
	} {
		_, err := personamem.Prompts(tt.repo)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(deem.HintOf(err), "--with repo=") {
			t.Errorf("%q: %v (%s), want %s", tt.repo, err, deem.HintOf(err), tt.want)
		}
	}
}

// TestReplies compares the readings with the published function. Where it gives up and
// returns 0, there is a failure, which upstream's score counts as 0.
func TestReplies(t *testing.T) {
	var vectors struct {
		Replies []struct {
			Reply string
			Score float64
		} `json:"judge_replies"`
	}
	if err := json.Unmarshal(field(t, "vectors/replies.json"), &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Replies) != 25 {
		t.Fatalf("%d vectors, want 25", len(vectors.Replies))
	}
	p := open(t, "")
	if !p.FailuresWrong() {
		t.Error("upstream counts a reply without a score as 0")
	}
	given := 0
	for _, v := range vectors.Replies {
		got, err := judge.Read(p, deem.Item{}, deem.Reply{Text: v.Reply, Stop: deem.StopEnd})
		if _, failed := errors.AsType[*deem.Failure](err); failed {
			got.Score = 0
		} else {
			given++
		}
		if got.Score != v.Score {
			t.Errorf("%q: %v (%v), want %v", v.Reply, got.Score, err, v.Score)
		}
	}
	t.Logf("%d vectors, of which %d have a score and the others are failures", len(vectors.Replies), given)
}

func TestStrictReplies(t *testing.T) {
	p := open(t, "strict")
	for reply, want := range map[string]string{
		`Well. \boxed{0.8}`: "0.8", `\boxed{.5}`: "0.5", `\boxed {1}`: "1", `\boxed{5}`: "out_of_range", `\boxed{0.2}, no, \boxed{0.9}`: "contradictory",
		"Score: 0.75": "unparseable", `\boxed{high}`: "unparseable",
	} {
		v, err := judge.Read(p, deem.Item{}, deem.Reply{Text: reply, Stop: deem.StopEnd})
		got := strconv.FormatFloat(v.Score, 'g', -1, 64)
		if f, ok := errors.AsType[*deem.Failure](err); ok {
			got = string(f.Kind)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", reply, got, want)
		}
	}
}

func TestRequest(t *testing.T) {
	p := open(t, "")
	it := deem.Item{ID: "1", Question: "Tea {preference}?", Response: "Milk", Fields: map[string]string{"preference": "I like tea"}}
	for _, tt := range []struct{ preference, response, options, want string }{
		{"I like tea", "Milk", "", "+I like tea|Tea {preference}?|Milk{}"},
		{"Do not mention tea", "Milk", "", "-Do not mention tea"},
		{"do not mention tea", "Milk", "", "-do not mention tea"},
		{"I like tea", "ERROR: timeout", "", "input"},
		{"I like tea", "B", `["a", "b"]`, "input"},
	} {
		it.Fields["preference"], it.Response, it.Fields["options"] = tt.preference, tt.response, tt.options
		req, err := p.Request(it)
		got := "nothing"
		if f, ok := errors.AsType[*deem.Failure](err); ok {
			got = string(f.Kind)
		} else if len(req.Messages) == 1 {
			got = req.Messages[0].Content
		}
		if got != tt.want {
			t.Errorf("%q, %q: %q, want %q", tt.preference, tt.response, got, tt.want)
		}
	}
}

// TestOpen checks that upstream's questions are joined with responses by persona, query and
// preference, and keep the options of each row.
func TestOpen(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "examples", "personamem")
	s, err := personamem.Open(t.Context(), personamem.Options{
		Data: []string{filepath.Join(dir, "benchmark.csv")}, Responses: []string{filepath.Join(dir, "choices.jsonl")}, RequireAll: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var items []deem.Item
	for it, err := range s.Items() {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	if len(items) != 6 {
		t.Fatalf("%d items, want 6", len(items))
	}
	first := items[0]
	if first.Question != "What could I cook tonight?" || first.Cluster != "12" || first.Category != "stereotypical_pref" ||
		first.Fields["preference"] != "I love spicy Thai food" || !strings.Contains(first.Fields["options"], "green curry") || first.References[0] != "A green curry with extra chilies" {
		t.Errorf("the first item is %+v", first)
	}
}
