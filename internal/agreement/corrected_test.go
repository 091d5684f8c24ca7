package agreement_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/agreement"
	"deem/stat"
)

// A simulatedJudge accepts right answers with the chance sens and rejects wrong
// ones with the chance spec.
type simulatedJudge struct{ sens, spec float64 }

// labels returns n labelled answers.
func (j simulatedJudge) labels(rng *rand.Rand, prevalence float64, n int) agreement.Confusion {
	right := drawBinomial(rng, n, prevalence)
	c := agreement.Confusion{TP: drawBinomial(rng, right, j.sens), TN: drawBinomial(rng, n-right, j.spec)}
	c.FN, c.FP = right-c.TP, n-right-c.TN
	return c
}

// accepted returns how many of n answers the judge accepts.
func (j simulatedJudge) accepted(rng *rand.Rand, prevalence float64, n int) int {
	return drawBinomial(rng, n, prevalence*j.sens+(1-prevalence)*(1-j.spec))
}

// predicted spells out labelled items, and n others of which the judge accepts k.
func predicted(c agreement.Confusion, k, n int) []agreement.Predicted {
	var items []agreement.Predicted
	for _, cell := range []struct {
		n            int
		truth, judge float64
	}{{c.TP, 1, 1}, {c.FP, 0, 1}, {c.FN, 1, 0}, {c.TN, 0, 0}, {k, math.NaN(), 1}, {n - k, math.NaN(), 0}} {
		items = append(items, slices.Repeat([]agreement.Predicted{{Weight: 1, Truth: cell.truth, Judge: cell.judge}}, cell.n)...)
	}
	return items
}

// drawBinomial returns how many of n tries succeed. It walks up the distribution
// rather than trying n times; above 800 tries, where the walk could not begin, it
// rounds a normal number, which nobody could tell apart here.
func drawBinomial(rng *rand.Rand, n int, p float64) int {
	if p > 0.5 {
		return n - drawBinomial(rng, n, 1-p)
	}
	if n > 800 {
		k := math.Round(float64(n)*p + rng.NormFloat64()*math.Sqrt(float64(n)*p*(1-p)))
		return int(min(max(k, 0), float64(n)))
	}
	u, mass := rng.Float64(), math.Pow(1-p, float64(n))
	k := 0
	for u -= mass; u > 0 && k < n; u -= mass {
		k++
		mass *= float64(n-k+1) / float64(k) * p / (1 - p)
	}
	return k
}

// covers reports whether the interval holds what is true.
func covers(est stat.Estimate, truth float64) bool { return est.Lo <= truth && truth <= est.Hi }

// Both corrections hold their level with 200 labels and judges like real ones.
func TestCorrectedCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	t.Parallel()
	const replications, labels, unlabelled = 2000, 200, 1000
	for i, j := range []simulatedJudge{{.8, .7}, {.8, .97}, {.9, .85}, {.97, .7}, {.95, .9}, {.97, .97}} {
		for k, prevalence := range []float64{.3, .5, .7, .9} {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(k)))
			rogan, ppi := 0, 0
			for range replications {
				c := j.labels(rng, prevalence, labels)
				accepted := j.accepted(rng, prevalence, unlabelled)
				if covers(agreement.RoganGladenIn(agreement.Design{}, accepted, unlabelled, c, 0.95), prevalence) {
					rogan++
				}
				if covers(agreement.Predict(predicted(c, accepted, unlabelled), 0.95).Estimate, prevalence) {
					ppi++
				}
			}
			r, p := 100*float64(rogan)/replications, 100*float64(ppi)/replications
			t.Logf("sensitivity %.2f specificity %.2f prevalence %.1f: Rogan-Gladen %.1f%%, PPI++ %.1f%%",
				j.sens, j.spec, prevalence, r, p)
			if r < 93.5 || r > 96.5 {
				t.Errorf("Rogan-Gladen covers %.1f%%, want 93.5%% to 96.5%%", r)
			}
			if p < 93.5 || p > 96.5 {
				t.Errorf("PPI++ covers %.1f%%, want 93.5%% to 96.5%%", p)
			}
		}
	}
}

// The published correction of the normal interval alone falls short where the judge
// is rarely wrong, which is why the interval for shares differs.
func TestPredictBeatsNormal(t *testing.T) {
	t.Parallel()
	const replications, labels, unlabelled = 2000, 60, 2000
	j, prevalence := simulatedJudge{.97, .97}, 0.7
	rng := rand.New(rand.NewPCG(3, 4))
	normal, adjusted := 0, 0
	for range replications {
		c := j.labels(rng, prevalence, labels)
		p := agreement.Predict(predicted(c, j.accepted(rng, prevalence, unlabelled), unlabelled), 0.95)
		if covers(p.Estimate, prevalence) {
			adjusted++
		}
		if math.Abs(p.Value-prevalence) <= 1.96*plainError(c, p) {
			normal++
		}
	}
	t.Logf("60 labels: normal %.1f%%, adjusted %.1f%%", 100*float64(normal)/replications, 100*float64(adjusted)/replications)
	if normal >= adjusted || adjusted < 93*replications/100 {
		t.Errorf("normal covers %d and adjusted %d of %d, want the second above, and 93%% at least", normal, adjusted, replications)
	}
}

