package telemetry_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/model"
	"deem/internal/telemetry"
	"deem/model/fake"
)

var update = flag.Bool("update", false, "write the golden files again")

// scrape returns the page that Prometheus would read.
func scrape(t *testing.T, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Fatalf("status %d, headers %v: %s", w.Code, w.Header(), w.Body)
	}
	checkExposition(t, w.Body.String())
	return w.Body.String()
}

// The page of the whole story, in fake time.
func TestPrometheusPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tel := start(t, telemetry.Options{Version: "v1", Prometheus: true})
		s := trouble
		s.asks = func(id string, nth int) (deem.Reply, error) {
			time.Sleep(time.Duration(nth) * 100 * time.Millisecond)
			return trouble.asks(id, nth)
		}
		s.opts.Retry.Rand = func() float64 { return 0 }
		s.opts.Prices = price(t)
		play(t, tel, s)
		got, _ := apart(scrape(t, tel.Handler()))
		file := filepath.Join("testdata", "metrics.txt")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}
	})
}

// apart splits a page in two: the counts of the run, and the resource usage of the process,
// which varies.
func apart(page string) (counted, process string) {
	const first = "# HELP go_goroutines "
	counted, process, _ = strings.Cut(page, first)
	return counted, first + process
}

// The page shows the resource usage of the process, so that a leak is visible.
func TestPrometheusProcess(t *testing.T) {
	tel := start(t, telemetry.Options{Prometheus: true})
	read := func(name string) float64 {
		t.Helper()
		_, process := apart(scrape(t, tel.Handler()))
		_, rest, ok := strings.Cut(process, "\n"+name+" ")
		if !ok {
			t.Fatalf("no %s in\n%s", name, process)
		}
		number, _, _ := strings.Cut(rest, "\n")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	stop := make(chan struct{})
	before := read("go_goroutines")
	for range 100 {
		go func() { <-stop }()
	}
	if got := read("go_goroutines") - before; got < 90 || got > 110 {
		t.Errorf("go_goroutines grew by %v with 100 more goroutines", got)
	}
	close(stop)
	if got := read("go_memstats_heap_alloc_bytes"); got < 10<<10 || got > 10<<30 {
		t.Errorf("go_memstats_heap_alloc_bytes = %v, which no program needs", got)
	}
	if _, err := os.Stat("/proc/self/statm"); err != nil {
		t.Log("this system does not say what a process takes")
		return
	}
	if got := read("process_resident_memory_bytes"); got < 1<<20 || got > 10<<30 {
		t.Errorf("process_resident_memory_bytes = %v, which no program needs", got)
	}
	open := read("process_open_fds")
	file, err := os.Open("testdata")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got := read("process_open_fds"); got != open+1 {
		t.Errorf("process_open_fds = %v with one more file open, want %v", got, open+1)
	}
}

// price returns a price list that includes the model of the story.
func price(t *testing.T) model.Prices {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prices.json")
	text := `{"version":"test","date":"2026-11-01","prices":[{"model":"openai:gpt-test","input":10,"output":100}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := model.LoadPrices(file)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var (
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$`)
	labelPair  = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)`)
)

// checkExposition checks a page against the rules of the text format: each name is declared
// once and before its values, no series occurs twice, buckets are cumulative, and the last
// bucket equals the count.
func checkExposition(t *testing.T, page string) {
	t.Helper()
	if !strings.HasSuffix(page, "\n") {
		t.Error("the page does not end with a newline")
	}
	types, seen, last, inf := map[string]string{}, map[string]bool{}, map[string]float64{}, map[string]float64{}
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if types[name] != "" {
				t.Errorf("%s is declared twice", name)
			}
			types[name] = kind
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("not a line of the format: %s", line)
			continue
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil || seen[m[1]+m[2]] {
			t.Errorf("a line without a number, or for the second time: %s", line)
		}
		seen[m[1]+m[2]] = true
		labels := readLabels(t, m[2])
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(m[1], "_bucket"), "_sum"), "_count")
		le := labels["le"]
		delete(labels, "le")
		series := fmt.Sprint(base, labels)
		switch {
		case strings.HasSuffix(m[1], "_bucket"):
			if value < last[series] {
				t.Errorf("a bucket that shrinks: %s", line)
			}
			last[series] = value
			if le == "+Inf" {
				inf[series] = value
			}
		case strings.HasSuffix(m[1], "_count") && types[base] == "histogram":
			if inf[series] != value {
				t.Errorf("%s, and %v up to infinity", line, inf[series])
			}
		case types[base] == "" && types[m[1]] == "":
			t.Errorf("%s has no type", m[1])
		}
	}
}

func readLabels(t *testing.T, text string) map[string]string {
	t.Helper()
	labels := map[string]string{}
	for text != "" {
		m := labelPair.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("not labels: %s", text)
			return labels
		}
		labels[m[1]] = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(m[2])
		text = text[len(m[0]):]
	}
	return labels
}

// Names of models and labels of failures can be arbitrary text.
func FuzzPrometheusLabels(f *testing.F) {
	for _, s := range []string{"plain", `quote " and \ back`, "new\nline", `\n`, "two, {of} them=\"x\"", "\xff\xfe", "中文", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		tel := telemetry.Start(telemetry.Options{Prometheus: true})
		defer tel.Close()
		_, r := tel.Run(t.Context(), telemetry.RunInfo{Judge: name})
		r.Add(deem.Record{Verdict: &deem.Verdict{}})
		r.End(nil)
		page := scrape(t, tel.Handler())
		_, line, _ := strings.Cut(page, "\ndeem_records_total{")
		line, _, _ = strings.Cut(line, "} 1\n")
		if got, want := readLabels(t, line)["deem_judge"], strings.ToValidUTF8(name, "\uFFFD"); got != want {
			t.Errorf("the judge is %q, want %q", got, want)
		}
	})
}

