package longmemeval_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark/longmemeval"
	"deem/judge"
)

func protocol(tb testing.TB, reading string) *longmemeval.QA {
	tb.Helper()
	p, err := longmemeval.Protocol(reading)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// promptHashes are the SHA-256 of the prompts in src/evaluation/evaluate_qa.py of
// github.com/xiaowu0162/LongMemEval at commit 9e0b455.
var promptHashes = map[string]string{
	"abstention":                "5c0b365a1e1d06db36377c735432b56e122ca3c428f89faf61d43a0d5a7e050b",
	"default":                   "fba020ba3d57982efdc9a937c1c01f897b789a608c7f88e60244121f6505e5bc",
	"knowledge-update":          "183a9b3a6197ec620940f610cdc1207201ec98c1113dd633ea685cfc322fafac",
	"single-session-preference": "741ee3bcbea7ff5e8ed359acef61d2f8ded3de021bbcff6ee13de455f2e2aa9b",
	"temporal-reasoning":        "8d33a5fdd83afeeb4592454a965eab43d1fcb2dedc042d1d3892f4254be6c273",
}

// TestPrompts pins the prompts to the published bytes.
func TestPrompts(t *testing.T) {
	got := map[string]string{}
	for name, prompt := range protocol(t, "").Spec().Prompts {
		sum := sha256.Sum256([]byte(prompt))
		got[name] = hex.EncodeToString(sum[:])
		if slots := strings.Count(prompt, "{}"); slots != 3 || strings.Count(prompt, "{") != 3 || strings.Count(prompt, "}") != 3 {
			t.Errorf("prompt %s has %d slots and other braces, want 3 slots alone", name, slots)
		}
	}
	if diff := cmp.Diff(promptHashes, got); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
}

// idOf returns an id and a type that select the named prompt.
func idOf(prompt string) (id, kind string) {
	switch prompt {
	case "default":
		return "q1", "multi-session"
	case "abstention":
		return "q1_abs", "multi-session"
	default:
		return "q1", prompt
	}
}

// TestRendered compares with prompts rendered by upstream's function. Braces in a value
// stay text, and a number is formatted as in Python.
func TestRendered(t *testing.T) {
	b, err := os.ReadFile("testdata/rendered.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Template, Question, Response, Prompt string
		Answer                               json.RawMessage
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 3 {
		t.Fatalf("%d cases, want 3", len(cases))
	}
	for _, c := range cases {
		id, kind := idOf(c.Template)
		row := map[string]any{
			"question_id": id, "question_type": kind, "question": c.Question, "answer": c.Answer, "hypothesis": c.Response,
		}
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		it := itemsOf(t, open(t, longmemeval.Options{Data: []string{write(t, "joined.jsonl", string(line))}}))[0]
		req, err := protocol(t, "").Request(it)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Prompt, req.Messages[0].Content); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Template, diff)
		}
	}
}

func TestRequest(t *testing.T) {
	it := deem.Item{ID: "q1", Category: "multi-session", Question: "How many?", References: []string{"3"}, Response: ""}
	for reading, tokens := range map[string]int{"": 10, longmemeval.Upstream: 10, longmemeval.Strict: 10, longmemeval.Seed: 4} {
		req, err := protocol(t, reading).Request(it)
		if err != nil {
			t.Fatal(err)
		}
		if len(req.Messages) != 1 || req.Messages[0].Role != "user" || req.MaxTokens != tokens || req.Temperature == nil || *req.Temperature != 0 {
			t.Errorf("reading %q: request %+v, want one user message, %d tokens, temperature 0", reading, req, tokens)
		}
		if !strings.Contains(req.Messages[0].Content, "\n\nModel Response: \n\nIs the model") {
			t.Errorf("an empty response is rendered as %q", req.Messages[0].Content)
		}
	}
}

