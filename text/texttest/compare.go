package texttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// tolerance is how far a ratio may lie from that of the reference. Scores are made
// of counts by a few operations, so only the last bits may differ.
const tolerance = 1e-12

// compare says how what a metric returned differs from what a vector expects.
func compare(got any, err error, want any, missing map[string]bool) string {
	if bad, ok := errors.AsType[inputError](err); ok {
		return "input has another form: " + bad.Error()
	}
	if err != nil {
		got = err
	}
	return differ("", got, want, missing)
}

// differ says where got differs from what a vector expects, or "" if it does not.
// The keys of an object that got leaves out are noted in missing.
func differ(at string, got, want any, missing map[string]bool) string {
	raised := isError(want)
	if err, ok := got.(error); ok || raised {
		if ok && raised {
			return ""
		}
		return fmt.Sprintf("%s = %v (error %v), want %v", at, got, err, want)
	}
	switch want := want.(type) {
	case map[string]any:
		return differInKeys(at, got, want, missing)
	case []any:
		return differInList(at, got, want, missing)
	case string:
		if f, ok := special(want); ok {
			return differInNumber(at, got, f)
		}
	case json.Number:
		f, err := want.Float64()
		if err != nil {
			return err.Error()
		}
		return differInNumber(at, got, f)
	}
	if got != want {
		return fmt.Sprintf("%s = %#v, want %#v", at, got, want)
	}
	return ""
}

// isError reports whether the reference raised an exception.
func isError(want any) bool {
	m, ok := want.(map[string]any)
	return ok && len(m) == 1 && m["error"] != nil
}

// special returns the numbers that JSON cannot write.
func special(s string) (float64, bool) {
	f, ok := map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[s]
	return f, ok
}

func differInNumber(at string, got any, want float64) string {
	var f float64
	switch got := got.(type) {
	case float64:
		f = got
	case int:
		f = float64(got)
	default:
		return fmt.Sprintf("%s = %#v, want %v", at, got, want)
	}
	if math.IsNaN(f) && math.IsNaN(want) || f == want || math.Abs(f-want) <= tolerance {
		return ""
	}
	return fmt.Sprintf("%s = %v, want %v", at, f, want)
}

func differInKeys(at string, got any, want map[string]any, missing map[string]bool) string {
	m, ok := got.(map[string]any)
	if !ok {
		return fmt.Sprintf("%s = %#v, want %v", at, got, want)
	}
	for k := range want {
		if _, ok := m[k]; !ok {
			missing[strings.TrimPrefix(at+"."+k, ".")] = true
		}
	}
	for k, v := range m {
		expected, ok := want[k]
		if !ok {
			return fmt.Sprintf("%s.%s is not expected", at, k)
		}
		if problem := differ(at+"."+k, v, expected, missing); problem != "" {
			return problem
		}
	}
	return ""
}

func differInList(at string, got any, want []any, missing map[string]bool) string {
	list := reflect.ValueOf(got)
	if list.Kind() != reflect.Slice || list.Len() != len(want) {
		return fmt.Sprintf("%s = %q, want %q", at, got, want)
	}
	for i := range want {
		if problem := differ(fmt.Sprintf("%s[%d]", at, i), list.Index(i).Interface(), want[i], missing); problem != "" {
			return problem
		}
	}
	return ""
}
