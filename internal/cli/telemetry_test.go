package cli_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const watchedKey = "sk-test-0123456789abcdef"

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
