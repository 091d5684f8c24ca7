package telemetry_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"deem"
	"deem/internal/telemetry"
	"deem/internal/test/modeltest"
	"deem/model"
	"deem/model/openai"
)

// closed returns an address without a listener.
func closed(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return "http://" + l.Addr().String()
}

// A collector that is down, hangs or returns errors costs one warning and a moment at the
// end, and no warning contains its key. OpenTelemetry itself would wait for half a minute.
func TestTroubledCollector(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	const key = "otel-canary-0123456789"
	hang := func(w http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return false
	}
	rude := func(w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, "no entry for "+r.Header.Get("Authorization")+strings.Repeat(" go away", 1000), http.StatusForbidden)
		return false
	}
	busy := func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "later", http.StatusServiceUnavailable)
		return false
	}
	for name, tt := range map[string]struct {
		url func(t *testing.T) string
		why string
	}{
		"down":  {closed, "refused"},
		"hangs": {func(t *testing.T) string { return newCollector(t, hang).URL }, "the collector did not take them in time"},
		"rude":  {func(t *testing.T) string { return newCollector(t, rude).URL }, "403 Forbidden"},
		"busy":  {func(t *testing.T) string { return newCollector(t, busy).URL }, "later"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			tel, warnings := start(t, telemetry.Options{Log: &log, Getenv: env("OTEL_EXPORTER_OTLP_ENDPOINT="+tt.url(t),
				"OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer "+key, "OTEL_EXPORTER_OTLP_TIMEOUT=3600000")})
			play(t, tel, trouble)
			began := time.Now()
			tel.Close()
			closing := time.Since(began)
			if closing > 20*time.Second {
				t.Errorf("the end took %v", closing)
			}
			if len(*warnings) != 1 || !strings.Contains((*warnings)[0], "changes nothing in the run: ") || !strings.Contains((*warnings)[0], tt.why) || len((*warnings)[0]) > 310 {
				t.Errorf("warnings %q, want one with %q", *warnings, tt.why)
			}
			if all := log.String() + fmt.Sprint(*warnings); strings.Contains(all, key) {
				t.Errorf("the collector's key is told: %s", all)
			}
			t.Logf("closed after %v: %s", closing, (*warnings)[0])
		})
	}
}

// A delivery that the collector defers is retried, and a partial rejection is reported.
// OTLP's generated types can decode what arrives.
func TestDeliveries(t *testing.T) {
	var puts atomic.Int32
	c := newCollector(t, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/metrics") {
			return true
		}
		if puts.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "later", http.StatusServiceUnavailable)
			return false
		}
		answer, err := proto.Marshal(&collectortrace.ExportTraceServiceResponse{
			PartialSuccess: &collectortrace.ExportTracePartialSuccess{RejectedSpans: 3, ErrorMessage: "too old"},
		})
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		if _, err := w.Write(answer); err != nil {
			t.Error(err)
		}
		return true
	})
	tel, warnings := start(t, telemetry.Options{Getenv: env("OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_EXPORTER_OTLP_COMPRESSION=gzip")})
	play(t, tel, trouble)
	tel.Close()
	if len(c.spans) != 17 || puts.Load() != 2 {
		t.Errorf("%d spans in %d requests, want 17 in 2", len(c.spans), puts.Load())
	}
	if len(*warnings) != 1 || !strings.HasSuffix((*warnings)[0], "the collector refused 3 of them: too old") {
		t.Errorf("warnings %q, want one that says what was refused", *warnings)
	}
	sum := c.metrics["deem.calls"].GetSum()
	if !sum.GetIsMonotonic() || sum.GetAggregationTemporality() != metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
		t.Errorf("deem.calls is %v, want a count since the start", sum)
	}
	point := c.metrics["gen_ai.client.operation.duration"].GetHistogram().GetDataPoints()[0]
	span := string(point.GetExemplars()[0].GetSpanId())
	if !slices.ContainsFunc(c.spans, func(s *trace.Span) bool { return string(s.SpanId) == span }) {
		t.Errorf("the exemplar %v is of a span that did not come", point.GetExemplars())
	}
	if uint64(len(point.ExplicitBounds)+1) != uint64(len(point.BucketCounts)) || point.GetMin() > point.GetMax() || point.GetSum() < point.GetMax() {
		t.Errorf("the histogram is %v", point)
	}
}

// If the collector is too slow, spans are dropped and a warning says so.
func TestDroppedSpans(t *testing.T) {
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "2")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	over := make(chan struct{})
	c := newCollector(t, func(http.ResponseWriter, *http.Request) bool {
		<-over // Accept nothing before all spans have ended.
		return true
	})
	tel, warnings := start(t, telemetry.Options{Getenv: env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + c.URL + "/v1/traces")})
	play(t, tel, trouble)
	close(over)
	tel.Close()
	if want := fmt.Sprintf("%d of 17 spans were dropped", 17-len(c.spans)); len(*warnings) != 1 || !strings.HasPrefix((*warnings)[0], want) {
		t.Errorf("warnings %q, want one that begins with %q", *warnings, want)
	}
}

