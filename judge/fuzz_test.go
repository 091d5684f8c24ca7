package judge_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/judge"
)

// FuzzSlots fills a prompt with arbitrary values. A value that looks like a slot stays
// text.
func FuzzSlots(f *testing.F) {
	f.Add("q", "r", "a", "x")
	f.Add("{response}", "{{question}}", "{", "}}{{")
	f.Add("\xff{fields}", "%s\n", "", "{x}")
	d, err := judge.Parse("j.yaml", []byte("name: j\nprompt: |-\n  <{question}> {{{response}}} [{reference}] {note}{{}}\nslots: {note: fields.note}\nlabels: {yes: 1, no: 0}\n"), nil)
	if err != nil {
		f.Fatal(err)
	}
	p, err := d.Protocol("")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, question, response, reference, note string) {
		it := deem.Item{ID: "1", Question: question, Response: response, References: []string{reference}, Fields: map[string]string{"note": note}}
		req, err := p.Request(it)
		if err != nil {
			if kindOf(err) != deem.Input {
				t.Errorf("Request(%+v): %v", it, err)
			}
			return
		}
		all := ""
		for _, m := range req.Messages {
			all += m.Content
		}
		if want := "<" + question + "> {" + response + "} [" + reference + "] " + note + "{}"; all != want {
			t.Errorf("the prompt is %q, want %q", all, want)
		}
	})
}

func kindOf(err error) deem.Kind {
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return f.Kind
	}
	return ""
}

// FuzzReplies reads arbitrary replies with every built-in judge and reading. The result is
// one of the judge's labels with a score from 0 to 1, or a failure of a known kind. A reply
// without a letter or digit never gives a verdict.
func FuzzReplies(f *testing.F) {
	for _, seed := range []string{"CORRECT", "INCORRECT", "Verdict: yes.", `{"label": "CORRECT", "score": 0.5}`, "```json\n{\"correctness\": 11}\n```", "<think>CORRECT</think>", "8/10", "correctness: 7\nrelevance: -1", "…?!", "CORRECT\nINCORRECT", "正确"} {
		f.Add(seed, "The answer is CORRECT", false)
		f.Add(seed, seed, true)
	}
	type read struct {
		d *judge.Declaration
		p judge.Readable
	}
	var all []read
	for _, name := range judge.Builtins() {
		d, _ := judge.Builtin(name)
		for _, reading := range []string{"", judge.Strict} {
			if p, err := d.Protocol(reading); err == nil {
				all = append(all, read{d, p})
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, response string, cutOff bool) {
		it := deem.Item{ID: "1", Question: "q", Response: response, References: []string{"a"}}
		reply := say(text)
		if cutOff {
			reply = cut(text)
		}
		for _, r := range all {
			for _, p := range []judge.Readable{r.p, r.p.Reread()} {
				if p == nil {
					continue
				}
				v, err := judge.Read(p, it, reply)
				if err != nil {
					if !slices.Contains(deem.Kinds(), kindOf(err)) {
						t.Errorf("%s reads %q as %v, which is not a failure", p.Name(), text, err)
					}
					continue
				}
				if !(v.Score >= 0 && v.Score <= 1) || v.Label == "" {
					t.Errorf("%s reads %q as %+v", p.Name(), text, v)
				}
				if !strings.ContainsFunc(text, isWord) {
					t.Errorf("%s reads %q, which says nothing, as %+v", p.Name(), text, v)
				}
			}
		}
	})
}

// isWord reports whether a character can be part of a label or of a number.
func isWord(r rune) bool {
	return strings.ContainsRune("0123456789", r) || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= 0x80
}

// FuzzRestore builds a judge from the spec in a run file. If it succeeds, the judge has the
// same identity and hash.
func FuzzRestore(f *testing.F) {
	for _, name := range judge.Builtins() {
		d, _ := judge.Builtin(name)
		p, err := d.Protocol("")
		if err != nil {
			f.Fatal(err)
		}
		identity, err := json.Marshal(p.Spec())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(identity)
	}
	f.Add([]byte(`{"kind":"model","version":1,"declaration":{"name":"x","prompt":"{response}","labels":{"a":2}}}`))
	f.Add([]byte(`{"kind":"model","version":1,"declaration":null}`))
	f.Fuzz(func(t *testing.T, identity []byte) {
		p, err := restore(identity)
		if err != nil {
			return
		}
		text, err := json.Marshal(p.Spec())
		if err != nil {
			t.Fatal(err)
		}
		again, err := restore(text)
		if err != nil {
			t.Fatalf("restored from %s, but not from %s: %v", identity, text, err)
		}
		if diff := cmp.Diff(p.Spec(), again.Spec()); diff != "" {
			t.Errorf("restored twice, %s is another judge:\n%s", identity, diff)
		}
		it := deem.Item{ID: "1", Question: "q", Response: "{response}", References: []string{"a"}}
		_, _ = p.Request(it) // It may fail for lack of a field, but must not panic.
		if v, err := p.Read(it, say(string(identity))); err == nil && !(v.Score >= 0 && v.Score <= 1) {
			t.Errorf("verdict %+v", v)
		}
	})
}
