package agree_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/reports/agree"
	"deem/stat"
)

var update = flag.Bool("update", false, "write the golden files anew")

// options are those of a model judge compared with people.
func options() agree.Options {
	return agree.Options{
		Judge:  agree.Party{Run: "20261115-9f3a2c", Judge: "universal", JudgeHash: strings.Repeat("4f0c2a91", 8), Model: "openai:gpt-4o-mini"},
		Truth:  agree.Party{Judge: "labels.csv"},
		People: true, Items: 200, MaxUnjudged: 0.01,
	}
}

// item returns the i-th item with the judge's verdict and no label.
func item(i int, category string, yes bool) agree.Pair {
	return agree.Pair{Item: deem.Item{ID: fmt.Sprint("q", i), Category: category}, Position: i, Verdict: verdict(yes)}
}

// build adds pairs to a new builder.
func build(o agree.Options, pairs []agree.Pair) *agree.Builder {
	b := agree.New(o)
	for _, p := range pairs {
		b.Add(p)
	}
	return b
}

// everyFourth returns 200 items of two categories with a lenient judge and a label for
// every fourth item.
func everyFourth() []agree.Pair {
	var pairs []agree.Pair
	for i := range 200 {
		right := i%5 < 3
		p := item(i, []string{"时间", "temporal"}[i/4%2], right || i%10 == 4)
		if i%4 == 0 {
			p.Truth = truth(right)
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// scenes are the agreements in the golden files.
var scenes = []struct {
	name  string
	build func() *agree.Builder
}{
	{"plain", func() *agree.Builder {
		o := options()
		o.Width = 0.05
		return build(o, everyFourth())
	}},
	{"confidence", sceneConfidence},
	{"annotators", sceneAnnotators},
	{"withheld", func() *agree.Builder {
		pairs := everyFourth()
		for i := range 20 {
			pairs[i*4].Verdict = nil
		}
		return build(options(), pairs)
	}},
	{"known", sceneKnown},
	{"own", sceneOwn},
	{"two_judges", func() *agree.Builder {
		o := options()
		o.People, o.Truth = false, agree.Party{Run: "20261114-000001", Judge: "longmemeval", Model: "openai:gpt-4o", JudgeHash: strings.Repeat("ab", 32)}
		pairs := everyFourth()
		for i := range pairs {
			pairs[i].Item.Cluster = fmt.Sprint("conversation ", i/50)
			pairs[i].Truth = &agree.Truth{Yes: i%5 < 3, Score: float64(3-min(i%5, 3)) / 3}
		}
		return build(o, pairs)
	}},
	{"chosen_labels", func() *agree.Builder {
		// People labelled only what the judge accepted.
		pairs := everyFourth()
		for i := range pairs {
			pairs[i].Truth = nil
			if pairs[i].Verdict.Score == 1 && i%2 == 0 {
				pairs[i].Truth = truth(i%5 < 3)
			}
		}
		return build(options(), pairs)
	}},
	{"empty", func() *agree.Builder { return build(agree.Options{People: true}, nil) }},
	{"hostile_names", func() *agree.Builder {
		pairs := everyFourth()[:40]
		for i := range pairs {
			pairs[i].Item.ID += "\x1b[31m\n"
			pairs[i].Item.Category = strings.Repeat("long ", 20) + "\u202e"
			pairs[i].Truth = truth(i%2 == 0)
		}
		o := options()
		o.Judge.Judge, o.Truth.Judge = "a\nb", "c\x07d"
		return build(o, pairs)
	}},
}

// sceneConfidence has an overconfident judge, and grades.
func sceneConfidence() *agree.Builder {
	pairs := everyFourth()
	for i := range pairs {
		c := 0.5 + float64(i%10)/20
		pairs[i].Verdict.Confidence = &c
		pass := pairs[i].Verdict.Score == 1
		pairs[i].Verdict.Pass, pairs[i].Verdict.Score = &pass, (pairs[i].Verdict.Score+float64(i%7)/6)/2
		if t := pairs[i].Truth; t != nil {
			t.Score = (t.Score + float64(i%3)/2) / 2
		}
	}
	return build(options(), pairs)
}

// sceneAnnotators has three people who are split on some items.
func sceneAnnotators() *agree.Builder {
	pairs := everyFourth()
	for i := range pairs {
		if pairs[i].Truth == nil {
			continue
		}
		yes := pairs[i].Truth.Yes
		votes := map[string]bool{"anna": yes, "bert": yes}
		switch i % 3 {
		case 1:
			votes["cleo"] = !yes
		case 2:
			votes["bert"] = !yes
		}
		pairs[i].Truth.Votes, pairs[i].Truth.Tie = votes, i%3 == 2
	}
	return build(options(), pairs)
}

// sceneKnown has a registry with one disagreement missing, one too many, and one without a
// label.
func sceneKnown() *agree.Builder {
	o := options()
	o.Registry = []agree.Known{
		{Item: "q4", Judge: true, Why: "accepts the neighbouring year"},
		{Item: "q8", Judge: true, Why: "rounds."},
		{Item: "q5", Judge: true},
		{Item: "q9999", People: true},
	}
	return build(o, everyFourth())
}

// sceneOwn has answers of the judge's own family, which it favours.
func sceneOwn() *agree.Builder {
	o := options()
	o.SystemModel = "mistral-large"
	o.Judge.Model = "mistral:mistral-small"
	pairs := everyFourth()
	for i := range pairs {
		pairs[i].Truth, pairs[i].Verdict = truth(i%5 < 3), verdict(i%5 < 4)
		if i%2 == 0 {
			pairs[i].Item.Fields = map[string]string{"answer_model": "gpt-4o"}
			pairs[i].Verdict = verdict(i%5 < 3 || i%20 == 4)
		}
	}
	return build(o, pairs)
}

func TestGolden(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			a := s.build().Agreement()
			var js bytes.Buffer
			if err := a.JSON(&js); err != nil {
				t.Fatal(err)
			}
			golden(t, s.name+".json.golden", js.Bytes())
			golden(t, s.name+".txt.golden", text(t, a, doc.TextOptions{}))
			golden(t, s.name+".v.txt.golden", text(t, a, doc.TextOptions{Detail: true}))
		})
	}
}

