package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// careless are pieces of which a normaliser that goes word by word could make something
// else than one that does a step to the whole text: articles beside what parts words,
// a sigma that hangs on its neighbours, bytes that become a character when what
// stands between them goes.
var careless = rapid.SampledFrom([]string{
	"a", "A", "an", "The", "and", "x", "Y2", "_", ".", ",", "-", "'", " ", "\t", "\x1c", "\u2003", "\x00", "\x7f",
	"Σ", "ΑΣ", "é", "É", "İ", "\u212a", "²", "\u0301", "中", "–", "\xe2", "\x80", "\x83", "\xff", "\uFFFD",
})

func TestWordByWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(careless, 0, 12).Draw(t, "pieces"), "")
		for name, pair := range map[string][2][]string{
			"SQuADWords":  {SQuADWords(s), Split(blankWords(dropPunct(Lower(s)), IsWord, isArticle))},
			"LoCoMoWords": {LoCoMoWords(s), Split(blankWords(dropPunct(Lower(strings.ReplaceAll(s, ",", ""))), isRegexWord, isLoCoMoArticle))},
			"ROUGEWords": {ROUGEWords(s, false), strings.FieldsFunc(Lower(s), func(r rune) bool {
				return !(r >= 'a' && r <= 'z') && !isDigit(r)
			})},
		} {
			if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
				t.Fatalf("%s(%q) (-want +got):\n%s", name, s, diff)
			}
		}
	})
}

// TestNumber compares a table with a map.
func TestNumber(t *testing.T) {
	var n Number[string]
	rapid.Check(t, func(t *rapid.T) {
		n.Reset()
		want := map[string]int32{}
		list := rapid.SliceOfN(rapid.StringMatching(`[a-f]{0,3}`), 0, 300).Draw(t, "list")
		if one := rapid.Bool().Draw(t, "one by one"); !one {
			n.ready(len(list))
		}
		for _, x := range list {
			if _, ok := want[x]; !ok {
				if got := n.Find(x); got != -1 {
					t.Fatalf("Find(%q) of a new element = %d, want -1", x, got)
				}
				want[x] = int32(len(want))
			}
			if got := n.Add(x); got != want[x] {
				t.Fatalf("Add(%q) = %d, want %d", x, got, want[x])
			}
			if got := n.Find(x); got != want[x] {
				t.Fatalf("Find(%q) = %d, want %d", x, got, want[x])
			}
		}
		if n.Len() != len(want) {
			t.Fatalf("Len() = %d, want %d", n.Len(), len(want))
		}
	})
}
