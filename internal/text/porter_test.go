package text_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"deem/internal/text"
)

// Each word shows one step or one exception.
func TestStem(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"", ""},
		{"a", "a"},
		{"IS", "is"},
		{"sky", "sky"},
		{"skies", "sky"},
		{"Skies", "ski"},
		{"dying", "die"},
		{"Dying", "dy"},
		{"news", "news"},
		{"succeed", "succeed"},
		{"caresses", "caress"},
		{"ponies", "poni"},
		{"dies", "die"},
		{"flies", "fli"},
		{"cats", "cat"},
		{"kiss", "kiss"},
		{"died", "die"},
		{"spied", "spi"},
		{"feed", "feed"},
		{"bled", "bled"},
		{"sing", "sing"},
		{"conflated", "conflat"},
		{"troubled", "troubl"},
		{"sized", "size"},
		{"hopping", "hop"},
		{"falling", "fall"},
		{"hissing", "hiss"},
		{"filing", "file"},
		{"failing", "fail"},
		{"a*ding", "ad"},
		{"happy", "happi"},
		{"enjoy", "enjoy"},
		{"by", "by"},
		{"fly", "fli"},
		{"relational", "relat"},
		{"rational", "ration"},
		{"radically", "radic"},
		{"hopefully", "hope"},
		{"geology", "geolog"},
		{"apology", "apolog"},
		{"possibly", "possibl"},
		{"digitizer", "digit"},
		{"triplicate", "triplic"},
		{"goodness", "good"},
		{"electrical", "electr"},
		{"adoption", "adopt"},
		{"onion", "onion"},
		{"replacement", "replac"},
		{"cement", "cement"},
		{"probate", "probat"},
		{"rate", "rate"},
		{"cease", "ceas"},
		{"use", "use"},
		{"controlling", "control"},
		{"roll", "roll"},
		{"yyying", "yy"},
		{"CAFÉS", "café"},
		{"déjàs", "déjà"},
		{"ééies", "ééi"},
		{"日本語s", "日本語"},
		{"x\xffing", "x\xffing"},
	} {
		if got := text.Stem(tt.word); got != tt.want {
			t.Errorf("Stem(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}

// TestStemAll reads pairs that are not part of the repository.
func TestStemAll(t *testing.T) {
	const name = "../../../shared/vectors/porter_nltk38.tsv"
	f, err := os.Open(name)
	if err != nil {
		t.Skipf("the vectors are not here: %v", err)
	}
	defer f.Close()
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); n++ {
		word, want, _ := strings.Cut(sc.Text(), "\t")
		if got := text.Stem(word); got != want {
			t.Errorf("Stem(%q) = %q, want %q", word, got, want)
		}
	}
	t.Logf("%d words", n)
	if n < 8000 {
		t.Errorf("%d words, want at least 8000", n)
	}
}

func FuzzStem(f *testing.F) {
	for _, s := range []string{"", "ing", "eed", "*ding", "alli", "allialli", "\xffing", "yyyy", "ION"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := text.Stem(s); len(got) > len(text.Lower(s))+1 {
			t.Errorf("Stem(%q) = %q is longer than the word", s, got)
		}
	})
}

func BenchmarkStem(b *testing.B) {
	words := strings.Fields("relational conditional happy hopefully news geology adjustments running")
	b.ReportAllocs()
	for b.Loop() {
		for _, w := range words {
			text.Stem(w)
		}
	}
}
