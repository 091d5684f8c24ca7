package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/openai"
)

// TestSecretsInTheAddress puts secrets into addresses and makes the network fail: network
// errors often repeat addresses.
func TestSecretsInTheAddress(t *testing.T) {
	const secret = "s3cr3t-0123456789"
	for _, base := range []string{
		"http://user:" + secret + "@127.0.0.1:1/v1",
		"http://127.0.0.1:1/v1?key=" + secret,
	} {
		m := open(t, openai.Options{Model: "m", BaseURL: base, Headers: map[string]string{"X-Key": secret}})
		_, err := m.Complete(t.Context(), deem.Prompt("q"))
		if err == nil {
			t.Fatalf("%s answered", m.Endpoint())
		}
		for _, text := range []string{fmt.Sprintf("%v %+v %#v", err, err, err), deem.HintOf(err), m.Endpoint(), fmt.Sprintf("%v %+v %#v", m, m, m)} {
			if strings.Contains(text, secret) {
				t.Errorf("a secret shows in %s", text)
			}
		}
	}
}

// TestSecretInsideASecret has a secret that is the prefix of another.
func TestSecretInsideASecret(t *testing.T) {
	server := modeltest.NewServer(t, func(a modeltest.Asked) modeltest.Answer {
		return modeltest.Fail(500, "you sent "+a.Header.Get("Authorization")+" and "+a.Header.Get("X-Key"))
	})
	m := open(t, openai.Options{
		Model: "m", BaseURL: server.URL, Key: "s3cr3t-0123-and-tail", Headers: map[string]string{"X-Key": "s3cr3t-0123"},
	})
	_, err := m.Complete(t.Context(), deem.Prompt("q"))
	if want := "HTTP 500: you sent Bearer [redacted] and [redacted]"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestOptionsHideTheKey(t *testing.T) {
	const secret = "s3cr3t-0123456789"
	o := openai.Options{
		Model: "m", Key: secret, BaseURL: "http://user:" + secret + "@localhost", Proxy: "http://user:" + secret + "@localhost",
		Headers: map[string]string{"X-Key": secret},
	}
	asJSON, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("made", "options", o, "model", open(t, o))
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %s %q", o, o, o, o, o), string(asJSON), log.String()} {
		if strings.Contains(text, secret) {
			t.Errorf("the key shows in %s", text)
		}
	}
}

// TestKeyStaysAtHome checks that a redirect to another host does not get the key.
func TestKeyStaysAtHome(t *testing.T) {
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other host was called with %v", r.Header)
	}))
	defer thief.Close()
	for _, status := range []int{301, 302, 307, 308} {
		server := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer {
			return modeltest.Answer{Raw: &modeltest.Raw{Status: status, Header: map[string]string{"Location": thief.URL}}}
		})
		_, err := open(t, openai.Options{Model: "m", BaseURL: server.URL, Key: "sk-key"}).Complete(t.Context(), deem.Prompt("q"))
		if me, ok := errors.AsType[*deem.ModelError](err); !ok || !me.Fatal {
			t.Errorf("status %d gave %v, want a fatal error", status, err)
		}
	}
}
