package infinitebench

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/internal/text"
	"deem/internal/text/metric"
	"deem/internal/words"
)

// fixed returns the score of an item by the fixed rules. Any reference is accepted;
// upstream does this only in some tasks.
func (t task) fixed(it deem.Item, label any) (float64, error) {
	if t.name == mathCalc {
		return calculated(it.Response, label)
	}
	if len(it.References) == 0 {
		return 0, deem.Failf(deem.Input, "no reference to compare with")
	}
	best := 0.0
	for _, ref := range it.References {
		best = max(best, t.one(it.Response, ref))
	}
	return best, nil
}

// one compares a response with one reference.
func (t task) one(response, ref string) float64 {
	switch t.name {
	case "passkey", "number_string":
		digits := strings.FieldsFunc(response, func(r rune) bool { return r < '0' || r > '9' })
		return truth(first(digits) == ref)
	case "longbook_sum_eng":
		return metric.ROUGELsum(response, ref, false).F1
	case "longbook_qa_eng":
		return metric.F1(response, ref).F1
	case "longbook_qa_chn":
		return metric.F1Chars(response, ref).F1
	case "longbook_choice_eng", "code_debug":
		return truth(settlesOn(response, ref))
	case "longdialogue_qa_eng":
		return truth(inARow(splitWords(text.Upper(response)), splitWords(text.Upper(ref))))
	case codeRun:
		return truth(sameNumber(last(numbers(response)), ref))
	case mathFind:
		return truth(sameNumber(first(numbers(response)), ref))
	}
	return truth(slices.Contains(splitWords(response), ref)) // The retrieval of a value by its key.
}

func truth(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func last(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// splitWords returns the words of a text, without the punctuation that upstream removes.
func splitWords(s string) []string {
	return text.Split(strings.Map(func(r rune) rune {
		if strings.ContainsRune("\n:\"'.,?!{}", r) {
			return ' '
		}
		return r
	}, s))
}

// inARow reports whether list contains the words of part consecutively.
func inARow(list, part []string) bool {
	for i := 0; len(part) > 0 && i+len(part) <= len(list); i++ {
		if slices.Equal(list[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// aNumber matches a number with its sign. It must not be part of a name, such as func_6351,
// or an argument, such as f(-3), and a minus between numbers is not a sign. A comma ends a
// number, because lists without spaces are more frequent here than thousands separators.
var aNumber = regexp.MustCompile(`(?:^|[^\w.(]|(?:^|\W)\()(-?\d+(?:\.\d+)?)`)

func numbers(s string) []string {
	var list []string
	for _, m := range aNumber.FindAllStringSubmatch(s, -1) {
		list = append(list, m[1])
	}
	return list
}

// sameNumber reports whether two texts are the same number in any notation.
func sameNumber(a, b string) bool {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}

// calculated returns the share of the label, a list of numbers, that the numbers of the
// response begin with. Signs count. Any system may repeat the initial value; upstream
// allows it for one system by name.
func calculated(response string, label any) (float64, error) {
	want, ok := label.([]any)
	if ok && len(want) > 0 {
		if inner, nested := want[0].([]any); nested {
			want = inner
		}
	}
	if !ok || len(want) == 0 {
		return 0, deem.Failf(deem.Input, "label %s is not a list of numbers", words.Clip(text.Repr(label), clipped))
	}
	got := numbers(response)
	n := agreed(got, want)
	if len(got) > 0 {
		n = max(n, agreed(got[1:], want))
	}
	return float64(n) / float64(len(want)), nil
}

// agreed returns the number of leading elements in which two lists agree.
func agreed(got []string, want []any) int {
	n := 0
	for n < min(len(got), len(want)) {
		number, ok := want[n].(json.Number)
		if !ok || !sameNumber(got[n], number.String()) {
			break
		}
		n++
	}
	return n
}
