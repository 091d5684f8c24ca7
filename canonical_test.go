package deem_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"deem"
)

// anyText returns texts nobody thought of: all characters, and bytes that are not UTF-8.
func anyText() *rapid.Generator[string] {
	bytes := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 12), func(b []byte) string { return string(b) })
	hard := rapid.SampledFrom([]string{"", `\ufffd`, "\u2028\u2029", "<&>", "\x00\b\f\n\r\t\x1f\x7f", `"\`, "\xff\xc3(", "\ufffd", "é你😀"})
	return rapid.OneOf(rapid.String(), bytes, hard)
}

// The canonical JSON of items and requests, which sorts nothing, is what [deem.Canonical]
// makes, whatever the texts, and so are the hashes. The test also fails when a type gets a
// field that its canonical form does not know.
func TestShortWayToCanonicalJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := anyText()
		it := deem.Item{
			ID: text.Draw(rt, "id"), Category: text.Draw(rt, "category"), Cluster: text.Draw(rt, "cluster"),
			Question: text.Draw(rt, "question"), Response: text.Draw(rt, "response"),
			References: rapid.SliceOfN(text, 0, 3).Draw(rt, "references"),
			Fields:     rapid.MapOfN(text, text, 0, 3).Draw(rt, "fields"),
			Weight:     rapid.Float64().Draw(rt, "weight"),
		}
		want, err := deem.Canonical(it)
		if got := it.Canonical(); err != nil || string(got) != string(want) {
			rt.Errorf("Canonical() = %s, want %s, %v", got, want, err)
		}
		checkHash(rt, it.Hash(), it)

		req := deem.Request{
			Messages: []deem.Message{{Role: text.Draw(rt, "role"), Content: text.Draw(rt, "content")}, {Role: "user"}},
			Stop:     rapid.SliceOfN(text, 0, 2).Draw(rt, "stop"), MaxTokens: rapid.Int().Draw(rt, "max"),
			JSON: rapid.Bool().Draw(rt, "json"), TopLogprobs: rapid.IntRange(0, 20).Draw(rt, "top"), Trial: rapid.IntRange(0, 3).Draw(rt, "trial"),
			Temperature: rapid.Ptr(rapid.Float64(), true).Draw(rt, "temperature"), TopP: rapid.Ptr(rapid.Float64(), true).Draw(rt, "p"),
			Seed: rapid.Ptr(rapid.Int64(), true).Draw(rt, "seed"),
		}
		if rapid.Bool().Draw(rt, "schema") {
			req.Schema = []byte(`{"b": 1.50, "a": "\u00e9"}`)
		}
		checkHash(rt, req.Hash(), req)
	})
}

func checkHash(rt *rapid.T, got string, v any) {
	rt.Helper()
	if want, err := deem.Hash(v); err != nil || got != want {
		rt.Errorf("Hash() of %+v = %s, want %s, %v", v, got, want, err)
	}
}

// A request that has no JSON has no hash, and that is a bug of its maker.
func TestNoJSONPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the hash of a request with a schema that is not JSON did not panic")
		}
	}()
	deem.Request{Schema: []byte("{")}.Hash()
}

// BenchmarkHash is the cost of the hash of a request of ordinary length.
func BenchmarkHash(b *testing.B) {
	text := make([]byte, 1000)
	for i := range text {
		text[i] = byte('a' + i%26)
	}
	req := deem.Prompt(string(text))
	req.Temperature, req.MaxTokens = new(0.0), 5
	b.ReportAllocs()
	for b.Loop() {
		req.Hash()
	}
}

// slowCanonical is the definition of [deem.Canonical]: decoded, and encoded again with sorted
// keys.
func slowCanonical(tb testing.TB, v any) string {
	tb.Helper()
	encode := func(v any) []byte {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			tb.Fatal(err)
		}
		return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	}
	var tree any
	dec := json.NewDecoder(bytes.NewReader(encode(v)))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		tb.Fatal(err)
	}
	return string(encode(tree))
}

// FuzzCanonical compares the canonical JSON of any JSON with its definition.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		`{"b":[1,2.50,-0,1E3,{"z":{},"a":[]}],"a":{"\u0061":1,"b":"<&>"}}`, `{"a":1,"a":2}`, `{"a":{"b":1,"b":{"c":2}},"A":null}`,
		`{"é":1,"z":true,"😀":2,"￿":3}`, `"\u2028 "`, `"\u00e9\/\ud83d\ude00\ud83d"`, `{"\n":1," ":2,"\"":3,"\\":4}`,
		"\"\u2028\"", "\"\xff\"", `{"b\u0000":1,"b":2}`, `[]`, `{}`, `0`, ` [ 1 , { "b" : 2 , "a" : "]}," } ] `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		for _, v := range []any{json.RawMessage(raw), map[string]any{"z": 1, "raw": json.RawMessage(raw), "text": string(raw)}} {
			got, err := deem.Canonical(v)
			if want := slowCanonical(t, v); err != nil || string(got) != want {
				t.Errorf("Canonical(%q) = %s, want %s, %v", raw, got, want, err)
			}
		}
	})
}
