package longmemeval2

import (
	"strings"
	"testing"

	"deem"
)

func item(evaluation, answer, response string) deem.Item {
	return deem.Item{ID: "q", Question: "Q {reference_answer}?", References: []string{answer}, Response: response, Fields: map[string]string{fieldEvaluation: evaluation}}
}

// TestDecide checks that rules decide without a model, that UNKNOWN is wrong even if the
// premise is wrong, and that readings differ where upstream's rules have bugs.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		evaluation, answer, response string
		want                         map[string]string // label by reading, "" for a question to a model
	}{
		{phraseSet, "12.50", `\boxed{1250}`, map[string]string{Upstream: Correct, Strict: Correct, Fixed: Wrong}},
		{phraseSet, "12.50", `It is $12.50.`, map[string]string{Upstream: Correct, Fixed: Correct}},
		{phraseSet, "version 1.2.3", `version 123`, map[string]string{Upstream: Correct, Fixed: Wrong}},
		{choice, "B", `\boxed{(B)}`, map[string]string{Upstream: Wrong, Fixed: Correct}},
		{choice, "B", `B) because`, map[string]string{Upstream: Wrong, Fixed: Correct}},
		{choice, "B", `C) because`, map[string]string{Upstream: Wrong, Fixed: Wrong}},
		{choiceSet, "A,C", "The answers are A and C", map[string]string{Upstream: Wrong, Fixed: Correct}},
		{choiceSet, "A,C", "AC", map[string]string{Upstream: Correct, Fixed: Correct}},
		{abstention, "no such button", `Who knows. \boxed{Unknown}`, map[string]string{Upstream: Unknown, Strict: Unknown, Fixed: Unknown}},
		{abstention, "no such button", "There is none.", map[string]string{Upstream: "", Fixed: ""}},
		{gotchas, "x", "  ", map[string]string{Upstream: Wrong}},
		{"nosuch", "x", "x", map[string]string{Upstream: ""}},
	} {
		for reading, want := range c.want {
			p, err := Protocol(reading)
			if err != nil {
				t.Fatal(err)
			}
			v, ok := p.Decide(item(c.evaluation, c.answer, c.response))
			if v.Label != want || ok != (want != "") || (v.Score == 1) != (want == Correct) {
				t.Errorf("%s: %s of %q with %q = %+v, %v, want %q", reading, c.evaluation, c.response, c.answer, v, ok, want)
			}
		}
	}
}

// TestRequest checks that values are inserted once and stay text.
func TestRequest(t *testing.T) {
	p, err := Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	req, err := p.Request(item(abstention, " none ", `so {question_text} \boxed{none}`))
	if err != nil {
		t.Fatal(err)
	}
	user := req.Messages[1].Content
	for _, want := range []string{"Question:\nQ {reference_answer}?\n", "conclusion):\nnone\n", "full response:\nso {question_text} \\boxed{none}\n", "final answer:\nnone\n"} {
		if !strings.Contains(user, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, user)
		}
	}
	if _, err := p.Request(item("nosuch", "x", "x")); err == nil {
		t.Error("an unknown evaluation was asked about")
	}
}

// TestMetrics checks that a run without latency has no LAFS but a reason, and that unjudged
// items do not count.
func TestMetrics(t *testing.T) {
	m, err := NewMetrics("small")
	if err != nil {
		t.Fatal(err)
	}
	add := func(kind, response, ms string, v *deem.Verdict) {
		rec := deem.Record{Item: deem.Item{ID: "x", Category: kind, Response: response}, Verdict: v}
		if v == nil {
			rec.Failure = deem.Failf(deem.Unparseable, "x")
		}
		if ms != "" {
			rec.Item.Fields = map[string]string{deem.FieldLatency: ms}
		}
		m.Add(rec)
	}
	add("static-environment", "a", "15000", &deem.Verdict{Score: 1})
	add("static-environment-abs", "unknown", "", &deem.Verdict{})
	if s, why := m.LAFS(); s != nil || !strings.Contains(why, "1 of 2 items say how long") {
		t.Errorf("LAFS = %+v, %q", s, why)
	}
	l := m.Lines()[0]
	if l.Name != "static" || l.N != 2 || l.Unknown != 1 || l.Estimate.Value != 0.5 {
		t.Errorf("static: %+v", l)
	}
	add("procedure", "a", "15000", nil)
	if s, why := m.LAFS(); s != nil || !strings.Contains(why, "1 item is unjudged") {
		t.Errorf("LAFS = %+v, %q", s, why)
	}
	if _, err := NewMetrics("large"); err == nil {
		t.Error("there is no tier large")
	}
}
