package google

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/wire"
)

// FuzzDecode checks that any answer is a reply or an error, and that a reply can be stored.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"candidates":[{"content":{"parts":[{"text":"a","thought":true},{"text":"yes"}]},"finishReason":"STOP","logprobsResult":{"chosenCandidates":[{"token":"yes","logProbability":"NaN"}],"topCandidates":[{},{}]}}]}`,
		`{"candidates":[{"finishReason":"SAFETY"}],"promptFeedback":{"blockReason":"SAFETY"}}`,
		`{"promptFeedback":{"blockReason":"OTHER","blockReasonMessage":"m"}}`,
		`{"error":{"code":500}}`, `{"candidates":[{}],"usageMetadata":{"promptTokenCount":-3,"thoughtsTokenCount":9223372036854775807}}`, `{"candidates":[null]}`, `[]`, `null`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	m, err := New(Options{Model: "m"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		reply, err := m.(*client).decode(wire.Answer{Status: 200, Text: text})
		if err != nil {
			if reply.Text != "" || reply.Stop != "" {
				t.Errorf("decode gave both the reply %+v and the error %v", reply, err)
			}
			return
		}
		if reply.Refusal != "" {
			t.Errorf("decode made up the refusal %q", reply.Refusal)
		}
		if !utf8.ValidString(reply.Text) {
			t.Errorf("decode gave %q, which is not UTF-8", reply.Text)
		}
		if reply.Stop == "" {
			t.Error("decode gave no reason to stop")
		}
		if u := reply.Usage; min(u.Input, u.Output, u.CachedInput, u.Reasoning) < 0 {
			t.Errorf("decode gave the usage %+v", u)
		}
		if _, err := json.Marshal(reply); err != nil {
			t.Errorf("the reply cannot be kept: %v", err)
		}
	})
}

// FuzzTrouble checks that an error is not both transient and fatal, has a hint if it is
// fatal, and is one short line.
func FuzzTrouble(f *testing.F) {
	f.Add(400, `{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`)
	f.Add(429, `{"error":{"code":429,"message":"limit: 0","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaValue":0}]},{"retryDelay":"9999999h"},null,3]}}`)
	f.Add(200, `[{"error":{"code":99,"message":"x"}}]`)
	f.Add(302, "<html><title>\n</title>")
	m, err := New(Options{Model: "m", Key: "AIza-key-0123456789"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			return
		}
		err := m.(*client).statusError(wire.Answer{Status: status, Text: []byte(body)})
		me, ok := err.(*deem.ModelError) //nolint:errorlint // It is made here.
		if !ok || me.Passing && me.Fatal {
			t.Fatalf("status %d with %q gave %#v", status, body, err)
		}
		if me.Fatal && deem.HintOf(err) == "" {
			t.Errorf("status %d with %q stops the run without a hint", status, body)
		}
		if me.RetryAfter < 0 || !me.Passing && me.RetryAfter != 0 {
			t.Errorf("status %d with %q asks for a wait of %v", status, body, me.RetryAfter)
		}
		if text := err.Error(); len(text) > 700 || strings.ContainsAny(text, "\r\n") || strings.Contains(text, "AIza-key") {
			t.Errorf("%q is not one short line without the key", text)
		}
	})
}

// TestFold checks that each seed is mapped to 32 bits, and that seeds that fit are
// unchanged.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Int64().Draw(t, "seed")
		got, again := fold(&seed), fold(&seed)
		if *got != *again {
			t.Errorf("fold(%d) = %d and %d", seed, *got, *again)
		}
		if seed >= math.MinInt32 && seed <= math.MaxInt32 && int64(*got) != seed {
			t.Errorf("fold(%d) = %d, want it as it is", seed, *got)
		}
	})
}

// TestTail checks that the remaining tokens spell the text, and that no fewer would.
func TestTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", " "}), 1, 8)
		thoughts, said := words.Draw(t, "thoughts"), words.Draw(t, "said")
		var list []deem.TokenLogprob
		for _, w := range append(append([]string{}, thoughts...), said...) {
			list = append(list, deem.TokenLogprob{Token: w})
		}
		text := strings.Join(said, "")
		var left strings.Builder
		for _, tok := range wire.Tail(list, text) {
			left.WriteString(tok.Token)
		}
		if !strings.HasSuffix(left.String(), text) || len(left.String()) >= len(text)+2 {
			t.Errorf("tail of %q and %q is %q", thoughts, said, left.String())
		}
	})
}
