package metric

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deem/internal/text"
)

// InfiniteBench returns the score of a response in a task of InfiniteBench.
//
// A label is not always a text, so it is passed as in the file: a string, a number, or a
// list of them, decoded from JSON with [json.Number] for numbers (88 and 88.0 are different
// labels). An error corresponds to an exception of the original: a label of the wrong form,
// or a response that it could not process. The system is the name of the model that
// answered; "gpt4" changes the score of math_calc.
func InfiniteBench(task, response string, label any, system string) (float64, error) {
	switch task {
	case "passkey", "number_string":
		return firstNumber(response, label)
	case "kv_retrieval", "kv_retrieval_prefix", "kv_retrieval_both":
		s, ok := label.(string)
		return score(ok && slices.Contains(retrievalWords(response), s)), nil
	case "code_run":
		return codeRun(response, label)
	case "code_debug":
		return codeDebug(response, label)
	case "math_find":
		return mathFind(response, label)
	case "math_calc":
		return mathCalc(response, label, system)
	case "longdialogue_qa_eng":
		return dialogue(response, label)
	case "longbook_choice_eng":
		return choice(response, label)
	case "longbook_qa_eng":
		return bestOf(label, func(ref string) float64 { return F1(response, ref).F1 })
	case "longbook_qa_chn":
		return bestOf(label, func(ref string) float64 { return F1Chars(response, ref).F1 })
	case "longbook_sum_eng":
		// The Hugging Face package evaluate treats a string as one reference and a list as
		// several.
		if ref, ok := label.(string); ok {
			label = []any{ref}
		}
		return bestOf(label, func(ref string) float64 { return ROUGELsum(response, ref, false).F1 })
	}
	return 0, fmt.Errorf("unknown task %q of InfiniteBench", task)
}

func score(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// labelError returns the error for a label of the wrong form.
func labelError(label any) error {
	return fmt.Errorf("label %s does not fit the task", text.Repr(label))
}

// unlist returns the first element of a list, and any other label unchanged.
func unlist(label any) (any, error) {
	list, ok := label.([]any)
	if !ok {
		return label, nil
	}
	if len(list) == 0 {
		return nil, labelError(label)
	}
	return list[0], nil
}

// elements returns the elements of Python's iteration over a label: those of a list, or the
// characters of a string.
func elements(label any) ([]any, error) {
	switch label := label.(type) {
	case []any:
		return label, nil
	case string:
		var list []any
		for _, c := range characters(label) {
			list = append(list, c)
		}
		return list, nil
	}
	return nil, labelError(label)
}

// contains is Python's "s in label".
func contains(label any, s string) bool {
	if t, ok := label.(string); ok {
		return strings.Contains(t, s)
	}
	list, _ := elements(label)
	return slices.Contains(list, any(s))
}

// bestOf returns the best score over all texts of a label.
func bestOf(label any, f func(string) float64) (float64, error) {
	list, err := elements(label)
	if err != nil {
		return 0, err
	}
	best := 0.0
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return 0, labelError(label)
		}
		best = max(best, f(s))
	}
	return best, nil
}

// blank replaces each of the marks by a space, one after the other.
func blank(s string, marks ...string) string {
	for _, m := range marks {
		s = strings.ReplaceAll(s, m, " ")
	}
	return s
}

func retrievalWords(s string) []string {
	return text.Split(blank(s, "\n", ":", `"`, "'", ".", ",", "?", "!", "{", "}"))
}

// dialogue looks for a name among the words of the response. Only the first of several
// names counts, and a name of two words is never found.
func dialogue(response string, label any) (float64, error) {
	list, err := elements(label)
	if err != nil || len(list) == 0 {
		return 0, labelError(label)
	}
	for _, w := range retrievalWords(text.Strip(response)) {
		if list[0] == text.Upper(w) {
			return 1, nil
		}
	}
	return 0, nil
}

// singleSpaces collapses runs of spaces. Other white space stays.
func singleSpaces(s string) string {
	for strings.Contains(s, "  ") {
		s = strings.ReplaceAll(s, "  ", " ")
	}
	return s
}

// afterPrefix returns the text after the first prefix that occurs in s, without the
// character after the prefix. The prefixes are tried in order; ok reports whether one
// occurs, and rest is nil if nothing follows it.
func afterPrefix(s string, prefixes ...string) (rest *string, ok bool) {
	for _, p := range prefixes {
		if _, after, found := strings.Cut(s, p); found {
			if after == "" {
				return nil, true
			}
			t := tail(after)
			return &t, true
		}
	}
	return nil, false
}

// startsWithAny returns 1 if s begins with an element of a label, else 0.
func startsWithAny(s *string, list []any, label any) (float64, error) {
	if s == nil {
		return 0, nil
	}
	for _, e := range list {
		prefix, ok := e.(string)
		if !ok {
			return 0, labelError(label)
		}
		if strings.HasPrefix(*s, prefix) {
			return 1, nil
		}
	}
	return 0, nil
}

