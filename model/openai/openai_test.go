package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/openai"
)

// open returns a model or fails the test.
func open(t *testing.T, o openai.Options) *openai.Model {
	t.Helper()
	m, err := openai.New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	c := m.(*openai.Model)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A trip answers HTTP requests without a network.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// body returns a 200 with the given body.
func body(r io.Reader) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(r)}
}

const okBody = `{"model":"m","choices":[{"message":{"content":"yes"},"finish_reason":"stop"}]}`

// caught returns the HTTP request of a call, with its body.
func caught(t *testing.T, o openai.Options, req deem.Request) (*http.Request, string) {
	t.Helper()
	var got *http.Request
	var sent []byte
	o.HTTPClient = &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
		got = r
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		return body(strings.NewReader(okBody)), nil
	})}
	if _, err := open(t, o).Complete(t.Context(), req); err != nil {
		t.Fatalf("Complete: %v", err)
	}
	return got, string(sent)
}

func TestBaseURL(t *testing.T) {
	const chat = "/chat/completions"
	tests := []struct{ base, url, endpoint string }{
		{"", "https://api.openai.com/v1" + chat, "https://api.openai.com/v1"},
		{"https://api.openai.com", "https://api.openai.com/v1" + chat, "https://api.openai.com/v1"},
		{"https://api.openai.com/", "https://api.openai.com/v1" + chat, "https://api.openai.com/v1"},
		{"https://api.openai.com/v1", "https://api.openai.com/v1" + chat, "https://api.openai.com/v1"},
		{" https://api.openai.com/v1// ", "https://api.openai.com/v1" + chat, "https://api.openai.com/v1"},
		{"https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1" + chat, "https://api.openai.com/v1"},
		{"https://api.openai.com/v1/chat/completions/", "https://api.openai.com/v1" + chat, "https://api.openai.com/v1"},
		{"http://host/chat/completions", "http://host" + chat, "http://host"},
		{"https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1" + chat, "https://openrouter.ai/api/v1"},
		{"https://host/v1beta/openai/", "https://host/v1beta/openai" + chat, "https://host/v1beta/openai"},
		{"localhost:11434", "http://localhost:11434/v1" + chat, "http://localhost:11434/v1"},
		{"127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1" + chat, "http://127.0.0.1:8000/v1"},
		{"[::1]:8000", "http://[::1]:8000/v1" + chat, "http://[::1]:8000/v1"},
		{"api.groq.com/openai/v1", "https://api.groq.com/openai/v1" + chat, "https://api.groq.com/openai/v1"},
		{"https://x.openai.azure.com/", "https://x.openai.azure.com/openai/v1" + chat, "https://x.openai.azure.com/openai/v1"},
		{"https://x.services.ai.azure.com/openai/v1/", "https://x.services.ai.azure.com/openai/v1" + chat, "https://x.services.ai.azure.com/openai/v1"},
		{"https://host/v1/embeddings", "https://host/v1" + chat, "https://host/v1"},
		{"https://user:pass@host/v1?k=v#part", "https://user:pass@host/v1" + chat + "?k=v", "https://host/v1"},
		{
			"https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
			"https://x.openai.azure.com/openai/deployments/d" + chat + "?api-version=2024-10-21",
			"https://x.openai.azure.com/openai/deployments/d",
		},
	}
	for _, tt := range tests {
		o := openai.Options{Model: "m", BaseURL: tt.base, Key: "sk-secret"}
		r, _ := caught(t, o, deem.Prompt("q"))
		if got := r.URL.String(); got != tt.url {
			t.Errorf("base %q calls %s, want %s", tt.base, got, tt.url)
		}
		if got := open(t, o).Endpoint(); got != tt.endpoint {
			t.Errorf("base %q has endpoint %s, want %s", tt.base, got, tt.endpoint)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	tests := []openai.Options{
		{},
		{Model: "m", BaseURL: "ftp://host"},
		{Model: "m", BaseURL: "https://"},
		{Model: "m", BaseURL: "https://user:sk-secret-0123@ho st/"},
		{Model: "m", Key: "sk-secret-0123\nsecond line"},
		{Model: "m", Headers: map[string]string{"X-Key": "sk-secret-0123\r\nInjected: yes"}},
		{Model: "m", Headers: map[string]string{"X Key": "v"}},
		{Model: "m", Organization: "org\n"},
	}
	for _, o := range tests {
		_, err := openai.New(o)
		if err == nil {
			t.Errorf("New(%v) gave no error", o)
			continue
		}
		if strings.Contains(err.Error()+deem.HintOf(err), "secret") {
			t.Errorf("the error %q shows a secret", err)
		}
	}
}

func TestHeaders(t *testing.T) {
	o := openai.Options{
		Model: "m", Key: "sk-key\n", Organization: "org-1", Project: "proj-1",
		Headers: map[string]string{"X-Extra": "more"},
	}
	r, _ := caught(t, o, deem.Prompt("q"))
	want := map[string]string{
		"Authorization": "Bearer sk-key", "OpenAI-Organization": "org-1", "OpenAI-Project": "proj-1",
		"X-Extra": "more", "Content-Type": "application/json", "Api-Key": "",
	}
	for name, value := range want {
		if got := r.Header.Get(name); got != value {
			t.Errorf("header %s is %q, want %q", name, got, value)
		}
	}

	o.BaseURL = "https://x.openai.azure.com/openai/deployments/d?api-version=1"
	r, _ = caught(t, o, deem.Prompt("q"))
	if r.Header.Get("Api-Key") != "sk-key" || r.Header.Get("Authorization") != "" {
		t.Errorf("Azure got the headers %v, want the key in Api-Key alone", r.Header)
	}

	r, _ = caught(t, openai.Options{Model: "m", BaseURL: "http://localhost:1"}, deem.Prompt("q"))
	if _, ok := r.Header["Authorization"]; ok {
		t.Error("an empty key was sent")
	}
}

func TestNoKeyForOpenAI(t *testing.T) {
	_, err := open(t, openai.Options{Model: "gpt-4o", HTTPClient: &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
		t.Error("the server was called without a key")
		return nil, io.EOF
	})}}).Complete(t.Context(), deem.Prompt("q"))
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Fatal || !strings.Contains(deem.HintOf(err), "OPENAI_API_KEY") {
		t.Errorf("error %v with hint %q, want a fatal one that names OPENAI_API_KEY", err, deem.HintOf(err))
	}
}

