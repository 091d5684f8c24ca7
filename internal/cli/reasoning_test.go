package cli_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"deem"
	"deem/internal/model"
	conductor "deem/internal/run"
	"deem/report"
)

// A reasoner is a server that behaves like a reasoning model: it rejects the parameters
// that such models reject, thinks for 200 to 400 tokens, and returns no text if its token
// limit is used up by then.
type reasoner struct {
	mu     sync.Mutex
	bodies []map[string]any
	input  int
	output int
}

func startReasoner(t *testing.T) (*reasoner, string) {
	t.Helper()
	r := &reasoner{}
	srv := httptest.NewServer(r)
	t.Cleanup(srv.Close)
	return r, srv.URL
}

func (r *reasoner) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var body struct {
		Model    string         `json:"model"`
		Messages []deem.Message `json:"messages"`
		Limit    int            `json:"max_completion_tokens"`
		Old      *int           `json:"max_tokens"`
	}
	var all map[string]any
	raw := json.RawMessage{}
	if err := json.NewDecoder(req.Body).Decode(&raw); err != nil || json.Unmarshal(raw, &body) != nil || json.Unmarshal(raw, &all) != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	strict := strings.HasPrefix(body.Model, "gpt-5")
	for _, param := range []string{"temperature", "max_tokens"} {
		if _, ok := all[param]; ok && strict {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":"Unsupported parameter: '%s' is not supported with this model.","type":"invalid_request_error","param":"%s","code":"unsupported_parameter"}}`, param, param)
			return
		}
	}
	if body.Old != nil {
		body.Limit = *body.Old
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(body.Messages[len(body.Messages)-1].Content))
	thoughts, content, reason := 200+int(hash.Sum32()%201), "CORRECT", "stop"
	if body.Limit > 0 && body.Limit < thoughts+2 {
		thoughts, content, reason = body.Limit, "", "length"
	}
	output := thoughts
	if content != "" {
		output += 2
	}
	input := conductor.Tokens(deem.Request{Messages: body.Messages})
	r.mu.Lock()
	r.bodies, r.input, r.output = append(r.bodies, all), r.input+input, r.output+output
	r.mu.Unlock()
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model":   body.Model,
		"choices": []any{map[string]any{"message": map[string]any{"content": content}, "finish_reason": reason}},
		"usage": map[string]any{
			"prompt_tokens": input, "completion_tokens": output,
			"completion_tokens_details": map[string]any{"reasoning_tokens": thoughts},
		},
	})
}

// calls returns the parameters of the calls so far, without prompts and constants.
func (r *reasoner) calls() []map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.bodies {
		for _, name := range []string{"model", "messages", "n", "stream"} {
			delete(b, name)
		}
	}
	return r.bodies
}

