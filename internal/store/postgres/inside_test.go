package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
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
