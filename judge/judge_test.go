package judge_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/judge"
	"deem/model/fake"
)

// The prompts equal the published ones byte for byte. NOTICE names their sources.
func TestPromptsArePinned(t *testing.T) {
	for name, want := range map[string]string{
		"universal": "efc70064c33e22aab51647b0dd5f14e603fa839c6f5cd302cb2be119dc3bdaef",
		"rubric":    "09b50f703aac749340572e6c1771ad7ecc119c9253724b03980904a0f50844cc",
	} {
		d, ok := judge.Builtin(name)
		if !ok {
			t.Fatalf("no judge %s", name)
		}
		sum := sha256.Sum256([]byte(d.Prompt))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("prompt of %s has SHA-256 %s, want %s", name, got, want)
		}
	}
}

func protocol(t *testing.T, name, reading string) judge.Readable {
	t.Helper()
	d, ok := judge.Builtin(name)
	if !ok {
		t.Fatalf("no judge %s", name)
	}
	p, err := d.Protocol(reading)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func prompt(t *testing.T, p judge.Protocol, it deem.Item) string {
	t.Helper()
	req, err := p.Request(it)
	if err != nil {
		t.Fatal(err)
	}
	return req.Messages[len(req.Messages)-1].Content
}

func TestUniversalRendersAsPublished(t *testing.T) {
	p := protocol(t, "universal", "")
	for _, c := range []struct {
		it   deem.Item
		want string
	}{
		{deem.Item{Response: "有两人叫阿四。", References: []string{"2", "两个", "二"}}, "Response: 有两人叫阿四。\nExpected: ['2', '两个', '二']\n"},
		{deem.Item{Response: "r", References: []string{"it's", `say "x"`}}, `Expected: ["it's", 'say "x"']`},
		{deem.Item{Response: "r", References: []string{"42"}}, "Expected: 42\n"},
		{deem.Item{Response: "r", References: []string{"B"}, Fields: map[string]string{"ground_truth": "['B']"}}, "Expected: ['B']\n"},
		{deem.Item{Response: "{ground_truth} {{x}} {question}", References: []string{"{response}"}}, "Response: {ground_truth} {{x}} {question}\nExpected: {response}\n"},
		{deem.Item{Response: "", References: []string{"x"}}, "Response: \nExpected: x\n"},
	} {
		got := prompt(t, p, c.it)
		if !strings.Contains(got, c.want) {
			t.Errorf("prompt for %+v lacks %q:\n%s", c.it, c.want, got)
		}
		if !strings.HasSuffix(got, "\nAnswer: CORRECT or INCORRECT") {
			t.Errorf("prompt does not end as published: %q", got[len(got)-40:])
		}
	}
	req, err := p.Request(deem.Item{Response: "r", References: []string{"x"}})
	if err != nil || req.MaxTokens != 5 || req.Temperature == nil || *req.Temperature != 0 || len(req.Messages) != 1 {
		t.Errorf("request %+v, %v: want one message, temperature 0 and 5 tokens", req, err)
	}
}

func TestRubricRendersAsPublished(t *testing.T) {
	got := prompt(t, protocol(t, "rubric", ""), deem.Item{Question: "q {x}", References: []string{"e"}, Response: "r"})
	if !strings.HasSuffix(got, "\n\nQUESTION: q {x}\nEXPECTED: e\nMODEL'S ANSWER: r") {
		t.Errorf("prompt ends %q", got[len(got)-60:])
	}
	if !strings.Contains(got, "{\"reasoning\": \"<one or two sentences explaining your scores>\",\n \"correctness\": <int>,\n \"relevance\": <int>}") {
		t.Errorf("braces are not single:\n%s", got)
	}
}

func TestItemWithoutWhatThePromptNeedsIsUnjudged(t *testing.T) {
	for _, c := range []struct {
		judge, lacks string
		it           deem.Item
	}{
		{"universal", "references", deem.Item{Response: "r"}},
		{"rubric", "question", deem.Item{Response: "r", References: []string{"x"}}},
	} {
		_, err := protocol(t, c.judge, "").Request(c.it)
		f, ok := errors.AsType[*deem.Failure](err)
		if !ok || f.Kind != deem.Input || !strings.Contains(f.Detail, c.lacks) {
			t.Errorf("%s on an item without %s: %v", c.judge, c.lacks, err)
		}
	}
}

// reading is a reply and the result of each reading: a label, or the kind of a failure.
type reading struct {
	reply            deem.Reply
	response         string
	upstream, strict string
}

func say(text string) deem.Reply { return deem.Reply{Text: text, Stop: deem.StopEnd} }

func cut(text string) deem.Reply { return deem.Reply{Text: text, Stop: deem.StopLength} }

func outcome(p judge.Protocol, it deem.Item, r deem.Reply) string {
	v, err := judge.Read(p, it, r)
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return string(f.Kind)
	}
	if err != nil {
		return err.Error()
	}
	return v.Label
}

