package match_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deem"
	"deem/judge/match"
)

// A change that turns the meaning of an answer has to turn the verdict or leave it open, and
// a change that keeps the meaning has to keep it.

var (
	cities     = []string{"Lisbon", "Porto", "Oslo", "Bergen", "Turin", "Lyon", "Ghent", "Malmö", "Kraków", "Sofia", "Riga", "Split"}
	frames     = []string{"%s", "It is %s.", "She was born in %s.", "The answer is %s", "I think it was %s."}
	takeBacks  = []string{"%s Correction: %s.", "%s Actually no, %s.", "%s Sorry, %s.", "%s Wait, I meant %s.", "%s No, that is wrong: it is %s."}
	adjectives = []string{"faster", "older", "taller", "cheaper", "more expensive", "heavier"}
)

// two draws two different cities, or two made-up names of one or two words that do not begin alike.
func two(rt *rapid.T) (a, b string) {
	if rapid.Bool().Draw(rt, "made up") {
		name := rapid.StringMatching(`[BDFGKLMNPRTV][aeiou][bdfgklmnprtvz][aeiou][lnrstx]( [BDFGKLMNPRTV][aeiou][bdfgklmnprtvz][ao][lnrtx])?`)
		a = name.Draw(rt, "first name")
		b = name.Filter(func(s string) bool { return s[0] != a[0] && s[len(s)-2:] != a[len(a)-2:] }).Draw(rt, "second name")
		return a, b
	}
	i := rapid.IntRange(0, len(cities)-1).Draw(rt, "first")
	k := rapid.IntRange(1, len(cities)-1).Draw(rt, "second")
	return cities[i], cities[(i+k)%len(cities)]
}

// sureOf returns the label that match is sure of, or "".
func sureOf(rt *rapid.T, question, reference, response string) string {
	v, err := match.New().Judge(rt.Context(), deem.Item{Question: question, References: []string{reference}, Response: response})
	if f, ok := errors.AsType[*deem.Failure](err); ok && f.Kind == deem.Unsure {
		return ""
	}
	if err != nil {
		rt.Fatal(err)
	}
	return v.Label
}

// Taking back an answer for another flips the verdict or unsettles it.
func retractionFlips(rt *rapid.T) {
	a, b := two(rt)
	question := "Where was she born?"
	said := fmt.Sprintf(rapid.SampledFrom(frames).Draw(rt, "frame"), a)
	if got := sureOf(rt, question, a, said); got != match.Correct {
		rt.Fatalf("%q for %s is %q", said, a, got)
	}
	if !strings.HasSuffix(said, ".") {
		said += "."
	}
	back := fmt.Sprintf(rapid.SampledFrom(takeBacks).Draw(rt, "retraction"), said, b)
	if got := sureOf(rt, question, a, back); got == match.Correct {
		rt.Fatalf("%q for %s is %q", back, a, got)
	}
	if got := sureOf(rt, question, b, back); got == match.Incorrect {
		rt.Fatalf("%q for %s is %q", back, b, got)
	}
	n := rapid.IntRange(2, 900).Draw(rt, "number")
	back = fmt.Sprintf(rapid.SampledFrom(takeBacks).Draw(rt, "retraction of a number"), fmt.Sprintf("There are %d.", n), fmt.Sprint(n+7))
	if got := sureOf(rt, "How many are there?", fmt.Sprint(n), back); got == match.Correct {
		rt.Fatalf("%q for %d is %q", back, n, got)
	}
}

func TestRetractionFlips(t *testing.T) { rapid.Check(t, retractionFlips) }
func FuzzRetractionFlips(f *testing.F) { f.Fuzz(rapid.MakeFuzz(retractionFlips)) }

