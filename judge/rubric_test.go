package judge_test

import (
	"strings"
	"testing"

	"deem"
	"deem/judge"
)

const levels = `name: levels
prompt: |
  {aspects}
  {response}
aspects:
  accuracy: {min: 1, max: 5, integer: true, weight: 3, must: 4, about: "is it true?", levels: {5: all, 1: nothing}}
  tone: {min: 1, max: 5, must: 2}
PASS
`

// TestAspectLevels checks that the model sees what the numbers mean, and that one aspect
// can decide whether a verdict passes.
func TestAspectLevels(t *testing.T) {
	protocol := func(pass string) judge.Readable {
		d, err := judge.Parse("levels.yaml", []byte(strings.Replace(levels, "PASS", pass, 1)), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Protocol("")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	it := deem.Item{ID: "a", Response: "Porto"}
	req, err := protocol("").Request(it)
	want := "accuracy, from 1 to 5, a whole number: is it true?\n  1: nothing\n  5: all\ntone, from 1 to 5\nPorto"
	if err != nil || strings.TrimSpace(req.Messages[0].Content) != want {
		t.Errorf("prompt = %q, %v, want %q", req.Messages[0].Content, err, want)
	}
	for _, c := range []struct {
		pass, reply, label string
		score              float64
	}{
		{"", `{"accuracy": 5, "tone": 1}`, "fail", 0.75},
		{"", `{"accuracy": 4, "tone": 5}`, "pass", 0.8125},
		{"", `{"accuracy": 3, "tone": 5}`, "fail", 0.625},
		{"pass: 0.8", `{"accuracy": 4, "tone": 5}`, "pass", 0.8125},
		{"pass: 0.9", `{"accuracy": 4, "tone": 5}`, "fail", 0.8125},
		{"pass: 0.1", `{"accuracy": 3, "tone": 5}`, "fail", 0.625},
	} {
		v, err := protocol(c.pass).Read(it, deem.Reply{Text: c.reply, Stop: deem.StopEnd})
		if err != nil || v.Label != c.label || v.Score != c.score || v.Pass == nil || *v.Pass != (c.label == "pass") {
			t.Errorf("%q reads %s as %+v, %v, want %s with %v", c.pass, c.reply, v, err, c.label, c.score)
		}
	}
}