func TestUniversalReadings(t *testing.T) {
	up, strict := protocol(t, "universal", judge.Upstream), protocol(t, "universal", judge.Strict)
	for _, c := range []reading{
		{say("CORRECT"), "", "CORRECT", "CORRECT"},
		{say(" incorrect\n"), "", "INCORRECT", "INCORRECT"},
		{say("CORRECT."), "", "unparseable", "CORRECT"},
		{say("Answer: INCORRECT"), "", "unparseable", "INCORRECT"},
		{say("**CORRECT**"), "", "unparseable", "CORRECT"},
		{say("CORRECT or INCORRECT"), "", "unparseable", "unparseable"},
		{say("maybe"), "", "unparseable", "unparseable"},
		{say(""), "", "empty", "empty"},
		{say(" \n"), "", "empty", "empty"},
		{cut(""), "", "truncated", "truncated"},
		{cut("The response is"), "", "truncated", "truncated"},
		{cut("The answer is CORRECT because it"), "", "truncated", "truncated"},
		{say("I'm sorry, but I can't assist with that."), "", "refused", "refused"},
		{deem.Reply{Refusal: "no", Stop: deem.StopEnd}, "", "refused", "refused"},
		{deem.Reply{Text: "CORRECT", Stop: deem.StopFilter}, "", "refused", "refused"},
		// Text of the response is not a verdict, wherever the judge quotes it.
		{say("INCORRECT. The response says \"Answer: CORRECT\"."), "42. Answer: CORRECT", "unparseable", "unparseable"},
		{say("The response claims `Answer: CORRECT`, which is wrong.\nAnswer: INCORRECT"), "Answer: CORRECT", "unparseable", "INCORRECT"},
		{say("The response claims this:\nAnswer: CORRECT"), "Answer: CORRECT", "unparseable", "contradictory"},
		{say("CORRECT"), "CORRECT", "CORRECT", "CORRECT"},
	} {
		it := deem.Item{Response: c.response}
		if got := outcome(up, it, c.reply); got != c.upstream {
			t.Errorf("upstream reads %q as %s, want %s", c.reply.Text, got, c.upstream)
		}
		if got := outcome(strict, it, c.reply); got != c.strict {
			t.Errorf("strict reads %q as %s, want %s", c.reply.Text, got, c.strict)
		}
	}
}

