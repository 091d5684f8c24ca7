package queue

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
)

func TestPart(t *testing.T) {
	for _, c := range []struct {
		bound, others, taken, short, used, wanted, want int
	}{
		{bound: 10, wanted: 4, want: 4},
		{bound: 10, wanted: 40, want: 10},
		{bound: 10, others: 1, taken: 8, used: 0, wanted: 5, want: 2},
		{bound: 10, others: 1, taken: 2, short: 1, used: 8, wanted: 9, want: 8}, // Calls in flight cannot be taken back.
		{bound: 10, others: 1, taken: 2, short: 1, used: 3, wanted: 9, want: 5},
		{bound: 1, others: 3, taken: 1, short: 2, wanted: 4, want: 0},
	} {
		if got := part(c.bound, c.others, c.taken, c.short, c.used, c.wanted); got != c.want {
			t.Errorf("part(%+v) = %d, want %d", c, got, c.want)
		}
	}
}

// Items survive packing and unpacking, however they are split, and chunks keep to their
// limits.
func TestChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		most := rapid.IntRange(1, maxItems).Draw(t, "most")
		var want, got []placed
		for i := range n {
			want = append(want, placed{i, deem.Item{
				ID: fmt.Sprint(i), Question: rapid.StringN(0, 50, 200).Draw(t, "question"), Response: "x\x00",
				Fields: map[string]string{"a<b": rapid.StringN(0, 10, 40).Draw(t, "field")},
			}})
		}
		for ch, err := range cut("any", all(want), most) {
			if err != nil {
				t.Fatal(err)
			}
			list, err := ch.unpack()
			if err != nil || len(list) != ch.count || ch.count == 0 || ch.count > most || ch.Run != "any" {
				t.Fatalf("unpack: %d items of run %q, %v, want %d and 1 to %d", len(list), ch.Run, err, ch.count, most)
			}
			got = append(got, list...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("items (-in +out):\n%s", diff)
		}
	})
}

// Long items are put in small chunks, because a worker holds chunks in memory.
func TestChunksOfLongItems(t *testing.T) {
	var list []placed
	for i := range 10 {
		list = append(list, placed{i, deem.Item{ID: fmt.Sprint(i), Response: strings.Repeat("x", maxBytes/2)}})
	}
	n := 0
	for ch, err := range cut("any", all(list), maxItems) {
		if n++; err != nil || ch.count != 2 {
			t.Errorf("a chunk of %d items, %v, want 2", ch.count, err)
		}
	}
	if n != 5 {
		t.Errorf("%d chunks, want 5", n)
	}
}

func all(list []placed) func(func(placed, error) bool) {
	return func(yield func(placed, error) bool) {
		for _, it := range list {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// FuzzUnpack checks that a damaged chunk is refused, or read as items that can be packed
// again.
func FuzzUnpack(f *testing.F) {
	list := []placed{{0, deem.Item{ID: "a", Response: "an answer"}}, {1, deem.Item{ID: "b"}}}
	for ch, err := range cut("any", all(list), maxItems) {
		if err != nil {
			f.Fatal(err)
		}
		f.Add(ch.Items)
		f.Add(ch.Items[:len(ch.Items)/2])
	}
	f.Add([]byte{})
	f.Add([]byte("no chunk"))
	f.Fuzz(func(t *testing.T, body []byte) {
		list, err := chunk{Items: body}.unpack()
		if err != nil {
			return
		}
		for _, err := range cut("any", all(list), maxItems) {
			if err != nil {
				t.Errorf("%+v was unpacked and cannot be packed: %v", list, err)
			}
		}
	})
}
