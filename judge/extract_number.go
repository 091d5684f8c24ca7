package judge

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"deem"
)

// decimal matches a number in plain notation. ParseFloat accepts more (0x10, inf, 1_000),
// which judges do not use.
const decimal = `[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)`

// numberText matches a number with its wrapping: "8", "8/10", "8 out of 10", "8分", "**8**
// points".
var numberText = lazy(`^` + numberBody + `\.?$`)

// numberBody has two groups: the number and the maximum that it is out of.
const numberBody = `(` + decimal + `(?:[eE][+-]?[0-9]+)?)` +
	`(?:\s*(?:/|out\s+of|of)\s*(` + decimal + `)|\s*(?:分|点|점))?` +
	`(?:\s*(?:points?|pts?|分|点|점))?`

// Number reads the number that a value of a JSON object gives for the aspect: a JSON number,
// or a string such as "8", "8/10", "8 out of 10" or "8分". The maximum given must be that of
// the scale, because 4/5 on a scale to ten is neither 4 nor certainly 8. In an object such
// as {"score": 8, "reason": "..."} the score counts. Booleans and null are not numbers.
//
// The failure is OutOfRange if the number is outside the scale of the aspect, or not whole
// on a scale of whole numbers, and Unparseable if there is no number.
func (a Aspect) Number(v any) (float64, error) {
	switch v := v.(type) {
	case json.Number:
		return a.numberFrom(string(v))
	case string:
		return a.numberFrom(v)
	case float64:
		return a.check(v)
	case int:
		return a.check(float64(v))
	case map[string]any:
		o := Object{Fields: v}
		for _, key := range []string{"score", "rating", "value", "points", "得分", "评分", "分数"} {
			if in, ok := o.Field(key); ok {
				if _, nested := in.(map[string]any); !nested {
					return a.Number(in)
				}
			}
		}
	}
	return 0, deem.Failf(deem.Unparseable, "%s is not a number", show(v))
}

// numberFrom reads a text that is a number with optional wrapping.
func (a Aspect) numberFrom(text string) (float64, error) {
	if len(text) > window {
		return 0, deem.Failf(deem.Unparseable, "%s is not a number", show(text))
	}
	clean := strings.TrimFunc(narrow(text), func(r rune) bool {
		return isSpace(r) || isMarkup(r)
	})
	// A percent sign is meaningful only if the maximum is 100.
	if a.Max == 100 {
		clean = strings.TrimRight(clean, "% ")
	}
	m := numberText().FindStringSubmatch(clean)
	if m == nil {
		return 0, deem.Failf(deem.Unparseable, "%s is not a number", show(text))
	}
	return a.parse(m[1], m[2])
}

// parse parses a number and, if it is not empty, the maximum it is out of.
func (a Aspect) parse(num, outOf string) (float64, error) {
	if outOf != "" {
		if d, err := strconv.ParseFloat(outOf, 64); err != nil || d != a.Max {
			return 0, deem.Failf(deem.Unparseable, "%s is out of %s, but the scale ends at %v", num, outOf, a.Max)
		}
	}
	x, err := strconv.ParseFloat(num, 64)
	if err != nil && !math.IsInf(x, 0) {
		return 0, deem.Failf(deem.Unparseable, "%s is not a number", show(num))
	}
	return a.check(x)
}

// check returns x if it is on the scale.
func (a Aspect) check(x float64) (float64, error) {
	switch {
	case math.IsNaN(x):
		return 0, deem.Failf(deem.Unparseable, "NaN is not a number")
	case !(x >= a.Min && x <= a.Max) || math.IsInf(x, 0):
		return 0, deem.Failf(deem.OutOfRange, "%v is not from %v to %v", x, a.Min, a.Max)
	case a.Integer && x != math.Trunc(x):
		return 0, deem.Failf(deem.OutOfRange, "%v is not a whole number", x)
	}
	return x + 0, nil // -0 + 0 is 0.
}

// narrow converts full-width digits and punctuation to ASCII.
func narrow(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '！' && r <= '～':
			return r - '！' + '!'
		case r == '　':
			return ' '
		}
		return r
	}, s)
}

// show quotes the beginning of a value for an error message.
func show(v any) string {
	const most = 60
	var s string
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		s = v
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return "the value"
		}
		s = string(b)
	}
	var b strings.Builder
	for word := range strings.FieldsSeq(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word[:min(len(word), most+1)])
		if b.Len() > most {
			return strconv.Quote(strings.ToValidUTF8(b.String()[:most], "") + "...")
		}
	}
	return strconv.Quote(b.String())
}