// The text fits 60, 80 and 120 columns, short and in detail.
func TestGoldenWidths(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	for _, s := range scenes {
		for _, width := range []int{60, 80, 120} {
			for _, detail := range []bool{false, true} {
				got := text(t, s.build().Agreement(), doc.TextOptions{Width: width, Detail: detail})
				for line := range strings.Lines(string(got)) {
					if line = strings.TrimSuffix(line, "\n"); doc.Clip(line, width) != line {
						t.Errorf("%s: a line is wider than %d columns: %s", s.name, width, line)
					}
				}
				if s.name == "confidence" && !detail {
					golden(t, fmt.Sprintf("%s.%d.txt.golden", s.name, width), got)
				}
			}
		}
	}
}

// text returns an agreement as text, without control characters and NaN.
func text(t *testing.T, a agree.Agreement, o doc.TextOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := doc.Text(&b, a.Document(), o); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.ContainsAny(s, "\x1b\x07\u202e") || strings.Contains(s, "NaN") {
		t.Errorf("the text is not clean:\n%s", s)
	}
	return b.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", name, d)
	}
}

// TestCounts checks the counts.
func TestCounts(t *testing.T) {
	pairs := everyFourth()
	pairs[0].Verdict = nil
	pairs[4].Truth.Tie = true
	a := build(options(), pairs).Agreement()
	want := agree.Counts{Items: 200, Judged: 199, Unjudged: 1, Labelled: 50, Ties: 1, Both: 48}
	if a.Counts != want {
		t.Errorf("Counts = %+v, want %+v", a.Counts, want)
	}
	if k := a.Corrected; k == nil || k.Raw.N != 199 || k.Unlabelled != 151 {
		t.Errorf("Corrected = %+v, want a raw score of 199 items, 151 of them without a label", k)
	}
	notes := strings.Join(a.Notes, "\n")
	for _, want := range []string{"1 item has a label of people but no verdict", "on 1 item the annotators are evenly split"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes lack %q:\n%s", want, notes)
		}
	}
}

// An invalid confidence, which an external run file may contain, does not affect the rest.
func TestConfidenceOutOfRange(t *testing.T) {
	pairs := everyFourth()
	for i, c := range []float64{0.9, 0.8, 1.5, math.NaN(), -2, 0.7} {
		pairs[4*i].Verdict.Confidence = &c
	}
	if c := build(options(), pairs).Agreement().Confidence; c == nil || c.N != 3 {
		t.Errorf("3 of 6 confidences lie between 0 and 1: Confidence = %+v, want one of 3 items", c)
	}
}