// plainError is the standard error of ppi_py, from counts.
func plainError(c agreement.Confusion, p agreement.Prediction) float64 {
	n := float64(c.N())
	y, f := float64(c.TP+c.FN)/n, float64(c.TP+c.FP)/n
	covariance := float64(c.TP)/n - y*f
	v := y*(1-y) - 2*p.Lambda*covariance + p.Lambda*p.Lambda*f*(1-f)
	return math.Sqrt(max(v, 0)/n + p.Lambda*p.Lambda*f*(1-f)/float64(p.Items-p.Known))
}

func TestPredictWithoutJudgeIsTheLabels(t *testing.T) {
	c := agreement.Confusion{TP: 30, FP: 5, FN: 3, TN: 12}
	if p := agreement.Predict(predicted(c, 0, 0), 0.95); p.Value != 33.0/50 || p.Lambda != 0 {
		t.Errorf("Predict without further items = %+v, want 0.66 and lambda 0", p)
	}
	if p := agreement.Predict(predicted(agreement.Confusion{}, 5, 10), 0.95); !slices.Contains(p.Warnings, agreement.WarnNoLabels) || p.Lo != 0 || p.Hi != 1 {
		t.Errorf("Predict without labels = %+v, want the whole range and a warning", p)
	}
}

func TestRoganGladen(t *testing.T) {
	good := agreement.Confusion{TP: 90, FN: 10, FP: 20, TN: 80}
	for _, tt := range []struct {
		name  string
		k, n  int
		c     agreement.Confusion
		value float64
		warn  string
	}{
		{"by hand", 550, 1000, good, (0.55 + 0.8 - 1) / 0.7, ""},
		{"below 0", 100, 1000, good, 0, agreement.WarnCutOff},
		{"above 1", 950, 1000, good, 1, agreement.WarnCutOff},
		{"chance", 500, 1000, agreement.Confusion{TP: 50, FN: 50, FP: 50, TN: 50}, 0.5, agreement.WarnChance},
		{"worse than chance", 500, 1000, agreement.Confusion{TP: 10, FN: 90, FP: 90, TN: 10}, 0.5, agreement.WarnChance},
		{"all right", 500, 1000, agreement.Confusion{TP: 90, FN: 10}, 0.5, agreement.WarnOneKind},
		{"nothing judged", 0, 0, good, 0.5, stat.WarnNoValues},
		{"more than all", 7, 5, good, 1, agreement.WarnRange},
		{"few labels", 3, 6, agreement.Confusion{TP: 9, FN: 1, FP: 1, TN: 9}, 0.5, agreement.WarnFewLabels},
		{"negative", 550, 1000, agreement.Confusion{TP: 90, FN: 10, FP: 20, TN: -80}, 0.5, agreement.WarnNegative},
	} {
		est := agreement.RoganGladenIn(agreement.Design{}, tt.k, tt.n, tt.c, 0.95)
		if !near(est.Value, tt.value, 1e-12) || tt.warn != "" && !slices.Contains(est.Warnings, tt.warn) || tt.warn == "" && est.Warnings != nil {
			t.Errorf("%s: RoganGladen(%d, %d, %+v) = %+v, want %v and %q", tt.name, tt.k, tt.n, tt.c, est, tt.value, tt.warn)
		}
		if slices.Contains(est.Warnings, agreement.WarnChance) && (est.Lo != 0 || est.Hi != 1) {
			t.Errorf("%s: the interval [%v, %v] claims to know", tt.name, est.Lo, est.Hi)
		}
	}
}

func TestCorrectedIsSane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(-1, 300)
		c := agreement.Confusion{TP: count.Draw(t, "tp"), FP: count.Draw(t, "fp"), FN: count.Draw(t, "fn"), TN: count.Draw(t, "tn")}
		n := rapid.IntRange(-1, 5000).Draw(t, "n")
		k := rapid.IntRange(-1, 5000).Draw(t, "k")
		level := rapid.SampledFrom([]float64{0.1, 0.5, 0.95, 0.99}).Draw(t, "level")
		few := agreement.Confusion{TP: max(c.TP/8, 0), FP: max(c.FP/8, 0), FN: max(c.FN/8, 0), TN: max(c.TN/8, 0)}
		for name, est := range map[string]stat.Estimate{
			"RoganGladen": agreement.RoganGladenIn(agreement.Design{}, k, n, c, level),
			"Predict":     agreement.Predict(predicted(few, min(max(k, 0), max(n, 0)), max(n, 0)), level).Estimate,
		} {
			if !(0 <= est.Lo && est.Lo <= est.Value && est.Value <= est.Hi && est.Hi <= 1) {
				t.Errorf("%s(%d, %d, %+v) = %+v", name, k, n, c, est)
			}
		}
	})
}

