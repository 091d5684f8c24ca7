package fuzz_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deem/internal/text/fuzz"
)

// texts generates a few words of few letters, so that much is equal.
var texts = rapid.Custom(func(t *rapid.T) string {
	words := rapid.SliceOfN(rapid.StringMatching("[abcABé界_.]{1,4}"), 0, 8).Draw(t, "words")
	return strings.Join(words, " ")
})

// TestPartialRatio tries every part of the longer text.
func TestPartialRatio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		got, want := fuzz.RapidFuzz{}.PartialRatio(a, b), everyPart([]rune(a), []rune(b))
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("PartialRatio(%q, %q) = %v, want %v", a, b, got, want)
		}
	})
}

func everyPart(short, long []rune) float64 {
	if len(short) > len(long) {
		short, long = long, short
	}
	best := parts(short, long)
	if len(short) == len(long) {
		best = max(best, parts(long, short))
	}
	return best
}

func parts(short, long []rune) float64 {
	if len(short) == 0 {
		return map[bool]float64{true: 100, false: 0}[len(long) == 0]
	}
	best := 0.0
	for i := 1 - len(short); i < len(long); i++ {
		part := long[max(i, 0):min(i+len(short), len(long))]
		best = max(best, fuzz.RapidFuzz{}.Ratio(string(short), string(part)))
	}
	return best
}

// TestRange: every ratio lies from 0 to 100, and is 100 for equal texts that have a word.
func TestRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.OneOf(texts, rapid.String()).Draw(t, "a"), rapid.OneOf(texts, rapid.String()).Draw(t, "b")
		for name, f := range ratios() {
			if got := f(a, b); !(got >= 0 && got <= 100) {
				t.Errorf("%s(%q, %q) = %v, want one from 0 to 100", name, a, b, got)
			}
			if got := f("x "+a, "x "+a); got != 100 {
				t.Errorf("%s of twice %q = %v, want 100", name, "x "+a, got)
			}
		}
	})
}

// TestSymmetry: rapidfuzz and python-Levenshtein do not care which text comes first.
// Difflib does.
func TestSymmetry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		for name, f := range ratios() {
			partly := strings.Contains(name, "Partial") || strings.Contains(name, "WRatio")
			if strings.HasPrefix(name, "difflib") || strings.HasPrefix(name, "levenshtein") && partly {
				continue // A partial ratio hangs on the blocks that are found first.
			}
			if x, y := f(a, b), f(b, a); x != y {
				t.Errorf("%s(%q, %q) = %v, but %v the other way round", name, a, b, x, y)
			}
		}
	})
}

func ratios() map[string]func(a, b string) float64 {
	list := map[string]func(a, b string) float64{}
	for name, f := range map[string]fuzz.FuzzyWuzzy{"difflib": {}, "levenshtein": {Levenshtein: true}} {
		add(list, name, map[string]func(a, b string) int{
			"Ratio": f.Ratio, "PartialRatio": f.PartialRatio, "QRatio": f.QRatio, "UQRatio": f.UQRatio,
			"TokenSortRatio": f.TokenSortRatio, "PartialTokenSortRatio": f.PartialTokenSortRatio,
			"TokenSetRatio": f.TokenSetRatio, "PartialTokenSetRatio": f.PartialTokenSetRatio,
			"WRatio": f.WRatio, "UWRatio": f.UWRatio,
		})
	}
	var f fuzz.TheFuzz
	add(list, "thefuzz", map[string]func(a, b string) int{
		"Ratio": f.Ratio, "PartialRatio": f.PartialRatio, "QRatio": f.QRatio, "UQRatio": f.UQRatio,
		"TokenSortRatio": f.TokenSortRatio, "PartialTokenSortRatio": f.PartialTokenSortRatio,
		"TokenSetRatio": f.TokenSetRatio, "PartialTokenSetRatio": f.PartialTokenSetRatio,
		"WRatio": f.WRatio, "UWRatio": f.UWRatio,
	})
	var r fuzz.RapidFuzz
	for name, f := range map[string]func(a, b string) float64{
		"Ratio": r.Ratio, "PartialRatio": r.PartialRatio, "QRatio": r.QRatio, "WRatio": r.WRatio,
		"TokenSortRatio": r.TokenSortRatio, "PartialTokenSortRatio": r.PartialTokenSortRatio,
		"TokenSetRatio": r.TokenSetRatio, "PartialTokenSetRatio": r.PartialTokenSetRatio,
		"TokenRatio": r.TokenRatio, "PartialTokenRatio": r.PartialTokenRatio,
	} {
		list["rapidfuzz."+name] = f
	}
	return list
}