// codeDebug scores the function that the response names. The label is the name and the
// letter of the option.
func codeDebug(response string, label any) (float64, error) {
	list, err := elements(label)
	if err != nil || len(list) < 2 {
		return 0, labelError(label)
	}
	response = text.Strip(response)
	letter, begin := text.Str(list[1]), characters(response)
	if two := strings.Join(begin[:min(2, len(begin))], ""); two == letter+"." || two == letter+":" {
		return 1, nil
	}
	response = singleSpaces(blank(response, "\n", "`", "'", `"`, "-", "*", "Option", "option"))
	rest, ok := afterPrefix(response, "answer is:", "is:", "answer:", "correct option is:")
	if !ok {
		return 0, nil
	}
	return startsWithAny(rest, []any{list[1], list[0]}, label)
}

// choice scores the option that the response names. The label is a list of the option's
// letter and its text.
func choice(response string, label any) (float64, error) {
	response = text.Strip(response)
	if response == "" {
		return 0, nil
	}
	list, err := elements(label)
	if err != nil {
		return 0, err
	}
	if strings.IndexByte("ABCD", response[0]) >= 0 {
		return score(contains(label, response[:1])), nil
	}
	if contains(label, response) {
		return 1, nil
	}
	response = singleSpaces(blank(response, "\n", `"`, "'", ".", ",", "?", "!", "{", "}"))
	if rest, ok := afterPrefix(response, "answer is:", "answer:", "answer is", "option is"); ok {
		return startsWithAny(rest, list, label)
	}
	const letters = "ABCD"
	for _, w := range text.Split(response) {
		// Upstream means "is one of the letters" but tests "is a substring of ABCD".
		if strings.Contains(letters, w) {
			return score(contains(label, w)), nil
		}
	}
	return 0, nil
}

// asciiNumbers returns the runs of ASCII digits in s.
func asciiNumbers(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// firstNumber compares the first run of digits, as spelt, with the label.
func firstNumber(response string, label any) (float64, error) {
	label, err := unlist(label)
	if err != nil {
		return 0, err
	}
	first := ""
	if numbers := asciiNumbers(response); len(numbers) > 0 {
		first = numbers[0]
	}
	return score(label == first), nil
}

// codeRun compares the last word of the response, parsed as an integer, with the label.
func codeRun(response string, label any) (float64, error) {
	label, err := unlist(label)
	if err != nil {
		return 0, err
	}
	words := text.Split(blank(text.Strip(response), "\n", ".", "`", "'", `"`, ":"))
	if len(words) == 0 {
		return 0, nil
	}
	n, ok := text.BigInt(words[len(words)-1])
	return score(ok && equalsInt(label, n)), nil
}

// equalsInt is Python's label == n. The label 4.0 equals 4, and True equals 1.
func equalsInt(label any, n *big.Int) bool {
	switch label := label.(type) {
	case bool:
		return n.Cmp(big.NewInt(int64(score(label)))) == 0
	case json.Number:
		if isInt(label) {
			l, ok := new(big.Int).SetString(label.String(), 10)
			return ok && l.Cmp(n) == 0
		}
		f, err := label.Float64()
		l, accuracy := new(big.Float).SetFloat64(f).Int(nil)
		return err == nil && accuracy == big.Exact && l.Cmp(n) == 0
	}
	return false
}

// isInt reports whether Python parses a JSON number as an int.
func isInt(n json.Number) bool { return !strings.ContainsAny(n.String(), ".eE") }

// firstDecimal matches a number with digits of any script, as \d does in Python.
var firstDecimal = regexp.MustCompile(`\p{Nd}+\.\p{Nd}+|\p{Nd}+`)

// mathFind compares the first number of the response with the label. With an integer label
// the original fails on a number with a fraction.
func mathFind(response string, label any) (float64, error) {
	label, err := unlist(label)
	if err != nil {
		return 0, err
	}
	_, isBool := label.(bool)
	number, isNumber := label.(json.Number)
	if !isBool && !isNumber {
		return 0, labelError(label)
	}
	first := firstDecimal.FindString(response)
	switch {
	case first == "":
		return 0, nil
	case isBool || isInt(number):
		n, ok := text.BigInt(first)
		if !ok {
			return 0, fmt.Errorf("number %.40s is not an integer, as the label is", first)
		}
		return score(equalsInt(label, n)), nil
	}
	ascii := strings.Map(func(r rune) rune {
		if n, ok := text.Int(string(r)); ok {
			return '0' + rune(n)
		}
		return r
	}, first)
	want, err := number.Float64()
	got, _ := strconv.ParseFloat(ascii, 64) // Out of range gives infinity, as in Python.
	return score(err == nil && got == want), nil
}

// mathCalc returns the share of the label, a list of numbers, that is a prefix of the
// numbers of the response. Signs are ignored.
func mathCalc(response string, label any, system string) (float64, error) {
	want, ok := label.([]any)
	if !ok || len(want) == 0 {
		return 0, labelError(label)
	}
	if inner, ok := want[0].([]any); ok {
		want = inner
	}
	if len(want) == 0 {
		return 0, labelError(label)
	}
	var got []*big.Int
	for _, digits := range asciiNumbers(response) {
		n, ok := text.BigInt(digits)
		if !ok {
			return 0, fmt.Errorf("number %.40s... is too long", digits)
		}
		got = append(got, n)
	}
	if system == "gpt4" && len(got) > 0 {
		got = got[1:] // Its prompt made it repeat the first value.
	}
	n := 0
	for n < min(len(want), len(got)) && equalsInt(want[n], got[n]) {
		n++
	}
	return float64(n) / float64(len(want)), nil
}
