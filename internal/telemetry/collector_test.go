package telemetry_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"deem"
	"deem/internal/telemetry"
	"deem/model"
	"deem/model/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A collector receives OTLP over HTTP and records it.
type collector struct {
	*httptest.Server

	mu       sync.Mutex
	open     int             // connections
	raw      strings.Builder // everything received, unparsed
	header   http.Header
	paths    []string
	spans    []*trace.Span
	resource map[string]string
	metrics  map[string]*metrics.Metric // the latest of each
}

// newCollector starts a collector. It calls before with each request first, and does
// nothing else if before returns false.
func newCollector(t *testing.T, before func(w http.ResponseWriter, r *http.Request) bool) *collector {
	t.Helper()
	c := &collector{metrics: map[string]*metrics.Metric{}}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || before != nil && !before(w, r) {
			return
		}
		if r.Header.Get("Content-Encoding") == "gzip" {
			zr, err := gzip.NewReader(strings.NewReader(string(body)))
			if err != nil {
				t.Error(err)
				return
			}
			body, err = io.ReadAll(zr)
			if err != nil {
				t.Error(err)
			}
		}
		c.take(t, r, body)
	}))
	c.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch state {
		case http.StateNew:
			c.open++
		case http.StateClosed:
			c.open--
		}
	}
	c.Start()
	t.Cleanup(func() {
		c.CloseClientConnections()
		c.Close()
	})
	return c
}

func (c *collector) take(t *testing.T, r *http.Request, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(body)
	c.header = r.Header.Clone()
	c.paths = append(c.paths, r.URL.Path)
	switch {
	case strings.HasSuffix(r.URL.Path, "/traces"):
		var req collectortrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &req); err != nil {
			t.Errorf("traces: %v", err)
		}
		for _, rs := range req.ResourceSpans {
			c.resource = texts(rs.Resource.Attributes)
			for _, ss := range rs.ScopeSpans {
				c.spans = append(c.spans, ss.Spans...)
			}
		}
	case strings.HasSuffix(r.URL.Path, "/metrics"):
		var req collectormetrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &req); err != nil {
			t.Errorf("metrics: %v", err)
		}
		for _, rm := range req.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				for _, m := range sm.Metrics {
					c.metrics[m.Name] = m
				}
			}
		}
	default:
		t.Errorf("somebody asked for %s", r.URL.Path)
	}
}

// checkLeft checks that all connections are closed. It allows as much time as a busy
// machine may need.
func (c *collector) checkLeft(t *testing.T) {
	t.Helper()
	open := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.open
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if open() == 0 {
			return
		}
	}
	t.Errorf("%d connections are open after Close", open())
}

// texts returns attributes as strings.
func texts(list []*common.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		switch v := kv.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			m[kv.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			m[kv.Key] = fmt.Sprint(v.IntValue)
		case *common.AnyValue_DoubleValue:
			m[kv.Key] = fmt.Sprint(v.DoubleValue)
		case *common.AnyValue_BoolValue:
			m[kv.Key] = fmt.Sprint(v.BoolValue)
		case *common.AnyValue_ArrayValue:
			var parts []string
			for _, e := range v.ArrayValue.Values {
				parts = append(parts, e.GetStringValue())
			}
			m[kv.Key] = strings.Join(parts, ",")
		}
	}
	return m
}

// tree returns the spans as lines, each after its parent and prefixed with its depth,
// ordered by start time.
func (c *collector) tree() []string {
	children := map[string][]*trace.Span{}
	for _, s := range c.spans {
		children[string(s.ParentSpanId)] = append(children[string(s.ParentSpanId)], s)
	}
	var lines []string
	var walk func(id, indent string)
	walk = func(id, indent string) {
		for _, s := range children[id] {
			lines = append(lines, indent+s.Name)
			walk(string(s.SpanId), indent+"  ")
		}
	}
	walk("", "")
	return lines
}

// named returns the spans with a name.
func (c *collector) named(name string) []*trace.Span {
	var list []*trace.Span
	for _, s := range c.spans {
		if s.Name == name {
			list = append(list, s)
		}
	}
	return list
}