// The gauges follow the limiter during a run, and disappear afterwards. The test reads them
// over HTTP, as Prometheus does.
func TestScrapeDuringARun(t *testing.T) {
	tel := start(t, telemetry.Options{Prometheus: true})
	url, public, err := tel.Serve(t.Context(), "0")
	if err != nil || public || !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Fatalf("Serve = %s, %v, %v", url, public, err)
	}
	asked, answer := make(chan struct{}), make(chan struct{})
	wire := fake.Func("openai:gpt-test", func(context.Context, deem.Request) (deem.Reply, error) {
		asked <- struct{}{}
		<-answer
		return deem.Reply{Text: "yes", Stop: deem.StopEnd}, nil
	})
	m := tel.Model(model.Assemble(tel.Wire(wire), model.Options{Limit: model.LimitOptions{Concurrency: 4}}))
	ctx, r := tel.Run(t.Context(), telemetry.RunInfo{ID: "run-1", Judge: "asker", Model: wire.Name(), Limit: limiter(m)})
	done := make(chan error)
	for i := range 3 {
		go func() {
			_, err := m.Complete(ctx, deem.Prompt(strconv.Itoa(i)))
			done <- err
		}()
		<-asked
	}
	labels := `{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-test"}`
	page := get(t, url)
	for _, want := range []string{"deem_concurrency" + labels + " 3\n", "deem_concurrency_limit" + labels + " 4\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	close(answer)
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	r.End(nil)
	page = get(t, url)
	if strings.Contains(page, "deem_concurrency") || !strings.Contains(page, `outcome="replied"} 3`) {
		t.Errorf("after the run the page is\n%s", page)
	}
	tel.Close()
	if _, err := net.DialTimeout("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics"), time.Second); err == nil {
		t.Error("the address is still served after Close")
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, resp.Status, err)
	}
	checkExposition(t, string(body))
	return string(body)
}

func TestServeAddress(t *testing.T) {
	tel := start(t, telemetry.Options{Prometheus: true})
	for _, tt := range []struct {
		address string
		public  bool
		err     string
	}{
		{"0", false, ""},
		{":0", false, ""},
		{"127.0.0.1:0", false, ""},
		{"localhost:0", false, ""},
		{"0.0.0.0:0", true, ""},
		{"", false, "not an address"},
		{"localhost", false, "not an address"},
		{"localhost:http", false, "no port"},
		{"127.0.0.1:70000", false, "no port"},
		{"-1", false, "no port"},
		{"999.1.1.1:0", false, "show metrics"},
	} {
		_, public, err := tel.Serve(t.Context(), tt.address)
		if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) || public != tt.public {
			t.Errorf("Serve(%q) = %v, %v, want %v and an error with %q", tt.address, public, err, tt.public, tt.err)
		}
	}
	url, _, err := tel.Serve(t.Context(), "0")
	if err != nil {
		t.Fatal(err)
	}
	taken := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics")
	if _, _, err := tel.Serve(t.Context(), taken); err == nil {
		t.Errorf("Serve(%q) twice is not an error", taken)
	}
}

// Only GET and HEAD are allowed, and there is nothing to see unless metrics are asked for.
func TestHandlerMethods(t *testing.T) {
	tel := start(t, telemetry.Options{Prometheus: true})
	for method, want := range map[string]int{"GET": 200, "HEAD": 200, "POST": 405, "DELETE": 405} {
		w := httptest.NewRecorder()
		tel.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/metrics", http.NoBody))
		if w.Code != want {
			t.Errorf("%s = %d, want %d", method, w.Code, want)
		}
	}
	var nobody *telemetry.Telemetry
	for _, tel := range []*telemetry.Telemetry{nobody, start(t, telemetry.Options{Log: io.Discard})} {
		w := httptest.NewRecorder()
		tel.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		if w.Code != http.StatusNotFound {
			t.Errorf("status %d without metrics, want %d", w.Code, http.StatusNotFound)
		}
	}
}