// Invalid variables cause a warning, and everything else continues.
func TestSettingsInDisorder(t *testing.T) {
	for _, tt := range []struct {
		env  []string
		want string
		some bool
	}{
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=otel-canary-0123456789"}, "OTEL_EXPORTER_OTLP_ENDPOINT is not an address", false},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_HEADERS=otel-canary-0123456789"}, "OTEL_EXPORTER_OTLP_HEADERS is not", false},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_TRACES_EXPORTER=console", "OTEL_METRICS_EXPORTER=none"}, "OTEL_TRACES_EXPORTER is neither", false},
	} {
		var warnings []string
		tel := telemetry.Start(t.Context(), telemetry.Options{Getenv: env(tt.env...), Warn: func(m string) { warnings = append(warnings, m) }})
		tel.Close()
		if (tel != nil) != tt.some || len(warnings) != 1 || !strings.Contains(warnings[0], tt.want) || strings.Contains(warnings[0], "canary") {
			t.Errorf("%v: watched %v, warnings %q, want one with %q", tt.env, tel != nil, warnings, tt.want)
		}
	}
}

// TestCanary provokes every kind of vendor failure, with the key in the error's body and
// headers and in replies, and looks for the key in all output: events, spans, metrics, the
// Prometheus page and warnings. Prompts and replies are enabled, because most leaks could
// happen there.
func TestCanary(t *testing.T) {
	c := newCollector(t, nil)
	var log bytes.Buffer
	tel, warnings := start(t, telemetry.Options{
		Version: "v1", Log: &log, Level: slog.LevelDebug, Prometheus: true, Secrets: []string{modeltest.Key},
		Getenv: env("OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"),
	})
	answers := map[string]modeltest.Answer{
		"reply":   {Reply: deem.Reply{Text: "you sent " + modeltest.Key, Model: "model " + modeltest.Key, RequestID: modeltest.Key, Fingerprint: modeltest.Key}},
		"refusal": {Reply: deem.Reply{Refusal: "not with " + modeltest.Key}},
		"cut off": {Reply: deem.Reply{Text: strings.Repeat(modeltest.Key, 1000)}, Cut: true},
		"hang":    {Hang: true},
	}
	wire := modeltest.OpenAI()
	for trouble, list := range wire.Errors {
		for i, raw := range list {
			raw.Body = strings.NewReplacer(`"message":"`, `"message":"`+modeltest.Key+" ", `"code":"`, `"code":"`+modeltest.Key).Replace(raw.Body)
			raw.Header = maps.Clone(raw.Header)
			if raw.Header == nil {
				raw.Header = map[string]string{}
			}
			raw.Header["X-Request-Id"] = modeltest.Key
			answers[fmt.Sprint(trouble, i)] = modeltest.Answer{Raw: &raw}
		}
	}
	names := slices.Sorted(maps.Keys(answers))
	for _, name := range names {
		callOnce(t, tel, answers[name], name)
	}
	page := scrape(t, tel.Handler())
	tel.Close()

	told := map[string]string{"log": log.String(), "collector": c.raw.String(), "page": page, "warnings": fmt.Sprint(*warnings)}
	for where, text := range told {
		if strings.Contains(text, modeltest.Key) || strings.Contains(text, modeltest.Key[:len(modeltest.Key)/2]) {
			t.Errorf("the key is in the %s", where)
		}
	}
	if n := len(c.named("chat test-model")); n != len(names) || n < 20 {
		t.Errorf("%d calls were told of, want %d", n, len(names))
	}
	for _, name := range names {
		if !strings.Contains(log.String(), "about "+name) {
			t.Errorf("the log says nothing of %q", name)
		}
	}
}

// callOnce makes one call to a server that returns the given answer.
func callOnce(t *testing.T, tel *telemetry.Telemetry, a modeltest.Answer, name string) {
	t.Helper()
	srv := modeltest.Serve(modeltest.OpenAI(), func(modeltest.Asked) modeltest.Answer { return a })
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	timeout := 10 * time.Minute
	if a.Hang {
		timeout = 200 * time.Millisecond
	}
	wire, err := openai.New(openai.Options{Model: "test-model", BaseURL: srv.URL, Key: modeltest.Key, HTTPClient: client, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	m := tel.Model(model.Assemble(tel.Wire(wire, model.Endpoint(wire)), model.Options{Retry: model.RetryOptions{Attempts: 1}}), model.Endpoint(wire))
	ctx, r := tel.Run(t.Context(), telemetry.RunInfo{ID: modeltest.Key, Judge: "judge " + modeltest.Key, Model: m.Name(), Items: 1, Limit: limiter(m)})
	var ended error
	for rec, err := range deem.Run(ctx, items([]string{name}), r.Judge(asker{m}), deem.Options{Concurrency: 1}) {
		if err != nil {
			ended = err
			break
		}
		r.Add(rec)
	}
	r.End(ended)
}
