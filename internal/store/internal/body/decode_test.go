package body

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
		want, err := Encode(replyBody{
			Text: r.Text, Refusal: r.Refusal, Stop: r.Stop, Usage: r.Usage,
			Model: r.Model, Fingerprint: r.Fingerprint, RequestID: r.RequestID,
		})
		if err != nil || body != want {
			rt.Errorf("EncodeReply = %s, want %s, %v", body, want, err)
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

// TestCalls holds that calls are kept as they are but for bytes that are no UTF-8, and
// that they are read by hand as encoding/json reads them.
func TestCalls(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := []byte{'['}
		var want []deem.Call
		for i := range rapid.IntRange(1, 4).Draw(rt, "calls") {
			c, number, body := drawCall(rt)
			if i > 0 {
				text = append(text, ',')
			}
			text = AppendCall(text, &c, number, body)
			c.Model, c.Request, c.Error = Valid(c.Model), Valid(c.Request), Valid(c.Error)
			if c.Reply != nil {
				c.Reply.Key = Valid(c.Reply.Key)
			}
			want = append(want, c)
		}
		text = append(text, ']')
		checkCalls(rt, string(text))
		list, err := DecodeCalls(string(text))
		if err != nil {
			rt.Fatal(err)
		}
		var got []deem.Call
		for i, c := range list {
			var reply *deem.Reply
			key := c.Key
			if c.Number > 0 || c.Body != nil {
				reply = &deem.Reply{Text: want[i].Reply.Text}
			}
			if c.Number > 0 {
				key = want[i].Reply.Key
			}
			got = append(got, c.Call(reply, key))
		}
		if d := cmp.Diff(want, got); d != "" {
			rt.Errorf("%s is read as (-want +got):\n%s", text, d)
		}
	})
}

// drawCall returns a call, and the number or the body of its reply.
func drawCall(rt *rapid.T) (c deem.Call, number int64, body string) {
	str := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }))
	c = deem.Call{Model: str.Draw(rt, "model"), Request: str.Draw(rt, "request"), Error: str.Draw(rt, "error"), Attempts: rapid.IntRange(0, 9).Draw(rt, "tries")}
	if n := rapid.Int64().Draw(rt, "started"); n != 0 {
		c.Started = time.Unix(0, n).UTC()
	}
	kind := rapid.IntRange(0, 2).Draw(rt, "reply")
	if kind == 0 {
		return c, 0, ""
	}
	c.Reply = &deem.Reply{
		Key: str.Draw(rt, "key"), Latency: time.Duration(rapid.Int64().Draw(rt, "latency")), Attempts: rapid.Int().Draw(rt, "attempts"),
		CostMicros: rapid.Int64().Draw(rt, "cost"), Unpriced: rapid.Bool().Draw(rt, "unpriced"), Cached: rapid.Bool().Draw(rt, "cached"),
	}
	if kind == 1 {
		return c, rapid.Int64Range(1, 1<<40).Draw(rt, "number"), ""
	}
	return c, 0, `{"text":"x"}`
}

func checkCalls(tb rapid.TB, text string) {
	tb.Helper()
	got, gotErr := DecodeCalls(text)
	var want []Call
	wantErr := Decode(text, &want)
	if (gotErr == nil) != (wantErr == nil) || wantErr == nil && !cmp.Equal(want, got, cmpopts.EquateEmpty()) {
		tb.Errorf("DecodeCalls(%q) = %+v, %v, want %+v, %v", text, got, gotErr, want, wantErr)
	}
}

// FuzzDecode holds that nothing that a damaged database may hold is read in another way
// than encoding/json reads it, unless that refuses it and so do we.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		`{}`, `{"id":"a","response":"\u00e9\n"}`, `{"references":["a","b"],"fields":{"x":"y"},"weight":1e-7}`,
		`{"text":"a","stop":"end","usage":{"input":1,"output":2}}`, `{"id":1}`, `{"id":"a"`, `{"id":"a",}`, `{"weight":0x1}`,
		`{"usage":{"input":01}}`, `{"ID":"a"}`, `{"id":null}`, ` {}`, `{"id":"a"}x`, `{"weight":Inf}`, `{"usage":{"input":+1}}`, "{\"id\":\"\x01\"}",
		`[{"model":"m","request":"r","started":7,"reply":3,"latency":5,"attempts":1,"cost_micros":2},{"model":"m","body":{},"cached":true}]`,
		`[{"model":"m","model":"n"}]`, `[]`, `[{}]`, `[{"reply":1,}]`, `[{"error":null}]`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		checkItem(t, body)
		checkReply(t, body)
		checkCalls(t, body)
	})
}
