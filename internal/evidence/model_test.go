package evidence_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"deem/internal/evidence"

	"pgregory.net/rapid"
)

func TestDefault(t *testing.T) {
	m := evidence.Default()
	if !slices.Equal(m.Evidence, evidence.Names()) {
		t.Errorf("the model was fitted to %v, and the judge sees %v", m.Evidence, evidence.Names())
	}
	if len(m.Trees) == 0 || len(m.Line) == 0 || len(m.Hash()) != 12 {
		t.Errorf("the model has %d trees, %d knots and hash %q", len(m.Trees), len(m.Line), m.Hash())
	}
	if common, rare := m.Words.Weight("who"), m.Words.Weight("zygomorphic"); rare < 2 || common > rare {
		t.Errorf("a rare word weighs %.2f and a common one %.2f", rare, common)
	}
}

// stump asks one question: is the first number more than one half?
func stump() evidence.Tree {
	t := evidence.Tree{Feature: [7]int{0, -1, -1, -1, -1, -1, -1}, Mark: [7]float64{.5}}
	t.Leaf[0], t.Leaf[4] = -1, 3
	return t
}

func TestTree(t *testing.T) {
	tree := stump()
	for x, want := range map[float64]float64{0: -1, .5: -1, .51: 3, 9: 3} {
		if got := tree.Value([]float64{x}); got != want {
			t.Errorf("Value(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestCalibrated(t *testing.T) {
	m := &evidence.Model{Line: []evidence.Knot{{Odds: -2, Probability: .1}, {Odds: 0, Probability: .5}, {Odds: 1, Probability: .9}}}
	for odds, want := range map[float64]float64{-9: .1, -2: .1, -1: .3, 0: .5, .5: .7, 1: .9, 9: .9} {
		if got := m.Calibrated(odds); math.Abs(got-want) > 1e-12 {
			t.Errorf("Calibrated(%v) = %v, want %v", odds, got, want)
		}
	}
	if got := (&evidence.Model{}).Calibrated(0); got != .5 {
		t.Errorf("Calibrated(0) without a line = %v, want 0.5", got)
	}
}

// Two items differ in their log-odds by as much as in their parts.
func TestParts(t *testing.T) {
	m := evidence.Default()
	sum := func(x []float64) float64 {
		total := 0.0
		for _, part := range m.Parts(x) {
			total += part
		}
		return total
	}
	numbers := rapid.SliceOfN(rapid.Float64Range(-1, 8), len(m.Evidence), len(m.Evidence))
	rapid.Check(t, func(rt *rapid.T) {
		x, y := numbers.Draw(rt, "x"), numbers.Draw(rt, "y")
		if odds, parts := m.Odds(x)-m.Odds(y), sum(x)-sum(y); math.Abs(odds-parts) > 1e-9 {
			rt.Fatalf("the log-odds differ by %v, the parts by %v", odds, parts)
		}
		if p := m.Probability(x); p < 0 || p > 1 {
			rt.Fatalf("Probability = %v", p)
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	names, err := json.Marshal(evidence.Names())
	if err != nil {
		t.Fatal(err)
	}
	good := `{"evidence":` + string(names) + `,"words":{"rare":3,"common":""},"trees":[%s],"line":[%s],"accept":%s,"reject":0.2,"error":0.1}`
	tree := `{"f":[%d,-1,-1,-1,-1,-1,-1],"m":[0,0,0,0,0,0,0],"v":[0,0,0,0,0,0,0,0]}`
	for name, tt := range map[string]struct{ text, want string }{
		"sound":       {fmt.Sprintf(good, fmt.Sprintf(tree, 0), "", ".8"), ""},
		"no JSON":     {"{", "read match model"},
		"evidence":    {fmt.Sprintf(good, fmt.Sprintf(tree, 99), "", ".8"), "tree 0 asks for evidence 99 of"},
		"fitted":      {strings.Replace(fmt.Sprintf(good, "", "", ".8"), `"rule"`, `"ruler"`, 1), "fitted to other evidence: ruler"},
		"falls":       {fmt.Sprintf(good, "", `{"x":0,"p":0.5},{"x":1,"p":0.4}`, ".8"), "falls at knot 1"},
		"limits":      {fmt.Sprintf(good, "", "", ".4"), "accepts from 0.4"},
		"error":       {strings.Replace(fmt.Sprintf(good, "", "", ".8"), `"error":0.1`, `"error":0`, 1), "error of its probabilities is 0"},
		"words":       {strings.Replace(fmt.Sprintf(good, "", "", ".8"), `"common":""`, `"common":"AAAA"`, 1), "3 bytes"},
		"not base 64": {strings.Replace(fmt.Sprintf(good, "", "", ".8"), `"common":""`, `"common":"?"`, 1), "read match model"},
	} {
		text := strings.ReplaceAll(strings.ReplaceAll(tt.text, ":.", ":0."), ": .", ":0.")
		_, err := evidence.Decode([]byte(text))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}

// Words come back from their file as they went in.
func TestWords(t *testing.T) {
	w := evidence.Default().Words
	raw, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var back evidence.Words
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"the", "cat", "zebra"} {
		if got, want := back.Weight(word), w.Weight(word); got != want || got <= 0 {
			t.Errorf("Weight(%q) = %v, %v before it was written", word, got, want)
		}
	}
	if got := new(evidence.Words).Weight("the"); got != 1 {
		t.Errorf("the zero Words weighs %v, want 1", got)
	}
}