// TestWorstFirst checks that the most confident mistakes come first, then those on which
// people agree, then the first in the dataset.
func TestWorstFirst(t *testing.T) {
	wrong := func(i int, confidence float64, votes ...bool) agree.Pair {
		p := item(i, "", true)
		if confidence > 0 {
			p.Verdict.Confidence = &confidence
		}
		p.Truth = &agree.Truth{Votes: map[string]bool{}}
		for j, v := range votes {
			p.Truth.Votes[fmt.Sprint(j)] = v
		}
		return p
	}
	a := build(options(), []agree.Pair{
		wrong(0, 0, false, false, true), wrong(1, 0, false), wrong(2, 0.6, false), wrong(3, 0.99, false), wrong(4, 0, false, false),
	}).Agreement()
	var got []string
	for _, d := range a.Disagreements {
		got = append(got, d.Item)
	}
	if want := "q3 q2 q1 q4 q0"; strings.Join(got, " ") != want {
		t.Errorf("disagreements %v, want %s", got, want)
	}
}

// TestRegistry checks that every difference between known and actual disagreements is
// found, and nothing else.
func TestRegistry(t *testing.T) {
	pairs := []agree.Pair{item(0, "", true), item(1, "", true), item(2, "", false), item(3, "", true)}
	pairs[0].Truth, pairs[1].Truth, pairs[2].Truth = truth(false), truth(true), truth(true)
	for _, c := range []struct {
		name           string
		known          []agree.Known
		appeared, gone string
	}{
		{"as known", []agree.Known{{Item: "q0", Judge: true}, {Item: "q2", People: true}}, "", ""},
		{"none known", []agree.Known{}, "q0 q2", ""},
		{"one too many", []agree.Known{{Item: "q0", Judge: true}, {Item: "q1", Judge: true}, {Item: "q2", People: true}}, "", "q1"},
		{"the other way round", []agree.Known{{Item: "q0", People: true}, {Item: "q2", People: true}}, "q0", "q0"},
		{"not labelled", []agree.Known{{Item: "q0", Judge: true}, {Item: "q2", People: true}, {Item: "q3", Judge: true}}, "", "q3"},
		{"not there", []agree.Known{{Item: "q0", Judge: true}, {Item: "q2", People: true}, {Item: "q9", Judge: true}}, "", "q9"},
	} {
		o := options()
		o.Registry = c.known
		check := build(o, pairs).Agreement().Registry
		var appeared, gone []string
		for _, k := range check.Appeared {
			appeared = append(appeared, k.Item)
		}
		for _, k := range check.Gone {
			gone = append(gone, k.Item)
		}
		if strings.Join(appeared, " ") != c.appeared || strings.Join(gone, " ") != c.gone {
			t.Errorf("%s: appeared %v, gone %v, want %q and %q", c.name, appeared, gone, c.appeared, c.gone)
		}
		if check.Pass() != (c.appeared == "" && c.gone == "") {
			t.Errorf("%s: Pass = %v", c.name, check.Pass())
		}
	}
	if check := build(options(), pairs).Agreement().Registry; check != nil {
		t.Errorf("without a registry there is %+v", check)
	}
}

// TestAnnotatorsAgree compares with values computed by hand.
func TestAnnotatorsAgree(t *testing.T) {
	// Observed 3 of 4, by chance 1/2*3/4 + 1/2*1/4 = 1/2: kappa is 1/2.
	var pairs []agree.Pair
	for i, votes := range [][2]bool{{true, true}, {true, true}, {false, true}, {false, false}} {
		p := item(i, "", true)
		p.Truth = &agree.Truth{Yes: votes[0], Tie: votes[0] != votes[1], Votes: map[string]bool{"anna": votes[0], "bert": votes[1]}}
		pairs = append(pairs, p)
	}
	a := build(options(), pairs).Agreement().Annotators
	if a == nil || a.Kappa == nil || math.Abs(a.Kappa.Value-0.5) > 1e-12 || a.Fleiss != nil || a.Items != 4 || a.Ties != 1 {
		t.Fatalf("annotators %+v, want kappa 0.5 over 4 items with 1 tie", a)
	}
	pairs[0].Truth.Votes["cleo"] = true
	a = build(options(), pairs).Agreement().Annotators
	if a.Kappa != nil || a.Fleiss == nil || len(a.Names) != 3 {
		t.Errorf("three annotators: %+v, want Fleiss' kappa", a)
	}
}

