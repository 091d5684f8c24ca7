package sqlite

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/store"
	"deem/internal/store/storetest"
)

// TestEncodeItem holds that an item comes back whole from its parts, that no long
// text remains in its JSON, and that items without one are kept under their own
// hash.
func TestEncodeItem(t *testing.T) {
	check := func(tb rapid.TB, it deem.Item) {
		before := mend(tb, it)
		body, long, hash, err := encodeItem(it, &sums{})
		if err != nil {
			tb.Fatal(err)
		}
		if d := cmp.Diff(before, mend(tb, it)); d != "" {
			tb.Errorf("encodeItem changed the item (-want +got):\n%s", d)
		}
		var got deem.Item
		if err := decode(body, &got); err != nil {
			tb.Fatalf("decode %s: %v", body, err)
		}
		if len(long) == 0 && hex.EncodeToString(hash[:]) != got.Hash() {
			tb.Errorf("hash of %s = %x, want %s", body, hash, got.Hash())
		}
		// A text that is mended gets longer, and may be short before.
		if hasLong(got) && cmp.Equal(before, it, cmpopts.EquateEmpty()) {
			tb.Errorf("a long text remains in %s", body)
		}
		for _, text := range long {
			if err := putBack(&got, text.place, text.body); err != nil {
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

// TestTakeLong holds where the line is, and that it is the same in every place.
func TestTakeLong(t *testing.T) {
	short, long := storetest.Text("short", longText-1), storetest.Text("long", longText)
	it := deem.Item{
		ID: long, Category: long, Cluster: long, // They are columns of the records as well.
		Question: short, Response: long, References: []string{short, long},
		Fields: map[string]string{"a": short, "b": long, "c/d": long},
	}
	_, taken := takeLong(it)
	var got []string
	for _, text := range taken {
		got = append(got, text.place)
	}
	if d := cmp.Diff([]string{"fields/b", "fields/c/d", "references/1", "response"}, got); d != "" {
		t.Errorf("places differ (-want +got):\n%s", d)
	}
	if _, taken := takeLong(deem.Item{Question: long}); len(taken) != 1 || taken[0].place != "question" {
		t.Errorf("taken = %v, want the question", taken)
	}
	// Two names that become one when they are mended stay where they are.
	if _, taken := takeLong(deem.Item{Fields: map[string]string{"a\xff": long, "a\ufffd": long}}); len(taken) != 0 {
		t.Errorf("taken = %d texts, want none", len(taken))
	}
}

// TestSplitHash holds that items which differ are kept apart, also where their
// texts are only in other places.
func TestSplitHash(t *testing.T) {
	a, b := storetest.Text("a", longText), storetest.Text("b", longText)
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
		{Fields: map[string]string{"x": a}},
		{Fields: map[string]string{"y": a}},
		{Fields: map[string]string{"x": ""}},
		{Fields: map[string]string{"x": a, "y": ""}},
		{Fields: map[string]string{"x": "", "y": a}},
		{Fields: map[string]string{"x": a, "y": b}},
		{Fields: map[string]string{"x": b, "y": a}},
		{ID: "1", Response: a},
	}
	seen := map[string]int{}
	for i, it := range items {
		_, _, hash, err := encodeItem(it, &sums{})
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := seen[string(hash[:])]; ok {
			t.Errorf("items %d and %d are kept under one hash", j, i)
		}
		seen[string(hash[:])] = i
	}
}

func TestPutBackNowhere(t *testing.T) {
	for _, place := range []string{"", "id", "weight", "references", "references/1", "references/-1", "references/x", "fields/b", "fields", "/"} {
		it := deem.Item{References: []string{""}, Fields: map[string]string{"a": ""}}
		if err := putBack(&it, place, "text"); err == nil {
			t.Errorf("putBack(%q) gave no error", place)
		}
	}
}

// TestRecent compares what is remembered with what was put, and holds the bound.
func TestRecent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := recent[int, string]{limit: rapid.IntRange(0, 40).Draw(rt, "limit")}
		for range rapid.IntRange(0, 200).Draw(rt, "steps") {
			key := rapid.IntRange(0, 30).Draw(rt, "key")
			want, weight := strconv.Itoa(key), 1+key%7
			if rapid.Bool().Draw(rt, "put") {
				r.put(key, want, weight)
				if _, ok := r.get(key); ok != (weight <= r.limit/2) {
					rt.Fatalf("get right after put = %v with weight %d and limit %d", ok, weight, r.limit)
				}
			} else if got, ok := r.get(key); ok && got != want {
				rt.Fatalf("get(%d) = %q", key, got)
			}
			sum := 0
			for _, w := range r.young {
				sum += w.weight
			}
			if sum != r.weight {
				rt.Fatalf("young ones weigh %d, counted are %d", sum, r.weight)
			}
			for _, w := range r.old {
				sum += w.weight
			}
			if sum > r.limit {
				rt.Fatalf("%d are remembered, more than %d", sum, r.limit)
			}
		}
	})
}

