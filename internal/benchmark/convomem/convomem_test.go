package convomem_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/benchmark/convomem"
	"deem/judge"
)

func protocol(t *testing.T, reading string) *convomem.P {
	t.Helper()
	p, err := convomem.Protocol(reading)
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
	for name, file := range map[string]string{
		"abstention": "AbstentionAnsweringEvaluation_0", "default": "DefaultAnsweringEvaluation_0", "rubric": "RubricBasedAnsweringEvaluation_0",
		"temporal": "TemporalAnsweringEvaluation_0", "user_fact": "UserFactsAnsweringEvaluation_0", "user_facts": "UserFactsAnsweringEvaluation_1",
	} {
		hash := fmt.Sprintf("%x", sha256.Sum256([]byte(protocol(t, "").Spec().Prompts[name])))
		if !strings.Contains(string(notice), hash) {
			t.Errorf("NOTICE does not name the prompt %s with SHA-256 %s", name, hash)
		}
		want, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "convomem", "prompts", file+".NOT-FORMAT.txt"))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("the published prompts are not here: %v", err)
		}
		if err != nil || fmt.Sprintf("%x", sha256.Sum256(want)) != hash {
			t.Errorf("prompt %s is not %s, error %v", name, file, err)
		}
	}
}

// TestRead checks that upstream reads "wrong" anywhere as WRONG, and that a reply with
// neither word is unjudged.
func TestRead(t *testing.T) {
	for reply, want := range map[string][2]string{
		"RIGHT": {"RIGHT", "RIGHT"}, " wrong.": {"WRONG", "WRONG"}, "The answer is RIGHT, nothing is wrong with it.": {"WRONG", ""}, "Correct": {"", ""},
	} {
		for i, reading := range convomem.Readings() {
			v, err := judge.Read(protocol(t, reading), deem.Item{}, deem.Reply{Text: reply, Stop: deem.StopEnd})
			if v.Label != want[i] || (err == nil) != (want[i] != "") {
				t.Errorf("%s: %q = %q, error %v, want %q", reading, reply, v.Label, err, want[i])
			}
		}
	}
}

// TestOpen checks that items of both logs get the prompt of their kind, and that a single
// log is noted.
func TestOpen(t *testing.T) {
	dir := "../../../examples/convomem/"
	s, err := convomem.Open(t.Context(), convomem.Options{Data: []string{dir + "correct_responses.json", dir + "incorrect_responses.json"}})
	if err != nil || s.Len() != 6 || len(s.Notes()) != 0 {
		t.Fatalf("%v items, error %v", s, err)
	}
	begins := map[string]string{}
	for it := range s.Items() {
		req, err := protocol(t, "").Request(it)
		if err != nil {
			t.Fatal(err)
		}
		if text := req.Messages[0].Content; !strings.Contains(text, it.Question) || !strings.Contains(text, it.Response) || strings.Contains(text, "{") {
			t.Errorf("%s: %s", it.ID, text)
		}
		begins[it.ID] = req.Messages[0].Content
	}
	if !strings.Contains(begins["user_facts/50/2"], "Evidence Message 2: Before that I was in Ghent.") || !strings.Contains(begins["user_facts/10/1"], "an evidence message") {
		t.Errorf("prompts of facts of the user: %q", begins)
	}
	if s, err = convomem.Open(t.Context(), convomem.Options{Data: []string{dir + "correct_responses.json"}}); err != nil || len(s.Notes()) != 1 {
		t.Errorf("one file of two: %v, error %v", s.Notes(), err)
	}
}
