package stat_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"deem/internal/agreement"
	"deem/stat"
)

// TestEstimateJSON wants null in place of numbers that the data do not allow, and that
// nothing else is lost on the way there and back.
func TestEstimateJSON(t *testing.T) {
	var one stat.Clustered
	one.Add("c", 1, 1)
	one.Add("c", 0, 1)
	item := agreement.Predicted{Weight: 1, Judge: 1, Truth: math.NaN()}
	alone := slices.Repeat([]agreement.Predicted{item}, 10)
	ppi := agreement.Predict(append([]agreement.Predicted{{Weight: 1, Truth: 1, Judge: 1}, {Weight: 1}, {Weight: 1, Judge: 1}, {Weight: 1}}, alone...), 0.95)
	pearson, err := agreement.Pearson([]float64{1, 2}, []float64{3, 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		value any
		want  map[string]any
	}{
		{"no data", stat.Proportion(0, 0, stat.DefaultLevel), map[string]any{"value": nil, "lo": nil, "hi": nil, "n": 0.0, "method": "none"}},
		{"one cluster", one.Score(0.95, false), map[string]any{"value": 0.5, "lo": nil, "hi": nil, "n": 2.0, "clusters": 1.0, "method": "none"}},
		{"data", stat.Proportion(0, 4, stat.DefaultLevel), map[string]any{"value": 0.0, "lo": 0.0, "n": 4.0, "method": "wilson"}},
		{"corrected", ppi, map[string]any{"value": ppi.Value, "lo": ppi.Lo, "hi": ppi.Hi, "lambda": ppi.Lambda, "known": 4.0, "items": 14.0, "floor": ppi.Floor}},
		{"no labels", agreement.Predict(alone, 0.95), map[string]any{"value": nil, "lo": nil, "hi": nil, "items": 10.0}},
		{"two pairs", pearson, map[string]any{"value": 1.0, "lo": nil, "hi": nil, "p": 1.0}},
	} {
		text, err := json.Marshal(tt.value)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		for key, want := range tt.want {
			if x, ok := got[key]; !ok || x != want {
				t.Errorf("%s: %q is %v, want %v in %s", tt.name, key, x, want, text)
			}
		}
		est, ok := tt.value.(stat.Estimate)
		if !ok {
			continue
		}
		var back stat.Estimate
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back)
		if err != nil || string(again) != string(text) {
			t.Errorf("%s: %s becomes %s, error %v", tt.name, text, again, err)
		}
		if back.Lo > back.Value || back.Value > back.Hi || back.Method != est.Method {
			t.Errorf("%s: %+v is read as %+v", tt.name, est, back)
		}
	}
}
