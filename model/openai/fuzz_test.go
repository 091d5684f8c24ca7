package openai_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/wire"
	"deem/model/openai"
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
// forever, a line has either a reply or an error, and errors are short lines without
// secrets.
func FuzzBatch(f *testing.F) {
	batch := `{"id":"b","status":"completed","output_file_id":"f","request_counts":{"total":2,"completed":1,"failed":1}}`
	f.Add(batch, `{"custom_id":"1","response":{"status_code":200,"request_id":"r","body":`+okBody+`}}`)
	f.Add(batch, `{"custom_id":"1","response":null,"error":{"code":"batch_expired","message":"late"}}`+"\n"+`{"custom_id":"2","response":{"status_code":500,"body":null}}`)
	f.Add(`{"id":"b","status":"failed","errors":{"data":[{"code":"token_limit_exceeded\n","message":"no","line":3}]}}`, "")
	f.Add(`{"id":"b","status":"failed","errors":{"data":[{"code":"sk-secret-0123"}]}}`, "x")
	f.Add(`{"data":[{"id":"b","created_at":99999999999}],"has_more":true}`, "")
	f.Fuzz(func(t *testing.T, about, lines string) {
		calls := 0
		m := open(t, openai.Options{Model: "m", Key: "sk-secret-0123", HTTPClient: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			if calls++; calls > 20 {
				t.Fatalf("20 calls about a batch of which %q is said", about)
			}
			if strings.HasSuffix(r.URL.Path, "/content") {
				return body(strings.NewReader(lines)), nil
			}
			return body(strings.NewReader(about)), nil
		})}})
		s, err := m.BatchStatus(t.Context(), "b")
		for _, err := range []error{err, s.Err} {
			if bad := sound(deem.Reply{}, err); err != nil && bad != "" {
				t.Errorf("BatchStatus gave %s: %q", bad, err)
			}
		}
		if (s.State == wire.BatchRefused) != (s.Err != nil) {
			t.Errorf("a batch that is %q with the error %v", s.State, s.Err)
		}
		if _, _, err := m.FindBatch(t.Context(), wire.Batch{Key: "k", Planned: time.Unix(1e9, 0)}, nil); err != nil {
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

// FuzzEmbed checks that there are as many vectors as texts, all finite and of the same
// length, or an error.
func FuzzEmbed(f *testing.F) {
	f.Add(`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":"AACAPwAAAEA="}]}`)
	f.Add(`{"data":[{"embedding":[1]},{"embedding":[]}]}`)
	f.Add(`{"data":[{"index":-1,"embedding":[1e39]},{"index":5}]}`)
	f.Add(`{"data":[{"embedding":"AADAfw=="},{"embedding":"AAA="}],"error":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		m := open(t, openai.Options{Model: "m", Key: "sk-secret-0123", HTTPClient: &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
			return body(strings.NewReader(text)), nil
		})}})
		vectors, err := m.Embed(t.Context(), []string{"a", "b"})
		if err != nil {
			if bad := sound(deem.Reply{}, err); bad != "" {
				t.Errorf("Embed gave %s: %q", bad, err)
			}
			return
		}
		if len(vectors) != 2 || len(vectors[0]) == 0 || len(vectors[0]) != len(vectors[1]) {
			t.Fatalf("%q gave the vectors %v", text, vectors)
		}
		for _, x := range slices.Concat(vectors...) {
			if x-x != 0 {
				t.Errorf("%q gave %v, which holds what is not a number", text, vectors)
			}
		}
	})
}
