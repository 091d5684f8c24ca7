package evidence

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The parts are tested inside of the package: each is a small language of its own,
// and a wrong verdict does not say which of them misread.

func TestTokenize(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"Hello, World!", []string{"hello", "world"}},
		{"Zoë's café", []string{"zoe", "cafe"}},
		{"e\u0301tude", []string{"etude"}},
		{"don’t", []string{"don't"}},
		{"the dogs' bowl", []string{"the", "dogs", "bowl"}},
		{"U.S.A. and U.K.", []string{"usa", "and", "uk"}},
		{"1,200.50 12,34", []string{"1200.50", "12", "34"}},
		{"2023.05.20", []string{"2023", "05", "20"}},
		{"-5 a-5 (-7)", []string{"-5", "a", "5", "-7"}},
		{"S22 5km", []string{"s", "22", "5", "km"}},
		{"北京2023年", []string{"北", "京", "2023", "年"}},
		{"loop⁶.", []string{"loop"}},
		{"\xff\xfea", []string{"a"}},
	} {
		var got []string
		for _, tok := range tokenize(tt.in) {
			got = append(got, tok.text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("tokenize(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestSentences(t *testing.T) {
	for in, want := range map[string]int{
		"One. Two! Three?":           2,
		"Dr. Smith met J. R. Jones.": 0,
		"3.5 is a number":            0,
		"line\nline":                 1,
		"你好。再见。":                     1,
	} {
		toks := tokenize(in)
		if got := toks[len(toks)-1].sent; got != want {
			t.Errorf("%q ends in sentence %d, want %d", in, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	for in, want := range map[string]string{
		"dogs": "dog", "cities": "city", "boxes": "box", "glass": "glass", "bus": "bus", "is": "is", "churches": "church", "ties": "tie",
	} {
		if got := stem(in); got != want {
			t.Errorf("stem(%q) = %q, want %q", in, got, want)
		}
	}
	for _, same := range [][2]string{{"marks", "marking"}, {"planned", "planning"}, {"maximization", "maximize"}, {"located", "location"}} {
		if a, b := root(same[0]), root(same[1]); a != b {
			t.Errorf("root(%q) = %q, root(%q) = %q", same[0], a, same[1], b)
		}
	}
}

func TestNumerals(t *testing.T) {
	for in, want := range map[string]float64{
		"7": 7, "07": 7, "1,234,567": 1234567, "3.5": 3.5, "-2": -2,
		"1.2k": 1200, "3bn": 3e9, "$2m": 2e6, "2 million": 2e6, "2.5 thousand": 2500,
		"1/2": .5, "½": .5, "2½": 2.5, "3 and a half": 3.5,
		"zero": 0, "nineteen": 19, "twenty-one": 21, "ninety nine": 99,
		"hundred": 100, "one hundred": 100, "a hundred": 100, "three hundred and five": 305,
		"two thousand five hundred": 2500, "one million two hundred thousand": 1.2e6,
		"two and a half": 2.5, "a dozen": 12, "two dozen": 24, "half a dozen": 6, "a couple": 2, "twice": 2,
		"first": 1, "twenty-first": 21, "22nd": 22, "hundredth": 100,
		"十": 10, "十二": 12, "二十": 20, "一百零五": 105, "三千五百": 3500, "两万": 2e4, "一亿": 1e8, "二〇二三": 2023, "3万": 3e4,
	} {
		n, ok := readNumeral(tokenize(in), 0)
		if !ok || n.value != want || n.to != len(tokenize(in)) {
			t.Errorf("readNumeral(%q) = %v to token %d, %t, want %v", in, n.value, n.to, ok, want)
		}
	}
	for _, in := range []string{"dog", "a dog", "and", "half", "天"} {
		if n, ok := readNumeral(tokenize(in), 0); ok {
			t.Errorf("readNumeral(%q) = %v, want none", in, n.value)
		}
	}
}

func TestQuantities(t *testing.T) {
	for _, tt := range []struct {
		in   string
		dim  dimension
		base float64
	}{
		{"18 days", duration, 18 * day},
		{"2 weeks and 4 days", duration, 18 * day},
		{"a week", duration, 7 * day},
		{"1 hour, 30 minutes", duration, 5400},
		{"half an hour", duration, 1800},
		{"两周", duration, 14 * day},
		{"3个月", duration, 3 * month},
		{"5 feet 6 inches", length, 1.6764},
		{"10km", length, 1e4},
		{"60 miles per hour", speed, 60 * .44704},
		{"100 km/h", speed, 100 / 3.6},
		{"32 °F", temperature, 0},
		{"50%", percent, 50},
		{"5 per cent", percent, 5},
		{"$5", dollars, 5},
		{"5€", euros, 5},
		{"50 cents", dollars, .5},
		{"500元", yuan, 500},
		{"5:30 pm", clock, 17*60 + 30},
		{"12 am", clock, 0},
		{"noon", clock, 720},
		{"three bikes", noDimension, 3},
		{"the first year", noDimension, 1},
	} {
		r := read(tt.in)
		if len(r.quants) != 1 {
			t.Errorf("%q has %d quantities, want 1", tt.in, len(r.quants))
			continue
		}
		if q := r.quants[0]; q.unit.dim != tt.dim || math.Abs(q.base()-tt.base) > 1e-6*max(1, tt.base) {
			t.Errorf("%q is %v of dimension %d, want %v of %d", tt.in, q.base(), q.unit.dim, tt.base, tt.dim)
		}
	}
}

func TestSame(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"18 days", "2 weeks and 4 days", true},
		{"18 days", "2.5 weeks", false},
		{"30 days", "1 month", true},
		{"35 days", "1 month", false},
		{"12 months", "1 year", true},
		{"13 months", "1 year", false},
		{"10 km", "6.2 miles", true},
		{"10 km", "6.5 miles", false},
		{"5 pounds", "£5", true},
		{"5 pounds", "2.27 kg", true},
		{"5", "5 km", true},
		{"5 km", "5 kg", false},
		{"5:30", "17:30", true},
		{"5:30 am", "17:30", false},
	} {
		a, b := read(tt.a).quants[0], read(tt.b).quants[0]
		if got := same(a, b); got != tt.want {
			t.Errorf("same(%s, %s) = %t", tt.a, tt.b, got)
		}
		if same(a, b) != same(b, a) {
			t.Errorf("same(%s, %s) is not symmetric", tt.a, tt.b)
		}
	}
}

func TestDates(t *testing.T) {
	for in, want := range map[string]string{
		"2023/05/20": "20 May 2023", "2023-5-20": "20 May 2023", "2023.05.20": "20 May 2023",
		"5/20/2023": "20 May 2023", "20/5/2023": "20 May 2023",
		"May 20th, 2023": "20 May 2023", "20th of May 2023": "20 May 2023", "20 May": "20 May",
		"the twentieth of May": "20 May", "May 2023": "May 2023", "in May": "May", "Sept. 3": "3 September",
		"2023年5月20日": "20 May 2023", "5月20号": "20 May", "二〇二三年五月": "May 2023", "in 1998": "1998",
	} {
		r := read(in)
		if len(r.dates) != 1 || r.dates[0].String() != want {
			t.Errorf("%q has the dates %v, want %s", in, r.dates, want)
		}
	}
	for _, in := range []string{"it may rain", "they march on", "1/2", "May I ask", "13/13/2023", "1,998 people", "3-4-5"} {
		if r := read(in); len(r.dates) > 0 {
			t.Errorf("%q has the dates %v, want none", in, r.dates)
		}
	}
}

func TestRelate(t *testing.T) {
	for _, tt := range []struct {
		response, reference string
		want                relation
	}{
		{"20 May 2023", "20 May 2023", agrees},
		{"20 May 2023", "May 2023", agrees},
		{"20 May", "20 May 2023", agrees},
		{"May 2023", "20 May 2023", coarser},
		{"2023", "20 May 2023", coarser},
		{"21 May 2023", "20 May 2023", conflict},
		{"20 May", "2023/06/20", conflict},
		{"2023", "20 May", unrelated},
		{"5/6/2023", "5 June 2023", agrees},
	} {
		if got := relate(read(tt.response).dates[0], read(tt.reference).dates[0]); got != tt.want {
			t.Errorf("relate(%s, %s) = %d, want %d", tt.response, tt.reference, got, tt.want)
		}
	}
}

func TestAccepted(t *testing.T) {
	for in, want := range map[string][]string{
		"Paris":                           {"Paris"},
		"copper (Cu)":                     {"copper (Cu)", "copper", "Cu"},
		"Paris (France)":                  {"Paris (France)", "Paris"},
		"soccer / football":               {"soccer", "football"},
		"km/h":                            {"km/h"},
		"5/20/2023":                       {"5/20/2023"},
		"tea or coffee":                   {"tea", "coffee"},
		"May 20 (Sat)":                    {"May 20 (Sat)", "May 20"},
		"18 days. 19 days is acceptable.": {"18 days", "19 days"},
		"3 or 4. 5 (with the spare) would be accepted too": {"5", "3", "4"},
	} {
		got := accepted(in)
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("accepted(%q) (-want +got):\n%s", in, diff)
		}
	}
}

func TestListEntries(t *testing.T) {
	for in, want := range map[string][]string{
		"a, b and c":             {"a", "b", "c"},
		"apples, pears, & plums": {"apples", "pears", "plums"},
		"Alice and Bob":          {"Alice", "Bob"},
		"rock and roll music":    nil,
		"Paris, France":          nil,
		"1,200":                  nil,
		"张三、李四":                  {"张三", "李四"},
		"She came, and then she saw that they had all left": nil,
		"two cats and a dog": {"two cats", "a dog"},
		"one":                nil,
	} {
		if diff := cmp.Diff(want, listEntries(in, read(in))); diff != "" {
			t.Errorf("listEntries(%q) (-want +got):\n%s", in, diff)
		}
	}
}

func TestAnswered(t *testing.T) {
	for in, want := range map[string]polarity{
		"Yes.": affirmed, "yes, it is": affirmed, "The answer is yes": affirmed, "Probably yes": affirmed,
		"No": denied, "No, it isn't": denied, "no he did not": denied, "nope": denied,
		"No one knows": noPolarity, "No dogs": noPolarity, "Paris": noPolarity, "right hand": noPolarity, "": noPolarity,
		"是的": affirmed, "不是": denied, "没有": denied, "不锈钢": noPolarity,
	} {
		if got, _ := read(in).answered(); got != want {
			t.Errorf("%q answers %v, want %v", in, got, want)
		}
	}
}

func TestAbstains(t *testing.T) {
	for in, want := range map[string]bool{
		"I don't know.":                           true,
		"I’m not sure about that":                 true,
		"You have not mentioned it":               true,
		"There is no relevant information in it.": true,
		"I do not have enough information":        true,
		"unknown":                                 true,
		"The answer is unknown":                   true,
		"It was written by an unknown monk":       false,
		"Paris":                                   false,
		"I know that it was Paris":                false,
		"She told me not to mention it":           false,
		"我不知道":                                    true,
		"文中未提及":                                   true,
		"他知道":                                     false,
	} {
		if _, got := read(in).abstains(); got != want {
			t.Errorf("%q abstains: %t, want %t", in, got, want)
		}
	}
}

func TestNegated(t *testing.T) {
	for _, tt := range []struct {
		in, of string
		want   bool
	}{
		{"it is not blue", "blue", true},
		{"it isn't really blue", "blue", true},
		{"not red but blue", "blue", false},
		{"not red, blue", "blue", false},
		{"not only blue", "blue", false},
		{"red instead of blue", "blue", true},
		{"never not blue", "blue", false},
		{"blue, not red", "blue", false},
		{"不是蓝", "蓝", true},
	} {
		r := read(tt.in)
		i := slices.IndexFunc(r.toks, func(tok token) bool { return tok.text == tt.of })
		if got := r.negated(span{i, i + 1}); got != tt.want {
			t.Errorf("%q denies %s: %t, want %t", tt.in, tt.of, got, tt.want)
		}
	}
}

func TestChosen(t *testing.T) {
	for in, want := range map[string]string{
		"B": "b", "b": "b", "(c)": "c", "The answer is D.": "d", "A cat": "", "I think so": "",
		"A or B? I choose B": "b", "A. Because": "a", "Option C is best": "c", "": "",
	} {
		if got := read(in).chosen(); got != want {
			t.Errorf("chosen(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"abc", "xabc", 1}, {"kitten", "sitting", 3}, {"", "ab", 2},
	} {
		if got := distance(tt.a, tt.b, 5); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestClip(t *testing.T) {
	long := strings.Repeat("é", maxRead)
	got, cut := clip("x" + long)
	if !cut || len(got) > maxRead+8 || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("clip of %d bytes gave %d, cut %t", len(long)+1, len(got), cut)
	}
	if got, cut := clip("short"); cut || got != "short" {
		t.Errorf("clip(short) = %q, %t", got, cut)
	}
}
