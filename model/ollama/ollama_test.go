package ollama_test

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/ollama"
)

// open returns a model or fails the test.
func open(t *testing.T, o ollama.Options) *ollama.Model {
	t.Helper()
	m, err := ollama.New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	c := m.(*ollama.Model)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A trip answers HTTP requests without a network.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// says returns a client that answers every call with the given body.
func says(body string) *http.Client {
	return &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})}
}

const okBody = `{"model":"m","message":{"role":"assistant","content":"yes"},"done":true,"done_reason":"stop"}`

// caught returns the HTTP request of a call with a window of 4096 tokens, and its body.
func caught(t *testing.T, o ollama.Options, req deem.Request) (*http.Request, string) {
	t.Helper()
	var got *http.Request
	var sent []byte
	o.ContextLength = 4096
	o.HTTPClient = &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
		got = r
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(okBody))}, nil
	})}
	if _, err := open(t, o).Complete(t.Context(), req); err != nil {
		t.Fatalf("Complete: %v", err)
	}
	return got, string(sent)
}

func TestBaseURL(t *testing.T) {
	tests := map[string]string{
		"":                              "http://127.0.0.1:11434",
		"  ":                            "http://127.0.0.1:11434",
		"1.2.3.4":                       "http://1.2.3.4:11434",
		":1234":                         "http://127.0.0.1:1234",
		"1.2.3.4:1234":                  "http://1.2.3.4:1234",
		"example.com":                   "http://example.com:11434",
		"example.com:1234":              "http://example.com:1234",
		"example.com/ollama":            "http://example.com:11434/ollama",
		"localhost":                     "http://localhost:11434",
		"0.0.0.0":                       "http://127.0.0.1:11434",
		"0.0.0.0:11434":                 "http://127.0.0.1:11434",
		"http://0.0.0.0:11434":          "http://127.0.0.1:11434",
		"[::]":                          "http://[::1]:11434",
		"[::]:8080":                     "http://[::1]:8080",
		"::1":                           "http://[::1]:11434",
		"[::1]:1337":                    "http://[::1]:1337",
		"http://[::1]":                  "http://[::1]",
		" \" 1.2.3.4 \" ":               "http://1.2.3.4:11434",
		"'1.2.3.4'":                     "http://1.2.3.4:11434",
		"http://1.2.3.4":                "http://1.2.3.4",
		"http://1.2.3.4:4321":           "http://1.2.3.4:4321",
		"https://example.com":           "https://example.com",
		"HTTPS://Example.com/":          "https://Example.com",
		"https://example.com/ollama/":   "https://example.com/ollama",
		"http://localhost:11434/v1":     "http://localhost:11434",
		"http://localhost:11434/api":    "http://localhost:11434",
		"http://h/x/api/chat":           "http://h/x",
		"ollama.com":                    "https://ollama.com",
		"https://user:pw@example.com/o": "https://user:pw@example.com/o",
	}
	for host, want := range tests {
		got, err := ollama.BaseURL(host)
		if err != nil || got != want {
			t.Errorf("BaseURL(%q) = %q, %v, want %q", host, got, err, want)
		}
	}
	for _, host := range []string{":0", ":66000", ":-1", "host:port", "ftp://host", "http://ho st", "user:s3cret/x@host", "a b", "%zz", "http://[::1"} {
		got, err := ollama.BaseURL(host)
		if err == nil {
			t.Errorf("BaseURL(%q) = %q, want an error", host, got)
		} else if deem.HintOf(err) == "" || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("BaseURL(%q): error %q with hint %q", host, err, deem.HintOf(err))
		}
	}
}

// FuzzBaseURL checks that the result is a valid URL that maps to itself.
func FuzzBaseURL(f *testing.F) {
	for _, seed := range []string{"", ":1", "[::]", "http://u:p@h:1/p?q#f", "::1", "'h'", "ollama.com"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		base, err := ollama.BaseURL(host)
		if err != nil {
			return
		}
		u, err := url.Parse(base)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
			t.Fatalf("BaseURL(%q) = %q, which cannot be called: %v", host, base, err)
		}
		if again, err := ollama.BaseURL(base); err != nil || !strings.HasPrefix(base, again) {
			t.Errorf("BaseURL(%q) = %q, and that is %q, %v", host, base, again, err)
		}
	})
}