// TestWire pins the bytes that are sent.
func TestWire(t *testing.T) {
	zero, one, seed := 0.0, 1.0, int64(7)
	full := deem.Request{
		Messages:  []deem.Message{{Role: "user", Content: "a < b & c"}},
		MaxTokens: 10, Temperature: &zero, TopP: &one, Seed: &seed, Stop: []string{"\n"}, TopLogprobs: 50, Trial: 3,
	}
	asJSON := deem.Prompt("q")
	asJSON.JSON = true
	strict := deem.Prompt("q")
	strict.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	loose := deem.Prompt("q")
	loose.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{}}}}},"required":["a"],"additionalProperties":false}`)
	yes, no := true, false
	tests := []struct {
		name string
		o    openai.Options
		req  deem.Request
		want string
	}{
		{
			"plain",
			openai.Options{Model: "gpt-4o"},
			full,
			`{"model":"gpt-4o","messages":[{"role":"user","content":"a < b & c"}],"max_tokens":10,"temperature":0,"top_p":1,"seed":7,"stop":["\n"],"logprobs":true,"top_logprobs":20,"n":1,"stream":false}`,
		},
		{
			"reasoning",
			openai.Options{Model: "o3-mini"},
			full,
			`{"model":"o3-mini","messages":[{"role":"user","content":"a < b & c"}],"max_completion_tokens":8202,"seed":7,"stop":["\n"],"n":1,"stream":false}`,
		},
		{
			"reasoning by option",
			openai.Options{Model: "mine", Reasoning: &yes},
			full,
			`{"model":"mine","messages":[{"role":"user","content":"a < b & c"}],"max_completion_tokens":8202,"seed":7,"stop":["\n"],"n":1,"stream":false}`,
		},
		{
			"not reasoning by option",
			openai.Options{Model: "gpt-5.1", Reasoning: &no},
			full,
			`{"model":"gpt-5.1","messages":[{"role":"user","content":"a < b & c"}],"max_tokens":10,"temperature":0,"top_p":1,"seed":7,"stop":["\n"],"logprobs":true,"top_logprobs":20,"n":1,"stream":false}`,
		},
		{
			"nothing given",
			openai.Options{Model: "gpt-4o"},
			deem.Prompt("q"),
			`{"model":"gpt-4o","messages":[{"role":"user","content":"q"}],"n":1,"stream":false}`,
		},
		{
			"service tier",
			openai.Options{Model: "gpt-4o", ServiceTier: "flex"},
			deem.Prompt("q"),
			`{"model":"gpt-4o","messages":[{"role":"user","content":"q"}],"service_tier":"flex","n":1,"stream":false}`,
		},
		{
			"object",
			openai.Options{Model: "gpt-4o"},
			asJSON,
			`{"model":"gpt-4o","messages":[{"role":"user","content":"q"}],"response_format":{"type":"json_object"},"n":1,"stream":false}`,
		},
		{
			"strict schema",
			openai.Options{Model: "gpt-4o"},
			strict,
			`{"model":"gpt-4o","messages":[{"role":"user","content":"q"}],"response_format":{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":` + string(strict.Schema) + `}},"n":1,"stream":false}`,
		},
		{
			"loose schema",
			openai.Options{Model: "gpt-4o"},
			loose,
			`{"model":"gpt-4o","messages":[{"role":"user","content":"q"}],"response_format":{"type":"json_schema","json_schema":{"name":"reply","strict":false,"schema":` + string(loose.Schema) + `}},"n":1,"stream":false}`,
		},
	}
	for _, tt := range tests {
		tt.o.Key = "sk-key"
		_, got := caught(t, tt.o, tt.req)
		if diff := cmp.Diff(tt.want, strings.TrimSuffix(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestReasoningByName(t *testing.T) {
	tests := map[string]bool{
		"o1": true, "o1-mini": true, "o3-2025-04-16": true, "o4-mini": true, "gpt-5": true, "gpt-5-mini": true, "gpt-5.1": true,
		"openai/o3-mini": true, "gpt-5-chat-latest": false, "gpt-4o": false, "gpt-4.1": false, "o10": false, "opus": false,
		"gpt-50": false, "llama-3-o1": false,
	}
	zero := 0.0
	req := deem.Prompt("q")
	req.Temperature = &zero
	for name, want := range tests {
		_, sent := caught(t, openai.Options{Model: name, Key: "sk-key"}, req)
		if got := !strings.Contains(sent, "temperature"); got != want {
			t.Errorf("model %s is taken to reason: %v, want %v", name, got, want)
		}
	}
}

// answer returns the reply or the error for a body.
func answer(t *testing.T, text string) (deem.Reply, error) {
	t.Helper()
	return open(t, openai.Options{Model: "m", Key: "sk-key", HTTPClient: &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
		return body(strings.NewReader(text)), nil
	})}}).Complete(t.Context(), deem.Prompt("q"))
}

