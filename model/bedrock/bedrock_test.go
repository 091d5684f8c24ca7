package bedrock_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deem"
	"deem/internal/cloud"
	"deem/internal/modeltest"
	"deem/model/bedrock"
)

// TestMain checks that no test leaks a goroutine.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	modeltest.Test(t, func(tb testing.TB, s modeltest.Setup) deem.Model {
		m, err := bedrock.New(bedrock.Options{Model: s.Model, BaseURL: s.URL, Key: s.Key, Timeout: s.Timeout})
		if err != nil {
			tb.Fatalf("New: %v", err)
		}
		return m
	}, modeltest.Bedrock())
}

// A call without a key is signed. The secret is not sent, and a session token that the
// server repeats is redacted.
func TestSigned(t *testing.T) {
	t.Parallel()
	a := cloud.AWS{Key: "AKIDEXAMPLE", Secret: "hush-hush-hush", Session: "session-token-1234567890", Region: "us-east-1", Service: "bedrock"}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got := r.Header.Get("Authorization")
		again := r.Clone(r.Context())
		again.Header = http.Header{"Content-Type": r.Header["Content-Type"]}
		at, _ := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		b := a
		b.Now = func() time.Time { return at }
		if _, err := b.Authorize(again, body); err != nil || again.Header.Get("Authorization") != got {
			t.Errorf("signed as %s, want %s", got, again.Header.Get("Authorization"))
		}
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": "not for " + a.Session})
	}))
	t.Cleanup(srv.Close)
	m, err := bedrock.New(bedrock.Options{Model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0", BaseURL: srv.URL, Authorize: a.Authorize})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.(io.Closer).Close() }()
	_, err = m.Complete(t.Context(), deem.Prompt("Is it so?"))
	if err == nil || strings.Contains(err.Error(), a.Session) || strings.Contains(err.Error(), a.Secret) {
		t.Errorf("error %v", err)
	}
}