// The number of labels asked for gives an interval of about the width asked for.
func TestPredictionMore(t *testing.T) {
	const all = 5000
	j, prevalence := simulatedJudge{.9, .85}, 0.6
	rng := rand.New(rand.NewPCG(5, 6))
	for _, width := range []float64{0.08, 0.06, 0.05} {
		first := agreement.Predict(predicted(j.labels(rng, prevalence, 200), j.accepted(rng, prevalence, all-200), all-200), 0.95)
		more, ok := first.More(width)
		n := 200 + more
		then := agreement.Predict(predicted(j.labels(rng, prevalence, n), j.accepted(rng, prevalence, all-n), all-n), 0.95)
		t.Logf("width %.3f with 200 labels, wished %.3f: %d more, then %.4f", first.Hi-first.Lo, width, more, then.Hi-then.Lo)
		if got := then.Hi - then.Lo; !ok || math.Abs(got-width) > 0.15*width {
			t.Errorf("%d more labels give a width of %v, want about %v (%t)", more, got, width, ok)
		}
	}
	first := agreement.Predict(predicted(j.labels(rng, prevalence, 200), 2500, all-200), 0.95)
	if more, ok := first.More(0.001); ok || more != all-200 {
		t.Errorf("More for an impossible width = %d, %t, want all and false", more, ok)
	}
	if more, ok := first.More(0.9); !ok || more != 0 {
		t.Errorf("More for a width that is there = %d, %t, want 0, true", more, ok)
	}
	if more, ok := (agreement.Prediction{}).More(0.1); ok || more != 0 {
		t.Errorf("More of nothing = %d, %t, want 0, false", more, ok)
	}
}

// A triviaRow is what people and nine judges said of one answer.
type triviaRow struct {
	Human  bool            `json:"human_label"`
	Judges map[string]bool `json:"judges"`
}

