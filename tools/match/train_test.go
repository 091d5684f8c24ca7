package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"deem"
	"deem/internal/evidence"
)

func TestRead(t *testing.T) {
	text := `{"system":"a","question":"q","reference":["x","y"],"response":"r","human_label":true}
{"run":"b","question":"q","reference":3,"response":"r","judge_label":false}
{"run":"c","question":"q","reference":"x","response":"r","judge_labels":[true,true,false]}
{"question":"q","reference":"x","response":"r"}
{"question":"q","reference":"x","response":"r","human_label":true,"improper":true}
{"question":"q","reference":null,"response":"r","human_label":true}
`
	got, err := Read(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	item := func(refs ...string) deem.Item { return deem.Item{Question: "q", References: refs, Response: "r"} }
	want := []Row{{item("x", "y"), true, "a"}, {item("3"), false, "b"}, {item("x"), true, "c"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Read = %v, want %v", got, want)
	}
	if _, err := Read(strings.NewReader("{}\n{"), "f"); err == nil || !strings.Contains(err.Error(), "f:2") {
		t.Errorf("error %v, want one that names f:2", err)
	}
}

// made returns items of which the right ones repeat their reference.
func made(n int) []Row {
	cities := strings.Fields("Paris London Berlin Madrid Vienna Oslo Rome Lisbon Prague Dublin")
	var rows []Row
	for i := range n {
		ref, other := cities[i%10]+" City", cities[(i+3)%10]+" Town"
		r := Row{Item: deem.Item{Question: fmt.Sprintf("where did number %d go", i/2), References: []string{ref}, Response: "to " + ref}, Right: true}
		if i%3 == 0 {
			r.Item.Response, r.Right = "to "+other, false
		}
		rows = append(rows, r)
	}
	return rows
}

// Fitting twice gives the same file, and the model tells right from wrong.
func TestFit(t *testing.T) {
	var files [2]string
	for i := range files {
		s, err := NewSheet(made(600))
		if err != nil {
			t.Fatal(err)
		}
		m := s.Fit(Settings{Trees: 10, Leaf: 2}, .95)
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = string(raw)
		agree := 0
		for k, r := range s.Rows {
			if (s.seen[k].Probability(m) >= .5) == r.Right {
				agree++
			}
		}
		if agree < 590 {
			t.Errorf("the model agrees on %d of 600 items, want at least 590", agree)
		}
		if m.Accept < Sure || m.Reject > 1-Sure+1e-9 {
			t.Errorf("limits %v and %v, want at least as strict as %v", m.Accept, m.Reject, Sure)
		}
	}
	if files[0] != files[1] {
		t.Error("fitting twice gives two models")
	}
	if _, err := NewSheet(nil); err == nil {
		t.Error("a sheet of no items is not an error")
	}
}

// A question is in one fold, however it is spaced, and the folds are alike in size.
func TestFold(t *testing.T) {
	sizes := map[int]int{}
	for i := range 1000 {
		q := fmt.Sprintf("what is number %d", i)
		if fold(q) != fold(" What  is number "+fmt.Sprint(i)) {
			t.Errorf("%q is in two folds", q)
		}
		sizes[fold(q)]++
	}
	for k := range Folds {
		if sizes[k] < 120 || sizes[k] > 280 {
			t.Errorf("fold %d has %d of 1000 questions", k, sizes[k])
		}
	}
}

// A feature of which more can only speak for right never speaks against it.
func TestBoostKeepsOrder(t *testing.T) {
	var x [][]float64
	var y, w []float64
	for i := range 400 {
		v := float64(i%20) / 20
		x = append(x, []float64{v, float64(i % 7)})
		y = append(y, number(v > .5 != (i%20 == 15))) // a dent that a free tree would follow
		w = append(w, 1)
	}
	base, trees := boost(newTable(x), y, w, []int{1, 0}, Settings{Trees: 40, Leaf: 1})
	m := &evidence.Model{Base: base, Trees: trees}
	for other := range 7 {
		last := math.Inf(-1)
		for v := 0.0; v <= 1; v += .01 {
			odds := m.Odds([]float64{v, float64(other)})
			if odds < last-1e-9 {
				t.Fatalf("odds fall from %v to %v at %.2f", last, odds, v)
			}
			last = odds
		}
	}
	if lo, hi := m.Odds([]float64{0, 0}), m.Odds([]float64{1, 0}); hi-lo < 2 {
		t.Errorf("odds go from %v to %v, want a rise of at least 2", lo, hi)
	}
}

func TestNearMisses(t *testing.T) {
	rows := []Row{
		{Item: deem.Item{Question: "q", References: []string{"signed basketball"}, Response: "a signed basketball"}, Right: true},
		{Item: deem.Item{Question: "q", References: []string{"Paris"}, Response: "Paris"}, Right: true},
		{Item: deem.Item{Question: "q", References: []string{"10 October 2020"}, Response: "10 October 2020"}, Right: true},
		{Item: deem.Item{Question: "q", References: []string{"green apples"}, Response: "pears"}},
	}
	for _, m := range nearMisses(rows) {
		if m.Right || m.Item.Response == m.Item.References[0] || strings.Contains(m.Item.Response, m.Item.References[0]) {
			t.Errorf("%q is not a near miss of %q", m.Item.Response, m.Item.References[0])
		}
	}
	if n := len(nearMisses(rows)); n != 2 {
		t.Errorf("%d near misses, want 2: one word and a wrong answer have none", n)
	}
}

func TestRising(t *testing.T) {
	y, w := []float64{.1, .5, .3, .2, .9, .8}, []float64{1, 1, 1, 2, 1, 3}
	rising(y, w)
	for i, want := range []float64{.1, .3, .3, .3, .825, .825} {
		if math.Abs(y[i]-want) > 1e-12 {
			t.Errorf("rising gives %v", y)
			break
		}
	}
}

func TestCoverage(t *testing.T) {
	probs := []float64{.99, .01, .9, .1, .6, .6}
	right := []bool{true, false, true, false, false, true}
	for agreement, want := range map[float64]float64{1: 4. / 6, .8: 1, .95: 4. / 6} {
		if got := Coverage(probs, right, agreement); got != want {
			t.Errorf("Coverage at %v = %v, want %v", agreement, got, want)
		}
	}
}

// The model in the program is the one that the labelled file gives.
func TestModelIsFitted(t *testing.T) {
	const data = "../../../shared/data/human_evouna/derived.jsonl.gz"
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the labels are not here: %v", err)
	}
	rows, err := ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	// The words and the base are quick to make again; the trees are what
	// make match-model makes, and tools/match fits them for each fold.
	want, _ := json.Marshal(evidence.Default().Words)
	got, _ := json.Marshal(Words(rows))
	if string(got) != string(want) {
		t.Error("the words of the model are not those of the labelled file: run make match-model")
	}
}

// A word weighs less the more texts have it.
func TestNewWords(t *testing.T) {
	w := newWords(map[string]int{"the": 100, "cat": 10, "zebra": 1}, 100, 2)
	last := -1.0
	for _, word := range []string{"the", "cat", "zebra"} {
		got := w.Weight(word)
		if got <= last {
			t.Errorf("Weight(%q) = %v, after %v for a commoner word", word, got, last)
		}
		last = got
	}
}
