package storetest

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"deem"
	"deem/internal/store"
)

// Text returns a text of the given number of bytes that begins with name.
func Text(name string, size int) string {
	line := name + " says that they went to the lighthouse at the end of the pier. "
	return strings.Repeat(line, size/len(line)+1)[:size]
}

// places are functions that put a text into different places of an item, including fields
// whose names look like other places.
var places = map[string]func(it *deem.Item, text string){
	"question": func(it *deem.Item, text string) { it.Question = text },
	"response": func(it *deem.Item, text string) { it.Response = text },
	"conversation": func(it *deem.Item, text string) {
		it.Messages = deem.Conversation{
			{Role: "user", Content: text},
			{Role: "assistant", ToolCalls: []deem.ToolCall{{ID: "c1", Type: "function", Function: deem.Function{Name: "find", Arguments: text}}}},
			{Role: "tool", ToolCallID: "c1", Content: ""},
		}
	},
	"only reference":   func(it *deem.Item, text string) { it.References = []string{text} },
	"second reference": func(it *deem.Item, text string) { it.References = []string{"short", text, "also short"} },
	"last reference":   func(it *deem.Item, text string) { it.References = []string{"", "short", text} },
	"field":            func(it *deem.Item, text string) { it.Fields = map[string]string{"dialogue": text} },
	"field among others": func(it *deem.Item, text string) {
		it.Fields = map[string]string{"dialogue": text, "index": "1", "empty": "", "fields": "no"}
	},
	"strange fields": func(it *deem.Item, text string) {
		it.Fields = map[string]string{"": text}
		for _, name := range []string{"a/b", "/", "response", "references/0", "fields/dialogue", `"`, "\n\\", "<&>\u2028", "日本語"} {
			it.Fields[name] = text + name
		}
	},
	"everywhere": func(it *deem.Item, text string) {
		it.Question, it.Response, it.References = text, text, []string{text, text}
		it.Fields = map[string]string{"dialogue": text, "context": text}
	},
	"everywhere another": func(it *deem.Item, text string) {
		it.Question, it.Response, it.References = "Q "+text, "R "+text, []string{"A " + text, "B " + text}
		it.Fields = map[string]string{"dialogue": "D " + text, "context": "C " + text}
	},
}

// textItem returns a record whose item has the text in the given place.
func textItem(place, text string) deem.Record {
	rec := Record(0)
	rec.Item = deem.Item{ID: fmt.Sprintf("%s %d %.20q", place, len(text), text)}
	places[place](&rec.Item, text)
	rec.Calls = nil
	return rec
}

// testTexts checks that texts of every length come back from every place, whatever a store
// does with long ones.
func testTexts(t *testing.T, s suite) {
	st, run := s.begin(t)
	var want []deem.Record
	add := func(rec deem.Record) {
		rec.Position = len(want)
		want = append(want, rec)
	}
	for place := range places {
		// A store may use any threshold between short and long texts.
		for size := 256; size <= 4096; size *= 2 {
			for _, n := range []int{size - 1, size, size + 1} {
				add(textItem(place, Text("someone", n)))
			}
		}
		add(textItem(place, strings.Repeat("a\x00b", 2000)))
	}
	// These look like what a store may keep in place of a text.
	for _, text := range []string{
		"1", `{"response":1}`, `{"fields/dialogue":1,"question":2}`, `{"text":1}`, `{"$ref":1}`, `[1]`, "sha256:" + strings.Repeat("0", 64),
		`{"response":1,"filler":"` + Text("x", 5000) + `"}`, `{"id":"x","response":"","filler":"` + Text("x", 5000) + `"}`,
		strings.Repeat("0", 64) + Text("hash", 5000),
	} {
		add(textItem("everywhere", text))
	}
	for _, text := range strange {
		if text != "" {
			add(textItem("everywhere another", strings.Repeat(text, 5000/len(text))))
		}
	}
	mustAppend(t, st, run.ID, want...)
	got := all(t, st, run.ID)
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range got {
		diff(t, fmt.Sprintf("record %.60q", want[i].Item.ID), got[i], want[i])
	}
}

