package golden

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// tolerance is how far a ratio may lie from that of the reference by default. Scores are made
// of counts by a few operations, so only the last bits may differ.
const tolerance = 1e-12

// A comparison holds what metrics return against what vectors expect.
type comparison struct {
	absolute float64         // how far a number may be off
	relative float64         // and how far as a share of it; either suffices
	missing  map[string]bool // the keys of objects that were expected and not returned
}

// compare says how what a metric returned differs from what a vector expects.
func (c comparison) compare(got any, err error, want any) string {
	if bad, ok := errors.AsType[inputError](err); ok {
		return "input has another form: " + bad.Error()
	}
	if err != nil {
		got = err
	}
	return c.differ("", got, want)
}

// differ says where got differs from what a vector expects, or "" if it does not.
// The keys of an object that got leaves out are noted.
func (c comparison) differ(at string, got, want any) string {
	m, ok := want.(map[string]any)
	raised := ok && len(m) == 1 && m["error"] != nil // by the reference, as an exception
	if err, ok := got.(error); ok || raised {
		if ok && raised {
			return ""
		}
		return fmt.Sprintf("%s = %v (error %v), want %v", at, got, err, want)
	}
	switch want := want.(type) {
	case map[string]any:
		return c.differInKeys(at, got, want)
	case []any:
		return c.differInList(at, got, want)
	case string:
		// The numbers that JSON cannot write.
		if f, ok := map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[want]; ok {
			return c.differInNumber(at, got, f)
		}
	case json.Number:
		f, err := want.Float64()
		if err != nil {
			return err.Error()
		}
		return c.differInNumber(at, got, f)
	}
	if got != want {
		return fmt.Sprintf("%s = %#v, want %#v", at, got, want)
	}
	return ""
}

func (c comparison) differInNumber(at string, got any, want float64) string {
	var f float64
	switch got := got.(type) {
	case float64:
		f = got
	case int:
		f = float64(got)
	default:
		return fmt.Sprintf("%s = %#v, want %v", at, got, want)
	}
	if math.IsNaN(f) && math.IsNaN(want) || f == want || math.Abs(f-want) <= max(c.absolute, c.relative*math.Abs(want)) {
		return ""
	}
	return fmt.Sprintf("%s = %v, want %v", at, f, want)
}

func (c comparison) differInKeys(at string, got any, want map[string]any) string {
	m, ok := got.(map[string]any)
	if !ok {
		return fmt.Sprintf("%s = %#v, want %v", at, got, want)
	}
	for k := range want {
		if _, ok := m[k]; !ok {
			c.missing[strings.TrimPrefix(at+"."+k, ".")] = true
		}
	}
	for k, v := range m {
		expected, ok := want[k]
		if !ok {
			return fmt.Sprintf("%s.%s is not expected", at, k)
		}
		if problem := c.differ(at+"."+k, v, expected); problem != "" {
			return problem
		}
	}
	return ""
}

func (c comparison) differInList(at string, got any, want []any) string {
	list := reflect.ValueOf(got)
	if list.Kind() != reflect.Slice || list.Len() != len(want) {
		return fmt.Sprintf("%s = %q, want %q", at, got, want)
	}
	for i := range want {
		if problem := c.differ(fmt.Sprintf("%s[%d]", at, i), list.Index(i).Interface(), want[i]); problem != "" {
			return problem
		}
	}
	return ""
}
