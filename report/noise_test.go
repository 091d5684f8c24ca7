package report_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/doc"
	"deem/report"
)

// audited are answers to LoCoMo that were judged three times each, with the published
// results. The files may not be redistributed, so the test is skipped without them.
var audited = []struct {
	path     string
	mean, sd float64 // in percent; the deviation divides by 3, where ours divides by 2
	flipped  int
}{
	{"fc-baseline/results/gpt-4o-mini-memos/eval_results.json", 74.29, 0.05, 17},
	{"fc-baseline/results/gpt-4o-mini-cot/eval_results.json", 79.89, 0.12, 12},
	{"ap-baseline/v1/ap_eval_results_scored.json", 10.61, math.NaN(), -1},
}

func TestLoCoMoAudit(t *testing.T) {
	for _, tt := range audited {
		recs := auditRecords(t, "../../shared/data/locomo_audit/"+tt.path)
		h := head()
		h.Trials, h.Items = 3, len(recs)/3
		r := build(h, recs).Report()
		n := r.Noise
		t.Logf("%s: mean %.2f ± %.2f over trials, standard error %.2f from items and %.2f from the judge: %s",
			tt.path, 100*r.Metrics[0].Judged.Value, 100*n.TrialSD, 100*n.SESampling, 100*n.SEJudge, n.Words())
		checkPercent(t, tt.path+": score", r.Metrics[0].Judged.Value, tt.mean)
		checkPercent(t, tt.path+": standard deviation of trials", n.TrialSD*math.Sqrt(2.0/3), tt.sd)
		if tt.flipped >= 0 && n.Flipped != tt.flipped {
			t.Errorf("%s: trials differ on %d items, want %d", tt.path, n.Flipped, tt.flipped)
		}
		if n.SESampling < 10*n.SEJudge {
			t.Errorf("%s: sampling error %v, judge noise %v: want the first more than ten times the second", tt.path, n.SESampling, n.SEJudge)
		}
		if got := r.Metrics[0].Judged.Clusters; got != 10 {
			t.Errorf("%s: %d clusters, want the 10 conversations", tt.path, got)
		}
	}
}

// checkPercent compares a share with a percentage that was published with two decimals.
func checkPercent(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !math.IsNaN(want) && math.Abs(100*got-want) > 0.0051 {
		t.Errorf("%s = %.4f%%, want %.2f%%", what, 100*got, want)
	}
}