func TestAddress(t *testing.T) {
	for base, want := range map[string]string{
		"":                                "http://127.0.0.1:11434/api/chat",
		"0.0.0.0:8080":                    "http://127.0.0.1:8080/api/chat",
		"https://example.com/ollama/":     "https://example.com/ollama/api/chat",
		"http://localhost:11434/api/chat": "http://localhost:11434/api/chat",
	} {
		o := ollama.Options{Model: "qwen3:14b", BaseURL: base, Key: "secret-0123\n"}
		r, _ := caught(t, o, deem.Prompt("q"))
		if got := r.URL.String(); got != want || r.Header.Get("Authorization") != "Bearer secret-0123" {
			t.Errorf("base %q calls %s with %v, want %s", base, got, r.Header, want)
		}
		if m := open(t, o); m.Name() != "ollama:qwen3:14b" || m.Endpoint() != strings.TrimSuffix(want, "/api/chat") {
			t.Errorf("base %q: %s at %s", base, m.Name(), m.Endpoint())
		}
	}
	r, _ := caught(t, ollama.Options{Model: "m"}, deem.Prompt("q"))
	if _, ok := r.Header["Authorization"]; ok {
		t.Error("an empty key was sent")
	}
}

func TestNewRefuses(t *testing.T) {
	tests := []ollama.Options{
		{},
		{Model: "m", BaseURL: "ftp://host"},
		{Model: "m", BaseURL: "host:port"},
		{Model: "m", Key: "secret-0123\nsecond line"},
		{Model: "m", ContextLength: -1},
		{Model: "m", Think: "a lot"},
		{Model: "m", CAFile: "no-such-file.pem"},
	}
	for _, o := range tests {
		_, err := ollama.New(o)
		if err == nil {
			t.Errorf("New(%v) gave no error", o)
		} else if strings.Contains(err.Error()+deem.HintOf(err), "secret") {
			t.Errorf("the error %q shows a secret", err)
		}
	}
}

