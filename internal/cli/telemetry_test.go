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
)

// A watcher receives OTLP without decoding it. internal/telemetry tests the content.
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

// got returns everything received.
func (w *watcher) got() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

const watchedKey = "sk-test-0123456789abcdef"

// A stopped run delivers its telemetry, and a collector that hangs delays it by at most a
// few seconds, although OpenTelemetry would wait for an hour.
func TestInterruptDeliversWhatThereIs(t *testing.T) {
	t.Parallel()
	notQuick(t)
	for _, hang := range []bool{false, true} {
		t.Run(fmt.Sprintf("hang=%v", hang), func(t *testing.T) {
			t.Parallel()
			w, dir := newWatcher(t, hang), t.TempDir()
			srv, release := holding(t, 4)
			writeItems(t, dir, 100, func(i int) string { return fmt.Sprint(i) })
			env := []string{"OPENAI_API_KEY=" + watchedKey, "OTEL_EXPORTER_OTLP_ENDPOINT=" + w.URL}
			for _, name := range []string{"OTEL_METRIC_EXPORT_INTERVAL", "OTEL_METRIC_EXPORT_TIMEOUT", "OTEL_BSP_EXPORT_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"} {
				env = append(env, name+"=3600000")
			}
			p := startWith(t, dir, env, modelArgs(srv, "-j", "4")...)
			until(t, "requests", func() bool { return srv.Requests() >= 8 })
			p.interrupt(t)
			release()
			began := time.Now()
			if code := p.wait(t); code != 130 {
				t.Fatalf("exit code %d, want 130\n%s", code, p.err.String())
			}
			t.Logf("it took %v", time.Since(began))
			// Sent data may arrive after the process has ended.
			for _, want := range []string{"/v1/traces ", "chat any", "judge universal", "gen_ai.usage.input_tokens", "/v1/metrics ", "deem.calls", "gen_ai.client.operation.duration"} {
				until(t, "the collector to be told of "+want, func() bool { return strings.Contains(w.got(), want) })
			}
			if text := w.got(); strings.Contains(text, watchedKey) || strings.Contains(text, "Which number?") {
				t.Error("the collector was told a key or a prompt")
			}
			want := 0
			if hang {
				want = 1
			}
			if warned := strings.Count(p.err.String(), "deem: warning: spans and metrics are not delivered"); warned != want {
				t.Errorf("%d warnings, want %d:\n%s", warned, want, p.err.String())
			}
		})
	}
}

// The counters can be scraped during a run.
func TestScrapeWhileRunning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	srv, release := holding(t, 4)
	writeItems(t, dir, 40, func(i int) string { return fmt.Sprint(i) })
	p := start(t, dir, modelArgs(srv, "-j", "4", "--metrics", "127.0.0.1:0", "--log", "run.log")...)
	until(t, "requests", func() bool { return srv.Requests() >= 8 })
	var address []string
	until(t, "the address", func() bool {
		address = regexp.MustCompile(`deem: metrics are at (\S+)\n`).FindStringSubmatch(p.err.String())
		return address != nil
	})
	page := ""
	until(t, "records", func() bool {
		page = scraped(t, address[1])
		return strings.Contains(page, `deem_records_total{deem_judge="universal",outcome="judged"} `)
	})
	for _, want := range []string{`deem_calls_total{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="any",outcome="replied"} `, "deem_concurrency_limit{", "gen_ai_client_operation_duration_seconds_bucket{"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	release()
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.err.String())
	}
	log, err := os.ReadFile(filepath.Join(dir, "run.log"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(log), `"msg":"metrics","url":"`+address[1]+`"`) {
		t.Errorf("the log does not say where the metrics are:\n%s", log)
	}
	if strings.Contains(page+string(log), watchedKey) {
		t.Error("the key is told")
	}
}

// scraped returns the page at an address, or "" without a server.
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
