package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/wire"
)

// TestMain checks that no test leaks a goroutine.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// base parses a base URL or fails the test.
func base(tb testing.TB, text string) wire.Base {
	tb.Helper()
	b, err := wire.ParseBase(text, "https://api.example.com/v1")
	if err != nil {
		tb.Fatalf("ParseBase(%q): %v", text, err)
	}
	return b
}

// open returns a client or fails the test.
func open(tb testing.TB, o wire.Options) *wire.Client {
	tb.Helper()
	o.Vendor, o.Model, o.KeyVariable = "test", "m", "TEST_API_KEY"
	c, err := wire.New(o)
	if err != nil {
		tb.Fatalf("New: %v", err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// serve starts a server for the duration of the test. It logs nothing to stderr.
func serve(tb testing.TB, h http.HandlerFunc) *httptest.Server {
	tb.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.Start()
	tb.Cleanup(s.Close)
	return s
}

func TestBase(t *testing.T) {
	tests := []struct{ text, endpoint, host, port string }{
		{"", "https://api.example.com/v1", "api.example.com", ""},
		{" https://host/a/ ", "https://host/a", "host", ""},
		{"localhost:8000", "http://localhost:8000", "localhost", "8000"},
		{"[::1]:8000/v1", "http://[::1]:8000/v1", "::1", "8000"},
		{"host.example/v1", "https://host.example/v1", "host.example", ""},
		{"https://user:pass@host:99/v1?k=v#f", "https://host:99/v1", "host", "99"},
	}
	for _, tt := range tests {
		b := base(t, tt.text)
		if b.Endpoint() != tt.endpoint || b.Host() != tt.host || b.Port() != tt.port {
			t.Errorf("ParseBase(%q) = %s, host %q, port %q, want %s, %q, %q", tt.text, b, b.Host(), b.Port(), tt.endpoint, tt.host, tt.port)
		}
	}
	for _, text := range []string{"ftp://host", "https://", "https://user:s3cr3t-0123@ho st/", "http://host:port"} {
		_, err := wire.ParseBase(text, "https://api.example.com/v1")
		if err == nil || deem.HintOf(err) == "" || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("ParseBase(%q) gave the error %v with hint %q", text, err, deem.HintOf(err))
		}
	}
}

func TestBasePrintsNoSecret(t *testing.T) {
	b := base(t, "https://user:s3cr3t-0123@host/v1?key=s3cr3t-0123")
	o := wire.Options{Base: b, Key: "s3cr3t-0123", KeyHeader: "Authorization", Headers: map[string]string{"X-Key": "s3cr3t-0123"}}
	c := open(t, o)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("made", "base", b, "options", o, "client", c)
	asJSON, err := json.Marshal([]any{b, c})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %s %q", b, b, b, b, b), fmt.Sprintf("%v %+v %#v", o, o, o), fmt.Sprintf("%v %+v %#v", c, c, c), log.String(), string(asJSON)} {
		if strings.Contains(text, "s3cr3t") {
			t.Errorf("a secret shows in %s", text)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	b := base(t, "http://localhost:1")
	tests := map[string]wire.Options{
		"key":           {Base: b, Key: "s3cr3t\x01-0123"},
		"header name":   {Base: b, Headers: map[string]string{"X Key": "v"}},
		"header value":  {Base: b, Headers: map[string]string{"X-Key": "s3cr3t-0123\r\nInjected: yes"}},
		"fixed header":  {Base: b, Fixed: map[string]string{"X-Org": "a\nb"}},
		"proxy scheme":  {Base: b, Proxy: "ftp://user:s3cr3t-0123@host"},
		"proxy host":    {Base: b, Proxy: "http://"},
		"proxy url":     {Base: b, Proxy: "http://user:s3cr3t-0123@ho st:1"},
		"no CA file":    {Base: b, CAFile: t.TempDir() + "/none.pem"},
		"CA without":    {Base: b, CAFile: "wire.go"},
		"client and CA": {Base: b, HTTPClient: http.DefaultClient, CAFile: "wire.go"},
		"client, proxy": {Base: b, HTTPClient: http.DefaultClient, Proxy: "http://proxy:1"},
	}
	for name, o := range tests {
		_, err := wire.New(o)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if strings.Contains(err.Error()+deem.HintOf(err), "s3cr3t") {
			t.Errorf("%s: the error %q shows a secret", name, err)
		}
		if strings.Contains(name, "CA ") && deem.HintOf(err) == "" {
			t.Errorf("%s: %v has no hint", name, err)
		}
	}
}

// TestHeaders checks the headers sent, and that a transport that changes the headers of a
// request does not affect the next one.
func TestHeaders(t *testing.T) {
	var got http.Header
	greedy := roundTrip(func(r *http.Request) (*http.Response, error) {
		got = r.Header.Clone()
		r.Header.Set("X-Added", "by the transport")
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	})
	b := base(t, "https://user:pass@host/v1")
	c := open(t, wire.Options{
		Base: b, Key: " key-012345\n", KeyHeader: "X-Api-Key", KeyPrefix: "Key ",
		Fixed: map[string]string{"X-Version": "1", "X-None": ""}, Headers: map[string]string{"X-Extra": "more"},
		HTTPClient: &http.Client{Transport: greedy},
	})
	for range 2 {
		if _, err := c.Post(t.Context(), b.To("/call"), []byte("{}")); err != nil {
			t.Fatalf("Post: %v", err)
		}
	}
	want := map[string]string{
		"X-Api-Key": "Key key-012345", "X-Version": "1", "X-Extra": "more", "X-Added": "",
		"Authorization": "Basic dXNlcjpwYXNz", "Content-Type": "application/json", "User-Agent": "deem",
	}
	for name, value := range want {
		if got.Get(name) != value {
			t.Errorf("header %s is %q, want %q", name, got.Get(name), value)
		}
	}
	if _, ok := got["X-None"]; ok {
		t.Error("a header without a value was sent")
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestBodyCanBeSentAgain checks that a transport can resend a request, as it must if the
// server closes a connection before it has read anything.
func TestBodyCanBeSentAgain(t *testing.T) {
	var first, again []byte
	b := base(t, "http://localhost:1")
	c := open(t, wire.Options{Base: b, HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		var err error
		if first, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		if again, err = io.ReadAll(body); err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	})}})
	if _, err := c.Post(t.Context(), b.To("/call"), []byte("hello")); err != nil || string(first) != "hello" || string(again) != "hello" {
		t.Errorf("sent %q and then %q, error %v, want hello twice", first, again, err)
	}
}

func TestGet(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.Method, r.URL)
	})
	b := base(t, s.URL+"/v1?k=v")
	a, err := open(t, wire.Options{Base: b}).Get(t.Context(), b.To("/models"))
	if err != nil || !a.OK() || string(a.Text) != "GET /v1/models?k=v" {
		t.Errorf("answer %d %q, error %v, want GET of /v1/models", a.Status, a.Text, err)
	}
}