// TestWire pins the bytes that are sent.
func TestWire(t *testing.T) {
	const always = `"truncate":false,"shift":false`
	zero, one, seed := 0.0, 1.0, int64(7)
	asJSON, schema := deem.Prompt("q"), deem.Prompt("q")
	asJSON.JSON = true
	schema.Schema = json.RawMessage(`{"type":"object","required":["a"]}`)
	full := deem.Request{
		Messages:  []deem.Message{{Role: "system", Content: "s"}, {Role: "user", Content: "a < b & c"}},
		MaxTokens: 10, Temperature: &zero, TopP: &one, Seed: &seed, Stop: []string{"\n"}, TopLogprobs: 50, Trial: 3,
	}
	tests := []struct {
		name string
		o    ollama.Options
		req  deem.Request
		want string
	}{
		{"nothing given", ollama.Options{}, deem.Prompt("q"), `{"model":"m","messages":[{"role":"user","content":"q"}],"stream":false,` + always + `,"options":{"num_ctx":4096}}`},
		{"no messages", ollama.Options{}, deem.Request{}, `{"model":"m","messages":[],"stream":false,` + always + `,"options":{"num_ctx":4096}}`},
		{
			"everything",
			ollama.Options{},
			full,
			`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a < b & c"}],"stream":false,` + always +
				`,"logprobs":true,"top_logprobs":20,"options":{"num_ctx":4096,"num_predict":10,"temperature":0,"top_p":1,"seed":7,"stop":["\n"]}}`,
		},
		{"object", ollama.Options{}, asJSON, `{"model":"m","messages":[{"role":"user","content":"q"}],"stream":false,"format":"json",` + always + `,"options":{"num_ctx":4096}}`},
		{"schema", ollama.Options{}, schema, `{"model":"m","messages":[{"role":"user","content":"q"}],"stream":false,"format":{"type":"object","required":["a"]},` + always + `,"options":{"num_ctx":4096}}`},
		{"thoughts", ollama.Options{Think: "on"}, deem.Prompt("q"), `{"model":"m","messages":[{"role":"user","content":"q"}],"stream":false,"think":true,` + always + `,"options":{"num_ctx":4096}}`},
		{"no thoughts", ollama.Options{Think: "off"}, deem.Prompt("q"), `{"model":"m","messages":[{"role":"user","content":"q"}],"stream":false,"think":false,` + always + `,"options":{"num_ctx":4096}}`},
		{"few thoughts", ollama.Options{Think: "low"}, deem.Prompt("q"), `{"model":"m","messages":[{"role":"user","content":"q"}],"stream":false,"think":"low",` + always + `,"options":{"num_ctx":4096}}`},
	}
	for _, tt := range tests {
		tt.o.Model = "m"
		_, got := caught(t, tt.o, tt.req)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestRecordedReplies parses answers in Ollama's format.
func TestRecordedReplies(t *testing.T) {
	tests := []struct {
		name, body string
		want       deem.Reply
	}{
		{
			"thoughts are not part of the text",
			`{"model":"qwen3:4b","created_at":"2026-11-15T09:10:11.123456789Z","message":{"role":"assistant","content":"yes","thinking":"Is it no? I say no."},"done":true,"done_reason":"stop","total_duration":4883583458,"load_duration":1334875,"prompt_eval_count":26,"prompt_eval_duration":342546000,"eval_count":282,"eval_duration":4535599000}`,
			deem.Reply{Text: "yes", Stop: deem.StopEnd, Model: "qwen3:4b", Usage: deem.Usage{Input: 26, Output: 282}},
		},
		{
			"a prompt that was remembered is not counted",
			`{"model":"m","message":{"role":"assistant","content":"yes"},"done":true,"done_reason":"stop","eval_count":2}`,
			deem.Reply{Text: "yes", Stop: deem.StopEnd, Model: "m", Usage: deem.Usage{Output: 2}},
		},
		{
			"a model that was only loaded",
			`{"model":"m","message":{"role":"assistant","content":""},"done_reason":"load","done":true}`,
			deem.Reply{Stop: deem.StopOther, Model: "m"},
		},
		{
			"an early version",
			`{"model":"m","message":{"role":"assistant","content":"yes"},"done":true,"prompt_eval_count":3,"eval_count":1}`,
			deem.Reply{Text: "yes", Stop: deem.StopOther, Model: "m", Usage: deem.Usage{Input: 3, Output: 1}},
		},
		{
			"log-probabilities",
			`{"model":"m","message":{"role":"assistant","content":"yes"},"done":true,"done_reason":"stop","logprobs":[{"token":"yes","logprob":-0.25,"bytes":[121,101,115],"top_logprobs":[{"token":"yes","logprob":-0.25},{"token":"no","logprob":-1.5}]}]}`,
			deem.Reply{Text: "yes", Stop: deem.StopEnd, Model: "m", Logprobs: []deem.TokenLogprob{
				{Token: "yes", Logprob: -0.25, Top: []deem.TokenLogprob{{Token: "yes", Logprob: -0.25}, {Token: "no", Logprob: -1.5}}},
			}},
		},
		{
			"log-probabilities of thoughts are left out",
			`{"model":"m","message":{"role":"assistant","content":"yes","thinking":"no yes"},"done":true,"done_reason":"stop","logprobs":[{"token":"no ","logprob":-1},{"token":"yes","logprob":-2},{"token":"</think>","logprob":0},{"token":"ye","logprob":-3},{"token":"s","logprob":-4}]}`,
			deem.Reply{Text: "yes", Stop: deem.StopEnd, Model: "m", Logprobs: []deem.TokenLogprob{{Token: "ye", Logprob: -3}, {Token: "s", Logprob: -4}}},
		},
	}
	for _, tt := range tests {
		got, err := open(t, ollama.Options{Model: "m", ContextLength: 4096, HTTPClient: says(tt.body)}).Complete(t.Context(), deem.Prompt("q"))
		tt.want.Attempts = 1
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, reply (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

// TestMessages pins the messages of a few errors.
func TestMessages(t *testing.T) {
	tests := []struct {
		status        int
		body          string
		message, hint string
	}{
		{404, `{"error":"model 'llama3.2' not found"}`, "HTTP 404: model 'llama3.2' not found", "run `ollama pull llama3.2`"},
		{
			400, `{"error":"{\"error\":{\"code\":400,\"message\":\"request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it\",\"type\":\"exceed_context_size_error\"}}"}`,
			"HTTP 400 exceed_context_size_error: request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", "",
		},
		{400, `{"error":"\"llama3.2\" does not support thinking"}`, `HTTP 400: "llama3.2" does not support thinking`, `the model "llama3.2" rejects this --thinking; use another (low, medium, high or a number of tokens), or leave --thinking out`},
		{412, `{"error":"a newer one is needed"}`, "HTTP 412: a newer one is needed", "update Ollama, or pull the model again"},
		{500, `{"error":{"message":"boom","type":"api_error"}}`, "HTTP 500 api_error: boom", ""},
		{500, `{"error":17}`, "HTTP 500: 17", ""},
		{500, "", "HTTP 500: internal server error", ""},
		{404, "404 page not found", "HTTP 404: 404 page not found", "nothing at URL answers such calls; check OLLAMA_HOST"},
	}
	for _, tt := range tests {
		server := modeltest.Serve(modeltest.Ollama(), func(modeltest.Asked) modeltest.Answer { return modeltest.Fail(tt.status, tt.body) })
		_, err := open(t, ollama.Options{Model: "llama3.2", BaseURL: server.URL}).Complete(t.Context(), deem.Prompt("q"))
		server.Close()
		hint := strings.ReplaceAll(deem.HintOf(err), server.URL, "URL")
		if err == nil || err.Error() != tt.message || hint != tt.hint {
			t.Errorf("status %d gave\n%v\n%s\nwant\n%s\n%s", tt.status, err, hint, tt.message, tt.hint)
		}
	}
}

// TestNobodyListens uses the default port on another address of this machine, so that a
// running Ollama is not called.
func TestNobodyListens(t *testing.T) {
	_, err := open(t, ollama.Options{Model: "m", BaseURL: "127.97.53.11"}).Complete(t.Context(), deem.Prompt("q"))
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Passing || deem.HintOf(err) != "is `ollama serve` running?" {
		t.Errorf("error %v with hint %q, want one that may pass and asks for ollama serve", err, deem.HintOf(err))
	}
}

func TestOptionsHideTheKey(t *testing.T) {
	const secret = "s3cr3t-0123456789"
	o := ollama.Options{Model: "m", Key: secret, Headers: map[string]string{"X-Key": secret}, Proxy: "http://user:" + secret + "@127.0.0.1:1"}
	asJSON, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, o)
	var lines strings.Builder
	slog.New(slog.NewTextHandler(&lines, nil)).Info("made", "options", o, "model", m)
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %s %q", o, o, o, o, o), string(asJSON), lines.String(), fmt.Sprintf("%v %+v %#v", m, m, m)} {
		if strings.Contains(text, secret) {
			t.Errorf("the key shows in %s", text)
		}
	}
}

// Settings are part of the judge's identity and of the cache key.
func TestSettingsTellThinkersApart(t *testing.T) {
	seen := map[string]bool{}
	for _, think := range []string{"", "on", "off", "low", "high"} {
		settings := deem.SettingsOf(open(t, ollama.Options{Model: "m", Think: think}))
		if seen[settings] {
			t.Errorf("the settings %q are those of another model", settings)
		}
		seen[settings] = true
	}
}

// TestAuthorityAndProxy checks that a server with a private certificate authority is called
// once the authority is trusted, and that the proxy is used.
func TestAuthorityAndProxy(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, okBody) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	o := ollama.Options{Model: "m", BaseURL: server.URL, CAFile: file}
	if reply, err := open(t, o).Complete(t.Context(), deem.Prompt("q")); err != nil || reply.Text != "yes" {
		t.Errorf("reply %+v, error %v, want yes", reply, err)
	}
	o.CAFile = ""
	_, err := open(t, o).Complete(t.Context(), deem.Prompt("q"))
	if me, ok := errors.AsType[*deem.ModelError](err); !ok || !me.Fatal || deem.HintOf(err) == "" {
		t.Errorf("without its authority: %v, want a fatal error with a hint", err)
	}

	asked := ""
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		fmt.Fprint(w, okBody)
	}))
	defer proxy.Close()
	o.BaseURL, o.Proxy = "http://nowhere.example", proxy.URL
	if _, err := open(t, o).Complete(t.Context(), deem.Prompt("q")); err != nil || !strings.HasPrefix(asked, "http://nowhere.example/") {
		t.Errorf("the proxy was asked for %q, error %v", asked, err)
	}
}
