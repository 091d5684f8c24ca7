package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/telemetry"
	"deem/model/fake"
)

// asFailure converts a model's error as a judge does.
func asFailure(err error) error {
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || me.Fatal {
		return err
	}
	return deem.Failf(me.Kind, "%v", me)
}

// trouble is a run with a bit of everything: a reply, the same reply from the cache, a
// reply after two refusals, a reply that cannot be parsed, and a reply that never arrives.
var trouble = story{
	items: []string{"good", "good#2", "late", "odd", "lost"},
	asks: func(id string, nth int) (deem.Reply, error) {
		reply := deem.Reply{
			Text: "yes", Stop: deem.StopEnd, Model: "gpt-test-2026", RequestID: "req-" + id,
			Usage: deem.Usage{Input: 100, Output: 3}, Key: "x",
		}
		switch {
		case id == "late" && nth <= 2:
			return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Status: 429, Code: "slow_down", Passing: true, Err: errors.New("too fast")}
		case id == "odd":
			reply.Text = "a secret reply"
		case id == "lost":
			return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Status: 400, Err: errors.New("bad request: " + prompt("lost"))}
		}
		return reply, nil
	},
}

func TestNobodyWatches(t *testing.T) {
	tel := telemetry.Start(telemetry.Options{Version: "v1", Secrets: []string{"sk-canary-123"}})
	if tel != nil {
		t.Fatal("Start with nobody who watches is not nil")
	}
	m := fake.Func("m", nil)
	if got := tel.Model(tel.Wire(m)); fmt.Sprintf("%T", got) != fmt.Sprintf("%T", m) {
		t.Errorf("the model is decorated by %T", got)
	}
	ctx, r := tel.Run(t.Context(), telemetry.RunInfo{ID: "x"})
	j := asker{}
	if got := r.Judge(j); got != deem.Judge(j) || ctx != t.Context() {
		t.Errorf("the judge is decorated by %T", got)
	}
	r.Add(deem.Record{})
	r.End(nil)
	tel.Close()
}

func TestMetrics(t *testing.T) {
	tel := start(t, telemetry.Options{Prometheus: true})
	play(t, tel, trouble)
	page := scrape(t, tel.Handler())
	who := "gen_ai_request_model=gpt-test"
	for _, tt := range []struct {
		name string
		want float64
		with []string
	}{
		{"deem_calls_total", 5, []string{who}},
		{"deem_calls_total", 3, []string{who, "outcome=replied"}},
		{"deem_calls_total", 1, []string{who, "outcome=cached"}},
		{"deem_calls_total", 1, []string{who, "outcome=failed"}},
		{"deem_calls_unpriced_total", 3, []string{who}},
		{"deem_retries_total", 2, []string{who, "error_type=429"}},
		{"deem_cost_microdollars_total", 0, []string{who}},
		{"deem_records_total", 3, []string{"deem_judge=asker", "outcome=judged"}},
		{"deem_records_total", 2, []string{"deem_judge=asker", "outcome=unjudged"}},
		{"deem_failures_total", 1, []string{"kind=unparseable"}},
		{"deem_failures_total", 1, []string{"kind=provider"}},
		{"deem_failures_total", 2, nil},
		{"gen_ai_client_token_usage_count", 3, []string{"gen_ai_token_type=input", "gen_ai_response_model=gpt-test-2026"}},
		{"gen_ai_client_token_usage_sum", 300, []string{"gen_ai_token_type=input"}},
		{"gen_ai_client_token_usage_count", 3, []string{"gen_ai_token_type=output", "gen_ai_operation_name=chat"}},
		{"gen_ai_client_token_usage_sum", 9, []string{"gen_ai_token_type=output"}},
		{"gen_ai_client_operation_duration_seconds_count", 6, []string{"gen_ai_provider_name=openai"}},
		{"gen_ai_client_operation_duration_seconds_count", 2, []string{"error_type=429"}},
		{"gen_ai_client_operation_duration_seconds_count", 1, []string{"error_type=400"}},
	} {
		if got := sum(t, page, tt.name, tt.with...); got != tt.want {
			t.Errorf("%s%v = %v, want %v", tt.name, tt.with, got, tt.want)
		}
	}
	if strings.Contains(page, "secret") {
		t.Error("the page shows a prompt or a reply")
	}
}