// With default flags a reasoning model judges all items, for about the planned price, and
// the card says what was sent.
func TestReasoningModel(t *testing.T) {
	t.Parallel()
	const n = 120
	srv, url := startReasoner(t)
	dir := t.TempDir()
	writeItems(t, dir, n, func(i int) string { return fmt.Sprint(i) })
	args := []string{"--data", "items.jsonl", "--judge", "universal", "--model", "openai:gpt-5-mini", "--base-url", url, "--json"}

	var plan struct {
		CostMicros    int64 `json:"cost_micros"`
		CostMaxMicros int64 `json:"cost_max_micros"`
	}
	if err := json.Unmarshal([]byte(run(t, dir, 0, append([]string{"plan"}, args...)...).out.String()), &plan); err != nil {
		t.Fatal(err)
	}
	var r report.Report
	if err := json.Unmarshal([]byte(run(t, dir, 0, append([]string{"run"}, args...)...).out.String()), &r); err != nil {
		t.Fatal(err)
	}
	calls := srv.calls()
	if r.Judged != n || len(calls) != n {
		t.Errorf("%d of %d items judged with %d calls, want all with one call each", r.Judged, r.Items, len(calls))
	}
	price, _ := model.Prices{}.Of("openai:gpt-5-mini", "")
	spent := price.Cost(deem.Usage{Input: srv.input, Output: srv.output})
	t.Logf("planned %d, spent %d millionths of a dollar", plan.CostMicros, spent)
	if d := math.Abs(float64(plan.CostMicros-spent)) / float64(spent); d > 0.25 || plan.CostMaxMicros < spent {
		t.Errorf("the plan says %d and at most %d, and %d were spent: %.0f%% off", plan.CostMicros, plan.CostMaxMicros, spent, 100*d)
	}
	h := r.Head.Harness
	sent := map[string]string{}
	for name, value := range calls[0] {
		sent[name] = fmt.Sprint(value)
	}
	if len(sent) != 1 || h.Params["max_completion_tokens"] != sent["max_completion_tokens"] || h.Params["temperature"] != "" || h.Params["max_tokens"] != "" {
		t.Errorf("the card says %v, and the wire had %v", h.Params, sent)
	}
	if !strings.Contains(h.Dropped["temperature"], "rejects") {
		t.Errorf("the card does not say why no temperature was sent: %v", h.Dropped)
	}
	text := run(t, dir, 0, "report", "-v").out.String()
	if !strings.Contains(text, "max_completion_tokens 8197") || strings.Contains(text, "temperature 0") || !strings.Contains(text, "not sent") {
		t.Errorf("the report says otherwise:\n%s", text)
	}
	file := filepath.Join(dir, "run.deem")
	run(t, dir, 0, "export", "last", "-o", file)
	if text := run(t, dir, 0, "verify", file).out.String(); !strings.Contains(text, "120 requests compared with what was sent") {
		t.Errorf("verify says:\n%s", text)
	}
}

// The thinking setting is sent, is part of the judge, and limits the reply.
func TestThinkingFlag(t *testing.T) {
	t.Parallel()
	srv, url := startReasoner(t)
	dir := t.TempDir()
	writeItems(t, dir, 1, func(i int) string { return fmt.Sprint(i) })
	hashes := map[string]bool{}
	for _, tt := range []struct {
		flag, effort string
		limit        float64
	}{{"low", "low", 2053}, {"high", "high", 24581}, {"4000", "", 4005}} {
		p := run(t, dir, 0, "run", "--data", "items.jsonl", "--judge", "universal", "--model", "openai:gpt-5-mini", "--base-url", url, "--json", "--thinking", tt.flag)
		var r report.Report
		if err := json.Unmarshal([]byte(p.out.String()), &r); err != nil {
			t.Fatal(err)
		}
		hashes[r.Head.JudgeHash] = true
		calls := srv.calls()
		last := calls[len(calls)-1]
		effort, _ := last["reasoning_effort"].(string)
		if effort != tt.effort || last["max_completion_tokens"] != tt.limit {
			t.Errorf("--thinking %s sent %v", tt.flag, last)
		}
	}
	if len(hashes) != 3 {
		t.Errorf("three ways to think make %d judges", len(hashes))
	}
}

// A reasoning model that is not known as one costs one reply, whatever the concurrency.
func TestUnknownThinkerStops(t *testing.T) {
	t.Parallel()
	srv, url := startReasoner(t)
	dir := t.TempDir()
	writeItems(t, dir, 50, func(i int) string { return fmt.Sprint(i) })
	args := []string{"run", "--data", "items.jsonl", "--judge", "universal", "--model", "openai:deep-thought", "--base-url", url, "-j", "16"}
	p := run(t, dir, 1, args...)
	if n := len(srv.calls()); n != 1 {
		t.Errorf("%d replies were paid for, want 1", n)
	}
	if said := p.err.String(); !strings.Contains(said, "is a reasoning model") || !strings.Contains(said, "--thinking medium") {
		t.Errorf("the error says\n%s", said)
	}
	id := regexp.MustCompile(`run (\d{8}-[0-9a-f]+)`).FindStringSubmatch(p.err.String())
	if id == nil {
		t.Fatalf("no run is named:\n%s", p.err.String())
	}
	if kept := run(t, dir, 3, "report", id[1], "--json").out.String(); !strings.Contains(kept, `"kind": "truncated"`) {
		t.Errorf("the reply that was paid for is not in the run:\n%s", kept)
	}
	run(t, dir, 0, append(args, "--thinking", "medium")...)
	if n := len(srv.calls()); n != 51 {
		t.Errorf("%d replies, want those of 50 items besides the first", n)
	}
}

