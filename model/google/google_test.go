package google_test

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
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/google"
)

// open returns a model or fails the test.
func open(t *testing.T, o google.Options) *google.Model {
	t.Helper()
	m, err := google.New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	c := m.(*google.Model)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A trip answers HTTP requests without a network.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// says returns a client that answers every call with the given status and body.
func says(status int, body string) *http.Client {
	return &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})}
}

const okBody = `{"candidates":[{"content":{"parts":[{"text":"yes"}],"role":"model"},"finishReason":"STOP"}]}`

// caught returns the HTTP request of a call, with its body.
func caught(t *testing.T, o google.Options, req deem.Request) (*http.Request, string) {
	t.Helper()
	var got *http.Request
	var sent []byte
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

func TestAddress(t *testing.T) {
	const google1 = "https://generativelanguage.googleapis.com/v1beta"
	tests := []struct{ base, model, url, endpoint, name string }{
		{"", "gemini-2.5-flash", google1 + "/models/gemini-2.5-flash:generateContent", google1, "google:gemini-2.5-flash"},
		{"", "models/gemini-2.5-flash", google1 + "/models/gemini-2.5-flash:generateContent", google1, "google:gemini-2.5-flash"},
		{"", "tunedModels/mine-1", google1 + "/tunedModels/mine-1:generateContent", google1, "google:tunedModels/mine-1"},
		{"https://generativelanguage.googleapis.com", "m", google1 + "/models/m:generateContent", google1, "google:m"},
		{"https://generativelanguage.googleapis.com/v1beta/", "m", google1 + "/models/m:generateContent", google1, "google:m"},
		{"https://generativelanguage.googleapis.com/v1beta/models", "m", google1 + "/models/m:generateContent", google1, "google:m"},
		{"localhost:8080", "m", "http://localhost:8080/v1beta/models/m:generateContent", "http://localhost:8080/v1beta", "google:m"},
		{
			"https://aiplatform.googleapis.com/v1/publishers/google", "m",
			"https://aiplatform.googleapis.com/v1/publishers/google/models/m:generateContent",
			"https://aiplatform.googleapis.com/v1/publishers/google", "google:m",
		},
		{"", "odd name?key=x#y", google1 + "/models/odd%20name%3Fkey=x%23y:generateContent", google1, "google:odd name?key=x#y"},
	}
	for _, tt := range tests {
		o := google.Options{Model: tt.model, BaseURL: tt.base, Key: "AIza-secret-0123\n"}
		r, _ := caught(t, o, deem.Prompt("q"))
		if got := r.URL.String(); got != tt.url {
			t.Errorf("base %q calls %s, want %s", tt.base, got, tt.url)
		}
		if got := r.Header.Get("X-Goog-Api-Key"); got != "AIza-secret-0123" {
			t.Errorf("base %q got the key %q", tt.base, got)
		}
		m := open(t, o)
		if m.Endpoint() != tt.endpoint || m.Name() != tt.name {
			t.Errorf("base %q, model %q: %s at %s, want %s at %s", tt.base, tt.model, m.Name(), m.Endpoint(), tt.name, tt.endpoint)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	tests := []google.Options{
		{},
		{Model: "models/"},
		{Model: "m", BaseURL: "ftp://host"},
		{Model: "m", BaseURL: "https://host/v1beta?key=AIza-secret-0123"},
		{Model: "m", Key: "AIza-secret-0123\nsecond line"},
		{Model: "m", Headers: map[string]string{"X Key": "v"}},
		{Model: "m", CAFile: "no-such-file.pem"},
		{Model: "m", Proxy: "ftp://user:AIza-secret-0123@proxy"},
	}
	for _, o := range tests {
		_, err := google.New(o)
		if err == nil {
			t.Errorf("New(%v) gave no error", o)
			continue
		}
		if strings.Contains(err.Error()+deem.HintOf(err), "secret") {
			t.Errorf("the error %q shows a secret", err)
		}
	}
}

func TestNoKeyForGoogle(t *testing.T) {
	called := false
	client := &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
		called = true
		return nil, io.EOF
	})}
	_, err := open(t, google.Options{Model: "m", HTTPClient: client}).Complete(t.Context(), deem.Prompt("q"))
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Fatal || !strings.Contains(deem.HintOf(err), "GEMINI_API_KEY") || called {
		t.Errorf("error %v with hint %q, called %v, want a fatal one that names GEMINI_API_KEY and no call", err, deem.HintOf(err), called)
	}
}

