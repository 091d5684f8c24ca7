package bundle

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/test/storetest"
)

// The record of a bundle is written as canonical JSON, and holds every field of a
// deem.Record: one that somebody adds there is missed here.
func TestWireRecord(t *testing.T) {
	t.Parallel()
	rec := storetest.Full[deem.Record]()
	body, err := deem.Canonical(toRecord(rec, "hash"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := deem.Canonical(rec)
	if err != nil {
		t.Fatal(err)
	}
	// The only difference is that a record names its item, and does not hold it.
	item, err := deem.Canonical(rec.Item)
	if err != nil {
		t.Fatal(err)
	}
	want = bytes.Replace(want, item, []byte(`"hash"`), 1)
	if !bytes.Equal(body, want) {
		t.Errorf("a record is written as\n%s\nand is\n%s", body, want)
	}
	if _, err := decode[wireRecord](body); err != nil {
		t.Error(err)
	}
}

// The probability of a failure is not text: the chain covers it, and a redacted copy keeps it.
func TestSealedFailure(t *testing.T) {
	t.Parallel()
	half := 0.5
	failure := &deem.Failure{Kind: deem.Unsure, Detail: "secret", Probability: &half}
	w := toRecord(deem.Record{Failure: failure}, "hash").sealed()
	if f := w.Failure; f.Kind != deem.Unsure || f.Detail != seal("secret") || f.Probability == nil || *f.Probability != half {
		t.Errorf("sealed failure %+v, want the kind, the hash of the detail and the probability", f)
	}
}

// Sealing leaves no text, keeps what is not text, and is the same for texts that are
// not UTF-8 before and after they were written.
func TestSealed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, name)) }
		rec := deem.Record{
			Item: deem.Item{
				ID: text("id"), Question: text("question"), Response: text("response"),
				References: rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "references"), Fields: map[string]string{"f": text("field")},
			},
			Verdict: &deem.Verdict{Label: text("label"), Score: rapid.Float64Range(0, 1).Draw(t, "score"), Reason: text("reason"), Aspects: map[string]float64{text("aspect"): 1}},
			Calls: []deem.Call{{Error: text("error"), Reply: &deem.Reply{
				Text: text("reply"), Refusal: text("refusal"), Logprobs: []deem.TokenLogprob{{Token: text("token"), Logprob: -1}},
			}}},
		}
		it := overItem(rec.Item, clean)
		item := wireItem{hash: it.Hash(), item: it}
		w := toRecord(rec, item.hash)
		body, err := deem.Canonical(w)
		if err != nil {
			t.Fatal(err)
		}
		read, err := decode[wireRecord](body)
		if err != nil {
			t.Fatal(err)
		}
		sealedItem, err := decodeItem(item.encode())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(sealedItem.sealed().encode(), item.sealed().encode()) {
			t.Error("an item that was read has another sealed form")
		}
		one, err := deem.Canonical(w.sealed())
		if err != nil {
			t.Fatal(err)
		}
		two, err := deem.Canonical(read.sealed())
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("a record that was read has another sealed form:\n%s\n%s", one, two)
		}
		if !item.sealed().isSealed() || !w.sealed().isSealed() {
			t.Error("a sealed form holds text")
		}
		if read.Verdict.Score != rec.Verdict.Score || read.sealed().Verdict.Label != clean(rec.Verdict.Label) {
			t.Error("sealing changes a score or a label")
		}
	})
}

func TestParseLine(t *testing.T) {
	t.Parallel()
	hash := first[:63] + "a"
	good := string(line{kind: "item", hash: hash, prev: first, body: []byte(`{"kind":"x"}`)}.appendTo(nil))
	good = good[:len(good)-1]
	l, ok := parseLine(7, []byte(good))
	if !ok || l.kind != "item" || l.hash != hash || l.prev != first || string(l.body) != `{"kind":"x"}` || l.n != 7 {
		t.Errorf("parseLine(%s) = %+v, %v", good, l, ok)
	}
	for i := range good {
		changed := []byte(good)
		changed[i] = '~'
		l, ok := parseLine(1, changed)
		if ok && string(l.body) == `{"kind":"x"}` {
			t.Errorf("parseLine takes %s", changed)
		}
		if _, ok := parseLine(1, []byte(good[:i])); ok {
			t.Errorf("parseLine takes %s", good[:i])
		}
	}
}

func TestCompareNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, said, counted string
		left                []string
		words               bool
		want                int
	}{
		{"the same", `{"a":[1,2.5,"x",null,true]}`, `{"a":[1,2.5,"x",null,true]}`, nil, true, 0},
		{"more is counted", `{"a":1}`, `{"a":1,"b":2}`, nil, true, 0},
		{"less is counted", `{"a":1,"b":2}`, `{"a":1}`, nil, true, 1},
		{"another number", `{"a":{"b":[1,2]}}`, `{"a":{"b":[1,3]}}`, nil, true, 1},
		{"another rounding", `{"a":0.30000000000000004}`, `{"a":0.3}`, nil, true, 0},
		{"a large count", `{"a":1000000000001}`, `{"a":1000000000002}`, nil, true, 1},
		{"other words", `{"a":"x","b":["y"]}`, `{"a":"z","b":[]}`, nil, true, 2},
		{"other words of another deem", `{"a":"x","b":["y"]}`, `{"a":"z","b":[]}`, nil, false, 0},
		{"a number and a word", `{"a":1}`, `{"a":"1"}`, nil, false, 1},
		{"a word and nothing", `{"a":"1"}`, `{"a":null}`, nil, false, 1},
		{"left out", `{"a":1,"b":2}`, `{"b":2}`, []string{"a"}, true, 0},
		{"a longer list", `{"a":[1]}`, `{"a":[1,1]}`, nil, false, 1},
	} {
		n := 0
		if err := compareNumbers([]byte(tt.said), []byte(tt.counted), tt.left, tt.words, func(string) { n++ }); err != nil || n != tt.want {
			t.Errorf("%s: %d differences, %v, want %d", tt.name, n, err, tt.want)
		}
	}
	if err := compareNumbers(json.RawMessage(`{`), json.RawMessage(`{}`), nil, true, func(string) {}); err == nil {
		t.Error("compareNumbers of no JSON: no error")
	}
}
