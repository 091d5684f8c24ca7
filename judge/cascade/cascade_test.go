package cascade_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/judge/cascade"
)

// says is a judge that returns the same verdict for every item.
type says struct {
	name  string
	score float64
	sure  float64 // 0 means none
	err   error
}

func (s says) Name() string { return s.name }

func (s says) Judge(ctx context.Context, _ deem.Item) (deem.Verdict, error) {
	deem.NoteCall(ctx, deem.Call{Model: s.name})
	v := deem.Verdict{Label: "CORRECT", Score: s.score, Reason: "so " + s.name + " thinks"}
	if s.sure > 0 {
		v.Confidence = &s.sure
	}
	return v, s.err
}

func stages(list ...says) []cascade.Stage {
	mark := 0.9
	var out []cascade.Stage
	for i, s := range list {
		st := cascade.Stage{Judge: s}
		if i < len(list)-1 {
			st.Threshold = &mark
		}
		out = append(out, st)
	}
	return out
}

func TestCascade(t *testing.T) {
	timeout := deem.Failf(deem.Timeout, "late")
	unsure := deem.Failf(deem.Unsure, "hm")
	for _, tt := range []struct {
		name  string
		list  []cascade.Stage
		stage float64 // 0 for a failure
		kind  deem.Kind
		calls int
	}{
		{"the first is sure", stages(says{name: "a", score: 1, sure: 0.95}, says{name: "b"}), 1, "", 1},
		{"at the threshold", stages(says{name: "a", score: 1, sure: 0.9}, says{name: "b"}), 1, "", 1},
		{"the first is not", stages(says{name: "a", score: 1, sure: 0.89}, says{name: "b"}), 2, "", 2},
		{"the first does not say how sure", stages(says{name: "a", score: 1}, says{name: "b"}), 2, "", 2},
		{"the first fails", stages(says{name: "a", err: unsure}, says{name: "b"}), 2, "", 2},
		{"the last fails", stages(says{name: "a", err: unsure}, says{name: "b", err: timeout}), 0, deem.Timeout, 2},
		{"people are left", append(stages(says{name: "a", err: timeout}), cascade.Stage{Judge: cascade.People()}), 0, deem.Unsure, 1},
	} {
		c, err := cascade.New("", tt.list)
		if err != nil {
			t.Fatal(err)
		}
		ctx, calls := deem.WithLedger(t.Context(), 0)
		v, err := c.Judge(ctx, deem.Item{})
		f, _ := errors.AsType[*deem.Failure](err)
		switch {
		case tt.stage == 0 && (f == nil || f.Kind != tt.kind):
			t.Errorf("%s: %+v, %v, want a failure of kind %s", tt.name, v, err, tt.kind)
		case tt.stage != 0 && (err != nil || v.Aspects[cascade.StageAspect] != tt.stage):
			t.Errorf("%s: %+v, %v, want stage %v", tt.name, v, err, tt.stage)
		}
		if n := len(calls()); n != tt.calls {
			t.Errorf("%s: %d calls, want %d", tt.name, n, tt.calls)
		}
		if got := cascade.LeftToPeople(deem.Record{Failure: f}); got != (tt.name == "people are left") {
			t.Errorf("%s: LeftToPeople = %v", tt.name, got)
		}
	}
}

func TestCascadeSaysWhatHappened(t *testing.T) {
	c, err := cascade.New("", stages(says{name: "a", score: 1, sure: 0.8999999}, says{name: "b", score: 0.2}))
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.Judge(t.Context(), deem.Item{})
	want := deem.Verdict{
		Label: "no", Score: 0.2, Aspects: map[string]float64{"stage": 2},
		Reason: "a: said CORRECT, 0.899 sure, and 0.900 is asked for\nb: CORRECT: so b thinks",
	}
	if diff := cmp.Diff(want, v); err != nil || diff != "" {
		t.Errorf("error %v, verdict (-want +got):\n%s", err, diff)
	}
}