// TestWire pins the bytes that are sent.
func TestWire(t *testing.T) {
	zero, one, seed, wide := 0.0, 1.0, int64(7), int64(1<<40+5)
	asJSON, schema, folded := deem.Prompt("q"), deem.Prompt("q"), deem.Prompt("q")
	asJSON.JSON = true
	schema.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}`)
	folded.Seed = &wide
	noThoughts := 0
	tests := []struct {
		name string
		o    google.Options
		req  deem.Request
		want string
	}{
		{"nothing given", google.Options{}, deem.Prompt("q"), `{"contents":[{"role":"user","parts":[{"text":"q"}]}]}`},
		{
			"everything",
			google.Options{},
			deem.Request{
				Messages: []deem.Message{
					{Role: "system", Content: "s1"},
					{Role: "user", Content: "a < b & c"},
					{Role: "assistant", Content: "d"},
					{Role: "system", Content: "s2"},
					{Role: "user", Content: "e"},
				},
				MaxTokens: 10, Temperature: &zero, TopP: &one, Seed: &seed, Stop: []string{"\n"}, TopLogprobs: 50, Trial: 3,
			},
			`{"systemInstruction":{"parts":[{"text":"s1"},{"text":"s2"}]},"contents":[{"role":"user","parts":[{"text":"a < b & c"}]},` +
				`{"role":"model","parts":[{"text":"d"}]},{"role":"user","parts":[{"text":"e"}]}],` +
				`"generationConfig":{"temperature":0,"topP":1,"seed":7,"stopSequences":["\n"],"maxOutputTokens":10,"responseLogprobs":true,"logprobs":20}}`,
		},
		{
			"instructions alone",
			google.Options{},
			deem.Request{Messages: []deem.Message{{Role: "system", Content: "Judge this."}}},
			`{"contents":[{"role":"user","parts":[{"text":"Judge this."}]}]}`,
		},
		{"object", google.Options{}, asJSON, `{"contents":[{"role":"user","parts":[{"text":"q"}]}],"generationConfig":{"responseMimeType":"application/json"}}`},
		{
			"schema",
			google.Options{},
			schema,
			`{"contents":[{"role":"user","parts":[{"text":"q"}]}],"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":` + string(schema.Schema) + `}}`,
		},
		{"a seed of 64 bits", google.Options{}, folded, `{"contents":[{"role":"user","parts":[{"text":"q"}]}],"generationConfig":{"seed":261}}`},
		{
			"no thoughts",
			google.Options{ThinkingBudget: &noThoughts},
			deem.Prompt("q"),
			`{"contents":[{"role":"user","parts":[{"text":"q"}]}],"generationConfig":{"thinkingConfig":{"thinkingBudget":0}}}`,
		},
		{
			"few thoughts",
			google.Options{ThinkingLevel: "low"},
			deem.Prompt("q"),
			`{"contents":[{"role":"user","parts":[{"text":"q"}]}],"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}}}`,
		},
	}
	for _, tt := range tests {
		tt.o.Model, tt.o.Key = "m", "AIza-key"
		_, got := caught(t, tt.o, tt.req)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestRecordedReplies parses answers in the API's format.
func TestRecordedReplies(t *testing.T) {
	tests := []struct {
		name, body string
		want       deem.Reply
	}{
		{
			"thoughts are not part of the text",
			`{
  "candidates": [
    {
      "content": {
        "parts": [
          {"text": "**Comparing**\n\nIs it no? I say no.", "thought": true},
          {"text": "ye", "thoughtSignature": "CpcBAdHtim9"},
          {"text": "s"}
        ],
        "role": "model"
      },
      "finishReason": "STOP",
      "index": 0
    }
  ],
  "usageMetadata": {
    "promptTokenCount": 812,
    "candidatesTokenCount": 1,
    "totalTokenCount": 934,
    "cachedContentTokenCount": 512,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 812}],
    "thoughtsTokenCount": 121
  },
  "modelVersion": "gemini-2.5-flash",
  "responseId": "kX8YadqyB4-vkdUP"
}`,
			deem.Reply{
				Text: "yes", Stop: deem.StopEnd, Model: "gemini-2.5-flash", RequestID: "kX8YadqyB4-vkdUP",
				Usage: deem.Usage{Input: 812, Output: 122, CachedInput: 512, Reasoning: 121},
			},
		},
		{
			"all tokens went into thoughts",
			`{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS","index":0}],"usageMetadata":{"promptTokenCount":9,"totalTokenCount":18,"thoughtsTokenCount":9},"modelVersion":"gemini-2.5-pro"}`,
			deem.Reply{Stop: deem.StopLength, Model: "gemini-2.5-pro", Usage: deem.Usage{Input: 9, Output: 9, Reasoning: 9}},
		},
		{
			"cut off by a filter",
			`{"candidates":[{"content":{"parts":[{"text":"The answer"}],"role":"model"},"finishReason":"RECITATION","safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"NEGLIGIBLE"}],"citationMetadata":{"citationSources":[{"startIndex":1}]}}]}`,
			deem.Reply{Text: "The answer", Stop: deem.StopFilter},
		},
		{
			"rated and not blocked",
			`{"candidates":[{"content":{"parts":[{"text":"no"}]},"finishReason":"STOP"}],"promptFeedback":{"safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"LOW"}]}}`,
			deem.Reply{Text: "no", Stop: deem.StopEnd},
		},
		{
			"log-probabilities",
			`{"candidates":[{"content":{"parts":[{"text":"yes"}]},"finishReason":"STOP","avgLogprobs":-0.25,"logprobsResult":{"topCandidates":[{"candidates":[{"token":"yes","tokenId":7,"logProbability":-0.25},{"token":"no","logProbability":"-Infinity"}]}],"chosenCandidates":[{"token":"yes","tokenId":7,"logProbability":-0.25}]}}]}`,
			deem.Reply{Text: "yes", Stop: deem.StopEnd, Logprobs: []deem.TokenLogprob{
				{Token: "yes", Logprob: -0.25, Top: []deem.TokenLogprob{{Token: "yes", Logprob: -0.25}, {Token: "no", Logprob: -9999}}},
			}},
		},
		{
			"log-probabilities of thoughts are left out",
			`{"candidates":[{"content":{"parts":[{"text":"no yes","thought":true},{"text":"yes"}]},"finishReason":"STOP","logprobsResult":{"chosenCandidates":[{"token":"no ","logProbability":-1},{"token":"yes","logProbability":-2},{"token":"yes","logProbability":-3}]}}]}`,
			deem.Reply{Text: "yes", Stop: deem.StopEnd, Logprobs: []deem.TokenLogprob{{Token: "yes", Logprob: -3}}},
		},
	}
	for _, tt := range tests {
		got, err := open(t, google.Options{Model: "m", Key: "AIza-key", HTTPClient: says(200, tt.body)}).Complete(t.Context(), deem.Prompt("q"))
		tt.want.Attempts = 1
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, reply (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

func TestStops(t *testing.T) {
	tests := map[string]deem.Stop{
		"STOP": deem.StopEnd, "MAX_TOKENS": deem.StopLength,
		"SAFETY": deem.StopFilter, "RECITATION": deem.StopFilter, "PROHIBITED_CONTENT": deem.StopFilter, "BLOCKLIST": deem.StopFilter, "SPII": deem.StopFilter,
		"OTHER": deem.StopOther, "LANGUAGE": deem.StopOther, "MALFORMED_FUNCTION_CALL": deem.StopOther, "": deem.StopOther, "NEW_REASON": deem.StopOther,
	}
	for reason, want := range tests {
		body := fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":"t"}]},"finishReason":%q}]}`, reason)
		got, err := open(t, google.Options{Model: "m", Key: "AIza-key", HTTPClient: says(200, body)}).Complete(t.Context(), deem.Prompt("q"))
		if err != nil || got.Stop != want {
			t.Errorf("reason %q gave %q, %v, want %q", reason, got.Stop, err, want)
		}
	}
}

// TestMessages pins the messages of a few errors.
func TestMessages(t *testing.T) {
	long := strings.Repeat("Words about quotas. ", 30)
	tests := []struct {
		name, body string
		status     int
		message    string
		hint       string
	}{
		{
			"a key that is wrong", `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`,
			400, "HTTP 400 API_KEY_INVALID: API key not valid. Please pass a valid API key.", "GEMINI_API_KEY is not accepted by 127.0.0.1",
		},
		{
			"a quota of nothing, said late", `{"error":{"code":429,"message":"` + long + `limit: 0, model: m","status":"RESOURCE_EXHAUSTED"}}`,
			429, "HTTP 429 RESOURCE_EXHAUSTED: " + long[:300] + "...",
			"the quota of this key for m is used up for the day, or it has none; wait for the next day, turn on billing, or choose another model",
		},
		{
			"a model that is not there", `{"error":{"code":404,"message":"models/m is not found","status":"NOT_FOUND"}}`,
			404, "HTTP 404 NOT_FOUND: models/m is not found", `127.0.0.1 does not know the model "m", or the key may not use it; check the name`,
		},
		{"an empty error", "", 500, "HTTP 500: internal server error", ""},
		{"a status of its own", "", 599, "HTTP 599: no explanation", ""},
		{"a blocked prompt", `{"promptFeedback":{"blockReason":"SAFETY"}}`, 200, "the prompt was blocked: SAFETY", ""},
	}
	for _, tt := range tests {
		server := modeltest.Serve(modeltest.Google(), func(modeltest.Asked) modeltest.Answer { return modeltest.Fail(tt.status, tt.body) })
		_, err := open(t, google.Options{Model: "m", BaseURL: server.URL, Key: "AIza-key"}).Complete(t.Context(), deem.Prompt("q"))
		server.Close()
		if err == nil || err.Error() != tt.message || deem.HintOf(err) != tt.hint {
			t.Errorf("%s gave\n%v\n%s\nwant\n%s\n%s", tt.name, err, deem.HintOf(err), tt.message, tt.hint)
		}
	}
}

// TestQuotas distinguishes a quota that recovers within a run from one that does not.
func TestQuotas(t *testing.T) {
	violation := func(id, value string) string {
		return fmt.Sprintf(`{"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":%q,"quotaValue":%s}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"5s"}]}}`, id, value)
	}
	message := func(text string) string {
		return fmt.Sprintf(`{"error":{"code":429,"message":%q,"status":"RESOURCE_EXHAUSTED"}}`, text)
	}
	tests := []struct {
		body  string
		fatal bool
	}{
		{violation("GenerateRequestsPerMinutePerProjectPerModel", `"10"`), false},
		{violation("GenerateRequestsPerDayPerProjectPerModel-FreeTier", `"20"`), true},
		{violation("GenerateContentInputTokensPerModelPerMinute-FreeTier", `"0"`), true},
		{violation("GenerateContentInputTokensPerModelPerMinute-FreeTier", `0`), true},
		{message("Quota exceeded, limit: 0"), true},
		{message("Quota exceeded, limit: 0, model: m"), true},
		{message("Quota exceeded, limit: 0.5, model: m"), false},
		{message("Quota exceeded, limit: 05, model: m"), false},
		{message("Quota exceeded, limit: 10, model: m"), false},
	}
	for _, tt := range tests {
		_, err := open(t, google.Options{Model: "m", Key: "AIza-key", HTTPClient: says(429, tt.body)}).Complete(t.Context(), deem.Prompt("q"))
		me, ok := errors.AsType[*deem.ModelError](err)
		if !ok || me.Fatal != tt.fatal || me.Passing == tt.fatal || me.Fatal && me.RetryAfter != 0 {
			t.Errorf("%s gave %+v, want fatal %v", tt.body, me, tt.fatal)
		}
	}
}

func TestOptionsHideTheKey(t *testing.T) {
	const secret = "s3cr3t-0123456789"
	o := google.Options{Model: "m", Key: secret, Headers: map[string]string{"X-Key": secret}, Proxy: "http://user:" + secret + "@127.0.0.1:1"}
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
	none, some := 0, 512
	seen := map[string]bool{}
	for _, o := range []google.Options{{}, {ThinkingBudget: &none}, {ThinkingBudget: &some}, {ThinkingLevel: "low"}, {ThinkingBudget: &none, ThinkingLevel: "low"}} {
		o.Model = "m"
		settings := deem.SettingsOf(open(t, o))
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
	o := google.Options{Model: "m", Key: "AIza-key", BaseURL: server.URL, CAFile: file}
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
