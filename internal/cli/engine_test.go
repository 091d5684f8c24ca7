package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/store/sqlite"
	"deem/internal/test/faultserver"
	"deem/internal/test/modeltest"
	"deem/report"
)

// faulty starts a server that misbehaves until the test ends.
func faulty(t *testing.T, o faultserver.Options) (*faultserver.Server, string) {
	t.Helper()
	srv := faultserver.New(o)
	url, err := srv.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close() })
	return srv, url
}

// faultyArgs returns the arguments of a run against it.
func faultyArgs(url string, more ...string) []string {
	return append([]string{"run", "--data", "items.jsonl", "--judge", "universal", "--model", "openai:any", "--base-url", url, "--json"}, more...)
}

// With 64 workers, hardly any calls to a server with sixteen slots are refused. Package
// model tests the use of the slots in simulated time: here it would depend on the machine.
func TestLimitFindsTheSlots(t *testing.T) {
	t.Parallel()
	notQuick(t)
	const n, slots, latency = 200, 16, 200 * time.Millisecond
	srv, url := faulty(t, faultserver.Options{Slots: slots, Latency: latency})
	dir := t.TempDir()
	writeItems(t, dir, n, func(i int) string { return fmt.Sprint(i) })
	began := time.Now()
	run(t, dir, 0, faultyArgs(url, "-j", "64")...)
	took, ideal := time.Since(began), n*latency/slots
	s := srv.Stats()
	t.Logf("%v, %.2f of the ideal; %.3f requests for each item; %d refused", took, took.Seconds()/ideal.Seconds(), s.PerItem(), s.Refused)
	if s.PerItem() > 1.5 {
		t.Errorf("%.3f requests for each item, want at most 1.5", s.PerItem())
	}
}

// Errors, broken connections and bursts of refusals cost hardly more requests than there
// are items, and hardly any verdicts: all six attempts may fail.
func TestRunThroughTrouble(t *testing.T) {
	t.Parallel()
	notQuick(t)
	const n, j, every = troubled, 64, 3 * time.Second
	srv, url := faulty(t, faultserver.Options{
		Latency: 10 * time.Millisecond, Jitter: 10 * time.Millisecond, Slots: 48,
		Faults: map[faultserver.Fault]float64{faultserver.Unavailable: 0.05, faultserver.Reset: 0.02},
		Storm:  faultserver.Storm{Every: every, For: 300 * time.Millisecond},
	})
	dir := t.TempDir()
	writeItems(t, dir, n, func(i int) string { return fmt.Sprint(i) })
	began := time.Now()
	p := run(t, dir, 0, faultyArgs(url, "-j", fmt.Sprint(j))...)
	took := time.Since(began)
	var r report.Report
	if err := json.Unmarshal([]byte(p.out.String()), &r); err != nil {
		t.Fatal(err)
	}
	s := srv.Stats()
	t.Logf("%v, %.3f requests for each item, %d refused, %d of them after the grace, %d answered twice", took, s.PerItem(), s.Refused, s.Exceeded, s.Duplicates)
	taken := float64(s.Requests-s.Refused) / n
	if r.Judged < n-n/1000 || r.Judged+r.Unjudged != n || taken > 1.15 || s.Duplicates > 0 {
		t.Errorf("%d judged, %d unjudged, %.3f requests for each item that were not refused, %d answered twice, want all but one in a thousand, at most 1.15, and none",
			r.Judged, r.Unjudged, taken, s.Duplicates)
	}
	// A slow machine sees more bursts. In each one the calls in flight are refused, and few
	// others.
	if storms := int(took/every) + 1; s.Refused > 2*j*storms {
		t.Errorf("%d requests refused in %d storms, want at most %d in each", s.Refused, storms, 2*j)
	}
	if s.Peak > 48 {
		t.Errorf("%d requests at once, want at most the 48 slots", s.Peak)
	}
}

// A rejected key, or an account without credit, costs at most as many calls as there are
// workers, and no verdicts.
func TestFatalFromTheFirstCall(t *testing.T) {
	const j = 6
	bodies := map[string]modeltest.Answer{
		"key":   modeltest.Fail(401, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`),
		"quota": modeltest.Fail(429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`),
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer { return body })
			dir := t.TempDir()
			writeItems(t, dir, 500, func(i int) string { return fmt.Sprint(i) })
			p := run(t, dir, 1, modelArgs(srv, "-j", fmt.Sprint(j))...)
			if srv.Requests() > j {
				t.Errorf("%d requests, want at most %d", srv.Requests(), j)
			}
			if strings.Count(p.err.String(), "deem: error: ") != 1 || strings.Count(p.err.String(), "deem: hint: ") != 1 {
				t.Errorf("want one error and one hint in:\n%s", p.err.String())
			}
			if kept := records(t, dir); len(kept) != 0 {
				t.Errorf("%d records, want none", len(kept))
			}
		})
	}
}

