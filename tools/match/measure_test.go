package main

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"deem/judge/match"
	"deem/stat"
)

const shared = "../../../shared/data"

// TestAgainstPeople holds match to what it reached on questions that its model was
// not fitted to. The floors are what a user was promised, not what was measured.
func TestAgainstPeople(t *testing.T) {
	if testing.Short() {
		t.Skip("a short run measures nothing")
	}
	if raceDetector {
		t.Log("five fits take too long under the race detector; TestFit fits under it")
		return
	}
	name := shared + "/human_evouna/derived.jsonl.gz"
	if _, err := os.Stat(name); err != nil {
		t.Skipf("the labels are not here: %v", err)
	}
	figures, err := HeldOut(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", Page(figures, nil))
	floors := map[string]float64{"fid": .945, "gpt35": .91, "chatgpt": .895, "gpt4": .915, "newbing": .90, "all": .92}
	for _, f := range figures {
		if f.Agreement < floors[f.Name] {
			t.Errorf("%s: agreement = %.4f, want at least %.4f", f.Name, f.Agreement, floors[f.Name])
		}
		delete(floors, f.Name)
	}
	if len(floors) > 0 {
		t.Errorf("not measured: %v", floors)
	}
	all := figures[len(figures)-1]
	if all.At95 < .88 || all.At97 < .75 || all.ECE > .03 {
		t.Errorf("decided at 95%% = %.3f, at 97%% = %.3f, ECE = %.4f; want at least 0.88 and 0.75, at most 0.03", all.At95, all.At97, all.ECE)
	}
	if all.Agrees < .95 || all.Decided < .85 {
		t.Errorf("match decides %.3f and agrees on %.4f, want at least 0.85 and 0.95", all.Decided, all.Agrees)
	}
}

// TestAgainstOthers does the same for sets that the model was not fitted to. The floors are
// half a point below what match reached before it read claims. Of answers that were all made
// wrong, match/forced may accept 15%, and match 5%.
func TestAgainstOthers(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skipf("the published answers are not here: %v", err)
	}
	figures, err := Others(shared)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", Page(nil, figures))
	floors := map[string]float64{
		"human_cognee_hotpot": .915, "lme_cognitive_memory": .905, "lme_gemini_image_text": .915, "lme_mflow5": .925,
		"locomo_audit": .881, "locomo_audit adversarial-v1": .881, "locomo_memobase": .840, "locomo_acb_raw": .900,
		"locomo_core_raw": .913, "locomo_mflow5": .881, "zh_halluqa_gpt4judge": .743,
	}
	for _, f := range figures {
		if f.Agreement < floors[f.Name] {
			t.Errorf("%s: agreement = %.4f, want at least %.4f", f.Name, f.Agreement, floors[f.Name])
		}
		delete(floors, f.Name)
		if strings.HasSuffix(f.Name, adversarial) && (f.Accepts > .15 || f.Sure > .05) {
			t.Errorf("%s: accepts %.4f forced and %.4f, want at most 0.15 and 0.05", f.Name, f.Accepts, f.Sure)
		}
	}
	if len(floors) > 0 {
		t.Errorf("not measured: %v", floors)
	}
	if got, says := Error(figures), match.Default().Error; got > 1.5*says || got < says/2 {
		t.Errorf("the probabilities of undecided items are off by %.2f, and the model says %.2f", got, says)
	}
}

// TestExpectedScoreCovers draws samples of each system that people judged, scores them with
// match as a report does, and counts how often the interval covers the share that people
// call right among all answers of the system. An answer that match decides wrongly is an
// error that the interval does not know of.
func TestExpectedScoreCovers(t *testing.T) {
	name := shared + "/human_evouna/derived.jsonl.gz"
	if _, err := os.Stat(name); err != nil {
		t.Skipf("the labels are not here: %v", err)
	}
	if testing.Short() || raceDetector {
		t.Skip("five fits take too long")
	}
	rows, err := ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := NewSheet(rows)
	if err != nil {
		t.Fatal(err)
	}
	m := match.Default()
	scored := sheet.Scores(sheet.HeldOut(Settings{}), m.Accept)
	systems := map[string][]int{}
	for i, r := range rows {
		systems[r.From] = append(systems[r.From], i)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	for system, items := range systems {
		truth := 0.0
		for _, i := range items {
			truth += number(rows[i].Right) / float64(len(items))
		}
		for _, n := range []int{50, 200} {
			const draws = 1000
			covered := 0
			for range draws {
				var values stat.Moments
				var guesses stat.Guesses
				for range n {
					s := scored[items[draw.IntN(len(items))]]
					value := number(s.P >= .5)
					if !s.Decides {
						value = s.P
						guesses.Add(s.P, 1)
					}
					values.Add(value, 1)
				}
				e := stat.MeanIn(values, .95, stat.Unit).Widened(guesses.SE(float64(n), m.Error), stat.Unit)
				covered += count(e.Lo <= truth && truth <= e.Hi)
			}
			share := float64(covered) / draws
			t.Logf("%s, %d answers: %.3f of the intervals cover %.3f", system, n, share, truth)
			if share < .90 || share > .99 {
				t.Errorf("%s, %d answers: the interval covers in %.3f of the draws", system, n, share)
			}
		}
	}
}
