package judge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/judge"
	"deem/model/fake"
)

const checklist = `name: checklist
criteria: {field: checklist, ask: ASK, score: SCORE, failed: FAILED}
prompt: "{response} / {SLOT}"
labels: {MET: 1, PARTLY: 0.5, MISSED: 0}
`

// checklistJudge returns the judge under test and a counter of its calls. Its model replies
// with the entry of replies for the criterion in the prompt.
func checklistJudge(t *testing.T, ask, score, failed string, replies map[string]string) (deem.Judge, *int) {
	t.Helper()
	slot := map[string]string{"each": "criterion", "together": "criteria"}[ask]
	file := strings.NewReplacer("ASK", ask, "SCORE", score, "FAILED", failed, "SLOT", slot).Replace(checklist)
	d, err := judge.Parse("checklist.yaml", []byte(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	calls := new(int)
	return judge.New(p, fake.Func("m", func(_ context.Context, req deem.Request) (deem.Reply, error) {
		*calls++
		asked := req.Messages[0].Content
		for part, text := range replies {
			if strings.HasSuffix(asked, part) {
				if text == "!" {
					return deem.Reply{}, &deem.ModelError{Kind: deem.Timeout, Err: errors.New("no answer")}
				}
				return deem.Reply{Text: text, Stop: deem.StopEnd}, nil
			}
		}
		return deem.Reply{}, fmt.Errorf("nothing was said about %q", asked)
	})), calls
}

var listed = deem.Item{ID: "t1", Response: "r", Fields: map[string]string{"checklist": `["a", "b", "c"]`}}

// said renders a verdict as "0.5: MET MISSED timeout", or a failure as its kind.
func said(v deem.Verdict, err error) string {
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return string(f.Kind)
	}
	if err != nil {
		return err.Error()
	}
	words := []string{fmt.Sprintf("%.3g:", v.Score)}
	for _, p := range v.Parts {
		if p.Failure != nil {
			words = append(words, string(p.Failure.Kind))
		} else {
			words = append(words, p.Label)
		}
	}
	return strings.Join(words, " ")
}

func TestCriteriaOneByOne(t *testing.T) {
	for _, tt := range []struct {
		replies       [3]string
		score, failed string
		want          string
		calls         int
	}{
		{[3]string{"MET", "PARTLY", "MISSED"}, "mean", "unjudged", "0.5: MET PARTLY MISSED", 3},
		{[3]string{"MET", "MET", "PARTLY"}, "all", "unjudged", "0: MET MET PARTLY", 3},
		{[3]string{"MET", "MET", "MET"}, "all", "unjudged", "1: MET MET MET", 3},
		{[3]string{"MISSED", "PARTLY", "MISSED"}, "any", "unjudged", "0.5: MISSED PARTLY MISSED", 3},
		{[3]string{"MET", "!", "MISSED"}, "mean", "unjudged", "timeout", 2},
		{[3]string{"MET", "hm", "MISSED"}, "mean", "unjudged", "unparseable", 2},
		{[3]string{"MET", "!", "MISSED"}, "mean", "partial", "0.5: MET timeout MISSED", 3},
		{[3]string{"!", "!", "hm"}, "mean", "partial", "unparseable", 3},
	} {
		replies := map[string]string{"/ a": tt.replies[0], "/ b": tt.replies[1], "/ c": tt.replies[2]}
		j, calls := checklistJudge(t, "each", tt.score, tt.failed, replies)
		v, err := j.Judge(t.Context(), listed)
		if got := said(v, err); got != tt.want || *calls != tt.calls {
			t.Errorf("%v, %s, %s: %s with %d calls, want %s with %d", tt.replies, tt.score, tt.failed, got, *calls, tt.want, tt.calls)
		}
	}
}

func TestCriteriaTogether(t *testing.T) {
	for reply, want := range map[string]string{
		`{"verdicts": [{"label": "MET"}, {"label": "partly"}, {"label": "MISSED"}]}`:                                             "0.5: MET PARTLY MISSED",
		"```json\n{\"verdicts\": [{\"criterion\": 3, \"label\": \"MET\"}, {\"criterion\": 1, \"label\": \"MISSED\"}]}\n```":      "0.5: MISSED unparseable MET",
		`Here: {"verdicts": [{"label": "MET"}, {"label": "MET"}, {"label": "MET"}]}`:                                             "unparseable",
		`{"verdicts": [{"label": "MET"}, {"label": "MET"}, {"label": "MET"}], "others": []}`:                                     "contradictory",
		`{"verdicts": ["MET", "MET", "MISSED"]}`:                                                                                 "0.667: MET MET MISSED",
		`{"verdicts": [{"label": "MET"}, {"label": "MET"}]}`:                                                                     "unparseable",
		`{"verdicts": [{"label": "MET"}, {"label": "MET"}, {"label": "MET"}, {"label": "MET"}]}`:                                 "contradictory",
		`{"verdicts": [{"criterion": 1, "label": "MET"}, {"criterion": 1, "label": "MISSED"}]}`:                                  "contradictory",
		`{"verdicts": [{"criterion": 1, "label": "MET"}, {"criterion": 2, "label": "GREAT"}, {"criterion": 3, "label": "MET"}]}`: "1: MET unparseable MET",
		"MET": "unparseable",
	} {
		j, calls := checklistJudge(t, "together", "mean", "partial", map[string]string{"1. a\n2. b\n3. c": reply})
		v, err := j.Judge(t.Context(), listed)
		if got := said(v, err); got != want || *calls != 1 {
			t.Errorf("%s: %s with %d calls, want %s", reply, got, *calls, want)
		}
	}
}

// TestCriteriaCalls checks the requests of a plan and a batch, the calls in the ledger, and
// the verdict read from them again.
func TestCriteriaCalls(t *testing.T) {
	j, _ := checklistJudge(t, "each", "mean", "partial", map[string]string{"/ a": "MET", "/ b": "!", "/ c": "MISSED"})
	p, err := judge.SpecOf(j).Protocol()
	if err != nil {
		t.Fatal(err)
	}
	reqs, err := judge.Requests(p, listed)
	if err != nil || len(reqs) != 3 {
		t.Fatalf("%d requests, %v", len(reqs), err)
	}
	ctx, calls := deem.WithLedger(t.Context(), 2)
	v, err := j.Judge(ctx, listed)
	if err != nil {
		t.Fatal(err)
	}
	rec := deem.Record{Item: listed, Trial: 2, Verdict: &v, Calls: calls()}
	for i, c := range rec.Calls {
		if reqs[i].Trial = 2; c.Request != reqs[i].Hash() {
			t.Errorf("call %d is not the request that was announced", i)
		}
	}
	again, can, err := judge.Again(p, rec)
	again.Parts[1].Failure.Kind = deem.Timeout // A call does not keep the kind of its error.
	if diff := cmp.Diff(v, again); !can || err != nil || diff != "" {
		t.Errorf("read again: %v %v (-first +again):\n%s", can, err, diff)
	}
	rec.Calls = rec.Calls[:2]
	if _, can, err := judge.Again(p, rec); can || err != nil {
		t.Errorf("a reply is missing: %v %v", can, err)
	}
}

func TestCriteriaIdentity(t *testing.T) {
	hashes := map[string]bool{}
	for _, kind := range [][3]string{{"each", "mean", "unjudged"}, {"each", "mean", "partial"}, {"each", "all", "unjudged"}, {"together", "mean", "unjudged"}} {
		j, _ := checklistJudge(t, kind[0], kind[1], kind[2], nil)
		hash, err := deem.JudgeHash(j)
		if err != nil {
			t.Fatal(err)
		}
		hashes[hash] = true
		restored, err := judge.SpecOf(j).Protocol()
		if err != nil {
			t.Fatal(err)
		}
		if _, several := restored.(judge.Dialogue); several != (kind[0] == "each") {
			t.Errorf("%v: asks several times: %v", kind, several)
		}
	}
	if len(hashes) != 4 {
		t.Errorf("4 judges have %d hashes", len(hashes))
	}
}

func TestParseCriteria(t *testing.T) {
	for raw, want := range map[string][]string{
		`['a', "it's"]`:                        {"a", "it's"},
		`["a", " b "]`:                         {"a", " b "},
		"- a\n\n* b\n3. c\n4) d\n- [ ] e\n  f": {"a", "b", "c", "d", "e", "f"},
		"[a] b":                                {"[a] b"},
		"":                                     nil,
	} {
		got, err := judge.ParseCriteria(raw)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
	if _, err := judge.ParseCriteria(`[1]`); err == nil {
		t.Error("a number was taken for a criterion")
	}
	j, calls := checklistJudge(t, "each", "mean", "partial", nil)
	for _, fields := range []map[string]string{nil, {"checklist": ""}, {"checklist": "[]"}, {"checklist": "[1]"}} {
		if got := said(j.Judge(t.Context(), deem.Item{Fields: fields})); got != "input" || *calls != 0 {
			t.Errorf("%v: %s with %d calls", fields, got, *calls)
		}
	}
}

func TestCriteriaRefused(t *testing.T) {
	for file, want := range map[string]string{
		"name: x\nlabels: {a: 1, b: 0}\nprompt: '{response} {criterion}'\n":                                    "the judge has none",
		"name: x\ncriteria: list\nlabels: {a: 1, b: 0}\nprompt: '{response}'\n":                                "write {criterion}",
		"name: x\ncriteria: {field: l, ask: together}\nlabels: {a: 1, b: 0}\nprompt: '{response} {criterion}'": "write {criteria}",
		"name: x\ncriteria: {field: l, score: sum}\nlabels: {a: 1, b: 0}\nprompt: '{response} {criterion}'":    `score is "sum"`,
		"name: x\ncriteria: {ask: each}\nlabels: {a: 1, b: 0}\nprompt: '{response} {criterion}'":               "the name of the field",
		"name: x\npass: 0.5\nlabels: {a: 1, b: 0}\nprompt: '{response}'\n":                                     "aspects or criteria",
	} {
		if _, err := judge.Parse("x.yaml", []byte(file), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nerror %v, want %q", file, err, want)
		}
	}
	d, err := judge.Parse("x.yaml", []byte("name: x\ncriteria: list\npass: 0.5\nlabels: {a: 1, b: 0}\nprompt: '{response} {criterion}'"), nil)
	if err != nil || !slices.Equal(d.Fields(), []string{"list"}) {
		t.Errorf("%+v, %v", d, err)
	}
}
