package evidence

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"deem"
)

func TestNarrow(t *testing.T) {
	for in, want := range map[string]string{
		"Paris 42": "Paris 42", "４２": "42", "ＡＢ＋": "AB+", "５０％": "50%", "￥５": "¥5",
		"٣": "3", "۴": "4", "१८": "18", "๙": "9", "𝟘𝟡": "09",
		"loop⁶": "loop⁶", "你好，世界。": "你好，世界。", "½": "½",
	} {
		if got := strings.Map(narrow, in); got != want {
			t.Errorf("%q narrowed is %q, want %q", in, got, want)
		}
	}
}

// Unicode may add digits in another order than digit counts on.
func TestDigitRuns(t *testing.T) {
	for _, run := range unicode.Nd.R16 {
		if run.Stride != 1 || (run.Hi-run.Lo+1)%10 != 0 {
			t.Errorf("the digits from %U to %U are not in tens", run.Lo, run.Hi)
		}
	}
	for _, run := range unicode.Nd.R32 {
		if run.Stride != 1 || (run.Hi-run.Lo+1)%10 != 0 {
			t.Errorf("the digits from %U to %U are not in tens", run.Lo, run.Hi)
		}
	}
}

func TestBlank(t *testing.T) {
	for _, s := range []string{"", " \n\t", "\u200b\ufeff", "\u00a0\u3000", "\x00"} {
		if !blank(s) {
			t.Errorf("%q is not blank", s)
		}
	}
	for _, s := range []string{".", "👍", "a", "\u200b 1"} {
		if blank(s) {
			t.Errorf("%q is blank", s)
		}
	}
}

func TestAffix(t *testing.T) {
	for _, tt := range []struct {
		in, word string // the last token with this text is looked at
		want     affix
	}{
		{"C", "c", affix{}},
		{"She writes C++.", "c", affix{tail: "++"}},
		{"C++11", "c", affix{tail: "++"}},
		{"F♯ minor", "f", affix{tail: "#"}},
		{"O-", "o", affix{tail: "-"}},
		{"O−, I think", "o", affix{tail: "-"}},
		{"Na⁺", "na", affix{tail: "+"}},
		{"pre- and post-war", "pre", affix{}},
		{"T-shirt", "t", affix{}},
		{"Paris--the city", "paris", affix{}},
		{"A->B", "a", affix{}},
		{"A->B", "b", affix{}},
		{"10^6", "10", affix{tail: "^"}},
		{"seen[^1^]", "1", affix{}},
		{"x² + 1", "x", affix{tail: "²"}},
		{"in 2011²", "2011", affix{}},
		{"a != b", "b", affix{lead: "≠"}},
		{"a!=b", "b", affix{lead: "≠"}},
		{"Wow! = b", "b", affix{lead: "="}},
		{"5 >= 3", "3", affix{lead: "≥"}},
		{"C++ > C", "c", affix{lead: ">"}},
		{"> quoted", "quoted", affix{}},
		{">5", "5", affix{lead: ">"}},
		{"so:\n- 5", "5", affix{}},
		{"so:\n+ five", "five", affix{}},
		{"3 + 4", "4", affix{lead: "+"}},
		{"x = -4", "-4", affix{lead: "="}},
		{"=== end", "end", affix{}},
		{"<b>bold</b>", "bold", affix{}},
		{"<b>bold</b> text", "text", affix{}},
		{"< $5", "5", affix{lead: "<", unit: "$"}},
		{"5€", "5", affix{unit: "€"}},
		{"5 %", "5", affix{}},
		{"5%", "5", affix{unit: "%"}},
		{"A$AP", "ap", affix{}},
		{"#1", "1", affix{}},
		{"Help!", "help", affix{}},
		{"It is \"×\".", "is", affix{tail: "×"}},
		{"It is × indeed", "is", affix{}},
		{"It is 5 %", "5", affix{}},
		{"so it is -", "is", affix{}},
	} {
		r := read(tt.in)
		at := -1
		for i, tok := range r.toks {
			if tok.text == tt.word {
				at = i
			}
		}
		if at < 0 {
			t.Errorf("%q has no %q", tt.in, tt.word)
			continue
		}
		if got := r.affix(at); got != tt.want {
			t.Errorf("%q in %q has %+v, want %+v", tt.word, tt.in, got, tt.want)
		}
	}
}

// A reason says what was seen, and is true.
func TestSymbolReasons(t *testing.T) {
	for _, tt := range []struct{ reference, response, want string }{
		{"O-", "O+", `the reference has "O-" and the response has "O+"`},
		{"C#", "She prefers C++.", `the reference has "C#" and the response has "C++"`},
		{"a != b", "a = b", `the reference has "!= b" and the response has "= b"`},
		{"yes", "👍", "the response has no words to compare"},
		{"yes", "\u200b ", "the response is empty"},
		{"🍎", "apple", "the reference has no words to compare"},
		{"$5", "€5", "the number $5 of the reference is €5 in the response"},
		{"$5", "5 €", "the number $5 of the reference is 5€ in the response"},
		{"$5", "nothing", "the response has no number, and the reference is $5"},
	} {
		e := New(deem.Item{References: []string{tt.reference}, Response: tt.response}, Default().Words.Weight)
		if !strings.HasPrefix(e.Why, tt.want) {
			t.Errorf("%q for %q: %s, want %s", tt.response, tt.reference, e.Why, tt.want)
		}
	}
}

// FuzzSame: a text with a visible character is right where it is the reference, and
// no text makes the reading of symbols fail.
func FuzzSame(f *testing.F) {
	for _, s := range []string{"Paris", "🍎", "٣", "C++ > <b>C#</b> 10^6 -$5", "I don't know", "<", "a+", "\xff", "not or not"} {
		f.Add(s, "C# <= 5")
	}
	f.Fuzz(func(t *testing.T, s, other string) {
		weigh := func(reference, response string) (p float64, decided bool) {
			e := New(deem.Item{References: []string{reference}, Response: response}, Default().Words.Weight)
			p = e.Probability(Default())
			return p, e.Decides(p, Default())
		}
		if p, decided := weigh(s, " "+s+"\n"); !blank(s) && (!decided || p < .5) {
			t.Errorf("%q is itself with probability %v, decided %v", s, p, decided)
		}
		if p, _ := weigh(other, s); !(p >= 0 && p <= 1) {
			t.Errorf("%q for %q: probability %v", s, other, p)
		}
		r := read(s)
		if slices.ContainsFunc(r.toks, func(tok token) bool { return tok.from > tok.to || tok.to > len(r.text) }) {
			t.Errorf("a token of %q stands outside of it", s)
		}
	})
}
