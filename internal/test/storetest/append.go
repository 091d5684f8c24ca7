package storetest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/store"
)

// strange are texts that once caused errors.
var strange = []string{
	"", " ", "\n", "a/b/../c", `"`, `'`, `'; DROP TABLE records; --`, "a\nb\r\n", "\\", "%", "_", "?", "$1", ":a",
	"null", "NULL", "0", "1e5", "true", "{}", "[]", `{"id":"x"}`, "<&>", "\u2028\u2029", "é", "e\u0301", "日本語", "👩‍👩‍👧", "\U0010ffff",
	"\ufeff", "\ufffd", "\u202eabc", "tab\there", "\x7f", "last", strings.Repeat("long ", 500),
}

func testRoundTrip(t *testing.T, s suite) {
	st, run := s.begin(t)
	full := Full[deem.Record]()
	judged, failed := full, full
	judged.Failure, failed.Verdict = nil, nil
	recs := []deem.Record{judged, failed}
	add := func(rec deem.Record) {
		rec.Position = len(recs) + 1000
		recs = append(recs, rec)
	}
	failed.Item.ID += " failed"
	recs[1] = failed
	add(deem.Record{Verdict: &deem.Verdict{}}) // The zero item, with the zero verdict.
	add(deem.Record{Item: deem.Item{ID: "zero failure"}, Failure: &deem.Failure{}})
	for _, kind := range deem.Kinds() {
		rec := Failed(0, kind)
		rec.Item.ID = "kind " + string(kind)
		add(rec)
	}
	for i, v := range verdicts() {
		add(deem.Record{Item: deem.Item{ID: fmt.Sprint("verdict ", i)}, Judge: "j", Verdict: v})
	}
	for i, c := range calls() {
		rec := Record(0)
		rec.Item.ID, rec.Calls = fmt.Sprint("call ", i), []deem.Call{c, c}
		add(rec)
	}
	for _, text := range strange {
		add(strangeRecord("strange "+text, text))
	}
	add(strangeRecord("NUL", "a\x00b\x00"))
	long := Record(0)
	long.Item.ID, long.Item.Response = "ten megabytes", strings.Repeat("0123456789é\n", 10<<20/13)
	add(long)
	mustAppend(t, st, run.ID, recs...)

	got := all(t, st, run.ID)
	if len(got) != len(recs) {
		t.Fatalf("%d records, want %d", len(got), len(recs))
	}
	for i, rec := range recs {
		diff(t, fmt.Sprintf("record %.40q", rec.Item.ID), got[i], rec)
		if len(rec.Item.Response) < 1<<20 && got[i].Item.Hash() != rec.Item.Hash() {
			t.Errorf("record %.40q: the item's hash changed", rec.Item.ID)
		}
	}
}

// strangeRecord returns a record with text in every field that a person or a model writes.
func strangeRecord(id, text string) deem.Record {
	c := Call("key " + id)
	c.Reply.Text, c.Reply.Refusal = text, text
	bad := deem.Call{Model: text, Error: "HTTP 400: " + text, Attempts: 1}
	if strings.Contains(text, "\x00") {
		bad.Model = "m" // Vendors' model names contain no NUL, and some databases do not allow it.
		bad.Error = "HTTP 400"
	}
	return deem.Record{
		Item: deem.Item{
			ID: id, Question: text, Response: text, References: []string{text, text},
			Fields: map[string]string{"evidence": text, strings.ReplaceAll(text, "\x00", ""): "named so"},
		},
		Verdict: &deem.Verdict{Label: "yes", Score: 1, Reason: text, Aspects: map[string]float64{text: 1}},
		Calls:   []deem.Call{bad, c},
	}
}

func verdicts() []*deem.Verdict {
	var list []*deem.Verdict
	for _, pass := range []*bool{nil, new(false), new(true)} {
		for _, conf := range []*float64{nil, new(0.0), new(1.0), new(0.1)} {
			list = append(list, &deem.Verdict{Label: "yes", Score: 0.5, Pass: pass, Confidence: conf})
		}
	}
	for _, score := range []float64{0, 1, 1.0 / 3, math.SmallestNonzeroFloat64, math.MaxFloat64, 1 - 0x1p-53} {
		list = append(list, &deem.Verdict{Score: score, Aspects: map[string]float64{"a": score, "": -score, "é": 1e21}})
	}
	return list
}

