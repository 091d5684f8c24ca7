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
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

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

// start starts a Telemetry that is closed at the end of the test, and collects its
// warnings.
func start(t *testing.T, o telemetry.Options) (*telemetry.Telemetry, *[]string) {
	t.Helper()
	var warnings []string
	o.Warn = func(message string) { warnings = append(warnings, message) }
	tel := telemetry.Start(t.Context(), o)
	t.Cleanup(tel.Close)
	return tel, &warnings
}

func TestNobodyWatches(t *testing.T) {
	for _, getenv := range []func(string) string{
		nil, env(), env("OTEL_SDK_DISABLED=true", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"),
		env("OTEL_TRACES_EXPORTER=none", "OTEL_METRICS_EXPORTER=none", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"),
	} {
		tel := telemetry.Start(t.Context(), telemetry.Options{Getenv: getenv})
		if tel != nil {
			t.Fatal("Start with nobody who watches is not nil")
		}
		m := fake.Func("m", nil)
		if got := tel.Model(tel.Wire(m, ""), ""); fmt.Sprintf("%T", got) != fmt.Sprintf("%T", m) {
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
}

func TestSpans(t *testing.T) {
	c := newCollector(t, nil)
	tel, warnings := start(t, telemetry.Options{Version: "v1", Getenv: env("OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_METRICS_EXPORTER=none")})
	play(t, tel, trouble)
	tel.Close()
	c.checkLeft(t)

	want := []string{
		"run",
		"  judge asker", "    chat gpt-test", "      attempt",
		"  judge asker", "    chat gpt-test",
		"  judge asker", "    chat gpt-test", "      attempt", "      attempt", "      attempt",
		"  judge asker", "    chat gpt-test", "      attempt",
		"  judge asker", "    chat gpt-test", "      attempt",
	}
	if diff := cmp.Diff(want, c.tree()); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if c.resource["service.name"] != "deem" || c.resource["service.version"] != "v1" {
		t.Errorf("the resource is %v", c.resource)
	}
	if len(*warnings) > 0 || !slices.Equal(c.paths, []string{"/v1/traces"}) {
		t.Errorf("warnings %q, requests to %q", *warnings, c.paths)
	}
	checkCalls(t, c)
	checkAround(t, c)
	for _, secret := range []string{"a secret prompt", "a secret reply", "too fast", "You are a judge"} {
		if strings.Contains(c.raw.String(), secret) {
			t.Errorf("the collector was told %q", secret)
		}
	}
}

func checkCalls(t *testing.T, c *collector) {
	t.Helper()
	calls := c.named("chat gpt-test")
	common := map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.system": "openai", "gen_ai.request.model": "gpt-test",
		"gen_ai.request.temperature": "0.5", "gen_ai.request.max_tokens": "7",
	}
	replied := map[string]string{
		"gen_ai.response.model": "gpt-test-2026", "gen_ai.response.finish_reasons": "stop", "deem.cached": "false",
		"gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "3",
	}
	more := []map[string]string{
		{"gen_ai.response.id": "req-good", "deem.attempts": "1"},
		{
			"gen_ai.response.id": "req-good", "gen_ai.response.model": "gpt-test-2026", "gen_ai.response.finish_reasons": "stop",
			"deem.cached": "true",
		},
		{"gen_ai.response.id": "req-late", "deem.attempts": "3"},
		{"gen_ai.response.id": "req-odd", "deem.attempts": "1"},
		{"error.type": "400", "deem.attempts": "1"},
	}
	for i, s := range calls {
		want := map[string]string{}
		for _, m := range []map[string]string{common, more[i]} {
			for k, v := range m {
				want[k] = v
			}
		}
		if i != 1 && i != 4 {
			for k, v := range replied {
				want[k] = v
			}
		}
		if diff := cmp.Diff(want, attrs(s)); diff != "" {
			t.Errorf("call %d (-want +got):\n%s", i, diff)
		}
		if s.Kind != trace.Span_SPAN_KIND_CLIENT {
			t.Errorf("call %d is of kind %v", i, s.Kind)
		}
		if failed := s.Status.GetCode() == trace.Status_STATUS_CODE_ERROR; failed != (i == 4) {
			t.Errorf("call %d has the status %v", i, s.Status)
		}
	}
}

// checkAround checks the spans around calls and those inside.
func checkAround(t *testing.T, c *collector) {
	t.Helper()
	run := attrs(c.named("run")[0])
	for k, v := range map[string]string{
		"deem.run.id": "run-1", "deem.judge": "asker", "deem.judge.hash": "abc", "deem.items": "5", "deem.trials": "1",
		"deem.records": "5", "deem.unjudged": "2", "deem.run.outcome": "done", "gen_ai.request.model": "gpt-test",
	} {
		if run[k] != v {
			t.Errorf("the run's %s = %q, want %q", k, run[k], v)
		}
	}
	var got []string
	for _, s := range c.named("judge asker") {
		a := attrs(s)
		got = append(got, fmt.Sprintf("%s %s %s%s%s", a["deem.item.id"], a["deem.item.category"], a["deem.verdict.label"], a["error.type"], a["deem.failure.detail"]))
	}
	if diff := cmp.Diff([]string{"good cats yes", "good#2 cats yes", "late cats yes", "odd cats unparseable", "lost cats provider"}, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	got = nil
	for _, s := range c.named("attempt") {
		a := attrs(s)
		got = append(got, a["deem.attempt"]+" "+a["error.type"]+" "+a["http.response.status_code"])
	}
	if diff := cmp.Diff([]string{"1  ", "1 429 429", "2 429 429", "3  ", "1  ", "1 400 400"}, got); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}

// Prompts and replies are reported on request, without keys.
func TestContent(t *testing.T) {
	c := newCollector(t, nil)
	var log bytes.Buffer
	tel, _ := start(t, telemetry.Options{
		Log: &log, Level: slog.LevelDebug, Secrets: []string{"sk-canary-123"},
		Getenv: env("OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=True"),
	})
	s := trouble
	s.asks = func(string, int) (deem.Reply, error) {
		return deem.Reply{Text: "a secret reply with sk-canary-123", Stop: deem.StopLength}, nil
	}
	s.items = []string{"sk-canary-123"}
	play(t, tel, s)
	tel.Close()
	got := attrs(c.named("chat gpt-test")[0])
	for k, want := range map[string]string{
		"gen_ai.system_instructions": `[{"type":"text","content":"You are a judge."}]`,
		"gen_ai.input.messages":      `[{"role":"user","parts":[{"type":"text","content":"a secret prompt about [redacted]"}]}]`,
		"gen_ai.output.messages":     `[{"role":"assistant","parts":[{"type":"text","content":"a secret reply with [redacted]"}],"finish_reason":"length"}]`,
	} {
		if got[k] != want {
			t.Errorf("%s = %s, want %s", k, got[k], want)
		}
	}
	for _, want := range []string{`a secret prompt about [redacted]`, `"reply":"a secret reply with [redacted]"`, `"detail":"the reply says a secret reply with [redacted]"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log.String())
		}
	}
	if all := log.String() + c.raw.String(); strings.Contains(all, "sk-canary-123") {
		t.Error("the key is told")
	}
}

func TestMetricsByOTLP(t *testing.T) {
	c := newCollector(t, nil)
	tel, _ := start(t, telemetry.Options{Getenv: env("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT="+c.URL+"/my/metrics", "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION=gzip")})
	play(t, tel, trouble)
	tel.Close()
	if !slices.Equal(c.paths, []string{"/my/metrics"}) || c.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("requests to %q with headers %v", c.paths, c.header)
	}
	who := "gen_ai.request.model=gpt-test"
	for _, tt := range []struct {
		name string
		want int64
		with []string
	}{
		{"deem.calls", 5, []string{who}},
		{"deem.calls", 3, []string{who, "outcome=replied"}},
		{"deem.calls", 1, []string{who, "outcome=cached"}},
		{"deem.calls", 1, []string{who, "outcome=failed"}},
		{"deem.calls.unpriced", 3, []string{who}},
		{"deem.retries", 2, []string{who, "error.type=429"}},
		{"deem.cost", 0, []string{who}},
		{"deem.records", 3, []string{"deem.judge=asker", "outcome=judged"}},
		{"deem.records", 2, []string{"deem.judge=asker", "outcome=unjudged"}},
		{"deem.failures", 1, []string{"kind=unparseable"}},
		{"deem.failures", 1, []string{"kind=provider"}},
		{"deem.failures", 2, nil},
	} {
		if got := c.sum(t, tt.name, tt.with...); got != tt.want {
			t.Errorf("%s%v = %d, want %d", tt.name, tt.with, got, tt.want)
		}
	}
	for _, tt := range []struct {
		name  string
		count uint64
		sum   float64
		with  []string
	}{
		{"gen_ai.client.token.usage", 3, 300, []string{"gen_ai.token.type=input", "gen_ai.response.model=gpt-test-2026"}},
		{"gen_ai.client.token.usage", 3, 9, []string{"gen_ai.token.type=output", "gen_ai.operation.name=chat"}},
		{"gen_ai.client.operation.duration", 6, -1, []string{"gen_ai.provider.name=openai"}},
		{"gen_ai.client.operation.duration", 2, -1, []string{"error.type=429"}},
		{"gen_ai.client.operation.duration", 1, -1, []string{"error.type=400"}},
	} {
		count, sum := c.histogram(t, tt.name, tt.with...)
		if count != tt.count || tt.sum >= 0 && sum != tt.sum {
			t.Errorf("%s%v has %d values and the sum %v, want %d and %v", tt.name, tt.with, count, sum, tt.count, tt.sum)
		}
	}
	if strings.Contains(c.raw.String(), "secret") {
		t.Error("the collector was told a prompt or a reply")
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
		tel, _ := start(t, telemetry.Options{Version: "v1", Log: &log, Level: level})
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
		c := newCollector(t, nil)
		var log bytes.Buffer
		tel, _ := start(t, telemetry.Options{Log: &log, Secrets: []string{"sk-canary-123"}, Getenv: env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + c.URL + "/v1/traces")})
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
		if got := attrs(c.named("run")[0])["deem.run.outcome"]; got != tt.want {
			t.Errorf("after %v the span says %s, want %s", tt.err, got, tt.want)
		}
		if strings.Contains(log.String()+c.raw.String(), "canary") {
			t.Errorf("the key is told: %s", log.String())
		}
		if last["trace_id"] == nil {
			t.Errorf("the log does not say in which trace it is: %v", last)
		}
	}
}

// A rule that uses embeddings has no decorated model. Its calls are counted when its
// records arrive.
func TestEmbeddings(t *testing.T) {
	c := newCollector(t, nil)
	tel, _ := start(t, telemetry.Options{Getenv: env("OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL)})
	_, r := tel.Run(t.Context(), telemetry.RunInfo{ID: "run-1", Judge: "semantic"})
	r.Add(deem.Record{Verdict: &deem.Verdict{Label: "same"}, Calls: []deem.Call{
		{Model: "openai:embed", Reply: &deem.Reply{Attempts: 3, Latency: 2 * time.Second, CostMicros: 17, Usage: deem.Usage{Input: 40}}},
		{Model: "openai:embed", Error: "HTTP 500", Attempts: 2},
	}})
	r.End(nil)
	tel.Close()
	who := "gen_ai.operation.name=embeddings"
	for name, want := range map[string]int64{"deem.calls": 2, "deem.retries": 3, "deem.cost": 17} {
		if got := c.sum(t, name, who, "gen_ai.request.model=embed"); got != want {
			t.Errorf("%s = %d, want %d", name, got, want)
		}
	}
	if n, sum := c.histogram(t, "gen_ai.client.operation.duration", who); n != 1 || sum != 2 {
		t.Errorf("%d durations, %v s together, want 1 and 2", n, sum)
	}
}

// The calls of a judge with several models are counted when they are made, and not again
// when its records arrive.
func TestSeveralModels(t *testing.T) {
	c := newCollector(t, nil)
	tel, _ := start(t, telemetry.Options{Getenv: env("OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL)})
	_, r := tel.Run(t.Context(), telemetry.RunInfo{ID: "run-1", Judge: "panel", Model: "openai:a + openai:b"})
	r.Add(deem.Record{Verdict: &deem.Verdict{Label: "yes"}, Calls: []deem.Call{{Model: "openai:a", Reply: &deem.Reply{CostMicros: 17}}}})
	r.End(nil)
	tel.Close()
	if got := c.sum(t, "deem.records"); got != 1 {
		t.Errorf("%d records, want 1", got)
	}
	if got := c.sum(t, "deem.calls"); got != 0 {
		t.Errorf("%d calls are counted with a record, want 0", got)
	}
}

// Replies from a vendor's batch are counted, although no attempt was made for them.
func TestBatched(t *testing.T) {
	c := newCollector(t, nil)
	tel, _ := start(t, telemetry.Options{Getenv: env("OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL)})
	m := tel.Model(fake.Func("anthropic:claude", func(_ context.Context, _ deem.Request) (deem.Reply, error) {
		return deem.Reply{Text: "yes", Batch: "batch-1", CostMicros: 5, Usage: deem.Usage{Input: 10, Output: 1}}, nil
	}), "")
	if _, err := m.Complete(t.Context(), deem.Prompt("x")); err != nil {
		t.Fatal(err)
	}
	tel.Close()
	n, tokens := c.histogram(t, "gen_ai.client.token.usage")
	if calls, cost := c.sum(t, "deem.calls", "outcome=batched"), c.sum(t, "deem.cost"); calls != 1 || cost != 5 || n != 2 || tokens != 11 {
		t.Errorf("%d calls, cost %d, %v tokens, want 1, 5 and 11", calls, cost, tokens)
	}
}
