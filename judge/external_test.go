package judge_test

import (
	"errors"
	"strings"
	"testing"

	"deem"
	"deem/judge"
)

func TestExternalRead(t *testing.T) {
	p := judge.External("mine")
	for _, tt := range []struct {
		reply string
		label string
		score float64
		kind  deem.Kind // "" for a verdict
	}{
		{`{"label": "yes", "score": 1}`, "yes", 1, ""},
		{`{"score": 0.25}`, "no", 0.25, ""},
		{`{"score": 0.25, "pass": true}`, "yes", 0.25, ""},
		{`{"pass": false}`, "no", 0, ""},
		{`{"label": "CORRECT"}`, "CORRECT", 1, ""},
		{`{"label": "wrong"}`, "wrong", 0, ""},
		{`{"label": "B", "score": 0.5}`, "B", 0.5, ""},
		{`{"label": "B"}`, "", 0, deem.Unparseable},
		{`{}`, "", 0, deem.Unparseable},
		{`{"score": "high"}`, "", 0, deem.Unparseable},
		{`{"score": 7}`, "", 0, deem.OutOfRange},
		{`{"score": -0.1}`, "", 0, deem.OutOfRange},
		{`{"score": 1, "confidence": 2}`, "", 0, deem.OutOfRange},
		{`{"failure": {"kind": "unsure", "detail": "no year"}}`, "", 0, deem.Unsure},
		{`{"failure": {"kind": "tired"}, "score": 1}`, "", 0, deem.Unparseable},
		{`not JSON`, "", 0, deem.Unparseable},
		{`{"label": "no", "score": 1}`, "", 0, deem.Contradictory},
		{`{"label": "CORRECT", "score": 0.2}`, "", 0, deem.Contradictory},
		{`{"label": "yes", "pass": false}`, "", 0, deem.Contradictory},
		{`{"score": 1, "pass": false}`, "", 0, deem.Contradictory},
		{`{"score": 0, "pass": true}`, "", 0, deem.Contradictory},
		{`{"label": "yes", "score": 0.4, "pass": true}`, "yes", 0.4, ""},
	} {
		v, err := p.Read(deem.Item{}, deem.Reply{Text: tt.reply})
		if tt.kind != "" {
			if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != tt.kind {
				t.Errorf("%s: %v, want a failure of kind %s", tt.reply, err, tt.kind)
			}
			continue
		}
		if err != nil || v.Label != tt.label || v.Score != tt.score {
			t.Errorf("%s: %+v, %v, want %s with %v", tt.reply, v, err, tt.label, tt.score)
		}
	}
	req, err := p.Request(deem.Item{ID: "q1", Response: "a < b"})
	if err != nil || len(req.Messages) != 1 || req.Messages[0].Role != "item" || !strings.Contains(req.Messages[0].Content, `"response":"a < b"`) {
		t.Errorf("request %+v, %v", req, err)
	}
}