func TestContentForms(t *testing.T) {
	tests := []struct{ message, text, refusal string }{
		{`{"content":"yes"}`, "yes", ""},
		{`{"content":null}`, "", ""},
		{`{}`, "", ""},
		{`{"content":null,"refusal":"no way"}`, "", "no way"},
		{`{"content":"yes","refusal":null}`, "yes", ""},
		{`{"content":[]}`, "", ""},
		{`{"content":[{"type":"text","text":"y"},{"type":"text","text":"es"}]}`, "yes", ""},
		{`{"content":[{"type":"refusal","refusal":"no way"}]}`, "", "no way"},
		{`{"content":"yes","reasoning_content":"hm","tool_calls":null}`, "yes", ""},
	}
	for _, tt := range tests {
		got, err := answer(t, `{"choices":[{"message":`+tt.message+`,"finish_reason":"stop"}],"usage":null}`)
		if err != nil || got.Text != tt.text || got.Refusal != tt.refusal || got.Stop != deem.StopEnd {
			t.Errorf("%s gave %+v, %v, want text %q and refusal %q", tt.message, got, err, tt.text, tt.refusal)
		}
	}
}

func TestSpareAnswer(t *testing.T) {
	// Small servers omit most fields.
	got, err := answer(t, `{"choices":[{"message":{"content":"yes"},"finish_reason":null,"logprobs":null}],"usage":{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":null}}`)
	want := deem.Reply{Text: "yes", Stop: deem.StopOther, Attempts: 1, Usage: deem.Usage{Input: 3, Output: 1}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, reply (-want +got):\n%s", err, diff)
	}
}