// events decodes a log and removes what depends on the clock: times, and whether a record
// is reported before or after the next item begins. The events of one item keep their
// order.
func events(t *testing.T, log []byte) []string {
	t.Helper()
	var list []string
	for line := range bytes.Lines(log) {
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		for _, k := range []string{"time", "duration_ms", "latency_ms"} {
			if _, ok := e[k]; !ok && k == "time" {
				t.Errorf("no %s in %s", k, line)
			}
			delete(e, k)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(text))
	}
	slices.SortStableFunc(list, func(a, b string) int { return strings.Compare(itemOf(a), itemOf(b)) })
	return list
}

// itemOf returns a sort key for the item of an event. The start of the run sorts before all
// items, and other events of the whole run after them.
func itemOf(event string) string {
	_, after, about := strings.Cut(event, `"item":"`)
	switch {
	case about:
		item, _, _ := strings.Cut(after, `"`)
		return "b" + item
	case strings.Contains(event, "run started"):
		return "a"
	default:
		return "c"
	}
}

func TestLog(t *testing.T) {
	levels := map[slog.Level][]string{}
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		var log bytes.Buffer
		tel := start(t, telemetry.Options{Version: "v1", Log: &log, Level: level})
		play(t, tel, trouble)
		levels[level] = events(t, log.Bytes())
		if strings.Contains(log.String(), "secret") {
			t.Errorf("the log holds a prompt or a reply:\n%s", log.String())
		}
	}
	limited := `{"attempt":%d,"code":"slow_down","error":"HTTP 429 slow_down: too fast","error_type":"429","fatal":false,"item":"late","level":"WARN","model":"openai:gpt-test","msg":"attempt failed","passing":true,"run":"run-1","status":429,"trial":0}`
	refused := `{"attempt":1,"error_type":"400","fatal":false,"item":"lost","level":"WARN","model":"openai:gpt-test","msg":"attempt failed","passing":false,"run":"run-1","status":400,"trial":0}`
	want := []string{
		`{"concurrency":1,"items":5,"judge":"asker","judge_hash":"abc","level":"INFO","model":"openai:gpt-test","msg":"run started","records_before":0,"run":"run-1","trials":1,"version":"v1"}`,
		fmt.Sprintf(limited, 1),
		fmt.Sprintf(limited, 2),
		refused,
		`{"error_type":"400","fatal":false,"item":"lost","level":"WARN","model":"openai:gpt-test","msg":"call failed","passing":false,"run":"run-1","status":400,"trial":0}`,
		`{"item":"lost","judge":"asker","kind":"provider","level":"WARN","msg":"item unjudged","run":"run-1","trial":0}`,
		`{"item":"odd","judge":"asker","kind":"unparseable","level":"WARN","msg":"item unjudged","run":"run-1","trial":0}`,
		`{"level":"INFO","msg":"run ended","outcome":"done","records":5,"run":"run-1","unjudged":2}`,
	}
	if diff := cmp.Diff(want, levels[slog.LevelInfo]); diff != "" {
		t.Errorf("the log from info on (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[1:7], levels[slog.LevelWarn]); diff != "" {
		t.Errorf("the log from warn on (-want +got):\n%s", diff)
	}
	if len(levels[slog.LevelError]) > 0 {
		t.Errorf("the log from error on: %q", levels[slog.LevelError])
	}
	call := `{"attempts":3,"cached":false,"cost_micros":0,"input_tokens":100,"item":"late","level":"DEBUG","model":"openai:gpt-test","msg":"call","output_tokens":3,"request_id":"req-late","response_model":"gpt-test-2026","run":"run-1","stop":"end","trial":0,"unpriced":true}`
	judged := `{"item":"late","judge":"asker","label":"yes","level":"DEBUG","msg":"item judged","run":"run-1","score":1,"trial":0}`
	for _, line := range []string{call, judged} {
		if !slices.Contains(levels[slog.LevelDebug], line) {
			t.Errorf("the log of everything lacks %s:\n%s", line, strings.Join(levels[slog.LevelDebug], "\n"))
		}
	}
}