// auditRecords reads a file of the audit. It skips the test if the file is missing.
func auditRecords(t *testing.T, path string) []deem.Record {
	t.Helper()
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the file of the audit is not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Results map[string][]struct {
			ID       string          `json:"question_id"`
			Category string          `json:"category"`
			Votes    map[string]bool `json:"llm_judgments"`
		} `json:"detailed_results"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var recs []deem.Record
	position := 0
	for conversation, items := range file.Results {
		for _, it := range items {
			for trial := range 3 {
				rec := yes(position, it.Votes[fmt.Sprintf("judgment_%d", trial+1)])
				rec.Item = deem.Item{ID: it.ID, Category: it.Category, Cluster: conversation}
				rec.Trial = trial
				recs = append(recs, rec)
			}
			position++
		}
	}
	return recs
}

// trialRecords draws items that are judged up to three times.
func trialRecords(t *rapid.T) (recs []deem.Record, scores [][]float64) {
	binary := rapid.Bool().Draw(t, "binary")
	for i := range rapid.IntRange(2, 12).Draw(t, "items") {
		list := make([]float64, 3)
		for trial := range list {
			list[trial] = rapid.SampledFrom([]float64{0, 1, 0.25, 0.7, math.NaN()}).Draw(t, "score")
			if binary {
				list[trial] = math.Round(list[trial])
			}
			rec := item(i)
			rec.Trial = trial
			if math.IsNaN(list[trial]) {
				rec.Failure = deem.Failf(deem.Empty, "")
			} else {
				rec.Verdict = &deem.Verdict{Label: "x", Score: list[trial]}
			}
			recs = append(recs, rec)
		}
		scores = append(scores, list)
	}
	return recs, scores
}

// Every trial counts: the score is the mean over items of the mean of their trials, and the
// two kinds of noise match the textbook formulas, computed here from all scores rather than
// from sums.
func TestEveryTrialCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		recs, scores := trialRecords(t)
		h := head()
		h.Trials, h.MaxUnjudged = 3, new(1.0)
		r := build(h, recs).Report()
		var sum, strict, squares, within, shares, items, failures, df, flips, repeated float64
		var means []float64
		for _, list := range scores {
			var votes []float64
			total := 0.0
			for _, x := range list {
				if !math.IsNaN(x) {
					votes, total = append(votes, x), total+x
				}
			}
			strict += total / 3
			failures += float64(3 - len(votes))
			if len(votes) == 0 {
				continue
			}
			n, yes := float64(len(votes)), 0.0
			mean := total / n
			means, sum, items, shares = append(means, mean), sum+mean, items+1, shares+1/n
			for _, x := range votes {
				within += (x - mean) * (x - mean)
				yes += math.Floor(x + 0.5)
			}
			df += n - 1
			if n > 1 {
				repeated++
			}
			if yes > 0 && yes < n {
				flips++
			}
		}
		for _, m := range means {
			squares += (m - sum/items) * (m - sum/items)
		}
		f := r.Metrics[0]
		check := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-7 {
				t.Fatalf("%s = %v, want %v for %v", what, got, want, scores)
			}
		}
		check("items without a verdict", float64(f.Unjudged), float64(len(scores))-items)
		check("strict", f.Strict.Value, strict/float64(len(scores)))
		check("upper end of the band", f.Band.Hi, (strict+failures/3)/float64(len(scores)))
		if items > 0 {
			check("score", f.Judged.Value, sum/items)
		}
		if (r.Noise == nil) != (repeated == 0) {
			t.Fatalf("noise = %+v with %v items judged twice", r.Noise, repeated)
		}
		if repeated == 0 || items < 2 {
			return
		}
		judge, total := within/df*shares/items/items, squares/(items-1)/items
		check("judge noise", r.Noise.SEJudge, math.Sqrt(judge))
		check("sampling error", r.Noise.SESampling, math.Sqrt(math.Max(0, total-judge)))
		check("both", r.Noise.SETotal, math.Sqrt(math.Max(total, judge)))
		check("flip rate", r.Noise.FlipRate.Value, flips/repeated)
	})
}

// Trials may come in any order; the trials of one item need not be adjacent.
func TestTrialOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		recs, _ := trialRecords(t)
		for i := range recs {
			recs[i].Item.Cluster = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "cluster")
			if i%3 > 0 {
				recs[i].Item.Cluster = recs[i-1].Item.Cluster
			}
		}
		h := head()
		h.Trials, h.MaxUnjudged = 3, new(1.0)
		want := string(data(t, build(h, recs).Report()))
		if got := string(data(t, build(h, rapid.Permutation(recs).Draw(t, "order")).Report())); got != want {
			t.Fatalf("another order gave another report:\n%s\nwant\n%s", got, want)
		}
	})
}

// Pass marks decide flips if there are any, not scores.
func TestFlipsOfPassMarks(t *testing.T) {
	h := head()
	h.Trials = 2
	b := report.New(h)
	for i := range 40 {
		for trial := range 2 {
			pass := i < 20 || trial == 1 && i < 23
			rec := item(i)
			rec.Trial = trial
			rec.Verdict = &deem.Verdict{Score: 0.4, Pass: &pass}
			b.Add(rec)
		}
	}
	n := b.Report().Noise
	if n.Metric != doc.PassRate || n.Flipped != 3 || strings.Join(n.Examples, " ") != "q20 q21 q22" {
		t.Errorf("metric %q, %d flips %q, want 3 flips q20 q21 q22 of the pass rate", n.Metric, n.Flipped, n.Examples)
	}
}

// Zero observed spread does not prove that there is none.
func TestNoiseOfNothing(t *testing.T) {
	h := head()
	h.Trials = 2
	b := report.New(h)
	for i := range 40 {
		for trial := range 2 {
			rec := yes(i, true)
			rec.Trial = trial
			b.Add(rec)
		}
	}
	r := b.Report()
	if got := r.Noise.Words(); strings.Contains(got, "±") || !strings.Contains(got, "neither noise can be measured") {
		t.Errorf("noise of equal scores: %q", got)
	}
	if est := r.Metrics[0].Judged; est.Lo > 0.95 {
		t.Errorf("the mean of 40 equal items has the interval [%v, %v], want a wider one", est.Lo, est.Hi)
	}
}

func TestNoiseWithheld(t *testing.T) {
	h := head()
	h.Trials = 2
	b := report.New(h)
	for i := range 40 {
		for trial := range 2 {
			rec := yes(i, i < 20)
			if trial == 1 && i < 5 {
				rec = failed(i, deem.Empty)
			}
			rec.Trial = trial
			b.Add(rec)
		}
	}
	r := b.Report()
	if r.Metrics[0].Judged != nil || r.Hold == nil || !strings.HasPrefix(r.Hold.Reason, "5 of 80 trials") {
		t.Errorf("score %v, withheld %+v, want none: 5 of 80 trials are without a verdict", r.Metrics[0].Judged, r.Hold)
	}
}

// An item is released once all its trials are added.
func TestTrialsAreNotKept(t *testing.T) {
	h := head()
	h.Trials = 3
	b := report.New(h)
	add := func(from, to int) {
		for i := from; i < to; i++ {
			for trial := range 3 {
				rec := item(i % 5000)
				rec.Position, rec.Trial = i, trial
				rec.Verdict = &deem.Verdict{Label: "yes", Score: float64(i % 2)}
				b.Add(rec)
			}
		}
	}
	add(0, 10_000)
	if got := b.Pending(); got != 0 {
		t.Errorf("%d items are held after all their trials, want none", got)
	}
}

// One conversation says nothing about others, and clusters that do not differ do not prove
// that items do not: neither makes the noise from the choice of items 0.
func TestNoiseOfFewClusters(t *testing.T) {
	for _, tt := range []struct {
		clusters int
		want     string
	}{
		{1, "one cluster says nothing about the choice of items, ± 0.0 pp from the judge's own noise"},
		{10, "± 36.2 pp from the choice of items"}, // 2.262 · sqrt(0.2564/10), from t with 9 degrees of freedom, one cluster counting as one item
	} {
		h := head()
		h.Trials = 2
		b := report.New(h)
		for i := range 40 {
			for trial := range 2 {
				rec := yes(i, i < 20)
				rec.Trial, rec.Item.Cluster = trial, fmt.Sprint("c", i%tt.clusters)
				b.Add(rec)
			}
		}
		n := b.Report().Noise
		if got := n.Words(); !strings.HasPrefix(got, tt.want) || n.SamplingUnknown != (tt.clusters == 1) {
			t.Errorf("%d clusters: %q, want %q", tt.clusters, got, tt.want)
		}
	}
}
