package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deem"
)

// compareNumbers compares the numbers in a file with those computed again, and calls wrong
// with a sentence for each difference. It skips the top-level keys in left. A computed key
// that the file does not have is not a difference, because a later deem computes more.
// Texts are compared only if words is set, because a later deem may use other words.
func compareNumbers(said, counted []byte, left []string, words bool, wrong func(string)) error {
	a, err := tree(said)
	if err != nil {
		return fmt.Errorf("the numbers in the file: %w", err)
	}
	b, err := tree(counted)
	if err != nil {
		return fmt.Errorf("the numbers counted again: %w", err)
	}
	if top, ok := a.(map[string]any); ok {
		for _, key := range left {
			delete(top, key)
		}
	}
	comparison{words, wrong}.values("", a, b)
	return nil
}

func tree(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

type comparison struct {
	words bool
	wrong func(string)
}

// values compares two JSON values at the same path.
func (c comparison) values(at string, said, counted any) {
	switch a := said.(type) {
	case map[string]any:
		b, ok := counted.(map[string]any)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(a)) {
			where := key
			if at != "" {
				where = at + "." + key
			}
			if _, ok := b[key]; ok {
				c.values(where, a[key], b[key])
			} else {
				c.wrong(fmt.Sprintf("%s: the file says %s, and nothing is counted", where, short(a[key])))
			}
		}
		return
	case []any:
		b, ok := counted.([]any)
		switch {
		case !ok:
		case !c.words && allTexts(a) && allTexts(b):
			return
		case len(a) != len(b):
			c.wrong(fmt.Sprintf("%s: the file has %d of them, and %d are counted", at, len(a), len(b)))
			return
		default:
			for i := range a {
				c.values(fmt.Sprintf("%s[%d]", at, i), a[i], b[i])
			}
			return
		}
	case json.Number:
		if b, ok := counted.(json.Number); ok && sameNumber(a, b) {
			return
		}
	case string:
		if _, ok := counted.(string); ok && (!c.words || said == counted) {
			return
		}
	default:
		if said == counted {
			return
		}
	}
	c.wrong(fmt.Sprintf("%s: the file says %s, and %s is counted", at, short(said), short(counted)))
}

func allTexts(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool {
		_, ok := v.(string)
		return !ok
	})
}

func sameNumber(a, b json.Number) bool {
	if a == b || isWhole(a) && isWhole(b) {
		return a == b
	}
	x, errA := a.Float64()
	y, errB := b.Float64()
	return errA == nil && errB == nil && near(x, y)
}

// isWhole reports whether a number is written without a fraction. Such numbers are counts,
// which must be equal.
func isWhole(n json.Number) bool { return !strings.ContainsAny(n.String(), ".eE") }

// short returns the JSON of a value, possibly truncated.
func short(v any) string {
	text, err := deem.Canonical(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(text) > 60 {
		return string(text[:60]) + "..."
	}
	return string(text)
}