// A comparison whose sides are swapped is not right any more.
func swappedComparison(rt *rapid.T) {
	a, b := two(rt)
	adjective := rapid.SampledFrom(adjectives).Draw(rt, "adjective")
	question := rapid.SampledFrom([]string{"Which is %s?", "Which of the two is %s?", "Which one is %s, " + a + " or " + b + "?"}).Draw(rt, "question")
	question = fmt.Sprintf(question, adjective)
	kept := fmt.Sprintf("%s is %s than %s.", a, adjective, b)
	swapped := fmt.Sprintf("%s is %s than %s.", b, adjective, a)
	if got := sureOf(rt, question, a, kept); got == match.Incorrect {
		rt.Fatalf("%q for %s is %q: %s", kept, a, got, question)
	}
	if got := sureOf(rt, question, a, swapped); got == match.Correct {
		rt.Fatalf("%q for %s is %q: %s", swapped, a, got, question)
	}
}

func TestSwappedComparison(t *testing.T) { rapid.Check(t, swappedComparison) }
func FuzzSwappedComparison(f *testing.F) { f.Fuzz(rapid.MakeFuzz(swappedComparison)) }

// A quantity in another unit is the same answer, and one that is a third more is not.
func convertedUnit(rt *rapid.T) {
	conversions := []struct {
		big, small string
		factor     int
	}{
		{"kg", "g", 1000},
		{"km", "m", 1000},
		{"hours", "minutes", 60},
		{"weeks", "days", 7},
		{"m", "cm", 100},
		{"litres", "ml", 1000},
		{"minutes", "seconds", 60},
		{"公里", "米", 1000},
		{"小时", "分钟", 60},
		{"Stunden", "Minuten", 60},
	}
	c := conversions[rapid.IntRange(0, len(conversions)-1).Draw(rt, "units")]
	n := rapid.IntRange(2, 40).Draw(rt, "n")
	reference := fmt.Sprintf("%d %s", n, c.big)
	same, other := fmt.Sprintf("%d %s", n*c.factor, c.small), fmt.Sprintf("%d %s", n*c.factor+n*c.factor/3+c.factor, c.small)
	if got := sureOf(rt, "How much is it?", reference, same); got != match.Correct {
		rt.Fatalf("%s for %s is %q", same, reference, got)
	}
	if got := sureOf(rt, "How much is it?", reference, other); got == match.Correct {
		rt.Fatalf("%s for %s is %q", other, reference, got)
	}
	celsius := 5 * rapid.IntRange(-6, 20).Draw(rt, "celsius")
	reference, same = fmt.Sprintf("%d °C", celsius), fmt.Sprintf("%d °F", celsius*9/5+32)
	if got := sureOf(rt, "How warm was it?", reference, same); got != match.Correct {
		rt.Fatalf("%s for %s is %q", same, reference, got)
	}
	reference, same = fmt.Sprintf("%d miles", n), fmt.Sprintf("%.2f km", float64(n)*1.609344)
	if got := sureOf(rt, "How far is it?", reference, same); got == match.Incorrect {
		rt.Fatalf("%s for %s is %q", same, reference, got)
	}
}

func TestConvertedUnit(t *testing.T) { rapid.Check(t, convertedUnit) }
func FuzzConvertedUnit(f *testing.F) { f.Fuzz(rapid.MakeFuzz(convertedUnit)) }

// The right answer at the end of a list of wrong ones is not an answer.
func appendedAnswer(rt *rapid.T) {
	list := rapid.Permutation(cities).Draw(rt, "cities")
	n := rapid.IntRange(1, 9).Draw(rt, "wrong ones")
	joint := rapid.SampledFrom([]string{", ", " and ", "; ", "\n", " or "}).Draw(rt, "joint")
	if joint == ", " {
		n = max(n, 2) // "Bergen, Norway" is one place
	}
	right := list[n]
	response := strings.Join(list[:n+1], joint)
	if got := sureOf(rt, "Where was she born?", right, response); got == match.Correct {
		rt.Fatalf("%q for %s is %q", response, right, got)
	}
	if n >= 4 {
		response = strings.Join(list[:n+1], " ")
		if got := sureOf(rt, "Where was she born?", right, response); got == match.Correct {
			rt.Fatalf("%q for %s is %q", response, right, got)
		}
	}
}

func TestAppendedAnswer(t *testing.T) { rapid.Check(t, appendedAnswer) }
func FuzzAppendedAnswer(f *testing.F) { f.Fuzz(rapid.MakeFuzz(appendedAnswer)) }
