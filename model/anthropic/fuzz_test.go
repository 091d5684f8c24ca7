package anthropic_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/wire"
	"deem/model/anthropic"
)

// sound returns what is wrong with the outcome of a call, or "": usage must not be
// negative, and an error must be a short line without the key.
func sound(reply deem.Reply, err error) string {
	if err == nil {
		if slices.Min([]int{reply.Usage.Input, reply.Usage.Output, reply.Usage.CachedInput, reply.Usage.Reasoning}) < 0 {
			return "a usage below nothing"
		}
		if reply.Stop == "" {
			return "a reply that stopped for no reason"
		}
		return ""
	}
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || me.Kind == "" || me.Passing && me.Fatal {
		return "an error that is neither passing nor fatal nor the item's own"
	}
	if s := err.Error(); len(s) > 800 || strings.ContainsAny(s, "\n\r") || strings.Contains(s, "sk-secret-0123") {
		return "an error that is not a short line without secrets"
	}
	if reply.Text != "" {
		return "a reply beside an error"
	}
	return ""
}

// FuzzBatch answers all calls about a batch with arbitrary text. None may panic or loop
// forever, a request has either a reply or an error, and errors are short lines without
// secrets.
func FuzzBatch(f *testing.F) {
	about := `{"id":"b","processing_status":"ended","created_at":"2026-11-16T02:00:00Z","results_url":"x","request_counts":{"succeeded":1}}`
	f.Add(about, `{"custom_id":"1","result":{"type":"succeeded","message":`+okBody+`}}`)
	f.Add(about, `{"custom_id":"1","result":{"type":"errored","error":{"type":"error","error":{"type":"overloaded_error","message":"no"}}}}`)
	f.Add(`{"id":""}`, `{"result":{"type":"expired"}}`+"\n"+`{"result":{"type":"can\ncelled"}}`)
	f.Add(`{"data":[`+about+`],"has_more":true,"last_id":"b"}`, `{"result":{"type":"sk-secret-0123"}}`)
	f.Fuzz(func(t *testing.T, about, lines string) {
		calls := 0
		m := open(t, anthropic.Options{Model: "m", Key: "sk-secret-0123", HTTPClient: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			if calls++; calls > 200 {
				t.Fatalf("200 calls about a batch of which %q is said", about)
			}
			text := about
			if strings.HasSuffix(r.URL.Path, "/results") {
				text = lines
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}, nil
		})}})
		if s, err := m.BatchStatus(t.Context(), "b"); err != nil && sound(deem.Reply{}, err) != "" || s.Err != nil {
			t.Errorf("BatchStatus = %+v, %q", s, err)
		}
		if _, _, err := m.FindBatch(t.Context(), wire.Batch{Key: "k", Lines: 1, Planned: time.Unix(1e9, 0)}, nil); err != nil {
			if bad := sound(deem.Reply{}, err); bad != "" {
				t.Errorf("FindBatch gave %s: %q", bad, err)
			}
		}
		for r, err := range m.BatchReplies(t.Context(), "b") {
			if err == nil {
				err = r.Err
			}
			if bad := sound(r.Reply, err); bad != "" {
				t.Errorf("BatchReplies gave %s: %+v, %q", bad, r, err)
			}
		}
	})
}