// testTextsShared checks that items that share texts, in one run and in several, in one
// append and in several, do not affect each other.
func testTextsShared(t *testing.T, s suite) {
	st, run := s.begin(t)
	other, _ := mustBegin(t, st, Spec("other"), false)
	rec := func(i, dialogue int, response string) deem.Record {
		rec := Record(i)
		rec.Item.Response = response
		rec.Item.Fields = map[string]string{
			"dialogue": Text(fmt.Sprint("dialogue ", dialogue), 6000), "golden": Text(fmt.Sprint("golden ", dialogue), 1200),
		}
		rec.Calls = nil
		return rec
	}
	var want, wantOther []deem.Record
	for i := range 20 {
		want = append(want, rec(i, i/5, "short"))
		wantOther = append(wantOther, rec(i, i%4, Text(fmt.Sprint("response ", i), 3000)))
	}
	mustAppend(t, st, run.ID, want[:5]...)
	mustAppend(t, st, other.ID, wantOther[:10]...)
	mustAppend(t, st, run.ID, want[5:]...)
	for _, rec := range wantOther[10:] {
		mustAppend(t, st, other.ID, rec)
	}
	again := s.open(t) // It has never seen the texts.
	mustAppend(t, again, run.ID, want[7], want[19])
	diff(t, "records", all(t, st, run.ID), want)
	diff(t, "records of the other run", all(t, again, other.ID), wantOther)

	// Another conversation for the same item, then the first again.
	moved := rec(3, 9, Text("a new response", 3000))
	mustAppend(t, st, run.ID, moved)
	diff(t, "replaced record", query(t, again, run.ID, store.Query{IDs: []string{moved.Item.ID}}), []deem.Record{moved})
	mustAppend(t, again, run.ID, want[3])
	diff(t, "records after all", all(t, st, run.ID), want)
}

// testTextsNotUTF8 checks that invalid UTF-8 becomes U+FFFD in long texts as it does in
// short ones.
func testTextsNotUTF8(t *testing.T, s suite) {
	st, run := s.begin(t)
	bad := strings.Repeat("a\xff\xfeb\xe2\x82", 1000)
	fixed := strings.Repeat("a\ufffd\ufffdb\ufffd\ufffd", 1000)
	var recs, want []deem.Record
	for place := range places {
		rec, fix := textItem(place, bad), textItem(place, fixed)
		rec.Item.ID, fix.Item.ID = place, place
		rec.Position, fix.Position = len(recs), len(recs)
		recs, want = append(recs, rec), append(want, fix)
	}
	names := textItem("response", fixed)
	names.Position = len(recs)
	names.Item.Fields = map[string]string{"a\ufffd": fixed, "b": "short", "\ufffdc": "short"}
	want = append(want, names)
	names.Item.Fields = map[string]string{"a\xff": bad, "b": "short", "\xffc": "short"}
	recs = append(recs, names)
	mustAppend(t, st, run.ID, recs...)
	diff(t, "records", all(t, st, run.ID), want)
}

// testTextsLeftAlone checks that appending does not change the caller's items, and that
// records that were read belong to the reader.
func testTextsLeftAlone(t *testing.T, s suite) {
	st, run := s.begin(t)
	rec := textItem("everywhere", Text("someone", 6000))
	want := textItem("everywhere", Text("someone", 6000))
	fields := maps.Clone(rec.Item.Fields)
	mustAppend(t, st, run.ID, rec)
	diff(t, "the record that was appended", rec, want)
	diff(t, "its fields", rec.Item.Fields, fields)
	for range 2 {
		for got, err := range st.Records(t.Context(), run.ID, store.Query{}) {
			must(t, err)
			diff(t, "record", got, want)
			got.Item.Fields["dialogue"], got.Item.References[0] = "scribbled", "over"
		}
	}
	brief := want
	brief.Item = deem.Item{ID: want.Item.ID}
	diff(t, "brief record", query(t, st, run.ID, store.Query{Brief: true}), []deem.Record{brief})
}