// A budget of one dollar is kept with 512 calls in flight, and the run resumes from there
// without repeating a call.
func TestBudgetHolds(t *testing.T) {
	t.Parallel()
	const n = 1500
	srv := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer {
		a := modeltest.Say("CORRECT")
		a.Reply.Usage = deem.Usage{Input: 400, Output: 5} // one call costs $0.00081
		a.Delay = 5 * time.Millisecond
		return a
	})
	dir := t.TempDir()
	writeItems(t, dir, n, func(i int) string { return fmt.Sprint(i) })
	prices := `{"version": "test", "date": "2026-11-15", "prices": [{"model": "openai:any", "input": 2, "output": 2}]}`
	if err := os.WriteFile(filepath.Join(dir, "prices.json"), []byte(prices), 0o600); err != nil {
		t.Fatal(err)
	}
	args := modelArgs(srv, "-j", "512", "--prices", "prices.json")
	p := run(t, dir, 1, append(args, "--max-cost", "1.00")...)
	spent := costOf(t, dir)
	t.Logf("%d micros spent in %d requests", spent, srv.Requests())
	if spent > 1_000_000 || spent < 990_000 {
		t.Errorf("%d micros spent of a million, want nearly all and not one more\n%s", spent, p.err.String())
	}
	if !strings.Contains(p.err.String(), "the budget of $1.00 is used up") || !strings.Contains(p.err.String(), "deem: hint: ") {
		t.Errorf("no sentence and hint in:\n%s", p.err.String())
	}
	if kept := len(records(t, dir)); kept != srv.Requests() {
		t.Errorf("%d records of %d requests, want one for each", kept, srv.Requests())
	}
	run(t, dir, 0, append(args, "--max-cost", "5.00")...)
	if srv.Requests() != n || len(records(t, dir)) != n {
		t.Errorf("%d requests and %d records for %d items, want one each", srv.Requests(), len(records(t, dir)), n)
	}
}

// costOf returns the cost of the newest run, in millionths of a dollar.
func costOf(t *testing.T, dir string) int64 {
	t.Helper()
	st, err := sqlite.OpenReadOnly(t.Context(), filepath.Join(dir, ".deem", "deem.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	r, err := st.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	return r.CostMicros
}

// canary is a key that must not be found anywhere.
const canary = "sk-canary-7f3a9c1e5b2d8f40"

// Whatever goes wrong, and however the server repeats the key, it is in no file and on no
// stream.
func TestKeyIsNowhere(t *testing.T) {
	t.Parallel()
	notQuick(t)
	repeat := func(a modeltest.Asked) string { return strings.TrimPrefix(a.Header.Get("Authorization"), "Bearer ") }
	troubles := []struct {
		name   string
		answer func(modeltest.Asked) modeltest.Answer
		exit   int
	}{
		{"reply", func(a modeltest.Asked) modeltest.Answer { return modeltest.Say("CORRECT") }, 0},
		{"unauthorized", func(a modeltest.Asked) modeltest.Answer {
			return modeltest.Fail(401, `{"error":{"message":"Incorrect API key provided: `+repeat(a)+`"}}`)
		}, 1},
		{"bad request", func(a modeltest.Asked) modeltest.Answer {
			return modeltest.Fail(400, `{"error":{"message":"header Authorization: Bearer `+repeat(a)+`"}}`)
		}, 3},
		{"server error", func(a modeltest.Asked) modeltest.Answer { return modeltest.Fail(500, "crash with "+repeat(a)) }, 3},
		{"busy", func(a modeltest.Asked) modeltest.Answer {
			return modeltest.Fail(429, `{"error":{"message":"slow down, `+repeat(a)+`"}}`)
		}, 3},
		{"web page", func(a modeltest.Asked) modeltest.Answer {
			return modeltest.Fail(502, "<html><title>"+repeat(a)+"</title></html>")
		}, 3},
		{"no JSON", func(a modeltest.Asked) modeltest.Answer { return modeltest.Fail(200, "key="+repeat(a)) }, 3},
		{"cut off", func(modeltest.Asked) modeltest.Answer {
			a := modeltest.Say("CORRECT")
			a.Cut = true
			return a
		}, 3},
		{"hanging", func(modeltest.Asked) modeltest.Answer { return modeltest.Answer{Hang: true} }, 3},
		{"redirect", func(a modeltest.Asked) modeltest.Answer {
			return modeltest.Answer{Raw: &modeltest.Raw{Status: 302, Header: map[string]string{"Location": "http://127.0.0.1:1/?key=" + repeat(a)}}}
		}, 1},
	}
	for _, tt := range troubles {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := modeltest.NewServer(t, tt.answer)
			dir := t.TempDir()
			writeItems(t, dir, 2, func(i int) string { return fmt.Sprint(i) })
			// Only a server that never answers times out, however slow this machine is.
			timeout := "10m"
			if tt.name == "hanging" {
				timeout = "300ms"
			}
			run := append(modelArgs(srv, "--retries", "1", "--record", "replies.jsonl"), "--timeout", timeout)
			streams := ""
			for _, c := range []struct {
				args []string
				exit int
			}{
				{run, tt.exit},
				{append(run, "--json", "--fresh"), tt.exit},
				{[]string{"show", "q0", "--json"}, -1},
				{[]string{"report"}, -1},
				{[]string{"doctor", "--model", "openai:any", "--base-url", srv.URL, "--timeout", timeout}, -1},
			} {
				p := startWith(t, dir, []string{"OPENAI_API_KEY=" + canary}, c.args...)
				if code := p.wait(t); code != c.exit && c.exit >= 0 {
					t.Errorf("deem %v: exit code %d, want %d\n%s", c.args, code, c.exit, p.err.String())
				}
				streams += p.out.String() + p.err.String()
			}
			if strings.Contains(streams, canary) || strings.Contains(streams, "canary") {
				t.Errorf("the key is on a stream:\n%s", streams)
			}
			if files := filesWith(t, dir, "canary"); len(files) > 0 {
				t.Errorf("the key is in %v", files)
			}
		})
	}
}