// readTrivia returns the rows of Thakur et al. (2024), which are not ours to keep. It skips
// the test if they are not there.
func readTrivia(t *testing.T) []triviaRow {
	t.Helper()
	f, err := os.Open("../../../shared/data/human_triviaqa_9judges/derived.jsonl.gz")
	if err != nil {
		t.Skipf("the published rows are not here: %v", err)
	}
	defer func() { _ = f.Close() }()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var rows []triviaRow
	sc := bufio.NewScanner(zr)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var r triviaRow
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// confusion sets a judge beside people on some rows.
func confusion(rows []triviaRow, judge string) agreement.Confusion {
	var c agreement.Confusion
	for _, r := range rows {
		c.Add(r.Human, r.Judges[judge])
	}
	return c
}

func TestTriviaAgreement(t *testing.T) {
	rows := readTrivia(t)
	for judge, want := range map[string]struct{ accuracy, kappa float64 }{
		"GPT-4": {0.9500, 0.8924}, "Gemma-2B": {0.6269, 0.0499},
	} {
		c := confusion(rows, judge)
		accuracy, kappa := c.Accuracy(0.95), c.Kappa(0.95)
		t.Logf("%s: %+v accuracy %.4f kappa %.4f AC1 %.4f", judge, c, accuracy.Value, kappa.Value, gwetAC1(c).Value)
		if !near(accuracy.Value, want.accuracy, 5e-5) || !near(kappa.Value, want.kappa, 5e-5) {
			t.Errorf("%s: accuracy %.4f, kappa %.4f, want %.4f, %.4f", judge, accuracy.Value, kappa.Value, want.accuracy, want.kappa)
		}
	}
	if c := confusion(rows, "GPT-4"); c != (agreement.Confusion{TP: 1945, FP: 66, FN: 94, TN: 1095}) {
		t.Errorf("GPT-4: %+v, want 1945, 66, 94, 1095", c)
	}
}

// The labels of all but 300 rows are hidden. Every judge, good or bad, gives an
// interval that holds people's score of 63.72% as often as it says. It does so for
// rows drawn anew each time, which is what the interval speaks of; for the same
// 3,200 rows it does so more often, since they are not uncertain then.
func TestTriviaCorrected(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	t.Parallel()
	rows := readTrivia(t)
	const labels, seeds = 300, 200
	anew, draws := 0, 0
	labelled := confusion(rows, "GPT-4")
	truth := float64(labelled.TP+labelled.FN) / float64(labelled.N())
	if !near(truth, 0.6372, 5e-5) {
		t.Fatalf("people's score = %v, want 0.6372", truth)
	}
	for _, judge := range slices.Sorted(maps.Keys(rows[0].Judges)) {
		all := confusion(rows, judge)
		like := simulatedJudge{
			sens: float64(all.TP) / float64(all.TP+all.FN), spec: float64(all.TN) / float64(all.TN+all.FP),
		}
		rng := rand.New(rand.NewPCG(7, 8))
		same, rogan := 0, 0
		for range seeds {
			rest := len(rows) - labels
			c := like.labels(rng, truth, labels)
			draws++
			if covers(agreement.Predict(predicted(c, like.accepted(rng, truth, rest), rest), 0.95).Estimate, truth) {
				anew++
			}
			c = hide(rng, all, labels)
			accepted := all.TP + all.FP - c.TP - c.FP
			if covers(agreement.Predict(predicted(c, accepted, rest), 0.95).Estimate, truth) {
				same++
			}
			if covers(agreement.RoganGladenIn(agreement.Design{}, accepted, rest, c, 0.95), truth) {
				rogan++
			}
		}
		t.Logf("%-10s the same rows %.1f%%, and %.1f%% by Rogan-Gladen", judge, 100*float64(same)/seeds, 100*float64(rogan)/seeds)
		if same < seeds*92/100 || rogan < seeds*92/100 {
			t.Errorf("%s: the same rows are covered %d and %d times of %d, want 92%% at least", judge, same, rogan, seeds)
		}
	}
	if a := 100 * float64(anew) / float64(draws); a < 93.5 || a > 96.5 {
		t.Errorf("rows drawn anew are covered %.1f%% of the time, want 93.5%% to 96.5%%", a)
	}
}

// hide hides the labels of all rows but n random ones, and returns those.
func hide(rng *rand.Rand, all agreement.Confusion, n int) agreement.Confusion {
	var c agreement.Confusion
	for range n {
		switch i := rng.IntN(all.TP + all.FP + all.FN + all.TN); {
		case i < all.TP:
			all.TP--
			c.TP++
		case i < all.TP+all.FP:
			all.FP--
			c.FP++
		case i < all.TP+all.FP+all.FN:
			all.FN--
			c.FN++
		default:
			all.TN--
			c.TN++
		}
	}
	return c
}

// The standard error of a corrected mean is close to the jackknife, which leaves out one
// cluster at a time and knows nothing about influence.
func TestPredictAgreesWithTheJackknife(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	for _, size := range []int{1, 10} {
		var items []agreement.Predicted
		for c := range 600 / size {
			mood := rng.NormFloat64() / 8
			for range size {
				truth := stat.Unit.Clip(0.5 + mood + rng.NormFloat64()/10)
				it := agreement.Predicted{Weight: 1 + rng.Float64(), Truth: math.NaN(), Judge: stat.Unit.Clip(truth + 0.05 + rng.NormFloat64()/10)}
				if size > 1 {
					it.Cluster = strconv.Itoa(c)
				}
				if it.Chance = 0.2 + 0.3*it.Judge; rng.Float64() < it.Chance {
					it.Truth = truth
				}
				items = append(items, it)
			}
		}
		got := agreement.Predict(items, 0.95)
		var left stat.Moments
		for c := range 600 / size {
			without := agreement.Predict(slices.Concat(items[:c*size], items[(c+1)*size:]), 0.95)
			left.Add(without.Value, 1)
		}
		k := float64(left.N())
		want := math.Sqrt(left.Variance() * (k - 1) * (k - 1) / k)
		if math.Abs(got.SE/want-1) > 0.05 {
			t.Errorf("clusters of %d: standard error %.5f, and %.5f by the jackknife", size, got.SE, want)
		}
		sum := 0.0
		for _, x := range got.Influence {
			sum += x
		}
		if math.Abs(sum) > 1e-9 {
			t.Errorf("clusters of %d: influences add up to %v, want 0", size, sum)
		}
	}
}

// With every item labelled nothing is left to correct: the value is people's own mean.
// Without labels there is none.
func TestPredictEnds(t *testing.T) {
	items := []agreement.Predicted{
		{Weight: 1, Judge: 1, Truth: 0},
		{Weight: 3, Judge: 0, Truth: 1},
		{Weight: 1, Judge: 0, Truth: 1},
		{Weight: 1, Judge: 1, Truth: 0},
	}
	if got := agreement.Predict(items, 0.95); math.Abs(got.Value-4.0/6) > 1e-12 {
		t.Errorf("all labelled: %v, want 4 of 6 by weight", got.Value)
	}
	for i := range items {
		items[i].Truth = math.NaN()
	}
	if got := agreement.Predict(items, 0.95); got.Method != stat.MethodNone || got.N != 0 {
		t.Errorf("no label: method %s, n %d, want none", got.Method, got.N)
	}
}
