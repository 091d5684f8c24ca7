package store_test

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/store"
	"deem/internal/test/storetest"
)

// drawItem returns a random item, with texts of about LongBytes and bytes that are not
// UTF-8.
func drawItem(rt *rapid.T) deem.Item {
	bytes := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) })
	str := rapid.OneOf(rapid.String(), bytes)
	long := rapid.Custom(func(rt *rapid.T) string {
		return storetest.Text(str.Draw(rt, "start"), rapid.IntRange(store.LongBytes-2, store.LongBytes+2).Draw(rt, "size"))
	})
	str = rapid.OneOf(str, str, long)
	return deem.Item{
		ID: str.Draw(rt, "id"), Category: str.Draw(rt, "category"), Cluster: str.Draw(rt, "cluster"),
		Question: str.Draw(rt, "question"), Response: str.Draw(rt, "response"),
		References: rapid.SliceOf(str).Draw(rt, "references"),
		Fields:     rapid.MapOf(str, str).Draw(rt, "fields"),
		Weight:     rapid.Float64().Draw(rt, "weight"),
	}
}

// fix returns an item after it was encoded as JSON and decoded.
func fix(tb rapid.TB, it deem.Item) deem.Item {
	tb.Helper()
	body, err := deem.Canonical(it)
	if err != nil {
		tb.Fatal(err)
	}
	var mended deem.Item
	if err := store.DecodeJSON(string(body), &mended); err != nil {
		tb.Fatal(err)
	}
	return mended
}

// TestItem checks that an item can be restored from its parts, that no long text remains in
// its JSON, and that an item without long texts has the hash of its JSON.
func TestItem(t *testing.T) {
	var e store.ItemEncoder
	check := func(tb rapid.TB, it deem.Item) {
		before := fix(tb, it)
		kept, err := e.Item(it)
		if err != nil {
			tb.Fatal(err)
		}
		if d := cmp.Diff(before, fix(tb, it)); d != "" {
			tb.Errorf("Item changed the item (-want +got):\n%s", d)
		}
		var got deem.Item
		if err := store.DecodeJSON(kept.JSON, &got); err != nil {
			tb.Fatalf("decode %s: %v", kept.JSON, err)
		}
		if len(kept.Long) == 0 && hex.EncodeToString(kept.Hash[:]) != got.Hash() {
			tb.Errorf("hash of %s = %x, want %s", kept.JSON, kept.Hash, got.Hash())
		}
		// Replacing invalid bytes makes a text longer, perhaps longer than LongBytes.
		if again, err := new(store.ItemEncoder).Item(got); err == nil && len(again.Long) > 0 && cmp.Equal(before, it, cmpopts.EquateEmpty()) {
			tb.Errorf("a long text remains in %s", kept.JSON)
		}
		for _, text := range kept.Long {
			if err := store.PutBackText(&got, text.Place, text.Body); err != nil {
				tb.Error(err)
			}
		}
		if d := cmp.Diff(before, got, cmpopts.EquateEmpty()); d != "" {
			tb.Errorf("item differs (-want +got):\n%s", d)
		}
	}
	check(t, deem.Item{})
	check(t, storetest.Full[deem.Item]())
	rapid.Check(t, func(rt *rapid.T) { check(rt, drawItem(rt)) })
}

// TestKept pins the stored form: an item with a new body or hash would be stored twice, and
// runs would no longer share it.
func TestKept(t *testing.T) {
	long := strings.Repeat("long ", 200)
	var e store.ItemEncoder
	for _, tt := range []struct {
		it         deem.Item
		json, hash string
		texts      int
	}{
		{deem.Item{}, `{"id":"","response":""}`, "0573b50227f8d5b991ab1d0554007750c252b50eb9ee6613bb37a1dad78e5806", 0},
		{
			deem.Item{ID: "q<&>", Response: long},
			`{"id":"q<&>","response":""}`, "0c42f403d7344d00005bb77969595bb92a51b560645d4def5046f44e7ed3d108", 1,
		},
		{
			deem.Item{ID: "q", References: []string{"a", long}, Fields: map[string]string{"a/b": long, "c": "\xff" + long}, Weight: 2},
			`{"fields":{"a/b":"","c":""},"id":"q","references":["a",""],"response":"","weight":2}`,
			"e045151071ff4c9d777e5dbc52cd62beb83f5afe490a69c8d22bad7301e21eb0", 3,
		},
	} {
		got, err := e.Item(tt.it)
		if hash := hex.EncodeToString(got.Hash[:]); err != nil || got.JSON != tt.json || hash != tt.hash || len(got.Long) != tt.texts {
			t.Errorf("Item = %s, %s, %d texts, %v, want %s, %s, %d texts", got.JSON, hash, len(got.Long), err, tt.json, tt.hash, tt.texts)
		}
		for _, text := range got.Long {
			want := "9048f3bf232fc886ad41547eb3d3d8c177a3d58ba8bec3d8740a8f0f7c7686c6"
			if text.Place == "fields/c" {
				want = "f82fc3e989aa35ff445eda86f24f223d64b16e864d25391fb68b0fac733255b4"
			}
			if hash := hex.EncodeToString(text.Hash[:]); hash != want {
				t.Errorf("the hash of %s is %s, want %s", text.Place, hash, want)
			}
		}
	}
	const reply = `{"text":"a<b","refusal":"r","stop":"end","usage":{"input":1,"output":2,"cached_input":3,"reasoning":4},` +
		`"model":"m","fingerprint":"f","request_id":"i","batch":"b","logprobs":[{"token":"Yes","logprob":-0.25}]}`
	got, err := store.EncodeReply(deem.Reply{
		Text: "a<b", Refusal: "r", Stop: "end", Usage: deem.Usage{Input: 1, Output: 2, CachedInput: 3, Reasoning: 4},
		Model: "m", Fingerprint: "f", RequestID: "i", Batch: "b", Logprobs: []deem.TokenLogprob{{Token: "Yes", Logprob: -0.25}},
		Key: "key", Attempts: 3, CostMicros: 5, Cached: true,
	})
	if err != nil || got != reply {
		t.Errorf("store.EncodeReply = %s, %v, want %s", got, err, reply)
	}
}

