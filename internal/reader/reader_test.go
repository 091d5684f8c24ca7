package reader_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/reader"
	"deem/judge"
	"deem/judge/answer"
	"deem/judge/rule"
	"deem/model/fake"
)

// item returns an item with contexts, and with gold in every place where data sets keep it.
func item(t *testing.T, gold string) deem.Item {
	t.Helper()
	contexts, err := reader.EncodeContexts([]reader.Context{
		{ID: "answer_" + gold, Text: "Mara moved to Porto.", Time: "2024-06-03T10:00:00Z", Speaker: "Mara"},
		{ID: "filler_7", Text: "Ines stayed in Braga.", Time: "2024-05-20T18:30:00Z", Speaker: "Ines"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return deem.Item{
		ID: "q1_" + gold, Category: gold, Cluster: gold, Question: "Which city did Mara move to?",
		References: []string{gold}, Response: gold,
		Fields: map[string]string{
			reader.FieldContexts: contexts, reader.FieldDate: "2024/06/30", reader.FieldSpeakers: `["Mara","Ines"]`,
			"evidence": gold, "rubric": gold, "reference": gold,
		},
	}
}

// TestNoGold replaces the gold of an item and compares every byte that every reader sends.
func TestNoGold(t *testing.T) {
	for _, name := range reader.Names() {
		d, err := reader.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var sent [2]string
		for i, gold := range []string{"Porto-GOLD-1", "another key"} {
			q, err := reader.QuestionOf(item(t, gold))
			if err != nil {
				t.Fatal(err)
			}
			req, err := d.Request(q)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			text, err := json.Marshal(req)
			if err != nil {
				t.Fatal(err)
			}
			sent[i] = string(text)
			if strings.Contains(sent[i], gold) {
				t.Errorf("%s: the request contains the key", name)
			}
		}
		if sent[0] != sent[1] {
			t.Errorf("%s: the request depends on the key:\n%s\n%s", name, sent[0], sent[1])
		}
	}
}

// TestPrompts compares the embedded prompts with the hashes of their sources in NOTICE.
func TestPrompts(t *testing.T) {
	notice, err := os.ReadFile("../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("prompts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no prompts: ", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if line := hex.EncodeToString(sum[:]) + "  " + filepath.Base(file) + "\n"; !strings.Contains(string(notice), line) {
			t.Errorf("NOTICE does not contain %s", line)
		}
	}
}

func TestBudget(t *testing.T) {
	d, err := reader.Open("deem")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("word ", 100) // 125 tokens
	q := reader.Question{Text: "?", Contexts: []reader.Context{{Text: "first " + long}, {Text: "second " + long}, {Text: "third " + long}}}
	for _, c := range []struct{ tokens, left int }{{0, 0}, {1000, 0}, {300, 1}, {150, 2}, {10, 3}} {
		d.Contexts.Tokens = c.tokens
		joined, left, err := d.Joined(q)
		if err != nil || left != c.left {
			t.Errorf("with %d tokens %d passages are left out (%v), want %d", c.tokens, left, err, c.left)
		}
		if c.tokens > 0 && reader.Tokens(joined) > c.tokens {
			t.Errorf("with %d tokens the context has %d", c.tokens, reader.Tokens(joined))
		}
		if left < 3 && !strings.Contains(joined, "first") {
			t.Errorf("with %d tokens the passage of the highest rank is missing", c.tokens)
		}
	}
	d.Contexts.Tokens = 2
	joined, _, err := d.Joined(reader.Question{Contexts: []reader.Context{{Text: "波尔图波尔图", Joined: true}}})
	if err != nil || joined != "波尔" {
		t.Errorf("a joined text is cut to %q, %v; want whole characters of 8 bytes", joined, err)
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ reader, reply, want string }{
		{"deem", " Porto \n", "Porto"},
		{"mem0-2026-locomo", "ANSWER: Braga\nno, ANSWER: Porto", "Porto"},
		{"mem0-2026-locomo", "Porto", "Porto"},
		{"mem0-2026-longmemeval", "<mem_thinking>ANSWER: Braga</mem_thinking> ANSWER: Porto", "Porto"},
		{"mem0-2026-longmemeval", "<mem_thinking>never closed", ""},
		{"evermemos", "FINAL ANSWER: Porto FINAL ANSWER: Braga", "Porto FINAL ANSWER: Braga"},
		{"evermemos", "FINAL ANSWER:  ", ""},
	} {
		d, err := reader.Open(c.reader)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Read(deem.Reply{Text: c.reply, Stop: deem.StopEnd})
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: Read(%q) = %q, %v; want %q", c.reader, c.reply, got, err, c.want)
		}
	}
}

// TestAnswer has items answered and judged, and keeps failures apart from empty contexts.
func TestAnswer(t *testing.T) {
	d, err := reader.Open("deem")
	if err != nil {
		t.Fatal(err)
	}
	m := fake.Func("fake:reader", func(_ context.Context, req deem.Request) (deem.Reply, error) {
		if strings.Contains(req.Messages[1].Content, "(none)") {
			return deem.Reply{Text: "The passages do not contain the answer.", Stop: deem.StopEnd}, nil
		}
		return deem.Reply{Text: "Porto", Stop: deem.StopEnd}, nil
	})
	j := answer.New(judge.New(d.Protocol(), m), rule.Exact())
	full := item(t, "Porto")
	empty := full
	empty.ID, empty.Fields = "empty", map[string]string{reader.FieldContexts: "[]"}
	failed := full
	failed.Response = ""
	failed.ID, failed.Fields = "failed", map[string]string{reader.FieldStatus: "timeout"}
	items := func(yield func(deem.Item, error) bool) {
		_ = yield(full, nil) && yield(empty, nil) && yield(failed, nil)
	}
	want := map[string]string{
		full.ID: "Porto 1 <nil> 1", "empty": "The passages do not contain the answer. 0 <nil> 1",
		"failed": " - input: no answer: the retrieval failed: timeout 0",
	}
	for rec, err := range deem.Run(t.Context(), items, j, deem.Options{Concurrency: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		score, failure := "-", "<nil>"
		if rec.Verdict != nil {
			score = fmt.Sprint(rec.Verdict.Score)
		} else {
			failure = rec.Failure.Error()
		}
		if got := fmt.Sprintf("%s %s %s %d", rec.Item.Response, score, failure, len(rec.Calls)); got != want[rec.Item.ID] {
			t.Errorf("item %s: %s, want %s", rec.Item.ID, got, want[rec.Item.ID])
		}
		if (rec.Answer == nil) != (rec.Item.ID == "failed") {
			t.Errorf("item %s has the answer %v", rec.Item.ID, rec.Answer)
		}
	}
}

func TestSpec(t *testing.T) {
	hashes := map[string]string{}
	for _, name := range reader.Names() {
		d, err := reader.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		spec := d.Protocol().Spec()
		text, err := deem.Canonical(spec)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := judge.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		again, err := reader.FromSpec(stored)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		hash, _ := deem.Hash(spec)
		if rebuilt, _ := deem.Hash(again.Protocol().Spec()); rebuilt != hash {
			t.Errorf("%s: the stored spec has the hash %s, want %s", name, rebuilt, hash)
		}
		if other := hashes[hash]; other != "" {
			t.Errorf("%s and %s have one hash", name, other)
		}
		hashes[hash] = name
	}
}

func TestParse(t *testing.T) {
	none := func(string) ([]byte, error) { return nil, os.ErrNotExist }
	good := "name: x\nmessages: [{role: user, syntax: format, text: '{contexts} {question}'}]\ncontexts: {form: lines, each: '{text}'}\n"
	if _, err := reader.Parse("x.yaml", []byte(good), none); err != nil {
		t.Error(err)
	}
	for change, want := range map[string]string{
		"name: x => name: ''":           "needs a name",
		"{question} => {gold}":          "there is no value {gold}",
		" {question} => ":               "does not show the question",
		"role: user => role: robot":     "the role is system or user",
		"form: lines => form: circles":  "unknown form",
		"name: x => nane: x":            "nane",
		"syntax: => prompt: a, syntax:": "has a text and a prompt file",
	} {
		from, to, _ := strings.Cut(change, " => ")
		_, err := reader.Parse("x.yaml", []byte(strings.Replace(good, from, to, 1)), none)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", change, err, want)
		}
	}
}