func TestCascadeEnds(t *testing.T) {
	broken := errors.New("no key")
	c, err := cascade.New("", stages(says{name: "a", err: broken}, says{name: "b"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Judge(t.Context(), deem.Item{}); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the stage: a wrong key is no doubt", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, err = cascade.New("", append(stages(says{name: "a", err: deem.Failf(deem.Unsure, "")}), cascade.Stage{Judge: cascade.People()}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Judge(ctx, deem.Item{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func TestNewRefuses(t *testing.T) {
	high := 1.5
	for want, list := range map[string][]cascade.Stage{
		"two stages or more":   stages(says{name: "a"}),
		"two stages have":      stages(says{name: "a"}, says{name: "a"}),
		"nobody comes after":   {{Judge: cascade.People()}, {Judge: says{name: "a"}}},
		"lies outside 0 to 1":  {{Judge: says{name: "a"}, Threshold: &high}, {Judge: says{name: "b"}}},
		"stage a: threshold 1": {{Judge: says{name: "a"}, Threshold: &high}, {Judge: says{name: "b"}}},
	} {
		if _, err := cascade.New("", list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestThresholdsTellCascadesApart(t *testing.T) {
	list := stages(says{name: "a"}, says{name: "b"})
	first, _ := cascade.New("", list)
	other := 0.8
	list[0].Threshold = &other
	second, _ := cascade.New("", list)
	h1, _ := deem.JudgeHash(first)
	h2, _ := deem.JudgeHash(second)
	if h1 == h2 {
		t.Error("another threshold, and the same hash")
	}
}

// made returns labelled items on which every stage is calibrated.
func made(r *rand.Rand, n, stages int) []cascade.Labelled {
	list := make([]cascade.Labelled, n)
	for i := range list {
		it := cascade.Labelled{ID: fmt.Sprint("q", i), Yes: r.IntN(2) == 0}
		for range stages {
			sure := 1 - 0.5*r.Float64()*r.Float64()
			score := 0.0
			if (r.Float64() < sure) == it.Yes {
				score = 1
			}
			it.Verdicts = append(it.Verdicts, &deem.Verdict{Label: "x", Score: score, Confidence: &sure})
		}
		list[i] = it
	}
	return list
}

// TestFitSeveralStages fits two stages and measures the guarantee on other items.
func TestFitSeveralStages(t *testing.T) {
	const alpha, delta, times = 0.1, 0.1, 100
	r := rand.New(rand.NewPCG(3, 4))
	held := made(r, 4000, 2)
	broken, refused := 0, 0
	for range times {
		fitted, err := cascade.Fit([]string{"a", "b"}, made(r, 1500, 2), alpha, delta)
		if err != nil {
			refused++
			continue
		}
		took, agreed := 0, 0
		for _, it := range held {
			for s, f := range fitted {
				if v := it.Verdicts[s]; *v.Confidence >= f.Threshold {
					took++
					if v.Yes() == it.Yes {
						agreed++
					}
					break
				}
			}
		}
		if float64(agreed) < (1-alpha)*float64(took) {
			broken++
		}
		if fitted[1].Reached != fitted[0].Reached-fitted[0].Took || fitted[0].Delta != delta/2 {
			t.Fatalf("fitted %+v, want a second stage for what the first left, and half of delta each", fitted)
		}
	}
	if broken > 20 || refused > times/2 {
		t.Errorf("of %d fits, %d were refused and %d broke their promise, want about %v at most", times, refused, broken, delta*times)
	}
	t.Logf("of %d fits, %d were refused and %d broke their promise", times, refused, broken)
}

func TestFitRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	_, err := cascade.Fit([]string{"a"}, made(r, 40, 1), 0.05, 0.05)
	if !errors.Is(err, cascade.ErrTooFew) || !strings.Contains(err.Error(), "stage a") {
		t.Errorf("40 labels: error %v, want too few, of stage a", err)
	}
	mute := made(r, 400, 1)
	for i := range mute {
		mute[i].Verdicts[0].Confidence = nil
	}
	if _, err := cascade.Fit([]string{"a"}, mute, 0.05, 0.05); !errors.Is(err, cascade.ErrNoConfidence) {
		t.Errorf("no confidence: error %v", err)
	}
	if _, err := cascade.Fit([]string{"a"}, mute, 0, 0.05); err == nil {
		t.Error("alpha 0: no error")
	}
}

// TestFitCountsClustersOnce repeats the same items ten times, which is not more evidence.
func TestFitCountsClustersOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	once := made(r, 40, 1)
	var often []cascade.Labelled
	for copyNo := range 10 {
		for _, it := range once {
			it.Cluster = it.ID
			it.ID = fmt.Sprint(it.ID, "/", copyNo)
			often = append(often, it)
		}
	}
	_, err := cascade.Fit([]string{"a"}, often, 0.05, 0.05)
	if no, ok := errors.AsType[*cascade.FitError](err); !ok || no.Labelled != 40 {
		t.Errorf("40 clusters of 10: error %v, want that 40 labels are too few", err)
	}
}

// TestFitKeepsClustersTogether checks that all items of a cluster go to the same stage.
// Otherwise a stage would be tested on items related to those of another stage.
func TestFitKeepsClustersTogether(t *testing.T) {
	list := made(rand.New(rand.NewPCG(3, 4)), 600, 2)
	for i := range list {
		list[i].Cluster = fmt.Sprint("c", i%60)
	}
	_, err := cascade.Fit([]string{"a", "b"}, list, 0.05, 0.05)
	if no, ok := errors.AsType[*cascade.FitError](err); !ok || no.Labelled < 20 || no.Labelled > 40 {
		t.Errorf("60 clusters for two stages: error %v, want that the first has about half of them", err)
	}
}