func calls() []deem.Call {
	plain := Call("")
	plain.Reply.Key = ""
	cut := Call("cut")
	cut.Reply.Stop = deem.StopLength
	old := Call("old")
	old.Started = time.Date(1969, 7, 20, 20, 17, 40, 1, time.UTC)
	never := Call("never")
	never.Started = time.Time{}
	zone := Call("zone")
	zone.Started = Epoch.In(time.FixedZone("somewhere", 5*3600+1800))
	return []deem.Call{
		plain, cut, old, never, zone,
		{Reply: &deem.Reply{}},
		{Reply: &deem.Reply{Key: "empty but cached"}},
		{Model: "m", Error: "HTTP 500: try later", Attempts: 4, Started: Epoch},
	}
}

// testRoundTripAny is testRoundTrip with random records.
func testRoundTripAny(t *testing.T, s suite) {
	st, run := s.begin(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		rec := drawRecord(rt)
		rec.Item.ID = fmt.Sprintf("%d %s", n, rec.Item.ID)
		for i, c := range rec.Calls {
			if c.Reply != nil && c.Reply.Key != "" {
				c.Reply.Key = fmt.Sprintf("%d %d %s", n, i, c.Reply.Key)
			}
		}
		n++
		mustAppend(t, st, run.ID, rec)
		got := query(t, st, run.ID, store.Query{IDs: []string{rec.Item.ID}, WithCalls: true})
		if len(got) != 1 {
			rt.Fatalf("%d records, want 1", len(got))
		}
		diff(t, "record", got[0], rec)
		if t.Failed() {
			rt.FailNow()
		}
	})
}

var drawText = rapid.OneOf(rapid.SampledFrom(strange), rapid.StringN(-1, 40, -1).Filter(func(s string) bool {
	return !strings.Contains(s, "\x00")
}))

func drawRecord(rt *rapid.T) deem.Record {
	rec := deem.Record{
		Item: deem.Item{
			ID: drawText.Draw(rt, "id"), Category: drawText.Draw(rt, "category"), Cluster: drawText.Draw(rt, "cluster"),
			Question: drawText.Draw(rt, "question"), Response: drawText.Draw(rt, "response"),
			Weight: rapid.Float64().Draw(rt, "weight"),
		},
		Position: rapid.IntRange(0, math.MaxInt32).Draw(rt, "position"),
		Trial:    rapid.IntRange(0, 5).Draw(rt, "trial"),
		Judge:    drawText.Draw(rt, "judge"),
	}
	if refs := rapid.SliceOf(drawText).Draw(rt, "references"); len(refs) > 0 {
		rec.Item.References = refs
	}
	if fields := rapid.MapOf(drawText, drawText).Draw(rt, "fields"); len(fields) > 0 {
		rec.Item.Fields = fields
	}
	if rapid.Bool().Draw(rt, "answered by a reader") {
		rec.Answer = new(rec.Item.Response)
	}
	if rapid.Bool().Draw(rt, "failed") {
		rec.Failure = &deem.Failure{Kind: rapid.SampledFrom(deem.Kinds()).Draw(rt, "kind"), Detail: drawText.Draw(rt, "detail")}
		rec.Failure.Probability = rapid.Ptr(rapid.Float64Range(0, 1), true).Draw(rt, "probability")
	} else {
		rec.Verdict = &deem.Verdict{
			Label: drawText.Draw(rt, "label"), Score: rapid.Float64Range(0, 1).Draw(rt, "score"), Reason: drawText.Draw(rt, "reason"),
			Pass:       rapid.Ptr(rapid.Bool(), true).Draw(rt, "pass"),
			Confidence: rapid.Ptr(rapid.Float64Range(0, 1), true).Draw(rt, "confidence"),
		}
		if aspects := rapid.MapOf(drawText, rapid.Float64()).Draw(rt, "aspects"); len(aspects) > 0 {
			rec.Verdict.Aspects = aspects
		}
	}
	for range rapid.IntRange(0, 3).Draw(rt, "calls") {
		c := deem.Call{
			Model: drawText.Draw(rt, "model"), Request: drawText.Draw(rt, "request"),
			Started: Epoch.Add(time.Duration(rapid.Int64Range(-1e18, 1e18).Draw(rt, "started"))),
		}
		if rapid.Bool().Draw(rt, "call failed") {
			c.Error, c.Attempts = drawText.Draw(rt, "error"), rapid.IntRange(0, 9).Draw(rt, "tries")
		} else {
			c.Reply = &deem.Reply{
				Text: drawText.Draw(rt, "text"), Refusal: drawText.Draw(rt, "refusal"), Stop: deem.StopEnd,
				Usage:   deem.Usage{Input: rapid.IntRange(0, 1e6).Draw(rt, "input")},
				Latency: time.Duration(rapid.Int64().Draw(rt, "latency")), CostMicros: rapid.Int64Range(0, 1e9).Draw(rt, "cost"),
				Cached: rapid.Bool().Draw(rt, "cached"), Unpriced: rapid.Bool().Draw(rt, "unpriced"), Key: drawText.Draw(rt, "key"),
			}
		}
		rec.Calls = append(rec.Calls, c)
	}
	return rec
}