// TestRecentKeepsWhatIsUsed holds that a value in use survives any number of
// others.
func TestRecentKeepsWhatIsUsed(t *testing.T) {
	r := recent[int, string]{limit: 10}
	r.put(0, "used", 1)
	for i := 1; i < 1000; i++ {
		r.put(i, "once", 1)
		if _, ok := r.get(0); !ok {
			t.Fatalf("forgotten after %d others", i)
		}
	}
	if _, ok := r.get(1); ok {
		t.Error("the first of 999 that were used once is remembered")
	}
}

func count(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	if err := s.read.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// withText returns a record with the given texts.
func withText(i int, response, dialogue string) deem.Record {
	rec := storetest.Record(i)
	rec.Item.Response, rec.Calls = response, nil
	rec.Item.Fields = map[string]string{"dialogue": dialogue}
	return rec
}

// TestTextsOnce holds that the database has each long text once: within an append,
// across appends, runs and stores, and when its key was moved into the table of keys.
func TestTextsOnce(t *testing.T) {
	t.Parallel()
	s := openInside(t)
	const texts = 100
	dialogue := func(i int) string { return storetest.Text(fmt.Sprint("dialogue ", i), longText) }
	for _, name := range []string{"", "other"} {
		run, _, err := s.Begin(t.Context(), storetest.Spec(name), false)
		if err != nil {
			t.Fatal(err)
		}
		recs := make([]deem.Record, 0, texts)
		for i := range texts {
			recs = append(recs, withText(i, name, dialogue(i)))
		}
		recs = append(recs, withText(texts, dialogue(0), dialogue(0)))
		for range 2 {
			if err := s.Append(t.Context(), run.ID, recs); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Append(t.Context(), run.ID, recs[:10]); err != nil {
			t.Fatal(err)
		}
		if got := count(t, s, "texts"); got != texts {
			t.Errorf("%d texts, want %d", got, texts)
		}
		mustFold(t, s)
	}
	// The last item of each run says only texts, so it is one item.
	if got := count(t, s, "items"); got != 2*texts+1 {
		t.Errorf("%d items, want %d", got, 2*texts+1)
	}
	if n := len(s.texts.recent); n > 0 {
		t.Errorf("%d texts are remembered though their keys were moved", n)
	}
}

// TestTextsUndone holds that the number of a text whose append was undone is
// forgotten: the next text gets it.
func TestTextsUndone(t *testing.T) {
	t.Parallel()
	s := openInside(t)
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	first, second := storetest.Text("first", longText), storetest.Text("second", longText)
	if _, err := s.write.conn.ExecContext(t.Context(), `CREATE TEMP TRIGGER refuse BEFORE INSERT ON records BEGIN SELECT raise(ABORT, 'no'); END`); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), run.ID, []deem.Record{withText(0, "a", first)}); err == nil {
		t.Fatal("Append gave no error")
	}
	if _, err := s.write.conn.ExecContext(t.Context(), `DROP TRIGGER refuse`); err != nil {
		t.Fatal(err)
	}
	want := []deem.Record{withText(0, "a", second), withText(1, "a", first)}
	for _, rec := range want {
		if err := s.Append(t.Context(), run.ID, []deem.Record{rec}); err != nil {
			t.Fatal(err)
		}
	}
	var got []deem.Record
	for rec, err := range s.Records(t.Context(), run.ID, store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rec)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("records differ (-want +got):\n%s", d)
	}
}

// TestTextsMissing holds that a text which is not there is an error and never an
// empty response, and that brief records do not need it.
func TestTextsMissing(t *testing.T) {
	t.Parallel()
	s := openInside(t)
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	rec := withText(0, storetest.Text("response", longText), "short")
	if err := s.Append(t.Context(), run.ID, []deem.Record{rec}); err != nil {
		t.Fatal(err)
	}
	for _, spoil := range []struct{ statement, says, advice string }{
		{`UPDATE items SET texts = '{"nowhere":1}'`, `no place "nowhere"`, ""},
		{`UPDATE items SET texts = '{'`, "decode texts", ""},
		{`UPDATE items SET texts = '{"response":7}'`, "text 7 is missing", ".recover"},
	} {
		if _, err := s.write.conn.ExecContext(t.Context(), spoil.statement); err != nil {
			t.Fatal(err)
		}
		err := readAll(t, s, run.ID, store.Query{})
		if err == nil || !strings.Contains(err.Error(), spoil.says) || !strings.Contains(err.Error(), rec.Item.ID) ||
			!strings.Contains(deem.HintOf(err), spoil.advice) {
			t.Errorf("%s: error = %v with hint %q, want %q", spoil.statement, err, deem.HintOf(err), spoil.says)
		}
		if err := readAll(t, s, run.ID, store.Query{Brief: true}); err != nil {
			t.Errorf("%s: brief records: %v", spoil.statement, err)
		}
	}
}

func readAll(t *testing.T, s *Store, runID string, q store.Query) error {
	t.Helper()
	var errs []error
	for _, err := range s.Records(t.Context(), runID, q) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
