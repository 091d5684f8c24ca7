package telemetry_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/model"
	"deem/internal/telemetry"
	"deem/internal/test/modeltest"
	"deem/model/openai"
)

// TestCanary provokes every kind of vendor failure, with the key in the error's body and
// headers and in replies, and looks for the key in all output: events and metrics.
func TestCanary(t *testing.T) {
	var log bytes.Buffer
	tel := start(t, telemetry.Options{Version: "v1", Log: &log, Level: slog.LevelDebug, Prometheus: true, Secrets: []string{modeltest.Key}})
	answers := map[string]modeltest.Answer{
		"reply":   {Reply: deem.Reply{Text: "you sent " + modeltest.Key, Model: "model " + modeltest.Key, RequestID: modeltest.Key, Fingerprint: modeltest.Key}},
		"refusal": {Reply: deem.Reply{Refusal: "not with " + modeltest.Key}},
		"cut off": {Reply: deem.Reply{Text: strings.Repeat(modeltest.Key, 1000)}, Cut: true},
		"hang":    {Hang: true},
	}
	wire := modeltest.OpenAI()
	for trouble, list := range wire.Errors {
		for i, raw := range list {
			raw.Body = strings.NewReplacer(`"message":"`, `"message":"`+modeltest.Key+" ", `"code":"`, `"code":"`+modeltest.Key).Replace(raw.Body)
			raw.Header = maps.Clone(raw.Header)
			if raw.Header == nil {
				raw.Header = map[string]string{}
			}
			raw.Header["X-Request-Id"] = modeltest.Key
			answers[fmt.Sprint(trouble, i)] = modeltest.Answer{Raw: &raw}
		}
	}
	names := slices.Sorted(maps.Keys(answers))
	for _, name := range names {
		callOnce(t, tel, answers[name], name)
	}
	page := scrape(t, tel.Handler())
	tel.Close()

	for where, text := range map[string]string{"log": log.String(), "page": page} {
		if strings.Contains(text, modeltest.Key) || strings.Contains(text, modeltest.Key[:len(modeltest.Key)/2]) {
			t.Errorf("the key is in the %s", where)
		}
	}
	if n := sum(t, page, "deem_calls_total", "gen_ai_request_model=test-model"); int(n) != len(names) || n < 20 {
		t.Errorf("%v calls were counted, want %d", n, len(names))
	}
	for _, name := range names {
		if !strings.Contains(log.String(), fmt.Sprintf(`"item":%q`, name)) {
			t.Errorf("the log says nothing of %q", name)
		}
	}
}

// callOnce makes one call to a server that returns the given answer.
func callOnce(t *testing.T, tel *telemetry.Telemetry, a modeltest.Answer, name string) {
	t.Helper()
	srv := modeltest.Serve(modeltest.OpenAI(), func(modeltest.Asked) modeltest.Answer { return a })
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	timeout := 10 * time.Minute
	if a.Hang {
		timeout = 200 * time.Millisecond
	}
	wire, err := openai.New(openai.Options{Model: "test-model", BaseURL: srv.URL, Key: modeltest.Key, HTTPClient: client, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	m := tel.Model(model.Assemble(tel.Wire(wire), model.Options{Retry: model.RetryOptions{Attempts: 1}}))
	ctx, r := tel.Run(t.Context(), telemetry.RunInfo{ID: modeltest.Key, Judge: "judge " + modeltest.Key, Model: m.Name(), Items: 1, Limit: limiter(m)})
	var ended error
	for rec, err := range deem.Run(ctx, items([]string{name}), r.Judge(asker{m}), deem.Options{Concurrency: 1}) {
		if err != nil {
			ended = err
			break
		}
		r.Add(rec)
	}
	r.End(ended)
}
