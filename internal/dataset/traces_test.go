package dataset_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/dataset"
)

func attr(key, value string) string {
	return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, key, value)
}

func count(key string, n int) string {
	return fmt.Sprintf(`{"key":%q,"value":{"intValue":"%d"}}`, key, n)
}

func spanOf(trace, id, parent string, from, to int64, attributes ...string) string {
	return fmt.Sprintf(`{"traceId":%q,"spanId":%q,"parentSpanId":%q,"name":"x","kind":1,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s]}`,
		trace, id, parent, from, to, strings.Join(attributes, ","))
}

func spansOf(spans ...string) string {
	return `{"resourceSpans":[{"resource":{"attributes":[` + attr("service.name", "rag") + `]},"scopeSpans":[{"scope":{"name":"spans"},"spans":[` + strings.Join(spans, ",") + `]}]}]}`
}

// Traces by the conventions of OpenInference and of OpenTelemetry become items with the
// cost of their responses.
func TestTraces(t *testing.T) {
	t.Parallel()
	text := spansOf(
		spanOf("t1", "a", "", 1_000_000_000, 1_750_000_000, attr("openinference.span.kind", "CHAIN"), attr("input.value", "Where was Ada born?"), attr("output.value", "In London."), attr("deem.reference", "London"), attr("session.id", "s1")),
		spanOf("t1", "b", "a", 1, 2, attr("openinference.span.kind", "RETRIEVER"), attr("retrieval.documents.1.document.content", "second"), attr("retrieval.documents.0.document.content", "first")),
		spanOf("t1", "c", "a", 1, 2, attr("llm.model_name", "m"), attr("input.value", "prompt"), attr("output.value", "In London."), count("llm.token_count.prompt", 90), count("llm.token_count.completion", 4), `{"key":"llm.cost.total","value":{"doubleValue":0.002}}`),
	) + "\n" + spansOf(
		spanOf("t2", "a", "0000000000000000", 0, 2_000_000, attr("http.route", "/ask")),
		spanOf("t2", "b", "a", 1, 2, attr("gen_ai.request.model", "m"), count("gen_ai.usage.input_tokens", 7), count("gen_ai.usage.output_tokens", 2),
			attr("gen_ai.input.messages", `[{"role":"system","parts":[{"type":"text","content":"Be brief."}]},{"role":"user","parts":[{"type":"text","content":"How long?"}]}]`),
			attr("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","content":"7 years"}],"finish_reason":"stop"}]`)),
		spanOf("t3", "a", "", 0, 1, attr("db.system", "postgresql")),
	) + "\n"
	name := filepath.Join(t.TempDir(), "traces.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{name}, Fields: []string{"context"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	var got []deem.Item
	for it, err := range d.Items() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, it)
	}
	if len(got) != 2 {
		t.Fatalf("%d items", len(got))
	}
	one, two := got[0], got[1]
	if one.ID != "t1" || one.Question != "Where was Ada born?" || one.Response != "In London." || one.References[0] != "London" || one.Cluster != "s1" ||
		one.Fields["context"] != "first\n\nsecond" || one.Fields[deem.FieldTokensIn] != "90" && one.Fields[deem.FieldTokensIn] != "90.0" || one.Fields[deem.FieldCost] != "0.002" || !strings.HasPrefix(one.Fields[deem.FieldLatency], "750") {
		t.Errorf("%+v", one)
	}
	if one.Fields[deem.FieldSpan] != "a" || two.Fields[deem.FieldSpan] != "b" {
		t.Errorf("the responses are of the spans %q and %q", one.Fields[deem.FieldSpan], two.Fields[deem.FieldSpan])
	}
	if two.ID != "t2" || two.Question != "How long?" || two.Response != "7 years" || !strings.HasPrefix(two.Fields[deem.FieldLatency], "2") {
		t.Errorf("%+v", two)
	}
	if notes := strings.Join(d.Notes(), "\n"); !strings.Contains(notes, "reading 2 traces of "+name+" as items; 1 others have no question or no response") {
		t.Errorf("notes %s", notes)
	}
}

// A file of many spans and few evaluations is read in bounded memory; a file without texts,
// or a truncated one, is rejected.
func TestTraceTrouble(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	dir := t.TempDir()
	write := func(text []byte) string {
		name := filepath.Join(dir, "t.json")
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for text, want := range map[string]string{
		spansOf(spanOf("t", "a", "", 0, 1, attr("db.system", "x"))):         "none of 1 traces has a question and a response",
		spansOf(spanOf("t", "a", "", 0, 1, attr("input.value", "q")))[:120]: "not the JSON of traces",
		`{"resourceSpans": 17}`: "none of 0 traces",
	} {
		if _, err := dataset.Open(t.Context(), dataset.Source{Names: []string{write([]byte(text))}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
	var big bytes.Buffer
	big.WriteString(`{"resourceSpans":[{"scopeSpans":[{"spans":[`)
	const spans = 200_000
	for i := range spans {
		if i > 0 {
			big.WriteString(",")
		}
		attributes := []string{attr("http.url", strings.Repeat("x", 100))}
		if i%20_000 == 0 {
			attributes = []string{attr("input.value", "q"), attr("output.value", "r")}
		}
		big.WriteString(spanOf(fmt.Sprintf("%032d", i), fmt.Sprint(i), "", 0, 1, attributes...))
	}
	big.WriteString(`]}]}]}`)
	name := write(big.Bytes())
	size := big.Len()
	big = bytes.Buffer{}
	peak := peakHeap(t)
	d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{name}})
	grown := peak()
	if err != nil {
		t.Fatal(err)
	}
	if d.Len() != 10 {
		t.Errorf("%d items", d.Len())
	}
	if grown > 200*spans {
		t.Errorf("a file of %d bytes with %d spans took %d bytes of memory", size, spans, grown)
	}
	_ = d.Close()
}

// peakHeap watches the heap, and returns a function that returns its maximum growth, with
// little garbage counted.
func peakHeap(t *testing.T) func() uint64 {
	t.Helper()
	t.Cleanup(func(old int) func() { return func() { debug.SetGCPercent(old) } }(debug.SetGCPercent(10)))
	runtime.GC()
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := heap()
	most := before
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			most = max(most, heap())
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-stopped
		return most - before
	}
}

// A Langfuse export is read without a mapping: messages become texts, and its latency is in
// seconds.
func TestLangfuseExport(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "traces.json")
	text := `[{"id":"a1","timestamp":"2026-01-01T00:00:00Z","sessionId":"s","input":{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Where was Ada born?"}]},
		"output":{"role":"assistant","content":"In London."},"expectedOutput":"London","latency":1.25,"totalCost":0.002,"inputTokens":90,"outputTokens":4},
		{"id":"a2","timestamp":"2026-01-01T00:00:00Z","sessionId":"s","input":{"depth":3},"output":["x",1],"expectedOutput":"x","latency":0.5,"totalCost":0.001,"inputTokens":9,"outputTokens":2}]`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	var got []deem.Item
	for it, err := range d.Items() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, it)
	}
	if one := got[0]; one.Question != "Where was Ada born?" || one.Response != "In London." || one.Fields[deem.FieldCost] != "0.002" || !strings.HasPrefix(one.Fields[deem.FieldLatency], "1250") {
		t.Errorf("%+v", one)
	}
	if two := got[1]; two.Question != `{"depth":3}` || two.Response != `["x",1]` {
		t.Errorf("an object and a list: %q and %q", two.Question, two.Response)
	}
}

// A small compressed file that expands to a large one is read in bounded memory.
func TestGzipBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	name := filepath.Join(t.TempDir(), "bomb.jsonl.gz")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	const size = 64 << 20
	for range size >> 16 {
		if _, err := w.Write(bytes.Repeat([]byte("\n"), 1<<16)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	peak := peakHeap(t)
	_, err := dataset.Open(t.Context(), dataset.Source{Names: []string{name}})
	if err == nil || !strings.Contains(err.Error(), "no items in "+name) {
		t.Errorf("error %v", err)
	}
	if grown := peak(); grown > size/4 {
		t.Errorf("%d bytes that become %d took %d bytes of memory", packed.Len(), size, grown)
	}
}
