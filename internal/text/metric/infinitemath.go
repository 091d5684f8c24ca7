package metric

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"deem/internal/text"
)

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
	first := firstDecimal(response)
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
	want, err := number.Float64()
	got, _ := strconv.ParseFloat(asciiDigits(first), 64) // Out of range gives infinity, as in Python.
	return score(err == nil && got == want), nil
}

// firstDecimal returns the first match of \d+\.\d+|\d+ in s, or "".
func firstDecimal(s string) string {
	runs := text.Digits(s)
	if len(runs) == 0 {
		return ""
	}
	whole := runs[0]
	rest := s[strings.Index(s, whole)+len(whole):]
	if len(runs) > 1 && strings.HasPrefix(rest, "."+runs[1]) {
		return whole + "." + runs[1]
	}
	return whole
}

// asciiDigits converts digits of any script to ASCII.
func asciiDigits(s string) string {
	var b strings.Builder
	for _, r := range s {
		if n, ok := text.Int(string(r)); ok {
			b.WriteString(strconv.FormatInt(n, 10))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
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