func add(list map[string]func(a, b string) float64, library string, ratios map[string]func(a, b string) int) {
	for name, f := range ratios {
		list[library+"."+name] = func(a, b string) float64 { return float64(f(a, b)) }
	}
}

// TestEmpty pins what the libraries make of nothing, in which they differ.
func TestEmpty(t *testing.T) {
	full := map[string]bool{
		"difflib.Ratio": true, "difflib.PartialRatio": true, "difflib.TokenSortRatio": true, "difflib.PartialTokenSortRatio": true,
		"levenshtein.Ratio": true, "levenshtein.PartialRatio": true, "levenshtein.TokenSortRatio": true, "levenshtein.PartialTokenSortRatio": true,
		"rapidfuzz.Ratio": true, "rapidfuzz.PartialRatio": true, "rapidfuzz.TokenSortRatio": true, "rapidfuzz.PartialTokenSortRatio": true,
		"rapidfuzz.TokenRatio": true, "rapidfuzz.PartialTokenRatio": true,
		"thefuzz.Ratio": true, "thefuzz.PartialRatio": true, "thefuzz.TokenSortRatio": true, "thefuzz.PartialTokenSortRatio": true,
	}
	for name, f := range ratios() {
		want := 0.0
		if full[name] {
			want = 100
		}
		if got := f("", ""); got != want {
			t.Errorf("%s of nothing and nothing = %v, want %v", name, got, want)
		}
		if got := f("", "a"); got != 0 {
			t.Errorf("%s of nothing and something = %v, want 0", name, got)
		}
	}
}

// TestLongTexts holds that no ratio takes time for every pair of characters of two long
// texts and every part of one. Upstream would be at it for hours.
func TestLongTexts(t *testing.T) {
	a := strings.Repeat("The quick brown fox jumps over the lazy dog, again. ", 40)
	b := strings.Repeat("Pack my box with five dozen liquor jugs, or do not. ", 160)
	for _, f := range []func(a, b string) float64{fuzz.RapidFuzz{}.WRatio, func(a, b string) float64 {
		return float64(fuzz.FuzzyWuzzy{Levenshtein: true}.PartialRatio(a, b))
	}} {
		start := time.Now()
		if got := f(a, b); got <= 0 || got >= 100 {
			t.Errorf("ratio = %v, want one in between", got)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%d beside %d characters took %v", len(a), len(b), took)
		}
	}
}

// FuzzRatio holds every ratio to 0 to 100, and to be 100 for a text that is compared with
// itself and has a word.
func FuzzRatio(f *testing.F) {
	f.Add("fuzzy wuzzy was a bear", "wuzzy fuzzy was a bear")
	f.Add("", "\xff")
	f.Add("a_b İ", "ß 界界")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 300 || len(b) > 300 {
			return // The partial ratios take their time.
		}
		for name, ratio := range ratios() {
			if got := ratio(a, b); !(got >= 0 && got <= 100) {
				t.Errorf("%s(%q, %q) = %v, want one from 0 to 100", name, a, b, got)
			}
			if got := ratio("x"+a, "x"+a); got < 99.999 && !strings.ContainsFunc(a, func(r rune) bool { return r >= 0x80 }) {
				t.Errorf("%s of %q with itself = %v", name, "x"+a, got)
			}
		}
	})
}

// TestWRatioEight checks the weight of a partial match on both sides of a text that is
// eight times as long as the other: rapidfuzz lowers it only beyond eight.
func TestWRatioEight(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		b    string
		want float64
	}{
		{"abcdefghijklmnop", 90},  // 16 letters, exactly eight times
		{"abcdefghijklmnopq", 60}, // 17 letters
	} {
		if got := (fuzz.RapidFuzz{}).WRatio("ab", tt.b); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("WRatio(ab, %s) = %v, want %v", tt.b, got, tt.want)
		}
	}
}
