package main

import (
	"os"
	"strings"
	"testing"

	"deem/judge/match"
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

// TestAgainstJudges does the same for answers of memory systems. Of answers that
// were all made wrong it may accept at most 12%.
func TestAgainstJudges(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skipf("the published answers are not here: %v", err)
	}
	figures, err := Others(shared)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", Page(nil, figures))
	seen := 0
	for _, f := range figures {
		switch {
		case f.Name == "lme_cognitive_memory all":
			seen++
			if f.Agreement < .86 {
				t.Errorf("%s: agreement = %.4f, want at least 0.86", f.Name, f.Agreement)
			}
		case strings.HasSuffix(f.Name, "adversarial-v1"):
			seen++
			if f.Accepts > .12 || f.Sure > .03 {
				t.Errorf("%s: accepts %.4f forced and %.4f, want at most 0.12 and 0.03", f.Name, f.Accepts, f.Sure)
			}
		}
	}
	if got, says := Error(figures), match.Default().Error; got > 1.5*says || got < says/2 {
		t.Errorf("the probabilities of undecided items are off by %.2f, and the model says %.2f", got, says)
	}
	if seen != 2 {
		t.Errorf("%d of 2 sets were measured", seen)
	}
}