func TestEncode(t *testing.T) {
	body, err := wire.Encode(map[string]string{"a": "<&>"})
	if want := `{"a":"<&>"}`; err != nil || string(body) != want {
		t.Errorf("Encode = %s, %v, want %s", body, err, want)
	}
	if _, err := wire.Encode(func() {}); err == nil {
		t.Error("a function was encoded")
	}
	// An encoder that failed must not be reused.
	if body, err := wire.Encode("yes"); err != nil || string(body) != `"yes"` {
		t.Errorf("Encode = %s, %v after an error", body, err)
	}
}

// TestEncodeKeepsNothing checks that a body is not overwritten by the next call.
func TestEncodeKeepsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 1, 8).Draw(t, "texts")
		var bodies [][]byte
		for _, text := range texts {
			body, err := wire.Encode(text)
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, body)
		}
		for i, body := range bodies {
			var got string
			if err := json.Unmarshal(body, &got); err != nil || got != strings.ToValidUTF8(texts[i], "\uFFFD") {
				t.Errorf("body %q of %q, error %v", body, texts[i], err)
			}
		}
	})
}

// TestRedact checks that no secret of sufficient length is left in any text.
func TestRedact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[A-Za-z0-9+/="<&-]{6,40}`).Draw(t, "key")
		around := rapid.SliceOfN(rapid.StringMatching(`[ a-z]{0,5}`), 3, 3).Draw(t, "around")
		b, err := wire.ParseBase("localhost:1", "https://api.example.com/v1")
		if err != nil {
			t.Fatal(err)
		}
		c, err := wire.New(wire.Options{Base: b, Key: key, KeyHeader: "X-Key"})
		if err != nil {
			t.Fatal(err)
		}
		quoted, err := json.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		inside := string(quoted[1 : len(quoted)-1])
		got := c.Redact(around[0] + key + around[1] + inside + around[2])
		if strings.Contains(got, key) || strings.Contains(got, inside) {
			t.Errorf("%q still shows the key %q", got, key)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		header map[string]string
		want   time.Duration
	}{
		{nil, 0},
		{map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{map[string]string{"Retry-After": " 1.5 "}, 1500 * time.Millisecond},
		{map[string]string{"Retry-After": "-1"}, 0},
		{map[string]string{"Retry-After": "NaN"}, 0},
		{map[string]string{"Retry-After": "1e300"}, 0},
		{map[string]string{"Retry-After": "Sun, 15 Nov 2026 12:00:09 GMT"}, 9 * time.Second},
		{map[string]string{"Retry-After": "Sun, 15 Nov 2026 11:00:00 GMT"}, 0},
		{map[string]string{"Retry-After": "1", "Retry-After-Ms": "250"}, 250 * time.Millisecond},
		{map[string]string{"X-Ratelimit-Reset-Requests": "12ms"}, 12 * time.Millisecond},
		{map[string]string{"X-Ratelimit-Reset-Tokens": "6m0s"}, time.Minute},
		{map[string]string{"X-Ratelimit-Reset-Tokens": "2.5"}, 2500 * time.Millisecond},
		{map[string]string{"X-Ratelimit-Reset-Tokens": "9s", "X-Ratelimit-Remaining-Tokens": "1"}, 0},
		{map[string]string{"Anthropic-Ratelimit-Requests-Reset": "2026-11-15T12:00:30Z"}, 30 * time.Second},
		{map[string]string{"Anthropic-Ratelimit-Tokens-Reset": "2026-11-15T13:00:00+01:00"}, 0},
		{map[string]string{"Anthropic-Ratelimit-Input-Tokens-Reset": "2026-11-15T12:00:20Z", "Anthropic-Ratelimit-Output-Tokens-Reset": "2026-11-15T12:00:40Z"}, 40 * time.Second},
		{map[string]string{"Anthropic-Ratelimit-Output-Tokens-Reset": "2026-11-15T12:00:20Z", "Anthropic-Ratelimit-Output-Tokens-Remaining": "5"}, 0},
		{map[string]string{"Anthropic-Ratelimit-Requests-Reset": "soon"}, 0},
	}
	for _, tt := range tests {
		h := http.Header{}
		for name, value := range tt.header {
			h.Set(name, value)
		}
		if got := wire.RetryAfter(h, now); got != tt.want {
			t.Errorf("RetryAfter(%v) = %v, want %v", tt.header, got, tt.want)
		}
	}
}

// TestCauses checks how an error is handled for each cause and status.
func TestCauses(t *testing.T) {
	b := base(t, "http://localhost:1")
	tests := []struct {
		cause          wire.Cause
		status         int
		kind           deem.Kind
		passing, fatal bool
		hint           string
	}{
		{wire.ByStatus, 400, deem.Provider, false, false, ""},
		{wire.ByStatus, 401, deem.Provider, false, true, "wants a key; set TEST_API_KEY"},
		{wire.ByStatus, 404, deem.Provider, false, true, "does not know the model"},
		{wire.ByStatus, 408, deem.Timeout, true, false, ""},
		{wire.ByStatus, 413, deem.Provider, false, false, ""},
		{wire.ByStatus, 429, deem.Provider, true, false, ""},
		{wire.ByStatus, 500, deem.Provider, true, false, ""},
		{wire.ByStatus, 501, deem.Provider, false, true, "check the base URL"},
		{wire.ByStatus, 504, deem.Timeout, true, false, ""},
		{wire.ByStatus, 200, deem.Provider, true, false, ""},
		{wire.Quota, 429, deem.Provider, false, true, "no credit left"},
		{wire.BadKey, 400, deem.Provider, false, true, "TEST_API_KEY is not accepted"},
		{wire.NoModel, 400, deem.Provider, false, true, "does not know the model"},
		{wire.NoCall, 404, deem.Provider, false, true, "which usually ends with /v1"},
		{wire.Setting, 400, deem.Provider, false, true, "the judge sets temperature"},
		{wire.TooLong, 500, deem.Provider, false, false, ""},
		{wire.Unfit, 503, deem.Provider, false, false, ""},
		{wire.Filtered, 400, deem.Refused, false, false, ""},
		{wire.Busy, 400, deem.Provider, true, false, ""},
	}
	for _, tt := range tests {
		c := open(t, wire.Options{Base: b, Cause: func(wire.Trouble) wire.Cause { return tt.cause }})
		a := wire.Answer{Status: tt.status, Text: []byte(`{"error":{"message":"no","param":"temperature"}}`)}
		me, ok := errors.AsType[*deem.ModelError](c.StatusError(a))
		if !ok || me.Kind != tt.kind || me.Passing != tt.passing || me.Fatal != tt.fatal || !strings.Contains(deem.HintOf(me), tt.hint) {
			t.Errorf("cause %d, status %d: %+v with hint %q", tt.cause, tt.status, me, deem.HintOf(me))
		}
	}
}

// TestAbsent distinguishes an answer that is not from an API from one that was cut off.
func TestAbsent(t *testing.T) {
	c := open(t, wire.Options{Base: base(t, "http://localhost:1")})
	for text, want := range map[string]bool{
		"<html><title>Welcome</title></html>": true,
		"\n <!DOCTYPE html>":                  true,
		"It works!":                           true,
		`{"choices":[{"mess`:                  false,
		`[{"candidates`:                       false,
		"":                                    false,
	} {
		me, ok := errors.AsType[*deem.ModelError](c.Garbled(wire.Answer{Status: 200, Text: []byte(text)}, errors.New("no JSON")))
		if !ok || !me.Passing || me.Absent != want {
			t.Errorf("an answer of %q: %+v, want Absent = %v", text, me, want)
		}
	}
}

// TestTroubleOfGoogle checks the formats that only Google uses.
func TestTroubleOfGoogle(t *testing.T) {
	c := open(t, wire.Options{Base: base(t, "http://localhost:1")})
	a := wire.Answer{Status: 429, Text: []byte(`[{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[
		{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED"},
		{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}]`)}
	tr := c.Trouble(a)
	if !tr.Is("RESOURCE_EXHAUSTED") || !tr.Is("RATE_LIMIT_EXCEEDED") || tr.Is("other", "") || !tr.Says("SLOW") {
		t.Errorf("trouble %+v does not know itself", tr)
	}
	me, ok := errors.AsType[*deem.ModelError](c.StatusError(a))
	if !ok || me.Code != "RESOURCE_EXHAUSTED" || me.RetryAfter != 34500*time.Millisecond {
		t.Errorf("error %+v, want RESOURCE_EXHAUSTED and 34.5 s", me)
	}
}

// FuzzTrouble passes arbitrary bodies. Nothing may panic, and each error must be one short
// line.
func FuzzTrouble(f *testing.F) {
	f.Add(500, `{"error":{"message":"no","details":{"a":1}}}`)
	f.Add(400, `[{"error":"no"}]`)
	f.Add(502, `<html><title>no</title>`)
	c := open(f, wire.Options{Base: base(f, "http://localhost:1"), Key: "s3cr3t-0123", KeyHeader: "X-Key"})
	f.Fuzz(func(t *testing.T, status int, text string) {
		err := c.StatusError(wire.Answer{Status: status, Text: []byte(text), Header: http.Header{}})
		if s := err.Error() + deem.HintOf(err); len(s) > 1200 || strings.ContainsAny(s, "\n\r") || strings.Contains(s, "s3cr3t-0123") {
			t.Errorf("error %q is not one short line without secrets", s)
		}
	})
}