// The outcome of a run is reported, and an interruption is not an error.
func TestRunEnds(t *testing.T) {
	for _, tt := range []struct {
		err   error
		level string
		want  string
	}{
		{nil, "INFO", "done"},
		{deem.ErrStopped, "INFO", "interrupted"},
		{fmt.Errorf("judge: %w", context.Canceled), "INFO", "interrupted"},
		{errors.New("the disk is full"), "ERROR", "failed"},
		{&deem.ModelError{Status: 401, Fatal: true, Err: errors.New("no such key sk-canary-123")}, "ERROR", "failed"},
	} {
		var log bytes.Buffer
		tel := start(t, telemetry.Options{Log: &log, Secrets: []string{"sk-canary-123"}})
		_, r := tel.Run(t.Context(), telemetry.RunInfo{ID: "run-1", Judge: "match"})
		r.End(tt.err)
		tel.Close()
		var last map[string]any
		lines := bytes.Split(bytes.TrimSpace(log.Bytes()), []byte("\n"))
		if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
			t.Fatal(err)
		}
		if last["msg"] != "run ended" || last["level"] != tt.level || last["outcome"] != tt.want {
			t.Errorf("after %v the log ends with %v, want %s %s", tt.err, last, tt.level, tt.want)
		}
		if strings.Contains(log.String(), "canary") {
			t.Errorf("the key is told: %s", log.String())
		}
	}
}

// A rule that uses embeddings has no decorated model. Its calls are counted when its
// records arrive.
func TestEmbeddings(t *testing.T) {
	tel := start(t, telemetry.Options{Prometheus: true})
	_, r := tel.Run(t.Context(), telemetry.RunInfo{ID: "run-1", Judge: "semantic"})
	r.Add(deem.Record{Verdict: &deem.Verdict{Label: "same"}, Calls: []deem.Call{
		{Model: "openai:embed", Reply: &deem.Reply{Attempts: 3, Latency: 2 * time.Second, CostMicros: 17, Usage: deem.Usage{Input: 40}}},
		{Model: "openai:embed", Error: "HTTP 500", Attempts: 2},
	}})
	r.End(nil)
	page := scrape(t, tel.Handler())
	for name, want := range map[string]float64{
		"deem_calls_total": 2, "deem_retries_total": 3, "deem_cost_microdollars_total": 17,
		"gen_ai_client_operation_duration_seconds_count": 1, "gen_ai_client_operation_duration_seconds_sum": 2,
	} {
		if got := sum(t, page, name, "gen_ai_operation_name=embeddings", "gen_ai_request_model=embed"); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
}

// The calls of a judge with several models are counted when they are made, and not again
// when its records arrive.
func TestSeveralModels(t *testing.T) {
	tel := start(t, telemetry.Options{Prometheus: true})
	_, r := tel.Run(t.Context(), telemetry.RunInfo{ID: "run-1", Judge: "panel", Model: "openai:a + openai:b"})
	r.Add(deem.Record{Verdict: &deem.Verdict{Label: "yes"}, Calls: []deem.Call{{Model: "openai:a", Reply: &deem.Reply{CostMicros: 17}}}})
	r.End(nil)
	page := scrape(t, tel.Handler())
	if got := sum(t, page, "deem_records_total"); got != 1 {
		t.Errorf("%v records, want 1", got)
	}
	if got := sum(t, page, "deem_calls_total"); got != 0 {
		t.Errorf("%v calls are counted with a record, want 0", got)
	}
}

// Replies from a vendor's batch are counted, although no attempt was made for them.
func TestBatched(t *testing.T) {
	tel := start(t, telemetry.Options{Prometheus: true})
	m := tel.Model(fake.Func("anthropic:claude", func(_ context.Context, _ deem.Request) (deem.Reply, error) {
		return deem.Reply{Text: "yes", Batch: "batch-1", CostMicros: 5, Usage: deem.Usage{Input: 10, Output: 1}}, nil
	}))
	if _, err := m.Complete(t.Context(), deem.Prompt("x")); err != nil {
		t.Fatal(err)
	}
	page := scrape(t, tel.Handler())
	for name, want := range map[string]float64{
		"deem_calls_total": 1, "deem_cost_microdollars_total": 5, "gen_ai_client_token_usage_count": 2, "gen_ai_client_token_usage_sum": 11,
	} {
		if got := sum(t, page, name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if sum(t, page, "deem_calls_total", "outcome=batched") != 1 {
		t.Errorf("the call does not count as batched:\n%s", page)
	}
}