// TestAny checks that for any input, numbers are finite and add up, and the order of the
// items changes no count.
func TestAny(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(rt, "n")
		var pairs []agree.Pair
		for i := range n {
			p := item(i, rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "category"), rapid.Bool().Draw(rt, "yes"))
			switch rapid.IntRange(0, 3).Draw(rt, "kind") {
			case 0:
				p.Verdict = nil
			case 1:
				p.Truth = truth(rapid.Bool().Draw(rt, "truth"))
				p.Truth.Tie = rapid.Bool().Draw(rt, "tie")
			case 2:
				p.Truth = truth(rapid.Bool().Draw(rt, "truth"))
				c := rapid.Float64Range(0, 1).Draw(rt, "confidence")
				p.Verdict.Confidence = &c
				p.Truth.Score = rapid.Float64Range(0, 1).Draw(rt, "score")
				p.Verdict.Score = rapid.Float64Range(0, 1).Draw(rt, "judge score")
			}
			pairs = append(pairs, p)
		}
		o := options()
		o.MaxUnjudged, o.Width = 1, 0.1
		a := build(o, pairs).Agreement()
		if _, err := json.Marshal(a); err != nil {
			rt.Fatalf("no JSON: %v", err)
		}
		var b bytes.Buffer
		if err := doc.Text(&b, a.Document(), doc.TextOptions{}); err != nil || strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			rt.Errorf("text %v:\n%s", err, b.String())
		}
		c := a.All.Confusion
		if c.N() != a.Counts.Both || c.FP+c.FN != len(a.Disagreements) {
			rt.Errorf("confusion %+v, but %d items with both and %d disagreements", c, a.Counts.Both, len(a.Disagreements))
		}
		var parts agreement.Confusion
		for _, m := range a.Categories {
			parts.TP, parts.FP, parts.FN, parts.TN = parts.TP+m.Confusion.TP, parts.FP+m.Confusion.FP, parts.FN+m.Confusion.FN, parts.TN+m.Confusion.TN
		}
		if len(a.Categories) > 0 && parts != c {
			rt.Errorf("categories add up to %+v, want %+v", parts, c)
		}
		if k := a.Corrected; k != nil {
			for _, est := range []stat.Estimate{k.Raw, k.People, k.PPI.Estimate, k.RoganGladen, k.Stratified} {
				if !(0 <= est.Lo && est.Lo <= est.Value && est.Value <= est.Hi && est.Hi <= 1) {
					rt.Errorf("estimate %+v is out of order", est)
				}
			}
		}
		slices.Reverse(pairs)
		if back := build(o, pairs).Agreement(); back.All.Confusion != c || back.Counts != a.Counts {
			rt.Errorf("in reverse the counts are %+v and %+v", back.Counts, back.All.Confusion)
		}
	})
}

// Every item counts once here, which a reader of a weighted score must be told.
func TestWeightsAreNoted(t *testing.T) {
	pairs := everyFourth()
	noted := func() bool {
		return slices.ContainsFunc(build(options(), pairs).Agreement().Notes, func(s string) bool { return strings.Contains(s, "different weights") })
	}
	for i := range pairs {
		pairs[i].Item.Weight = float64(i % 2) // 0 means 1
	}
	if noted() {
		t.Error("a note on different weights, although all are 1")
	}
	pairs[3].Item.Weight = 20
	if !noted() {
		t.Error("no note on different weights")
	}
}

// A corrected mean of grades and its interval stay in the range of grades.
func TestGradesStayInRange(t *testing.T) {
	var pairs []agree.Pair
	for i := range 120 {
		p := item(i, "", true)
		p.Verdict.Score = 1 - 0.2*float64(i%20/19)
		if i < 12 {
			p.Truth = truth(true)
			p.Truth.Score = 1 - 0.1*float64(i/11)
		}
		pairs = append(pairs, p)
	}
	s := build(options(), pairs).Agreement().Scores
	if s == nil || s.Corrected == nil {
		t.Fatal("no grades")
	}
	if c := s.Corrected; c.Lo < 0 || c.Hi > 1 || c.Lo > c.Value || c.Value > c.Hi {
		t.Errorf("corrected mean %v in [%v, %v], want it within 0 and 1", c.Value, c.Lo, c.Hi)
	}
}

// Without wrong answers, the rate at which they are accepted is unknown.
func TestOwnWithoutWrongAnswers(t *testing.T) {
	o := options()
	o.Judge.Model = "mistral:mistral-small"
	pairs := everyFourth()
	for i := range pairs {
		pairs[i].Truth, pairs[i].Verdict = truth(true), verdict(i%5 < 4)
		pairs[i].Item.Fields = map[string]string{"answer_model": []string{"gpt-4o", "mistral-large"}[i%2]}
	}
	a := build(o, pairs).Agreement()
	if got := string(text(t, a, doc.TextOptions{Detail: true})); !strings.Contains(got, "no wrong answer") || strings.Contains(got, "accepts wrong answers") {
		t.Errorf("want that there is no wrong answer in:\n%s", got)
	}
}

