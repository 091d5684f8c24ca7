package text_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"deem/internal/text"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// readLines decodes every line of a JSONL file into a T. Lines are split at \n only,
// because the texts contain other separators.
func readLines[T any](t *testing.T, name string) []T {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []T
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		var row T
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatalf("%s:%d: %v", name, len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		t.Fatalf("%s: no cases", name)
	}
	return rows
}

// A pythonRow is the result of CPython 3.11 for one input.
type pythonRow struct {
	Op, In, Lower, Upper, Strip, Repr, JSON, Str, Int string
	Split                                             []string
	OK                                                bool
}

func TestPython(t *testing.T) {
	for _, row := range readLines[pythonRow](t, "testdata/python.jsonl") {
		switch row.Op {
		case "string":
			testString(t, row)
		case "value":
			checkEqual(t, "Str", row.JSON, text.Str(json.RawMessage(row.JSON)), row.Str)
			checkEqual(t, "Repr", row.JSON, text.Repr(json.RawMessage(row.JSON)), row.Repr)
		case "int":
			testInt(t, row)
		default:
			t.Fatalf("unknown op %q", row.Op)
		}
	}
}

func testString(t *testing.T, row pythonRow) {
	checkEqual(t, "Lower", row.In, text.Lower(row.In), row.Lower)
	checkEqual(t, "Upper", row.In, text.Upper(row.In), row.Upper)
	checkEqual(t, "Strip", row.In, text.Strip(row.In), row.Strip)
	checkEqual(t, "Repr", row.In, text.Repr(row.In), row.Repr)
	if got := text.Split(row.In); !slices.Equal(got, row.Split) {
		t.Errorf("Split(%q) = %q, want %q", row.In, got, row.Split)
	}
}

func testInt(t *testing.T, row pythonRow) {
	n, ok := text.Int(json.RawMessage(row.JSON))
	if ok != row.OK || fmt.Sprint(n) != row.Int {
		t.Errorf("Int(%s) = %d, %t, want %s, %t", row.JSON, n, ok, row.Int, row.OK)
	}
}

func checkEqual(t *testing.T, name, in, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s(%q) = %q, want %q", name, in, got, want)
	}
}

func TestStrOfGoValues(t *testing.T) {
	for _, tt := range []struct {
		in   any
		want string
	}{
		{"as is", "as is"},
		{json.Number("15"), "15"},
		{json.Number("2.0"), "2.0"},
		{json.Number("no number"), "no number"},
		{json.Number("1x.5"), "1x.5"},
		{2.0, "2.0"},
		{7, "7"},
		{int64(-7), "-7"},
		{nil, "None"},
		{true, "True"},
		{[]string{"a", "it's"}, `['a', "it's"]`},
		{[]any{}, "[]"},
		{map[string]any{"b": 1, "a": nil}, "{'a': None, 'b': 1}"},
		{text.Dict{{Key: "b", Value: 1}, {Key: "a", Value: false}}, "{'b': 1, 'a': False}"},
		{json.RawMessage("no json"), "no json"},
		{[]any{json.RawMessage("no json")}, "['no json']"},
		{[]any{"\xff", "\uFFFD"}, "['\\udcff', '\uFFFD']"},
	} {
		if got := text.Str(tt.in); got != tt.want {
			t.Errorf("Str(%#v) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestIntOfGoValues(t *testing.T) {
	for _, tt := range []struct {
		in   any
		want int64
		ok   bool
	}{
		{8, 8, true},
		{int64(8), 8, true},
		{8.7, 8, true},
		{-8.7, -8, true},
		{json.Number("8"), 8, true},
		{json.Number("8.9"), 8, true},
		{json.Number("1e400"), 0, false},
		{json.Number("9223372036854775808"), 0, false},
		{9223372036854775808.0, 0, false},
		{math.NaN(), 0, false},
		{math.Inf(-1), 0, false},
		{"9223372036854775808", 0, false},
		{nil, 0, false},
		{[]any{1}, 0, false},
		{json.RawMessage("{"), 0, false},
	} {
		if got, ok := text.Int(tt.in); got != tt.want || ok != tt.ok {
			t.Errorf("Int(%#v) = %d, %t, want %d, %t", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestFloat(t *testing.T) {
	for _, tt := range []struct {
		in   float64
		want string
	}{
		{math.NaN(), "nan"},
		{math.Inf(1), "inf"},
		{math.Inf(-1), "-inf"},
		{math.Copysign(0, -1), "-0.0"},
		{2, "2.0"},
		{1e15, "1000000000000000.0"},
		{1e16, "1e+16"},
		{1e-4, "0.0001"},
		{1e-5, "1e-05"},
		{1.25e-100, "1.25e-100"},
	} {
		if got := text.Float(tt.in); got != tt.want {
			t.Errorf("Float(%g) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestIsPunct(t *testing.T) {
	const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	var got strings.Builder
	for r := range rune(0x3000) {
		if text.IsPunct(r) {
			got.WriteRune(r)
		}
	}
	if got.String() != punctuation {
		t.Errorf("IsPunct holds for %q, want %q", got.String(), punctuation)
	}
}

type squadRow struct {
	Case     string
	Input    struct{ Text string }
	Expected string
}

func TestSQuAD(t *testing.T) {
	testSQuAD(t, "testdata/squad_v11_normalize.jsonl")
}

// The larger sets contain other people's text and are not part of the repository.
func TestSQuADAll(t *testing.T) {
	for _, dir := range []string{"open", "open-nc"} {
		name := "../../../shared/golden/" + dir + "/squad_v11_normalize.jsonl"
		if _, err := os.Stat(name); err != nil {
			t.Skipf("the vectors are not here: %v", err)
		}
		testSQuAD(t, name)
	}
}

func testSQuAD(t *testing.T, name string) {
	for _, row := range readLines[squadRow](t, name) {
		if diff := cmp.Diff(row.Expected, text.SQuAD(row.Input.Text)); diff != "" {
			t.Errorf("%s: SQuAD(%q) (-want +got):\n%s", row.Case, row.Input.Text, diff)
		}
	}
}

func TestSQuADIsIdempotentOnWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		// Lower is not idempotent for sigmas next to dropped marks, so compare what must be
		// true: no article, no punctuation, single spaces.
		got := text.SQuAD(s)
		if strings.ContainsFunc(got, text.IsPunct) {
			t.Fatalf("SQuAD(%q) = %q holds punctuation", s, got)
		}
		if got != strings.Join(text.Split(got), " ") {
			t.Fatalf("SQuAD(%q) = %q has spare white space", s, got)
		}
		for _, w := range strings.FieldsFunc(got, func(r rune) bool { return !text.IsWord(r) }) {
			if w == "a" || w == "an" || w == "the" {
				t.Fatalf("SQuAD(%q) = %q holds the article %q", s, got, w)
			}
		}
	})
}

func FuzzStrings(f *testing.F) {
	for _, s := range []string{"", "ΑΣ", "a\xffΣ", "İ", "the a an", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{text.Lower(s), text.Upper(s), text.Strip(s), text.SQuAD(s)} {
			if utf8.ValidString(s) && !utf8.ValidString(got) {
				t.Errorf("%q became invalid: %q", s, got)
			}
		}
		if !utf8.ValidString(text.Repr(s)) {
			t.Errorf("Repr(%q) is invalid", s)
		}
		text.Int(s)
		if !bytes.Contains([]byte(s), []byte(text.Strip(s))) {
			t.Errorf("Strip(%q) = %q is not part of it", s, text.Strip(s))
		}
	})
}
