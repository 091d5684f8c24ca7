package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/store"
)

// drawText returns texts with NUL and the characters that encode it.
var drawText = rapid.StringOfN(rapid.OneOf(rapid.SampledFrom([]rune{0, 1, 2, 3, 'a', 'é', utf8.MaxRune}), rapid.Rune()), 0, 12, -1)

// TestPack checks that packed texts can be unpacked, contain no NUL, and compare like the
// texts.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawText.Draw(t, "a"), drawText.Draw(t, "b")
		packed := pack(a)
		if got := unpack(packed); got != a || strings.Contains(packed, "\x00") {
			t.Fatalf("pack(%q) = %q, and unpacked %q", a, packed, got)
		}
		if cmp.Compare(pack(a), pack(b)) != cmp.Compare(a, b) {
			t.Fatalf("%q and %q compare otherwise than %q and %q", pack(a), pack(b), a, b)
		}
	})
	if got := unpack(pack("a\xff\x00")); got != "a\ufffd\x00" {
		t.Errorf("a text that is not UTF-8 becomes %q", got)
	}
}

// TestKeys checks that the items of different runs, and different items, have different
// keys.
func TestKeys(t *testing.T) {
	seen := map[string]string{}
	for run := range int64(3) {
		for _, id := range []string{"", "q1", "\x00", "\x01", "\x01\x01", strings.Repeat("x", 1<<20)} {
			what, key := fmt.Sprintf("%d %.20q", run, id), string(keyOf(run, id))
			if other, ok := seen[key]; ok || len(key) != 16 {
				t.Errorf("%s and %s have one key of %d bytes", what, other, len(key))
			}
			seen[key] = what
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"?!":                         "",
		"Don't stop-me NOW":          "don t stop me now",
		"Crème Brûlée, Ærø, naïve":   "creme brulee ærø naive",
		"cre\u0300me":                "creme",
		"Йод ЁЖ":                     "йод ёж",
		"3.14 is 42%":                "3 14 is 42",
		"東京タワー42m":                   "東 京 タ ワ ー 42m",
		"한국어 text":                   "한국어 text",
		"ไทย":                        "ไ ท ย",
		"हिन्दी":                     "हिन्दी",
		"a\x00b\x01c":                "a b c",
		"out_of_range":               "out of range",
		"İstanbul":                   "istanbul",
		strings.Repeat("x", 5):       "xxxxx",
		"\ue000":                     "\ue000",
		"tab\there\nthere\u00a0each": "tab here there each",
	} {
		if got := strings.Join(wordsOf(text), " "); got != want {
			t.Errorf("words of %q = %q, want %q", text, got, want)
		}
	}
}

func TestTerms(t *testing.T) {
	for query, want := range map[string]string{
		"":                        `[]`,
		"  ":                      `[]`,
		"tower":                   `[" tower " "'tower'"]`,
		"Tower* of":               `[" tower" " of " "'tower':* & 'of'"]`,
		`"the tower" of`:          `[" the tower " " of " "'the' & 'tower' & 'of'"]`,
		`"the tow"* of`:           `[" the tow" " of " "'the' & 'tow':* & 'of'"]`,
		`"not closed`:             `[" not closed " "'not' & 'closed'"]`,
		"“the tower”":             `[" the tower " "'the' & 'tower'"]`,
		"don't":                   `[" don t " "'don' & 't'"]`,
		"* ? \"\" \"":             `[]`,
		"' OR 1=1; -- & | ! <-> ": `[" or " " 1 1 " "'or' & '1' & '1'"]`,
	} {
		var c conditions
		join := c.selectText(query)
		if got := fmt.Sprintf("%q", c.args); got != want || (join == "") != (want == "[]") {
			t.Errorf("the arguments for %q = %s, join %q, want %s", query, got, join, want)
		}
	}
}

// TestFoldLosesNoWord checks that a folded word is still a word, so that no term is without
// words.
func TestFoldLosesNoWord(t *testing.T) {
	for r := range unicode.MaxRune + 1 {
		if s := string(r); len(store.SearchWords(s)) > 0 && len(wordsOf(s)) == 0 {
			t.Errorf("%q is a word, but not when it is folded", s)
		}
	}
}

// TestIndexable checks that words that do not fit into a tsvector are not put into one.
func TestIndexable(t *testing.T) {
	rec := deem.Record{Item: deem.Item{ID: "q", Response: strings.Repeat("x", 70_000) + " after"}, Verdict: &deem.Verdict{Reason: "why"}}
	inOrder, words := said(rec)
	if vector(words) != nil {
		t.Error("a word of 64 KiB counts as one that can be indexed")
	}
	if want := " q \n " + strings.Repeat("x", store.SearchTextBytes) + " \n why \n"; inOrder != want {
		t.Errorf("said %.60q..., want %.60q...", inOrder, want)
	}
	many := make([]string, 200_000)
	for i := range many {
		many[i] = fmt.Sprint("word", i)
	}
	if vector(many) != nil || vector(many[:1000]) == nil {
		t.Error("vector does not tell 1,000 words from 200,000")
	}
	var c conditions
	if c.selectText(strings.Repeat("x", 2000)); strings.Contains(c.String(), "tsquery") {
		t.Error("a word of 2,000 bytes is looked for in the index")
	}
}

// TestPassing checks which errors are transient.
func TestPassing(t *testing.T) {
	code := func(c string) error { return fmt.Errorf("x: %w", &pgconn.PgError{Code: c}) }
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("x"), false},
		{code("57P01"), true},
		{code("57P03"), true},
		{code("40P01"), true},
		{code("40001"), true},
		{code("53300"), true},
		{code("08006"), true},
		{code("23505"), false},
		{code("57014"), false},
		{code("28P01"), false},
		{code("3D000"), false},
		{code("53100"), false}, // The disk is full.
		{io.ErrUnexpectedEOF, true},
		{&net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, true},
		{&net.DNSError{IsNotFound: true}, false},
		{&net.DNSError{IsTimeout: true}, true},
	} {
		if got := passing(tt.err); got != tt.want {
			t.Errorf("passing(%v) = %v, want %v", tt.err, got, tt.want)
		}
	}
}

// TestItems checks that the long texts of an item are found by the stored references.
func TestItems(t *testing.T) {
	long := strings.Repeat("long ", 200)
	for i, it := range []deem.Item{
		{},
		{Question: long, Response: long},
		{References: []string{"", long}, Fields: map[string]string{"": long, "a/b": long}},
		{Fields: map[string]string{"a\xff": long}},
	} {
		e, err := new(store.ItemEncoder).Item(it)
		if err != nil {
			t.Fatal(err)
		}
		places, err := placesOf(e)
		if err != nil {
			t.Fatal(err)
		}
		var f found
		if err := f.decodeItem(e.Hash[:], &e.JSON, places); err != nil {
			t.Fatal(err)
		}
		if len(f.places) != len(e.Long) {
			t.Errorf("item %d: %d places for %d texts", i, len(f.places), len(e.Long))
		}
		for _, text := range e.Long {
			if ref := f.places[text.Place]; ref.hash != text.Hash || ref.size != len(text.Body) {
				t.Errorf("item %d: the place %q has %v", i, text.Place, ref)
			}
			if err := store.PutBackText(&f.rec.Item, text.Place, text.Body); err != nil {
				t.Error(err)
			}
		}
		if d := gocmp.Diff(it.Hash(), f.rec.Item.Hash()); d != "" {
			t.Errorf("item %d came back as another:\n%s", i, d)
		}
	}
}
