package published_test

import (
	"fmt"
	"strings"
	"testing"

	"deem"
	"deem/internal/published"
)

// A null or missing response is not a response; an empty text is one.
func TestUnanswered(t *testing.T) {
	s := open(t, "a.json", `[{"id":"a","question":"q","ground_truth":"x","predicted":"x","score":1},
{"id":"b","question":"q","ground_truth":"x","predicted":null,"score":0},
{"id":"c","question":"q","ground_truth":"x","score":0},
{"id":"d","question":"q","ground_truth":"x","predicted":"","score":0}]`, published.Source{})
	var without []string
	for it := range s.Items() {
		if it.Fields["no_response"] != "" {
			without = append(without, it.ID)
		}
	}
	if got := strings.Join(without, " "); got != "b c" {
		t.Errorf("without a response: %q, want b and c", got)
	}
	if err := s.CheckResponses(); err != nil {
		t.Error(err)
	}
}

// Without a column of responses there is nothing to judge, and the message lists the
// columns.
func TestNoResponses(t *testing.T) {
	s := open(t, "a.json", `[{"question":"Where?","answer":"Paris","correct":true}]`, published.Source{})
	err := s.CheckResponses()
	if err == nil || !strings.Contains(deem.HintOf(err), "question (Where?), answer (Paris), correct (true)") {
		t.Errorf("error %v with hint %q, want the columns", err, deem.HintOf(err))
	}
}

// A mapped column is not also used for another part.
func TestMappedOnce(t *testing.T) {
	s := open(t, "a.json", `{"question":"Where?","answer":"London","correct":false}`, published.Source{Map: published.Mapping{"response": "answer"}})
	for it := range s.Items() {
		if len(it.References) > 0 || it.Response != "London" {
			t.Errorf("references %q, response %q, want London as the response only", it.References, it.Response)
		}
	}
}

// A number of a judge is compared with the verdicts of that judge, and never with a
// formula.
func TestClaimOfJudge(t *testing.T) {
	for _, c := range []struct{ name, text, claims string }{
		{"its column is there", `{"llm_accuracy":1.0,"results":[{"question":"q","answer":"a","response":"b","f1":0.4,"llm_correct":true}]}`, "llm_accuracy true"},
		{"only a formula is there", `{"llm_accuracy":1.0,"avg_f1":0.4,"results":[{"question":"q","answer":"a","response":"b","f1":0.4}]}`, "avg_f1 true"},
		{"nobody is named, and it comes out", `{"accuracy":0.4,"results":[{"question":"q","answer":"a","response":"b","f1":0.4}]}`, "accuracy true"},
		{"another column is meant", `{"accuracy":1.0,"results":[{"question":"q","answer":"a","response":"b","judge_label":"WRONG","correct":true}]}`, "accuracy true"},
	} {
		s := open(t, "a.json", c.text, published.Source{})
		var got []string
		for _, check := range s.Check(s.Claims) {
			got = append(got, fmt.Sprint(check.Name, " ", check.Agrees))
		}
		if strings.Join(got, ", ") != c.claims {
			t.Errorf("%s: %q, want %q", c.name, got, c.claims)
		}
	}
}

// A share of scores of at least one half, and a mean of trials as a count, are legitimate
// ways of counting.
func TestWaysOfCounting(t *testing.T) {
	s := open(t, "a.json", `{"accuracy":66.67,"avg_score":0.6,"results":[{"question":"q","response":"a","score":1},{"question":"q","response":"a","score":0.5},{"question":"q","response":"a","score":0.3}]}`, published.Source{})
	for _, check := range s.Check(s.Claims) {
		if !check.Agrees {
			t.Errorf("%s does not agree", check.Name)
		}
	}
	var rows []string
	for i := range 10 {
		rows = append(rows, fmt.Sprintf(`{"question":"q%d","response":"a","judge_votes":[true,%t,false]}`, i, i < 5))
	}
	// 15 of 30 votes are yes: the mean is a half, of 10 items 5.
	s = open(t, "a.json", `{"correct":5,"results":[`+strings.Join(rows, ",")+`]}`, published.Source{})
	if checks := s.Check(s.Claims); s.Trials() != 3 || !checks[0].Agrees {
		t.Errorf("%d trials, %+v, want 3 and a claim that agrees", s.Trials(), checks)
	}
}

// Lists that are not trials are not read as trials.
func TestNotTrials(t *testing.T) {
	s := open(t, "a.json", `{"id":1,"question":"q","response":"r","score":0.5,"nugget_scores":[{"nugget":"n","score":1.0},{"nugget":"m","score":0.0}]}`, published.Source{})
	if s.Trials() != 1 {
		t.Errorf("%d trials, want 1", s.Trials())
	}
	s = open(t, "a.jsonl", `{"id":1,"question":"q","response":"r","label":1}`+"\n"+`{"id":2,"question":"q","response":"r","label":2}`, published.Source{Yes: []string{"1"}, No: []string{"2"}})
	want := "rows with verdicts; a row is right when label is 1\n1|||q||r => 1 1\n2|||q||r => 2 0\n"
	if got := told(s); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s = open(t, "a.jsonl", `{"id":1,"question":"q","response":"r","nugget_score":1.0,"status":"success"}`+"\n"+`{"id":2,"question":"q","response":"r","nugget_score":0.0,"status":"skipped"}`, published.Source{})
	if got := told(s); !strings.Contains(got, "2|||q||r => ") || strings.Contains(got, "2|||q||r => 0.0 0") {
		t.Errorf("got %s, want the second row unjudged", got)
	}
	// The metrics that a judge was given come before its verdict.
	s = open(t, "a.json", `[{"input":"i","output_1":"a","output_2":"b","label":1,"results":[["1. Is it right?","stop"],{"swap = False":{"winner":"1"},"swap = True":{"winner":"2"}}]}]`, published.Source{})
	if got := told(s); s.Trials() != 2 || !strings.Contains(got, "=> A 1") || !strings.Contains(got, "#1 => B 0") {
		t.Errorf("%d trials: %s, want 2 of one pair", s.Trials(), got)
	}
}