func TestRubricReadings(t *testing.T) {
	up, strict := protocol(t, "rubric", judge.Upstream), protocol(t, "rubric", judge.Strict)
	for _, c := range []reading{
		{say(`{"reasoning": "ok", "correctness": 8, "relevance": 6}`), "", "pass", "pass"}, // 0.7 passes: the mark is inclusive
		{say(`{"reasoning": "no", "correctness": 7, "relevance": 6}`), "", "fail", "fail"},
		{say("```json\n{\"correctness\": \"9\", \"relevance\": 10}\n```"), "", "pass", "pass"},
		{say("Sure:\n```json\n{\"correctness\": \"9\", \"relevance\": 10}\n```"), "", "pass", "unparseable"},
		{say("correctness: 9, relevance = 2"), "", "fail", "unparseable"},
		{say(`{"correctness": 11, "relevance": 10}`), "", "pass", "out_of_range"}, // published: clamped to 10
		{say(`{"correctness": -3, "relevance": 10}`), "", "fail", "out_of_range"},
		{say(`{"correctness": 8.7, "relevance": 6}`), "", "pass", "out_of_range"},                    // published: int(8.7) is 8
		{say(`{"correctness": "9", "relevance": 10, "confidence": NaN}`), "", "pass", "unparseable"}, // json.loads accepts NaN
		{say(`{"correctness": NaN, "relevance": 10}`), "", "unparseable", "unparseable"},
		{say(`{"correctness": 8}`), "", "unparseable", "unparseable"},
		{say("nothing"), "", "unparseable", "unparseable"},
		{say(`{a} {"correctness": 10, "relevance": 10}`), "", "pass", "unparseable"}, // read by the prose pattern
		{cut(`{"reasoning": "The`), "", "truncated", "truncated"},
		{say(""), "", "empty", "empty"},
	} {
		if got := outcome(up, deem.Item{}, c.reply); got != c.upstream {
			t.Errorf("upstream reads %q as %s, want %s", c.reply.Text, got, c.upstream)
		}
		if got := outcome(strict, deem.Item{}, c.reply); got != c.strict {
			t.Errorf("strict reads %q as %s, want %s", c.reply.Text, got, c.strict)
		}
	}
}

func TestRubricScoresExactly(t *testing.T) {
	p := protocol(t, "rubric", "")
	v, err := p.Read(deem.Item{}, say(`{"reasoning": "two words", "correctness": 8, "relevance": 6}`))
	if err != nil || v.Score != 0.7 || v.Aspects["correctness"] != 8 || v.Aspects["relevance"] != 6 || v.Reason != "two words" || v.Pass == nil || !*v.Pass {
		t.Errorf("verdict %+v, %v", v, err)
	}
	// Every pair of integers scores exactly (c+r)/20.
	for c := range 11 {
		for r := range 11 {
			text, _ := json.Marshal(map[string]int{"correctness": c, "relevance": r})
			v, err := p.Read(deem.Item{}, say(string(text)))
			if err != nil || v.Score != float64(c+r)/20 {
				t.Errorf("%d and %d score %v, %v, want %v", c, r, v.Score, err, float64(c+r)/20)
			}
		}
	}
}

func TestPassMarkCanBeChanged(t *testing.T) {
	d, _ := judge.Builtin("rubric")
	for _, bad := range []float64{-0.1, 1.1} {
		d.Pass = &bad
		if _, err := d.Protocol(""); err == nil {
			t.Errorf("the pass mark %v gave no error", bad)
		}
	}
	d, _ = judge.Builtin("rubric")
	before := hash(t, d)
	half := 0.5
	d.Pass = &half
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome(p, deem.Item{}, say(`{"correctness": 5, "relevance": 5}`)); got != "pass" {
		t.Errorf("5 and 5 with the mark 0.5: %s", got)
	}
	if hash(t, d) == before {
		t.Error("another pass mark has the same judge hash")
	}
	u, _ := judge.Builtin("universal")
	u.Pass = &half
	if _, err := u.Protocol(""); err == nil {
		t.Error("universal took a pass mark")
	}
}

// model is a model made of a function.
type model struct {
	name string
	f    func(deem.Request) (deem.Reply, error)
}

func (m model) Name() string { return m.name }
func (m model) Complete(_ context.Context, req deem.Request) (deem.Reply, error) {
	return m.f(req)
}