// TestEndlessAnswer serves an endless body. It must not fill the memory.
func TestEndlessAnswer(t *testing.T) {
	read := 0
	endless := readerFunc(func(p []byte) (int, error) {
		read += len(p)
		return len(p), nil
	})
	_, err := open(t, openai.Options{Model: "m", Key: "sk-key", HTTPClient: &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
		return body(endless), nil
	})}}).Complete(t.Context(), deem.Prompt("q"))
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || me.Passing || me.Fatal {
		t.Errorf("error %v, want one that belongs to the item", err)
	}
	if read > 65<<20 {
		t.Errorf("%d bytes read, want about 64 MB", read)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestMessages pins the messages of a few errors.
func TestMessages(t *testing.T) {
	tests := []struct {
		status        int
		body          string
		message, hint string
	}{
		{
			401, `{"error":{"message":"Incorrect API key provided: sk-secret-0123.","code":"invalid_api_key"}}`,
			"HTTP 401 invalid_api_key: Incorrect API key provided: [redacted].", "OPENAI_API_KEY is not accepted by 127.0.0.1",
		},
		{
			404, "{\"error\":{\"message\":\"The model `m` does not exist\",\"code\":\"model_not_found\"}}",
			"HTTP 404 model_not_found: The model `m` does not exist", `127.0.0.1 does not know the model "m", or the key may not use it; check the name`,
		},
		{
			400, `{"error":{"message":"Unsupported value","param":"temperature","code":"unsupported_value"}}`,
			"HTTP 400 unsupported_value: Unsupported value", `the judge sets temperature, and the model "m" does not take it so: set another with --temperature, or change params.temperature in the judge's file, or allow the judge to go without it there: params.optional: [temperature]`,
		},
		{502, "<html><head><title>502 Bad\nGateway</title><style>x{}</style></head><body>nginx</body></html>", "HTTP 502: 502 Bad Gateway", ""},
		{503, "<p>Back <b>soon</b></p>", "HTTP 503: Back soon", ""},
		{500, "", "HTTP 500: internal server error", ""},
		{500, `{}`, "HTTP 500: {}", ""},
		{500, `{"error":{"message":"boom","code":"` + strings.Repeat("long", 100) + `"}}`, "HTTP 500 " + strings.Repeat("long", 75) + "...: boom", ""},
		{422, `{"detail":[{"loc":["body","messages",0],"msg":"field required"}]}`, "HTTP 422: body.messages.0: field required", ""},
		{500, `{"error":{"message":"line one\n\tline two","code":null}}`, "HTTP 500: line one line two", ""},
		{
			302, "", "HTTP 302: found", "URL/v1 redirects elsewhere; give the base URL it redirects to",
		},
	}
	for _, tt := range tests {
		server := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer { return modeltest.Fail(tt.status, tt.body) })
		_, err := open(t, openai.Options{Model: "m", BaseURL: server.URL, Key: "sk-secret-0123"}).Complete(t.Context(), deem.Prompt("q"))
		if err == nil {
			t.Errorf("status %d gave no error", tt.status)
			continue
		}
		hint := strings.ReplaceAll(deem.HintOf(err), server.URL, "URL")
		if err.Error() != tt.message || hint != tt.hint {
			t.Errorf("status %d gave\n%s\n%s\nwant\n%s\n%s", tt.status, err, hint, tt.message, tt.hint)
		}
	}
}