// Under a plan the judge's own rate is known from all items: it has one interval, that of
// the raw score.
func TestPlanGivesTheJudgeOneInterval(t *testing.T) {
	b := agree.New(agree.Options{People: true, Draws: 2, Trials: 3})
	for i := range 200 {
		yes := i%4 != 0
		v := &deem.Verdict{Label: "no"}
		stratum, of, every := "p-1", 50, 8
		if yes {
			v, stratum, of, every = &deem.Verdict{Label: "yes", Score: 1}, "p-2", 150, 10
		}
		p := agree.Pair{Item: deem.Item{ID: fmt.Sprint(i)}, Position: i, Verdict: v}
		if i%every < 2 && (yes || i%8 == 0) {
			p.Truth = &agree.Truth{Yes: i%3 > 0, Stratum: stratum, Of: of, Probability: 0.2}
		}
		b.Add(p)
	}
	a := b.Agreement()
	if a.Corrected.Mix.Drawn != "plan" || a.All.JudgeRate.Lo != a.Corrected.Raw.Lo || a.All.JudgeRate.Hi != a.Corrected.Raw.Hi {
		t.Errorf("drawn by %q, judge rate %+v, raw score %+v: want a plan and one interval", a.Corrected.Mix.Drawn, a.All.JudgeRate, a.Corrected.Raw)
	}
	if !slices.ContainsFunc(a.Notes, func(s string) bool { return strings.HasPrefix(s, "each item has 3 trials: the score uses all of them") }) {
		t.Errorf("notes = %q, want one about the trials", a.Notes)
	}
}

// An undecided item counts with its probability in the raw score and as the judge's
// prediction in the correction, but not in the agreement of decisions.
func TestUndecidedItemsAreCorrectedByTheirProbability(t *testing.T) {
	o := options()
	o.CalibrationError = 0.05
	var y, yhat, alone []float64
	var raw stat.Clustered
	pairs := []agree.Pair{}
	for i := range 120 {
		yes := i%4 != 0
		p := item(i, "", yes)
		x := float64(number(yes))
		if i%5 == 0 {
			x = 0.2 + 0.1*float64(i%7)
			p.Verdict, p.Guess = nil, &x
		}
		raw.Add("", x, 1)
		if i/20%2 == 0 {
			truth := i%3 != 0
			p.Truth = &agree.Truth{Yes: truth, Score: float64(number(truth))}
			y, yhat = append(y, float64(number(truth))), append(yhat, x)
		} else {
			alone = append(alone, x)
		}
		pairs = append(pairs, p)
	}
	a := build(o, pairs).Agreement()
	if c := a.Counts; c.Undecided != 24 || c.Judged != 96 || c.Unjudged != 0 || c.Both != 48 || a.Withheld != nil {
		t.Errorf("counts %+v, withheld %v, want 24 undecided items and none unjudged", c, a.Withheld)
	}
	if n := a.All.Confusion.N(); n != 48 {
		t.Errorf("the agreement is over %d items, want the 48 decided ones with a label", n)
	}
	// The published formula, with the weight of the judge that is given.
	mean := func(x []float64) float64 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum / float64(len(x))
	}
	got := a.Corrected.PPI
	want := mean(y) + got.Lambda*(mean(slices.Concat(yhat, alone))-mean(yhat))
	if math.Abs(got.Value-want) > 1e-12 || got.Known != 60 || got.Items != 120 {
		t.Errorf("corrected %v from %d of %d items, want %v from 60 of 120", got.Value, got.Known, got.Items, want)
	}
	share := stat.WeightedProportion(raw.Moments(), 0.95)
	if got := a.Corrected.Raw; got.Value != share.Value || got.Hi-got.Lo <= share.Hi-share.Lo {
		t.Errorf("raw %v [%v, %v], want %v with an interval wider than [%v, %v]", got.Value, got.Lo, got.Hi, share.Value, share.Lo, share.Hi)
	}
	// Without probabilities the same items are unjudged, and the score is withheld.
	for i := range pairs {
		pairs[i].Guess = nil
	}
	if a := build(o, pairs).Agreement(); a.Withheld == nil || a.Counts.Unjudged != 24 {
		t.Errorf("counts %+v, withheld %v, want 24 unjudged items and no score", a.Counts, a.Withheld)
	}
}
