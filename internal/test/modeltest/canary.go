package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"deem"
)

// testCanary causes every kind of failure, makes the server repeat the key wherever
// possible, and looks for the key in everything that could be printed.
func (s suite) testCanary(t *testing.T) {
	for _, trouble := range slices.Sorted(maps.Keys(s.wire.Errors)) {
		for i, raw := range s.wire.Errors[trouble] {
			t.Run(fmt.Sprintf("%s/%d", trouble, i), func(t *testing.T) {
				for _, echo := range echoes(raw) {
					s.failAndLook(t, Answer{Raw: &echo})
				}
			})
		}
	}
	for name, a := range map[string]Answer{
		"cut off": {Reply: deem.Reply{Text: strings.Repeat(Key, 1000)}, Cut: true},
		"hang":    {Hang: true},
	} {
		t.Run(name, func(t *testing.T) { s.failAndLook(t, a) })
	}
}

// echoes returns an answer with the key in its headers, and in its body in two ways: as the
// value of every string, and before the whole.
func echoes(raw Raw) []Raw {
	header := map[string]string{"Retry-After": Key, "X-Request-Id": Key, "Request-Id": Key}
	maps.Copy(header, raw.Header)
	list := []Raw{{Status: raw.Status, Header: header, Body: Key + " " + raw.Body}}
	var tree any
	if json.Unmarshal([]byte(raw.Body), &tree) == nil {
		list = append(list, Raw{Status: raw.Status, Header: header, Body: encode(poison(tree))})
	}
	return list
}

// poison puts the key before every string of a JSON tree.
func poison(tree any) any {
	switch t := tree.(type) {
	case string:
		return Key + " " + t
	case []any:
		for i := range t {
			t[i] = poison(t[i])
		}
	case map[string]any:
		for name := range t {
			t[name] = poison(t[name])
		}
	}
	return tree
}

// failAndLook makes a call. A readable reply that contains the key is not a failure, so
// only errors are checked.
func (s suite) failAndLook(t *testing.T, a Answer) {
	t.Helper()
	server := Serve(s.wire, always(a))
	defer server.Close()
	timeout := 10 * time.Second
	if a.Hang {
		timeout = 50 * time.Millisecond
	}
	m := s.model(t, server.URL, timeout)
	_, err := m.Complete(t.Context(), deem.Prompt("Is it so?"))
	lookForKey(t, m, err)
}

// testEchoedKey makes the server repeat the request's headers in a readable reply, in all
// formats that servers use. What is stored of a reply must not contain the key.
func (s suite) testEchoedKey(t *testing.T) {
	quoted, err := json.Marshal(map[string]string{"authorization": "Bearer " + Key})
	if err != nil {
		t.Fatal(err)
	}
	var escaped strings.Builder
	for _, c := range Key {
		fmt.Fprintf(&escaped, `\u%04x`, c)
	}
	for name, echo := range map[string]string{
		"as it is": "Bearer " + Key, "JSON": string(quoted), "a URL": "https://localhost/?key=" + url.QueryEscape(Key),
		"Base64": base64.StdEncoding.EncodeToString([]byte(Key)), "Base64 of a header": base64.StdEncoding.EncodeToString([]byte("Bearer " + Key)),
		"Base64 of a user": base64.URLEncoding.EncodeToString([]byte("me:" + Key)), "escapes": "ESCAPED .",
	} {
		t.Run(name, func(t *testing.T) {
			raw := s.wire.Reply(deem.Reply{Text: "CORRECT " + echo, Model: "m-" + echo, RequestID: "req"})
			raw.Body = strings.ReplaceAll(raw.Body, "ESCAPED", escaped.String())
			raw.Header = map[string]string{"X-Request-Id": Key, "Request-Id": Key}
			m, _ := s.start(t, always(Answer{Raw: &raw}))
			reply, err := m.Complete(t.Context(), deem.Prompt("Is it so?"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(reply.Text, "CORRECT") || !strings.Contains(reply.Text, "[redacted]") {
				t.Errorf("the text is %q, want it with the key blacked out", reply.Text)
			}
			kept := fmt.Sprintf("%+v", reply)
			middle := Key[3 : len(Key)-3]
			for _, secret := range []string{middle, base64.RawStdEncoding.EncodeToString([]byte(Key))[:40]} {
				if strings.Contains(kept, secret) {
					t.Errorf("the key is in %s", kept)
				}
			}
			for _, word := range strings.FieldsFunc(kept, func(r rune) bool { return r == ' ' || r == '{' || r == '}' || r == ':' }) {
				if text, err := base64.StdEncoding.DecodeString(word); err == nil && strings.Contains(string(text), middle) {
					t.Errorf("the key is in %s, in Base64", kept)
				}
			}
		})
	}
}

// lookForKey looks for the key in a model and an error, printed in all possible ways.
func lookForKey(t *testing.T, m deem.Model, err error) {
	t.Helper()
	var log strings.Builder
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).Error("call", "model", m, "error", err, "hint", deem.HintOf(err))
	}
	texts := append(printed(m), log.String(), deem.HintOf(err))
	for e := err; e != nil; e = errors.Unwrap(e) {
		texts = append(texts, printed(e)...)
	}
	if me, ok := errors.AsType[*deem.ModelError](err); ok {
		texts = append(texts, me.Code, fmt.Sprintf("%+v", *me))
	}
	for _, text := range texts {
		if strings.Contains(text, Key) || strings.Contains(text, Key[:len(Key)/2]) {
			t.Errorf("the key is in %s", text)
		}
	}
}

// printed returns the results of the verbs and the encoders for a value.
func printed(v any) []string {
	texts := []string{fmt.Sprint(v)}
	for _, verb := range []string{"%s", "%q", "%v", "%+v", "%#v", "%x"} {
		texts = append(texts, fmt.Sprintf(verb, v))
	}
	if text, err := json.Marshal(v); err == nil {
		texts = append(texts, string(text))
	}
	return texts
}