// filesWith returns the files in dir that contain text.
func filesWith(t *testing.T, dir, text string) []string {
	t.Helper()
	var files []string
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), text) {
			files = append(files, path)
		}
		return err
	})
	if err != nil || n < 2 {
		t.Fatalf("%d files read, error %v: the test checks nothing", n, err)
	}
	return files
}

// Each vendor is called with the name of its model, the key in its variable, and the
// address in its variable.
func TestVendors(t *testing.T) {
	anthropic := `{"id":"m","type":"message","role":"assistant","model":"claude-x","content":[{"type":"text","text":"CORRECT"}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":2}}`
	google := `{"candidates":[{"content":{"role":"model","parts":[{"text":"CORRECT"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2},"modelVersion":"gemini-x"}`
	ollama := `{"model":"llama-x","message":{"role":"assistant","content":"CORRECT"},"done":true,"done_reason":"stop","prompt_eval_count":10,"eval_count":2}`
	tests := []struct{ model, key, server, header, want, answer string }{
		{"anthropic:claude-x", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "X-Api-Key", "the-key", anthropic},
		{"google:gemini-x", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "X-Goog-Api-Key", "the-key", google},
		{"google:gemini-x", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "X-Goog-Api-Key", "the-key", google},
		{"ollama:llama-x", "OLLAMA_API_KEY", "OLLAMA_HOST", "Authorization", "Bearer the-key", ollama},
	}
	for _, tt := range tests {
		t.Run(tt.model+" "+tt.key, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get(tt.header); got != tt.want {
					t.Errorf("%s: header %s is %q, want %q", r.URL.Path, tt.header, got, tt.want)
				}
				w.Header().Set("Content-Type", "application/json")
				if strings.HasSuffix(r.URL.Path, "/api/show") {
					fmt.Fprint(w, `{"model_info":{"general.architecture":"llama","llama.context_length":8192},"capabilities":["completion"]}`)
					return
				}
				fmt.Fprint(w, tt.answer)
			}))
			defer srv.Close()
			for _, v := range []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OLLAMA_API_KEY"} {
				t.Setenv(v, "")
			}
			t.Setenv(tt.key, "the-key")
			t.Setenv(tt.server, srv.URL)
			dir := t.TempDir()
			writeItems(t, dir, 3, func(i int) string { return fmt.Sprint(i) })
			p := run(t, dir, 0, "run", "--data", "items.jsonl", "--judge", "universal", "--model", tt.model)
			if !strings.Contains(p.out.String(), "3 judged, 0 unjudged") {
				t.Errorf("not all are judged:\n%s", p.out.String())
			}
			p = run(t, dir, 0, "doctor", "--model", tt.model)
			for _, want := range []string{"ok   server", "ok   key", "ok   name", "10 tokens in, 2 out"} {
				if !strings.Contains(p.out.String(), want) {
					t.Errorf("no %q in:\n%s", want, p.out.String())
				}
			}
		})
	}
}