// testNotUTF8 checks that invalid UTF-8 comes back as U+FFFD everywhere, and that the
// record is found under the id it was given.
func testNotUTF8(t *testing.T, s suite) {
	st, run := s.begin(t)
	const bad, fixed = "a\xff\xfeb", "a\ufffd\ufffdb"
	rec := strangeRecord("id "+bad, bad)
	rec.Item.Fields = map[string]string{bad: bad}
	mustAppend(t, st, run.ID, rec)
	want := strangeRecord("id "+fixed, fixed)
	want.Item.Fields = map[string]string{fixed: fixed}
	diff(t, "records", all(t, st, run.ID), []deem.Record{want})
	if status, err := st.Status(t.Context(), run.ID, rec.Item.ID, 0); status != store.Judged || err != nil {
		t.Errorf("Status = %v, %v, want judged", status, err)
	}
}

// testReplace checks that appending a record again replaces the verdict and keeps the
// calls.
func testReplace(t *testing.T, s suite) {
	st, run := s.begin(t)
	first, second, third := Failed(0, deem.Provider), Failed(0, deem.Unparseable), Record(0)
	first.Calls = []deem.Call{{Model: "m", Error: "HTTP 500", Attempts: 3}, Call("a")}
	second.Calls = []deem.Call{Call("b")}
	third.Calls = nil
	third.Item.Response, third.Item.Category, third.Position, third.Judge = "changed", "moved", 7, "other"
	bystander := Record(1)
	mustAppend(t, st, run.ID, first, bystander)
	mustAppend(t, st, run.ID, second)
	want := second
	want.Calls = append(append([]deem.Call{}, first.Calls...), second.Calls...)
	diff(t, "records after the first replacement", all(t, st, run.ID), []deem.Record{want, bystander})

	// Duplicates within one append count as well.
	mustAppend(t, st, run.ID, second, third)
	want2 := third
	want2.Calls = append(append([]deem.Call{}, want.Calls...), second.Calls...)
	diff(t, "records after the second replacement", all(t, st, run.ID), []deem.Record{bystander, want2})
	got := mustRun(t, st, run.ID)
	diff(t, "Records, Unjudged", []int{got.Records, got.Unjudged}, []int{2, 0})
}

