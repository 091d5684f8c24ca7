package cli_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"deem/model/modeltest"
)

// A watcher takes what OTLP brings, as it is. What it means is looked at where it is
// made, in internal/telemetry.
type watcher struct {
	*httptest.Server
	mu   sync.Mutex
	text strings.Builder
}

func newWatcher(t *testing.T, hang bool) *watcher {
	t.Helper()
	w, over := &watcher{}, make(chan struct{})
	w.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.mu.Lock()
		fmt.Fprintf(&w.text, "%s %s\n", r.URL.Path, body)
		w.mu.Unlock()
		if hang {
			select {
			case <-r.Context().Done():
			case <-over:
			}
		}
	}))
	t.Cleanup(func() {
		close(over)
		w.CloseClientConnections()
		w.Close()
	})
	return w
}

// got returns all that came.
func (w *watcher) got() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// slowly answers after a while.
func slowly(modeltest.Asked) modeltest.Answer {
	a := modeltest.Say("CORRECT")
	a.Delay = 100 * time.Millisecond
	return a
}

const watchedKey = "sk-test-0123456789abcdef"

// A run that is stopped delivers what there is to tell, and a collector that hangs holds
// it up for no more than a few seconds.
func TestInterruptDeliversWhatThereIs(t *testing.T) {
	for _, hang := range []bool{false, true} {
		t.Run(fmt.Sprintf("hang=%v", hang), func(t *testing.T) {
			t.Parallel()
			w, srv, dir := newWatcher(t, hang), modeltest.NewServer(t, slowly), t.TempDir()
			writeItems(t, dir, 500, func(i int) string { return fmt.Sprint(i) })
			env := []string{"OPENAI_API_KEY=" + watchedKey, "OTEL_EXPORTER_OTLP_ENDPOINT=" + w.URL, "OTEL_METRIC_EXPORT_INTERVAL=60000"}
			p := startWith(t, dir, env, modelArgs(srv, "-j", "4")...)
			until(t, "requests", func() bool { return srv.Requests() >= 8 })
			if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if code := p.wait(t); code != 130 {
				t.Fatalf("exit code %d, want 130\n%s", code, p.err.String())
			}
			took := time.Since(began)
			text := w.got()
			for _, want := range []string{"/v1/traces ", "chat any", "judge universal", "gen_ai.usage.input_tokens", "/v1/metrics ", "deem.calls", "gen_ai.client.operation.duration"} {
				if !strings.Contains(text, want) {
					t.Errorf("the collector was not told of %q", want)
				}
			}
			if strings.Contains(text, watchedKey) || strings.Contains(text, "Which number?") {
				t.Error("the collector was told a key or a prompt")
			}
			want := 0
			if hang {
				want = 1
			}
			if warned := strings.Count(p.err.String(), "deem: warning: spans and metrics are not delivered"); warned != want || took > 10*time.Second {
				t.Errorf("it took %v and said:\n%s", took, p.err.String())
			}
		})
	}
}

// The counters can be scraped while a run lasts.
func TestScrapeWhileRunning(t *testing.T) {
	srv, dir := modeltest.NewServer(t, slowly), t.TempDir()
	writeItems(t, dir, 40, func(i int) string { return fmt.Sprint(i) })
	p := start(t, dir, modelArgs(srv, "-j", "4", "--metrics", "127.0.0.1:0", "--log", "run.log")...)
	log := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "run.log"))
		if err != nil {
			return ""
		}
		return string(text)
	}
	until(t, "the log", func() bool { return strings.Contains(log(), "run started") })
	// The address is on standard error before the run starts, so it is there by now. It
	// is read only when the process is over, so the port is asked for in the log.
	address := regexp.MustCompile(`"msg":"metrics","url":"([^"]+)"`).FindStringSubmatch(log())
	if address == nil {
		t.Fatalf("the log does not say where the metrics are:\n%s", log())
	}
	until(t, "records", func() bool {
		return strings.Contains(scraped(t, address[1]), `deem_records_total{deem_judge="universal",outcome="judged"} `)
	})
	page := scraped(t, address[1])
	for _, want := range []string{`deem_calls_total{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="any",outcome="replied"} `, "deem_concurrency_limit{", "gen_ai_client_operation_duration_seconds_bucket{"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	if strings.Contains(page+log(), watchedKey) {
		t.Error("the key is told")
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.err.String())
	}
}

// scraped returns the page at an address, "" when nobody answers.
func scraped(t *testing.T, url string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return ""
	}
	return string(text)
}
