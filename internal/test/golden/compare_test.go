package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"
)

// TestDiffer proves that a golden test can fail.
func TestDiffer(t *testing.T) {
	for _, tt := range []struct {
		got  any
		want string
		same bool
	}{
		{.5, "0.5", true},
		{.5, "0.5000000000001", true},
		{.5, "0.50000000001", false},
		{1, "1", true},
		{1, "1.0", true},
		{"1", "1", false},
		{"a", `"a"`, true},
		{"a", `"b"`, false},
		{true, "true", true},
		{true, "false", false},
		{0.0, "null", false},
		{math.NaN(), `"NaN"`, true},
		{0.0, `"NaN"`, false},
		{math.Inf(1), `"Infinity"`, true},
		{[]string{"a"}, `["a"]`, true},
		{[]string{"a"}, `["a","b"]`, false},
		{[]string{"a"}, `["b"]`, false},
		{[]string(nil), `[]`, true},
		{"a", `["a"]`, false},
		{[]float64{1}, `[1]`, true},
		{errors.New("x"), `{"error":"ValueError"}`, true},
		{errors.New("x"), `0`, false},
		{0.0, `{"error":"ValueError"}`, false},
		{map[string]any{"a": 1.0}, `{"a":1,"b":2}`, true},
		{map[string]any{"a": 1.0, "c": 1.0}, `{"a":1,"b":2}`, false},
		{map[string]any{"a": 1.5}, `{"a":1}`, false},
		{1.0, `{"a":1}`, false},
	} {
		var want any
		dec := json.NewDecoder(bytes.NewReader([]byte(tt.want)))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		c := comparison{absolute: tolerance, missing: map[string]bool{}}
		if problem := c.differ("", tt.got, want); (problem == "") != tt.same {
			t.Errorf("differ(%v, %s) = %q, want the same: %t", tt.got, tt.want, problem, tt.same)
		}
		if _, partial := tt.got.(map[string]any); partial && tt.same && !c.missing["b"] {
			t.Errorf("differ(%v, %s) does not say that b is missing", tt.got, tt.want)
		}
	}
}

// Either tolerance suffices.
func TestRelativeTolerance(t *testing.T) {
	for _, tt := range []struct {
		relative, got, want float64
		same                bool
	}{
		{0, 1e6, 1e6 + 1e-6, false},
		{1e-9, 1e6, 1e6 + 1e-6, true},
		{1e-9, 1e6, 1e6 + 1e-2, false},
		{1e-9, 1e-20, 2e-20, true},
	} {
		c := comparison{absolute: tolerance, relative: tt.relative}
		if problem := c.differInNumber("", tt.got, tt.want); (problem == "") != tt.same {
			t.Errorf("relative %v: %v beside %v gives %q, want the same: %t", tt.relative, tt.got, tt.want, problem, tt.same)
		}
	}
}

// Other people's text must not get into the repository.
func TestIsOurs(t *testing.T) {
	for name, want := range map[string]bool{
		"edge-empty": true, "fuzz-3": true, "grid-1": true, "gridshort-2": true, "rec-1": true,
		"lb-trec-1": false, "ib-3": false, "real-gpt4-1": false, "lme-2": false, "w-terminated": false, "c-1": false,
	} {
		if got := isOurs(name); got != want {
			t.Errorf("isOurs(%q) = %t, want %t", name, got, want)
		}
	}
}

// An input that cannot be read is not what the reference called an error.
func TestCompareInput(t *testing.T) {
	metric := Of(func(in struct{ Text string }) (any, error) { return in.Text, nil })
	got, err := metric(json.RawMessage(`{"text": 3}`))
	if problem := (comparison{}).compare(got, err, map[string]any{"error": "ValueError"}); problem == "" {
		t.Error("a bad input passes for an exception")
	}
	got, err = metric(json.RawMessage(`{"text": "a"}`))
	if problem := (comparison{}).compare(got, err, "a"); problem != "" {
		t.Error(problem)
	}
}

func TestSelection(t *testing.T) {
	sel := &selection{metrics: map[string]Metric{"a": nil}}
	for line, want := range map[string]bool{
		`{"metric":"a","case":"x"}`:           true,
		`{"case": "x", "metric" : "a"}`:       true,
		`{"metric":"b","case":"\"a\""}`:       false,
		`{"metric":"b","input":{"text":"a"}}`: false,
		`no vector`:                           false,
	} {
		if got := sel.takes([]byte(line)); got != want {
			t.Errorf("takes(%s) = %t, want %t", line, got, want)
		}
	}
	if len(sel.others) != 2 {
		t.Errorf("others = %q, want b and one without a name", sel.others)
	}
}