// TestChoice checks which prompt each reading chooses: upstream looks for _abs anywhere in
// the id, the seed at the end of the type.
func TestChoice(t *testing.T) {
	const abstention, rubric = "I will give you an unanswerable question", "I will give you a question, a rubric"
	for _, c := range []struct {
		id, kind, reading, want string // want is the beginning of the prompt, "" for a failure
	}{
		{"q1", "single-session-user", "upstream", "I will give you a question, a correct answer"},
		{"q1", "single-session-preference", "upstream", rubric},
		{"q1_abs", "single-session-preference", "upstream", abstention},
		{"x_abs_2", "temporal-reasoning", "strict", abstention},
		{"q1_abs", "no such type", "upstream", abstention},
		{"q1_abs", "", "strict", abstention},
		{"q1_abs", "single-session-preference", "seed", rubric},
		{"q1", "single-session-preference_abs", "seed", abstention},
		{"q1", "single-session-preference_abs", "upstream", ""},
		{"q1", "multi_session", "upstream", ""},
		{"q1", "", "strict", ""},
		{"q1_abs", "no such type", "seed", ""},
	} {
		it := deem.Item{ID: c.id, Category: c.kind, Question: "q", References: []string{"a"}}
		req, err := protocol(t, c.reading).Request(it)
		if c.want == "" {
			if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != deem.Input {
				t.Errorf("%s of %s read %s: error %v, want a failure of the input", c.id, c.kind, c.reading, err)
			}
			continue
		}
		if err != nil || !strings.HasPrefix(req.Messages[0].Content, c.want) {
			t.Errorf("%s of %s read %s: %v, %v, want %q", c.id, c.kind, c.reading, req.Messages, err, c.want)
		}
	}
}

// TestEveryTypeHasItsPrompt identifies the prompts of the six types by words that only one
// of them contains.
func TestEveryTypeHasItsPrompt(t *testing.T) {
	for kind, words := range map[string]string{
		"single-session-user":       "subset of the information required by the answer, answer no. \n\n",
		"single-session-assistant":  "subset of the information required by the answer, answer no. \n\n",
		"multi-session":             "subset of the information required by the answer, answer no. \n\n",
		"temporal-reasoning":        "off-by-one errors",
		"knowledge-update":          "as long as the updated answer is the required answer",
		"single-session-preference": "Rubric: a\n",
	} {
		req, err := protocol(t, "").Request(deem.Item{ID: "q", Category: kind, Question: "q", References: []string{"a"}})
		if err != nil || !strings.Contains(req.Messages[0].Content, words) {
			t.Errorf("%s: %v, %v, want %q in it", kind, req.Messages, err, words)
		}
	}
}

func TestRequestNeeds(t *testing.T) {
	whole := deem.Item{ID: "q1", Category: "multi-session", Question: "q", References: []string{"a"}}
	noQuestion, noReference, two := whole, whole, whole
	noQuestion.Question, noReference.References = "", nil
	two.References = []string{"a", "it's b"}
	p := protocol(t, "")
	for name, it := range map[string]deem.Item{"question": noQuestion, "reference": noReference} {
		_, err := p.Request(it)
		if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != deem.Input || !strings.Contains(f.Detail, name) {
			t.Errorf("without a %s: %v, want a failure of the input that names it", name, err)
		}
	}
	req, err := p.Request(two)
	if want := `Correct Answer: ['a', "it's b"]`; err != nil || !strings.Contains(req.Messages[0].Content, want) {
		t.Errorf("two references: %v, %v, want %s", req.Messages, err, want)
	}
}

// TestIdentity checks that every change of the judge changes its hash.
func TestIdentity(t *testing.T) {
	seen := map[string]string{}
	up := protocol(t, "upstream")
	for name, p := range map[string]judge.Protocol{
		"upstream": up, "strict": protocol(t, "strict"), "seed": protocol(t, "seed"),
		"reread seed": protocol(t, "seed").Reread(),
	} {
		hash, err := deem.JudgeHash(judge.New(p, namedModel{}))
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[hash]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[hash] = name
	}
	if _, err := longmemeval.Protocol("lenient"); err == nil || !strings.Contains(err.Error(), "upstream, strict, seed") {
		t.Errorf("Protocol(lenient): %v, want an error that names the readings", err)
	}
}

// namedModel is a model that must not be called.
type namedModel struct{}

func (namedModel) Name() string { return "openai:gpt-4o-2024-08-06" }

func (namedModel) Complete(context.Context, deem.Request) (deem.Reply, error) {
	return deem.Reply{Text: "yes", Stop: deem.StopEnd}, nil
}
