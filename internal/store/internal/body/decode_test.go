package body

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/store/storetest"
)

// TestDecode holds that items and replies are read by hand as encoding/json reads them,
// whatever the texts, and that every field is.
func TestDecode(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		checkItem(rt, string(drawItem(rt).Canonical()))
		bytes := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) })
		str := rapid.OneOf(rapid.String(), bytes)
		r := deem.Reply{
			Text: str.Draw(rt, "text"), Refusal: str.Draw(rt, "refusal"), Stop: deem.Stop(str.Draw(rt, "stop")),
			Usage: deem.Usage{Input: rapid.Int().Draw(rt, "in"), Output: rapid.Int().Draw(rt, "out"), CachedInput: rapid.Int().Draw(rt, "cached"), Reasoning: rapid.Int().Draw(rt, "reasoning")},
			Model: str.Draw(rt, "model"), Fingerprint: str.Draw(rt, "fingerprint"), RequestID: str.Draw(rt, "id"),
		}
		body, err := EncodeReply(r)
		if err != nil {
			rt.Fatal(err)
		}
		checkReply(rt, body)
	})
	checkItem(t, string(storetest.Full[deem.Item]().Canonical()))
	body, err := EncodeReply(storetest.Full[deem.Reply]())
	if err != nil {
		t.Fatal(err)
	}
	checkReply(t, body)
}

func checkItem(tb rapid.TB, body string) {
	tb.Helper()
	var got, want deem.Item
	gotErr, wantErr := DecodeItem(body, &got), Decode(body, &want)
	if (gotErr == nil) != (wantErr == nil) || wantErr == nil && !cmp.Equal(want, got) {
		tb.Errorf("DecodeItem(%q) = %+v, %v, want %+v, %v", body, got, gotErr, want, wantErr)
	}
}

func checkReply(tb rapid.TB, body string) {
	tb.Helper()
	got, gotErr := DecodeReply(body)
	var want deem.Reply
	wantErr := Decode(body, &want)
	if (gotErr == nil) != (wantErr == nil) || wantErr == nil && !cmp.Equal(want, got) {
		tb.Errorf("DecodeReply(%q) = %+v, %v, want %+v, %v", body, got, gotErr, want, wantErr)
	}
}

// FuzzDecode holds that nothing that a damaged database may hold is read in another way
// than encoding/json reads it, unless that refuses it and so do we.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		`{}`, `{"id":"a","response":"\u00e9\n"}`, `{"references":["a","b"],"fields":{"x":"y"},"weight":1e-7}`,
		`{"text":"a","stop":"end","usage":{"input":1,"output":2}}`, `{"id":1}`, `{"id":"a"`, `{"id":"a",}`, `{"weight":0x1}`,
		`{"usage":{"input":01}}`, `{"ID":"a"}`, `{"id":null}`, ` {}`, `{"id":"a"}x`, `{"weight":Inf}`, `{"usage":{"input":+1}}`, "{\"id\":\"\x01\"}",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		checkItem(t, body)
		checkReply(t, body)
	})
}