func testCounts(t *testing.T, s suite) {
	st, run := s.begin(t)
	cached := Record(3)
	cached.Calls[0].Reply.Cached = true // Paid for before, so it costs this run nothing.
	for i, step := range []struct {
		recs              []deem.Record
		records, unjudged int
		cost              int64
	}{
		{nil, 0, 0, 0},
		{[]deem.Record{Record(0), Record(1), Failed(2, deem.Empty)}, 3, 1, 120},
		{[]deem.Record{cached}, 4, 1, 120},
		{[]deem.Record{Record(2)}, 4, 0, 160},
		{[]deem.Record{Failed(0, deem.Refused), Failed(1, deem.Refused)}, 4, 2, 240},
		{[]deem.Record{Failed(1, deem.Empty)}, 4, 2, 280},
	} {
		mustAppend(t, st, run.ID, step.recs...)
		got := mustRun(t, st, run.ID)
		if got.Records != step.records || got.Unjudged != step.unjudged || got.CostMicros != step.cost {
			t.Errorf("step %d: Records, Unjudged, CostMicros = %d, %d, %d, want %d, %d, %d",
				i, got.Records, got.Unjudged, got.CostMicros, step.records, step.unjudged, step.cost)
		}
		if got.Updated.Before(run.Updated) {
			t.Errorf("step %d: Updated went back from %v to %v", i, run.Updated, got.Updated)
		}
		run = got
	}
}

// testRefused checks that an append with an invalid record stores none of the others.
func testRefused(t *testing.T, s suite) {
	st, run := s.begin(t)
	for name, spoil := range map[string]func(*deem.Record){
		"neither verdict nor failure": func(rec *deem.Record) { rec.Verdict = nil },
		"verdict and failure":         func(rec *deem.Record) { rec.Failure = deem.Failf(deem.Empty, "") },
		"score NaN":                   func(rec *deem.Record) { rec.Verdict = &deem.Verdict{Score: math.NaN()} },
		"probability NaN":             func(rec *deem.Record) { rec.Verdict, rec.Failure = nil, &deem.Failure{Probability: new(math.NaN())} },
		"confidence +Inf":             func(rec *deem.Record) { rec.Verdict = &deem.Verdict{Confidence: new(math.Inf(1))} },
		"aspect -Inf":                 func(rec *deem.Record) { rec.Verdict = &deem.Verdict{Aspects: map[string]float64{"a": math.Inf(-1)}} },
		"weight NaN":                  func(rec *deem.Record) { rec.Item.Weight = math.NaN() },
		"trial -1":                    func(rec *deem.Record) { rec.Trial = -1 },
		"position -1":                 func(rec *deem.Record) { rec.Position = -1 },
		"logprob NaN": func(rec *deem.Record) {
			rec.Calls = []deem.Call{{Reply: &deem.Reply{Logprobs: []deem.TokenLogprob{{Logprob: math.NaN()}}}}}
		},
	} {
		bad := Record(1)
		spoil(&bad)
		if err := st.Append(t.Context(), run.ID, []deem.Record{Record(0), bad, Record(2)}); err == nil {
			t.Errorf("%s: Append gave no error", name)
		} else if !strings.Contains(err.Error(), bad.Item.ID) {
			t.Errorf("%s: error %q does not name the item", name, err)
		}
	}
	diff(t, "records", len(all(t, st, run.ID)), 0)
	wantReply(t, st, Record(0).Calls[0].Reply.Key, nil) // Its append was refused.
}

func testCancelled(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustAppend(t, st, run.ID, Record(0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, "Append", st.Append(ctx, run.ID, []deem.Record{Record(1)}), context.Canceled, "")
	_, _, err := st.Begin(ctx, Spec("other"), false)
	wantError(t, "Begin", err, context.Canceled, "")
	_, err = st.Status(ctx, run.ID, "q", 0)
	wantError(t, "Status", err, context.Canceled, "")
	for _, err = range st.Records(ctx, run.ID, store.Query{WithCalls: true}) {
		if err == nil {
			t.Error("Records gave a record")
		}
	}
	wantError(t, "Records", err, context.Canceled, "")
	diff(t, "records", all(t, st, run.ID), []deem.Record{Record(0)})
	// The cancelled Begin left no claim.
	mustBegin(t, st, Spec("other"), false)
}
