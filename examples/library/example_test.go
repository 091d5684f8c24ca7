package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"deem"
	"deem/agree"
	"deem/benchmark"
	"deem/data"
	"deem/judge"
	"deem/judge/match"
	"deem/judge/panel"
	"deem/model"
	"deem/report"
	"deem/stat"
)

// Judge a file with OpenAI and print the report.
func Example_file() {
	m, err := model.Open("openai:gpt-4o-mini") // with the key in OPENAI_API_KEY
	if err != nil {
		log.Fatal(err)
	}
	j, err := judge.Open("grade", m)
	if err != nil {
		log.Fatal(err)
	}
	r, err := report.Of(j).Collect(deem.Run(context.Background(), data.Open("testdata/answers.jsonl"), j, deem.Options{}))
	if err != nil {
		log.Fatal(err)
	}
	if err := r.Text(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// Judge a file without a model.
func Example_match() {
	j := match.New()
	r, err := report.Of(j).Collect(deem.Run(context.Background(), data.Open("../quickstart/answers.jsonl"), j, deem.Options{}))
	if err != nil {
		log.Fatal(err)
	}
	score := r.Metrics[0]
	fmt.Printf("%d items, %d unjudged\n", score.Items, score.Unjudged)
	fmt.Printf("%.1f%%, 95%% interval %.1f to %.1f\n", 100*score.Judged.Value, 100*score.Judged.Lo, 100*score.Judged.Hi)
	// Output:
	// 120 items, 0 unjudged
	// 69.9%, 95% interval 61.1 to 77.5
}

// Let a judge of your own, asked of two models, and match vote.
func Example_panel() {
	var members []panel.Member
	for _, name := range []string{"openai:gpt-4o-mini", "openai:gpt-4.1-nano"} {
		m, err := model.Open(name)
		if err != nil {
			log.Fatal(err)
		}
		j, err := judge.Open("../judges/yes-no-json.yaml", m)
		if err != nil {
			log.Fatal(err)
		}
		members = append(members, panel.Member{Name: name, Judge: j})
	}
	j, err := panel.New(append(members, panel.Member{Judge: match.New()}), panel.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for rec, err := range deem.Run(context.Background(), data.Open("testdata/answers.jsonl"), j, deem.Options{Concurrency: 1}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rec.Item.ID, rec.Verdict.Label, rec.Verdict.Score)
	}
	// Output:
	// q1 yes 1
	// q2 no 0
}

// Judge the answers of a system to LongMemEval with its own judge, and print its own numbers.
func Example_benchmark() {
	m, err := model.Open("replay:../longmemeval/replies.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	b, _ := benchmark.All().Named("longmemeval")
	ctx, o := context.Background(), benchmark.Options{Data: []string{"../longmemeval/questions.json"}, Responses: []string{"../longmemeval/hypotheses.jsonl"}}
	set, err := b.Open(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	own, err := b.Judge("longmemeval", o)
	if err != nil {
		log.Fatal(err)
	}
	metrics, err := b.Metrics(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	// Metrics take records in the order of the items, which one call at a time keeps.
	for rec, err := range deem.Run(ctx, set.Items(), judge.New(own.Protocol, m), deem.Options{Concurrency: 1}) {
		if err != nil {
			log.Fatal(err)
		}
		metrics.Add(rec)
	}
	if err := metrics.Text(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// accuracy                         value  95% interval        n  unjudged
	// single-session-user             66.67%  [20.8, 93.9]        3  0
	// single-session-preference       50.00%  [9.5, 90.5]         2  0
	// single-session-assistant        50.00%  [9.5, 90.5]         2  0
	// multi-session                   50.00%  [9.5, 90.5]         2  0
	// temporal-reasoning              33.33%  [6.1, 79.2]         3  0
	// knowledge-update                50.00%  [9.5, 90.5]         2  0
	// task-averaged                   50.00%  [26.9, 73.1]       14  0
	// overall                         50.00%  [26.8, 73.2]       14  0
	// abstention (counted above)      50.00%  [9.5, 90.5]         2  0
	//
	// as print_qa_metrics.py prints it, over 14 items:
	//
	// Evaluation results by task:
	// 	single-session-user: 0.6667 (3)
	// 	single-session-preference: 0.5 (2)
	// 	single-session-assistant: 0.5 (2)
	// 	multi-session: 0.5 (2)
	// 	temporal-reasoning: 0.3333 (3)
	// 	knowledge-update: 0.5 (2)
	//
	// Task-averaged Accuracy: 0.5
	// Overall Accuracy: 0.5
	// Abstention Accuracy: 0.5 (2)
	//
	// as evaluate_qa.py prints it, over 14 items, its types in a fixed order:
	//
	// Accuracy: 0.5
	// 	single-session-user: 0.6667 (3)
	// 	single-session-preference: 0.5 (2)
	// 	single-session-assistant: 0.5 (2)
	// 	multi-session: 0.5 (2)
	// 	temporal-reasoning: 0.3333 (3)
	// 	knowledge-update: 0.5 (2)
}

// Compare two systems on the same questions.
func Example_compare() {
	passed := map[string][2]bool{}
	for i, file := range []string{"../quickstart/before.jsonl", "../quickstart/answers.jsonl"} {
		for rec, err := range deem.Run(context.Background(), data.Open(file), match.Forced(), deem.Options{}) {
			if err != nil {
				log.Fatal(err)
			}
			both := passed[rec.Item.ID]
			both[i] = rec.Verdict != nil && rec.Verdict.Yes()
			passed[rec.Item.ID] = both
		}
	}
	up, down := 0, 0
	for _, p := range passed {
		if p[1] && !p[0] {
			up++
		} else if p[0] && !p[1] {
			down++
		}
	}
	d := stat.PairedProportions(up, down, len(passed), stat.DefaultLevel)
	fmt.Printf("%+.1f points [%+.1f, %+.1f], p = %.2g\n", 100*d.Value, 100*d.Lo, 100*d.Hi, stat.McNemar(up, down).P)
	// Output: +11.7 points [+4.4, +19.7], p = 0.0043
}

// Compare a judge with people.
func Example_people() {
	j := match.New()
	a, err := agree.People(j, deem.Run(context.Background(), data.Open("../quickstart/answers.jsonl"), j, deem.Options{}), "../quickstart/labels.csv")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("they agree on %.0f%% of %d labels; kappa %.2f\n", 100*a.Agreement.Value, a.Labelled, a.Kappa.Value)
	// Output: they agree on 100% of 60 labels; kappa 1.00
}

// TestFile runs the example whose output has the time of a call.
func TestFile(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = write
	Example_file()
	os.Stdout = stdout
	_ = write.Close()
	out, err := io.ReadAll(read)
	if err != nil {
		t.Fatal(err)
	}
	const want = "judge grade (openai:gpt-4o-mini) · 2 items\n\nscore  50.0% [9.5, 90.5]  2 judged, 0 unjudged\n"
	if !strings.HasPrefix(string(out), want) || !strings.Contains(string(out), "2 calls") {
		t.Errorf("the example prints\n%swant the beginning\n%s", out, want)
	}
}

// TestMain answers calls to OpenAI as a model would that looks for the right answer in the
// prompt's response.
func TestMain(m *testing.M) {
	server := httptest.NewServer(http.HandlerFunc(answer))
	_ = os.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	_ = os.Setenv("OPENAI_API_KEY", "none")
	code := m.Run()
	server.Close()
	os.Exit(code)
}

func answer(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model    string
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	prompt := asked.Messages[len(asked.Messages)-1].Content
	right := strings.Contains(prompt, "In Porto.")
	said := map[bool]string{true: "VERDICT: CORRECT", false: "VERDICT: INCORRECT"}[right]
	if strings.Contains(prompt, `"same"`) {
		said = map[bool]string{true: `{"reason": "the same town", "same": "yes"}`, false: `{"reason": "another number", "same": "no"}`}[right]
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model": asked.Model, "usage": map[string]int{"prompt_tokens": 200, "completion_tokens": 5},
		"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": said}}},
	})
}