func TestHTTPSToAnHTTPServer(t *testing.T) {
	server := modeltest.NewServer(t, nil)
	m := open(t, openai.Options{Model: "m", BaseURL: strings.Replace(server.URL, "http:", "https:", 1), Key: "sk-key"})
	_, err := m.Complete(t.Context(), deem.Prompt("q"))
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Fatal || !strings.Contains(deem.HintOf(err), "http://") {
		t.Errorf("error %v with hint %q, want a fatal one that says http://", err, deem.HintOf(err))
	}
}

func TestUnknownCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	defer server.Close()
	_, err := open(t, openai.Options{Model: "m", BaseURL: server.URL, Key: "sk-key"}).Complete(t.Context(), deem.Prompt("q"))
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Fatal || !strings.Contains(deem.HintOf(err), "certificate") {
		t.Errorf("error %v with hint %q, want a fatal one about the certificate", err, deem.HintOf(err))
	}
}

// TestNetworkErrors makes the network fail in its usual ways. All of these errors are
// transient.
func TestNetworkErrors(t *testing.T) {
	tests := []struct {
		base string
		err  error
		kind deem.Kind
		hint string
	}{
		{"localhost:11434", syscall.ECONNREFUSED, deem.Provider, "is `ollama serve` running?"},
		{"localhost:8000", syscall.ECONNREFUSED, deem.Provider, "is the server running at http://localhost:8000/v1?"},
		{"https://host", syscall.ECONNREFUSED, deem.Provider, "nothing listens at https://host/v1; check the base URL"},
		{"https://host", &net.DNSError{Err: "no such host", Name: "host", IsNotFound: true}, deem.Provider, "check the network and the base URL https://host/v1"},
		{"https://host", syscall.ECONNRESET, deem.Provider, ""},
		{"https://host", io.EOF, deem.Provider, ""},
		{"https://host", io.ErrUnexpectedEOF, deem.Provider, ""},
		{"https://host", os.ErrDeadlineExceeded, deem.Timeout, ""},
	}
	for _, tt := range tests {
		broken := &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("call %s: %w", r.URL, tt.err)
		})}
		m := open(t, openai.Options{Model: "m", BaseURL: tt.base + "?key=s3cr3t-0123456789", HTTPClient: broken})
		_, err := m.Complete(t.Context(), deem.Prompt("q"))
		me, ok := errors.AsType[*deem.ModelError](err)
		if !ok || !me.Passing || me.Fatal || me.Kind != tt.kind {
			t.Errorf("%v became %#v, want one of kind %s that may pass", tt.err, err, tt.kind)
		}
		if hint := deem.HintOf(err); hint != tt.hint {
			t.Errorf("%v has the hint %q, want %q", tt.err, hint, tt.hint)
		}
		if ok && me.Absent != (tt.hint != "") { // Only absent servers get a hint.
			t.Errorf("%v: Absent = %v", tt.err, me.Absent)
		}
		if strings.Contains(fmt.Sprintf("%v %#v", err, err), "s3cr3t") {
			t.Errorf("a secret shows in %v", err)
		}
	}
}

// FuzzAnswer passes arbitrary bodies with any status. Nothing may panic, and each error
// must be a ModelError of one short line.
func FuzzAnswer(f *testing.F) {
	f.Add(200, okBody)
	for _, raws := range modeltest.OpenAI().Errors {
		for _, raw := range raws {
			f.Add(max(raw.Status, 200), raw.Body)
		}
	}
	f.Fuzz(func(t *testing.T, status int, text string) {
		if status < 200 || status > 599 {
			return
		}
		m, err := openai.New(openai.Options{Model: "m", Key: "sk-secret-0123", HTTPClient: &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
			resp := body(strings.NewReader(text))
			resp.StatusCode = status
			return resp, nil
		})}})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := m.Complete(context.Background(), deem.Prompt("q"))
		if bad := sound(reply, err); bad != "" {
			t.Errorf("status %d with %q gave %s: %+v, %v", status, text, bad, reply, err)
		}
	})
}