// sum returns the value of a counter for the points that have all the attributes, given as
// "key=value".
func (c *collector) sum(t *testing.T, name string, want ...string) int64 {
	t.Helper()
	m, ok := c.metrics[name]
	if !ok {
		return 0
	}
	if m.GetSum() == nil || !m.GetSum().IsMonotonic {
		t.Fatalf("%s is not a counter", name)
	}
	var n int64
	for _, p := range m.GetSum().DataPoints {
		if has(texts(p.Attributes), want) {
			n += p.GetAsInt()
		}
	}
	return n
}

// histogram returns the count and sum of a histogram in the same way.
func (c *collector) histogram(t *testing.T, name string, want ...string) (count uint64, sum float64) {
	t.Helper()
	m, ok := c.metrics[name]
	if !ok {
		return 0, 0
	}
	for _, p := range m.GetHistogram().DataPoints {
		if has(texts(p.Attributes), want) {
			count += p.Count
			sum += p.GetSum()
		}
	}
	return count, sum
}

func has(attrs map[string]string, want []string) bool {
	for _, kv := range want {
		k, v, _ := strings.Cut(kv, "=")
		if attrs[k] != v {
			return false
		}
	}
	return true
}

// env returns a Getenv with a few variables.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, kv := range pairs {
			if k, v, _ := strings.Cut(kv, "="); k == name {
				return v
			}
		}
		return ""
	}
}

// A story is a small run: the model's reaction to the n-th attempt at an item.
type story struct {
	items []string
	asks  func(prompt string, nth int) (deem.Reply, error)
	opts  model.Options
}

// prompt returns the prompt of a story's judge, which must not appear unless content is
// enabled.
func prompt(id string) string { return "a secret prompt about " + id }

// play judges the items of a story one by one and reports them to tel.
func play(t *testing.T, tel *telemetry.Telemetry, s story) {
	t.Helper()
	nth := map[string]int{}
	wire := fake.Func("openai:gpt-test", func(_ context.Context, req deem.Request) (deem.Reply, error) {
		text := req.Messages[len(req.Messages)-1].Content
		nth[text]++
		return s.asks(strings.TrimPrefix(text, prompt("")), nth[text])
	})
	o := s.opts
	o.Retry.Base = time.Millisecond
	m := tel.Model(model.Assemble(tel.Wire(wire, model.Endpoint(wire)), o), model.Endpoint(wire))
	ctx, r := tel.Run(t.Context(), telemetry.RunInfo{
		ID: "run-1", Judge: "asker", JudgeHash: "abc", Model: wire.Name(), Items: len(s.items), Trials: 1, Concurrency: 1, Limit: limiter(m),
	})
	var ended error
	for rec, err := range deem.Run(ctx, items(s.items), r.Judge(asker{m}), deem.Options{Concurrency: 1}) {
		if err != nil {
			ended = err
			break
		}
		r.Add(rec)
	}
	r.End(ended)
}

func items(ids []string) func(func(deem.Item, error) bool) {
	return func(yield func(deem.Item, error) bool) {
		for _, id := range ids {
			if !yield(deem.Item{ID: id, Category: "cats", Response: "a response"}, nil) {
				return
			}
		}
	}
}

// asker is a judge that calls its model and treats the reply as a label.
type asker struct{ m deem.Model }

func (asker) Name() string { return "asker" }

func (a asker) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	id, _, _ := strings.Cut(it.ID, "#") // "a#2" has the same prompt as "a"
	temperature := 0.5
	req := deem.Request{Temperature: &temperature, MaxTokens: 7, Messages: []deem.Message{
		{Role: "system", Content: "You are a judge."}, {Role: "user", Content: prompt(id)},
	}}
	reply, err := a.m.Complete(ctx, req)
	switch {
	case err != nil && ctx.Err() != nil:
		return deem.Verdict{}, err
	case err != nil:
		return deem.Verdict{}, asFailure(err)
	case reply.Text != "yes":
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply says %s", reply.Text)
	}
	return deem.Verdict{Label: "yes", Score: 1}, nil
}

// attrs returns the attributes of a span or point.
func attrs(s *trace.Span) map[string]string { return texts(s.Attributes) }

// limiter returns the limiter among the decorators of a model.
func limiter(m deem.Model) telemetry.Limit {
	l, _ := model.As[telemetry.Limit](m)
	return l
}
