package text_test

import (
	"testing"

	"deem/internal/text"
)

func TestFiniteJSON(t *testing.T) {
	for in, want := range map[string]string{
		``:                        ``,
		`{"a": 1}`:                `{"a": 1}`,
		`NaN`:                     `null`,
		`[NaN,-Infinity]`:         `[null,null]`,
		`{"NaN": Infinity}`:       `{"NaN": null}`,
		`{"a": "\"NaN", "b":NaN}`: `{"a": "\"NaN", "b":null}`,
		`{"a": "NaN`:              `{"a": "NaN`,
	} {
		if got := text.FiniteJSON(in); got != want {
			t.Errorf("FiniteJSON(%s) = %s, want %s", in, got, want)
		}
	}
}