// A run that has verdicts continues if the next reply is empty: its model does answer.
func TestTruncatedReplyAfterResume(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if asked.Add(1) == 3 {
			http.Error(w, "the key was revoked", http.StatusUnauthorized) // which stops the run
			return
		}
		raw, _ := io.ReadAll(req.Body)
		if strings.Contains(string(raw), "silent") {
			fmt.Fprint(w, `{"choices":[{"message":{"content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":5}}`)
			return
		}
		fmt.Fprint(w, `{"choices":[{"message":{"content":"CORRECT"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`)
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	writeItems(t, dir, 6, func(i int) string {
		if i == 2 {
			return "silent"
		}
		return fmt.Sprint(i)
	})
	args := []string{"run", "--data", "items.jsonl", "--judge", "universal", "--model", "openai:deep-thought", "--base-url", srv.URL, "-j", "1", "--json"}
	run(t, dir, 1, args...)
	if got := run(t, dir, 3, args...).out.String(); !strings.Contains(got, `"kind": "truncated"`) || !strings.Contains(got, `"judged": 5`) {
		t.Errorf("the run says\n%s", got)
	}
}

// The doctor makes the same call as the judge, and detects an empty reply.
func TestDoctorAsksAsTheJudge(t *testing.T) {
	t.Parallel()
	srv, url := startReasoner(t)
	dir := t.TempDir()
	p := run(t, dir, 1, "doctor", "--judge", "universal", "--model", "openai:deep-thought", "--base-url", url)
	if said := p.out.String(); !strings.Contains(said, "BAD  judge") || !strings.Contains(said, "--thinking medium") {
		t.Errorf("the doctor says\n%s", said)
	}
	p = run(t, dir, 0, "doctor", "--judge", "universal", "--model", "openai:gpt-5-mini", "--base-url", url)
	if said := p.out.String(); !strings.Contains(said, "universal reads the reply as CORRECT; sent: max_completion_tokens 8197; not sent: temperature") {
		t.Errorf("the doctor says\n%s", said)
	}
	if calls := srv.calls(); len(calls) != 2 || calls[0]["max_tokens"] != 5.0 || calls[0]["temperature"] != 0.0 {
		t.Errorf("the doctor sent %v", calls)
	}
}

// If a vendor does not support a parameter, the run ends with the judge's setting in the
// hint. A judge that may drop the parameter does so, and the report says it.
func TestUnsupportedParameter(t *testing.T) {
	t.Parallel()
	srv, url := startReasoner(t)
	dir := t.TempDir()
	writeItems(t, dir, 20, func(i int) string { return fmt.Sprint(i) })
	judge := "name: mine\nprompt: \"{question} {reference} {response}\"\nlabels: {CORRECT: 1, INCORRECT: 0}\nparams: {temperature: 0"
	for name, end := range map[string]string{"strict.yaml": "}\n", "lenient.yaml": ", optional: [temperature]}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(judge+end), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := func(file string) []string {
		return []string{"run", "--data", "items.jsonl", "--judge", file, "--model", "openai:gpt-5-mini", "--model-option", "reasoning=false", "--base-url", url, "-j", "1"}
	}
	p := run(t, dir, 1, args("./strict.yaml")...)
	if said := p.err.String(); !strings.Contains(said, "the judge sets temperature") || !strings.Contains(said, "params.optional: [temperature]") {
		t.Errorf("the error says\n%s", said)
	}
	p = run(t, dir, 0, append(args("./lenient.yaml"), "-v")...)
	if said := p.out.String(); !strings.Contains(said, "not sent") || !strings.Contains(said, "temperature: the server rejected it") || len(srv.calls()) != 20 {
		t.Errorf("%d replies; the report says\n%s", len(srv.calls()), said)
	}
	run(t, dir, 0, "export", "last", "-o", "run.deem")
	run(t, dir, 0, "verify", "run.deem")
}
