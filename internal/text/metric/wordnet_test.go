package metric_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"deem/internal/text/metric"

	"github.com/google/go-cmp/cmp"
)

// tiny returns a database of a few words, in WordNet's file format.
func tiny() fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, part := range []string{"noun", "verb", "adj", "adv"} {
		for _, name := range []string{"data." + part, "index." + part, part + ".exc"} {
			fsys[name] = &fstest.MapFile{}
		}
	}
	add := func(part, words string) string {
		file := fsys["data."+part]
		at := fmt.Sprintf("%08d", len(file.Data))
		list := strings.Fields(words)
		file.Data = fmt.Appendf(file.Data, "%s 05 n %02x %s 0 000 | a gloss with words  \n", at, len(list), strings.Join(list, " 0 "))
		return at
	}
	index := func(part, lemma string, offsets ...string) {
		file := fsys["index."+part]
		file.Data = fmt.Appendf(file.Data, "%s n %d 2 @ ~ %d 1 %s  \n", lemma, len(offsets), len(offsets), strings.Join(offsets, " "))
	}
	fsys["index.noun"].Data = []byte("  1 This is the licence.  \n")
	hound, cad := add("noun", "dog domestic_dog Canis"), add("noun", "dog cad")
	index("noun", "dog", hound, cad)
	index("noun", "axis", add("noun", "axis axle"))
	index("noun", "ax", add("noun", "ax hatchet"))
	index("noun", "man", add("noun", "man fellow"))
	index("verb", "dog", add("verb", "chase dog"))
	index("adj", "near", add("adj", "near close nigh(p)"))
	fsys["noun.exc"].Data = []byte("axes axis ax\nlice louse\n")
	return fsys
}

func TestSynonyms(t *testing.T) {
	wn, err := metric.ReadWordNet(tiny(), "tiny")
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{
		"dog":     "Canis cad chase dog",
		"Dogs":    "Canis Dogs cad chase dog",
		"dogged":  "dogged", // no suffix leads to dog
		"axes":    "ax axes axis axle hatchet",
		"lice":    "lice", // an exception without a lemma
		"nearest": "close near nearest nigh",
		"mens":    "fellow man mens", // two suffixes, one after the other
		"":        "",
		"cat":     "cat",
	} {
		if diff := cmp.Diff(want, strings.Join(wn.Synonyms(word), " ")); diff != "" {
			t.Errorf("Synonyms(%q) (-want +got):\n%s", word, diff)
		}
	}
}

// TestSynonymsManySuffixes looks up a word that can be taken apart in very many ways.
func TestSynonymsManySuffixes(t *testing.T) {
	wn, err := metric.ReadWordNet(tiny(), "tiny")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	word := strings.Repeat("ses", 300)
	if got := wn.Synonyms(word); len(got) != 1 || time.Since(start) > 10*time.Second {
		t.Errorf("%d synonyms in %v", len(got), time.Since(start))
	}
}

func TestWordNetName(t *testing.T) {
	names := map[string]bool{}
	for _, change := range []string{"", "adj.exc", "data.adv"} {
		fsys := tiny()
		if change != "" {
			fsys[change].Data = append(fsys[change].Data, "more words\n"...)
		}
		wn, err := metric.ReadWordNet(fsys, "tiny")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(wn.Name(), "wordnet:") {
			t.Errorf("Name = %q", wn.Name())
		}
		names[wn.Name()] = true
	}
	if len(names) != 3 {
		t.Errorf("three databases have the names %v", names)
	}
}

func TestReadWordNetErrors(t *testing.T) {
	for file, want := range map[string]string{
		"index.noun": "read tiny/index.noun:6: ",
		"index.verb": "read tiny/index.verb:2: ",
	} {
		for _, line := range []string{"cat", "cat n x 0 1 1 00000000", "cat n 1 0 1 1 00000007", "cat n 1 0 1 1 99999999", "cat n 9 0 00000000"} {
			fsys := tiny()
			fsys[file].Data = append(fsys[file].Data, line+"\n"...)
			if _, err := metric.ReadWordNet(fsys, "tiny"); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s with %q: %v, want %q...", file, line, err, want)
			}
		}
	}
	for name := range tiny() {
		fsys := tiny()
		delete(fsys, name)
		if _, err := metric.ReadWordNet(fsys, "tiny"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v, want an error that says so", name, err)
		}
	}
	if _, err := metric.OpenWordNet(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenWordNet of an empty folder: %v", err)
	}
}

// FuzzWordNet reads arbitrary databases. A database that is accepted returns for any word a
// sorted list that contains the word itself.
func FuzzWordNet(f *testing.F) {
	files := tiny()
	f.Add(string(files["data.noun"].Data), string(files["index.noun"].Data), "mice mouse\n", "dogs")
	f.Add("00000000 05 n ff a 0", "a n 1 0 1 0 00000000\n", "a\n", "a")
	f.Add("0", "a n 1 0\n", "", "sesesese")
	f.Add("0", " \nx n 0\n\n", "", "\xff")
	f.Fuzz(func(t *testing.T, data, index, exceptions, word string) {
		fsys := tiny()
		fsys["data.noun"], fsys["index.noun"], fsys["noun.exc"] = &fstest.MapFile{Data: []byte(data)}, &fstest.MapFile{Data: []byte(index)}, &fstest.MapFile{Data: []byte(exceptions)}
		wn, err := metric.ReadWordNet(fsys, "wn")
		if err != nil {
			if !strings.Contains(err.Error(), "wn/") {
				t.Errorf("error %q names no file", err)
			}
			return
		}
		if list := wn.Synonyms(word); !slices.IsSorted(list) || !slices.Contains(list, word) {
			t.Errorf("Synonyms(%q) = %q", word, list)
		}
	})
}