func TestItemWithoutWeight(t *testing.T) {
	for _, weight := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := new(store.ItemEncoder).Item(deem.Item{Weight: weight}); err == nil {
			t.Errorf("Item with weight %v gave no error", weight)
		}
	}
}

// TestLongTexts checks the limit of long texts, and that it is the same in every place.
func TestLongTexts(t *testing.T) {
	short, long := storetest.Text("short", store.LongBytes-1), storetest.Text("long", store.LongBytes)
	it := deem.Item{
		ID: long, Category: long, Cluster: long, // These are also columns of the records.
		Question: short, Response: long, References: []string{short, long},
		Fields: map[string]string{"a": short, "b": long, "c/d": long},
	}
	longTexts := func(it deem.Item) []store.LongText {
		kept, err := new(store.ItemEncoder).Item(it)
		if err != nil {
			t.Fatal(err)
		}
		return kept.Long
	}
	var got []string
	for _, text := range longTexts(it) {
		got = append(got, text.Place)
	}
	if d := cmp.Diff([]string{"fields/b", "fields/c/d", "references/1", "response"}, got); d != "" {
		t.Errorf("places differ (-want +got):\n%s", d)
	}
	if taken := longTexts(deem.Item{Question: long}); len(taken) != 1 || taken[0].Place != "question" {
		t.Errorf("taken = %v, want the question", taken)
	}
	// Two names that become equal in JSON stay there.
	if taken := longTexts(deem.Item{Fields: map[string]string{"a\xff": long, "a\ufffd": long}}); len(taken) != 0 {
		t.Errorf("taken = %d texts, want none", len(taken))
	}
}

// TestHash checks that different items have different hashes, even if they have the same
// texts in other places.
func TestHash(t *testing.T) {
	a, b := storetest.Text("a", store.LongBytes), storetest.Text("b", store.LongBytes)
	items := []deem.Item{
		{},
		{Response: a},
		{Response: b},
		{Question: a},
		{Question: a, Response: a},
		{Question: a, Response: b},
		{Question: b, Response: a},
		{References: []string{a}},
		{References: []string{a, ""}},
		{References: []string{"", a}},
		{References: []string{"", ""}},
		{Fields: map[string]string{"": a, "a/b": a}},
		{Fields: map[string]string{"question": a}},
		{Fields: map[string]string{"x": a}},
		{Fields: map[string]string{"y": a}},
		{Fields: map[string]string{"x": ""}},
		{Fields: map[string]string{"x": a, "y": ""}},
		{Fields: map[string]string{"x": "", "y": a}},
		{Fields: map[string]string{"x": a, "y": b}},
		{Fields: map[string]string{"x": b, "y": a}},
		{ID: "1", Response: a},
	}
	seen := map[store.TextSum]int{}
	for i, it := range items {
		kept, err := new(store.ItemEncoder).Item(it)
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := seen[kept.Hash]; ok {
			t.Errorf("items %d and %d are kept under one hash", j, i)
		}
		seen[kept.Hash] = i
	}
}

func TestPutBackNowhere(t *testing.T) {
	for _, place := range []string{"", "id", "weight", "references", "references/1", "references/-1", "references/x", "fields/b", "fields", "/"} {
		it := deem.Item{References: []string{""}, Fields: map[string]string{"a": ""}}
		if err := store.PutBackText(&it, place, "text"); err == nil {
			t.Errorf("PutBack(%q) gave no error", place)
		}
	}
}