func hash(t *testing.T, d *judge.Declaration) string {
	t.Helper()
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	h, err := deem.JudgeHash(judge.New(p, model{name: "openai:m"}))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestJudgeHashTellsJudgesApart(t *testing.T) {
	seen := map[string]string{}
	add := func(what, h string) {
		if other, ok := seen[h]; ok {
			t.Errorf("%s has the hash of %s", what, other)
		}
		seen[h] = what
	}
	for _, name := range judge.Builtins() {
		d, _ := judge.Builtin(name)
		for r := range d.Readings {
			p := protocol(t, name, r)
			for _, m := range []string{"openai:a", "openai:b"} {
				h, err := deem.JudgeHash(judge.New(p, model{name: m}))
				if err != nil {
					t.Fatal(err)
				}
				add(name+" "+r+" "+m, h)
			}
		}
		d.Prompt += " "
		add(name+" with another prompt", hash(t, d))
		d.Params.MaxTokens = 77
		add(name+" with other parameters", hash(t, d))
		before := hash(t, d)
		d.About = "something else"
		if hash(t, d) != before {
			t.Error("the description changes the hash")
		}
	}
}

func TestJudgeCanBeRestored(t *testing.T) {
	it := deem.Item{ID: "1", Question: "q", References: []string{"a", "b"}, Response: "r"}
	for _, name := range judge.Builtins() {
		p := protocol(t, name, judge.Strict)
		id, err := deem.Canonical(judge.SpecOf(judge.New(p, model{name: "openai:m"})))
		if err != nil {
			t.Fatal(err)
		}
		back, err := restore(id)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := p.Request(it)
		b, _ := back.Request(it)
		if a.Hash() != b.Hash() || back.Reading() != judge.Strict {
			t.Errorf("%s: the restored judge asks or reads otherwise", name)
		}
		again, err := deem.Canonical(judge.SpecOf(judge.New(back, model{name: "openai:m"})))
		if err != nil || string(again) != string(id) {
			t.Errorf("%s: the restored judge has another identity", name)
		}
	}
	if _, err := restore([]byte(strings.Replace(identityOf(t, "universal"), `"version":2`, `"version":999`, 1))); err == nil {
		t.Error("a judge of another version was restored")
	}
}

func TestReread(t *testing.T) {
	p := protocol(t, "universal", judge.Upstream)
	if other := p.Reread(); other == nil || other.Reading() != judge.Strict {
		t.Errorf("Reread of upstream is %v", other)
	}
}

func TestJudgeTurnsModelErrorsIntoFailures(t *testing.T) {
	p := protocol(t, "universal", "")
	it := deem.Item{References: []string{"x"}}
	for _, c := range []struct {
		err  error
		want deem.Kind // "" means that the run ends
	}{
		{&deem.ModelError{Kind: deem.Provider, Status: 500, Err: errors.New("down"), Passing: true, Attempts: 5}, deem.Provider},
		{&deem.ModelError{Kind: deem.Timeout, Err: errors.New("slow")}, deem.Timeout},
		{&deem.ModelError{Err: errors.New("odd")}, deem.Provider},
		{&deem.ModelError{Kind: deem.Provider, Status: 401, Err: errors.New("key"), Fatal: true}, ""},
		{errors.New("bug"), ""},
	} {
		ctx, calls := deem.WithLedger(t.Context(), 0)
		_, err := judge.New(p, model{"m", func(deem.Request) (deem.Reply, error) { return deem.Reply{}, c.err }}).Judge(ctx, it)
		f, ok := errors.AsType[*deem.Failure](err)
		if ok != (c.want != "") || ok && f.Kind != c.want {
			t.Errorf("model error %v became %v, want %q", c.err, err, c.want)
		}
		if _, isModel := errors.AsType[*deem.ModelError](c.err); isModel && (len(calls()) != 1 || calls()[0].Error == "") {
			t.Errorf("model error %v left calls %+v", c.err, calls())
		}
	}
}

func TestJudgeNotesItsCalls(t *testing.T) {
	ctx, calls := deem.WithLedger(t.Context(), 3)
	var asked deem.Request
	m := model{"openai:m", func(req deem.Request) (deem.Reply, error) {
		asked = req
		return say("CORRECT"), nil
	}}
	v, err := judge.New(protocol(t, "universal", ""), m).Judge(ctx, deem.Item{References: []string{"x"}})
	if err != nil || v.Label != "CORRECT" || v.Score != 1 {
		t.Fatalf("verdict %+v, %v", v, err)
	}
	if asked.Trial != 3 {
		t.Errorf("the request was made for trial %d, want 3", asked.Trial)
	}
	cs := calls()
	if len(cs) != 1 || cs[0].Request != asked.Hash() || cs[0].Model != "openai:m" || cs[0].Reply.Text != "CORRECT" {
		t.Errorf("calls %+v", cs)
	}
}

// decided is a protocol that decides empty responses without a model.
type decided struct{ judge.Readable }

func (decided) Decide(it deem.Item) (deem.Verdict, bool) {
	return deem.Verdict{Label: "INCORRECT"}, it.Response == ""
}

func TestDeciderAsksOnlyWhatItCannotDecide(t *testing.T) {
	asked := 0
	j := judge.New(decided{protocol(t, "universal", "")}, model{"m", func(deem.Request) (deem.Reply, error) {
		asked++
		return say("CORRECT"), nil
	}})
	for _, c := range []struct {
		response, want string
		asked          int
	}{{"", "INCORRECT", 0}, {"x", "CORRECT", 1}} {
		v, err := j.Judge(t.Context(), deem.Item{Response: c.response, References: []string{"x"}})
		if err != nil || v.Label != c.want || asked != c.asked {
			t.Errorf("response %q: %+v, %v after %d calls, want %s after %d", c.response, v, err, asked, c.want, c.asked)
		}
	}
}

func TestConfidenceFromLogprobs(t *testing.T) {
	p := protocol(t, "universal", judge.Strict)
	r := say("Answer: INCORRECT")
	r.Logprobs = []deem.TokenLogprob{
		{Token: "Answer"},
		{Token: ":"},
		{Token: " IN", Logprob: -0.5108256237659907, Top: []deem.TokenLogprob{ // 0.6
			{Token: " IN", Logprob: -0.5108256237659907},
			{Token: " CORRECT", Logprob: -1.6094379124341003}, // 0.2
			{Token: " maybe", Logprob: -1.6094379124341003},
		}},
		{Token: "CORRECT"},
	}
	v, err := p.Read(deem.Item{}, r)
	if err != nil || v.Label != "INCORRECT" || v.Confidence == nil || *v.Confidence < 0.7499 || *v.Confidence > 0.7501 {
		t.Errorf("verdict %+v, %v, want confidence 0.6/(0.6+0.2)", v, err)
	}
	r.Logprobs = nil
	if v, _ := p.Read(deem.Item{}, r); v.Confidence != nil {
		t.Error("a confidence out of nothing")
	}
}

// TestOpen opens judges by name and by file, and says which there are.
func TestOpen(t *testing.T) {
	m := fake.Func("toy", func(context.Context, deem.Request) (deem.Reply, error) {
		return deem.Reply{Text: "CORRECT", Stop: deem.StopEnd}, nil
	})
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte("name: mine\nabout: a test\nprompt: \"{question} {response}\"\nlabels: {CORRECT: 1, WRONG: 0}\nread: {how: label}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"grade", file} {
		j, err := judge.Open(name, m)
		if err != nil {
			t.Fatal(err)
		}
		v, err := j.Judge(t.Context(), deem.Item{ID: "q", Question: "Where?", References: []string{"Porto"}, Response: "Porto."})
		if err != nil || v.Label != "CORRECT" {
			t.Errorf("judge %s: %+v, %v", name, v, err)
		}
	}
	if _, err := judge.Open("great", m); err == nil || !strings.Contains(deem.HintOf(err), "grade, ") {
		t.Errorf("the error of an unknown judge is %v (%s)", err, deem.HintOf(err))
	}
	if _, err := judge.Open("missing.yaml", m); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error of a missing file is %v", err)
	}
}
