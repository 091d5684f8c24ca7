package compare_test

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/reports/compare"
	"deem/judge"
	"deem/stat"
)

// runOf returns a run with the same judge as all others.
func runOf(name string) compare.Run {
	return compare.Run{
		Name: name, Run: "20261115-" + name, Judge: "universal", JudgeHash: strings.Repeat("4f0c", 16),
		Model: "openai:gpt-4o", Complete: true,
		Spec: &judge.Spec{Kind: judge.KindModel, Name: "universal", Version: 1, Reading: "upstream", Model: "openai:gpt-4o", Declaration: &judge.Declaration{Prompt: "Is it right?"}},
	}
}

// A pattern gives the result of each item as a letter: y and n for verdicts, f for a
// failure, and - for an item that the run does not have.
func pattern(s string) []deem.Record {
	var recs []deem.Record
	for i, letter := range s {
		rec := deem.Record{Position: i, Judge: "universal", Item: deem.Item{
			ID: fmt.Sprintf("q%02d", i), Question: fmt.Sprintf("question %d", i), References: []string{fmt.Sprint(i)}, Response: "r",
		}}
		switch letter {
		case 'y':
			rec.Verdict = &deem.Verdict{Label: "CORRECT", Score: 1}
		case 'n':
			rec.Verdict = &deem.Verdict{Label: "INCORRECT"}
		case 'f':
			rec.Failure = deem.Failf(deem.Refused, "no")
		default:
			continue
		}
		recs = append(recs, rec)
	}
	return recs
}

// seq returns records like a store.
func seq(recs []deem.Record) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		for _, rec := range recs {
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// gather adds the records of runs to a builder.
func gather(o compare.Options, runs []compare.Run, records ...[]deem.Record) (*compare.Builder, error) {
	var seqs []iter.Seq2[deem.Record, error]
	for _, recs := range records {
		seqs = append(seqs, seq(recs))
	}
	b := compare.New(runs, o)
	for row, err := range compare.Join(seqs...) {
		if err != nil {
			return nil, err
		}
		b.Add(row)
	}
	return b, nil
}

// build is gather for tests with valid records.
func build(tb testing.TB, o compare.Options, runs []compare.Run, records ...[]deem.Record) *compare.Builder {
	tb.Helper()
	b, err := gather(o, runs, records...)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// lenient allows all items to be unjudged.
var lenient = compare.Options{MaxUnjudged: 1, Seed: 1}

// patterns compares runs given as patterns.
func patterns(tb testing.TB, o compare.Options, texts ...string) compare.Comparison {
	tb.Helper()
	var runs []compare.Run
	var records [][]deem.Record
	for i, s := range texts {
		runs = append(runs, runOf(string(rune('A'+i))))
		records = append(records, pattern(s))
	}
	return build(tb, o, runs, records...).Comparison()
}

func TestTwoRuns(t *testing.T) {
	// 12 items only the second passes, 3 only the first, 25 both, 10 neither.
	c := patterns(t, lenient,
		strings.Repeat("n", 12)+strings.Repeat("y", 3)+strings.Repeat("y", 25)+strings.Repeat("n", 10),
		strings.Repeat("y", 12)+strings.Repeat("n", 3)+strings.Repeat("y", 25)+strings.Repeat("n", 10))
	d := c.Pairs[0].Overall
	if d.Wins != 12 || d.Losses != 3 || d.Ties != 35 || d.N != 50 {
		t.Errorf("wins, losses, ties, n = %d, %d, %d, %d, want 12, 3, 35, 50", d.Wins, d.Losses, d.Ties, d.N)
	}
	if want := stat.PairedProportions(12, 3, 50, 0.95); d.Estimate.Value != want.Value || d.Estimate.Lo != want.Lo || d.Estimate.Hi != want.Hi {
		t.Errorf("difference = %+v, want %+v", *d.Estimate, want)
	}
	if want := stat.McNemar(3, 12).P; math.Abs(d.Test.P-want) > 1e-12 || d.Test.Method != "mcnemar-exact" {
		t.Errorf("test = %+v, want the exact p of McNemar %v", *d.Test, want)
	}
	if d.Outcome != compare.Better {
		t.Errorf("outcome %q, want %q", d.Outcome, compare.Better)
	}
	if c.Metric != compare.Score || c.Refused || c.Hold != nil || len(c.Lint) != 0 {
		t.Errorf("metric %q, refused %v, hold %v, lint %v; want a fair comparison of scores", c.Metric, c.Refused, c.Hold, c.Lint)
	}
	if w, l := c.Pairs[0].Won, c.Pairs[0].Lost; w.N != 12 || len(w.First) != 10 || w.First[0].ID != "q00" || l.N != 3 || l.First[2].ID != "q14" {
		t.Errorf("won %d (%d listed), lost %d; want 12 (10 listed) and 3", w.N, len(w.First), l.N)
	}
}

// An item that one run could not judge says nothing about the difference, and is wrong only
// in the strict number.
func TestUnjudgedIsUnpaired(t *testing.T) {
	c := patterns(t, lenient, "yyyyyyyynn", "yyyyyyffnf")
	d := c.Pairs[0].Overall
	if d.N != 7 || d.Unjudged != 3 || d.Estimate.Value != 0 || d.Losses != 0 {
		t.Errorf("n %d, unjudged %d, difference %v, losses %d; want 7, 3, 0, 0", d.N, d.Unjudged, d.Estimate.Value, d.Losses)
	}
	if want := -0.2; math.Abs(d.Strict.Value-want) > 1e-12 || d.Strict.N != 10 {
		t.Errorf("strict %v with n=%d, want %v with 10", d.Strict.Value, d.Strict.N, want)
	}
	if c.Refused {
		t.Error("refused, want failures to be no reason")
	}
	if c.Runs[1].Unjudged != 3 || c.Runs[1].Judged.N != 7 {
		t.Errorf("the second run has %d unjudged and n=%d, want 3 and 7", c.Runs[1].Unjudged, c.Runs[1].Judged.N)
	}
}

func TestTooManyUnjudgedWithholds(t *testing.T) {
	c := patterns(t, compare.Options{MaxUnjudged: 0.1}, "yyyyyyyyyy", "yyyyyyffnn")
	if c.Hold == nil || c.Hold.Run != "B" || c.Hold.Unjudged != 2 {
		t.Fatalf("hold = %+v, want that of run B with 2 unjudged", c.Hold)
	}
	d := c.Pairs[0].Overall
	if d.Estimate != nil || d.Test != nil || d.Outcome != "" || c.Ranking != nil || c.Runs[1].Judged != nil {
		t.Errorf("difference %v, test %v, ranking %v, judged %v; want none of them", d.Estimate, d.Test, c.Ranking, c.Runs[1].Judged)
	}
	if math.Abs(d.Strict.Value+0.4) > 1e-12 {
		t.Errorf("strict %v, want -0.4", d.Strict.Value)
	}
}

func TestLint(t *testing.T) {
	other := func(change func(r *compare.Run)) compare.Run {
		r := runOf("B")
		change(&r)
		return r
	}
	base := func() []deem.Record {
		recs := pattern("yyyy")
		for i := range recs {
			recs[i].Item.Category = "old"
		}
		return recs
	}
	changed := func(change func(it *deem.Item)) []deem.Record {
		recs := base()
		change(&recs[2].Item)
		return recs
	}
	tests := []struct {
		name    string
		second  compare.Run
		records []deem.Record
		kind    string
		level   string
		want    string
	}{
		{"judge", other(func(r *compare.Run) {
			r.JudgeHash = "beef"
			r.Spec = &judge.Spec{Kind: judge.KindModel, Name: "universal", Version: 2, Reading: "strict", Model: "openai:gpt-4o-mini", Declaration: &judge.Declaration{Prompt: "Is it wrong?"}}
		}), pattern("yyyy"), compare.KindJudge, compare.Error, "model, openai:gpt-4o and openai:gpt-4o-mini"},
		{"items", runOf("B"), pattern("yyy-"), compare.KindItems, compare.Error, "B does not have 1 item that A has: q03"},
		{"more items", runOf("B"), pattern("yyyyyy"), compare.KindItems, compare.Error, "A does not have 2 items that B has: q04, q05"},
		{"question", runOf("B"), changed(func(it *deem.Item) { it.Question = "another" }), compare.KindQuestion, compare.Error, "1 item has another question in one run than in another: q02"},
		{"references", runOf("B"), changed(func(it *deem.Item) { it.References = []string{"2", "two"} }), compare.KindReferences, compare.Error, "other references"},
		{"references joined", runOf("B"), changed(func(it *deem.Item) { it.References = []string{"", "2"} }), compare.KindReferences, compare.Error, "q02"},
		{"category", runOf("B"), changed(func(it *deem.Item) { it.Category = "new" }), compare.KindCategory, compare.Error, "another category"},
		{"a missing category", runOf("B"), changed(func(it *deem.Item) { it.Category = "" }), "", "", ""},
		{"weight", runOf("B"), changed(func(it *deem.Item) { it.Weight = 2 }), compare.KindWeight, compare.Warning, "another weight"},
		{"incomplete", other(func(r *compare.Run) { r.Complete = false }), pattern("yyy-"), compare.KindIncomplete, compare.Warning, "B is not complete: 3 items so far"},
		{"endpoint", other(func(r *compare.Run) { r.Endpoint = "http://127.0.0.1:8080" }), pattern("yyyy"), compare.KindEndpoint, compare.Warning, "at http://127.0.0.1:8080 for B"},
		{"trials", other(func(r *compare.Run) { r.Trials = 3 }), pattern("yyyy"), compare.KindTrials, compare.Warning, "A has 1 trial and B has 3 trials"},
		{"answers", other(func(r *compare.Run) { r.AnswerModel = "anthropic:claude-sonnet-4" }), pattern("yyyy"), "", "", ""},
		{"self", other(func(r *compare.Run) { r.AnswerModel = "azure:gpt-4o-mini" }), pattern("yyyy"), compare.KindSelf, compare.Warning, "B answered with azure:gpt-4o-mini and was judged by openai:gpt-4o"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runs := []compare.Run{runOf("A"), tt.second}
			c := build(t, lenient, runs, base(), tt.records).Comparison()
			if tt.kind == "" {
				if len(c.Lint) != 0 {
					t.Errorf("lint = %+v, want none", c.Lint)
				}
				return
			}
			if len(c.Lint) != 1 || c.Lint[0].Kind != tt.kind || c.Lint[0].Level != tt.level || !strings.Contains(c.Lint[0].Message, tt.want) {
				t.Fatalf("lint = %+v, want one %s of kind %s with %q", c.Lint, tt.level, tt.kind, tt.want)
			}
			if refused := tt.level == compare.Error; c.Refused != refused || (len(c.Pairs) == 0) != refused || (c.Ranking == nil) != refused {
				t.Errorf("refused %v with %d pairs and ranking %v, want refused %v", c.Refused, len(c.Pairs), c.Ranking != nil, refused)
			}
			anyway := lenient
			anyway.Anyway = true
			c = build(t, anyway, runs, base(), tt.records).Comparison()
			if c.Refused || len(c.Pairs) != 1 || len(c.Lint) != 1 {
				t.Errorf("anyway: refused %v, %d pairs, %d findings; want a comparison with its finding", c.Refused, len(c.Pairs), len(c.Lint))
			}
			if noted := len(c.Notes) > 0 && strings.Contains(c.Notes[0], "more than their systems"); noted != (tt.level == compare.Error) {
				t.Errorf("anyway: notes %q", c.Notes)
			}
		})
	}
}

// Differences between two judges are named by the usual words.
func TestJudgePartsAreNamed(t *testing.T) {
	second := runOf("B")
	second.JudgeHash = "beef"
	second.Spec = &judge.Spec{Kind: judge.KindModel, Name: "universal", Version: 2, Reading: "strict", Model: "openai:gpt-4o", Declaration: &judge.Declaration{Prompt: "Is it right?\nSay so.", Params: judge.Params{Temperature: new(0.5)}}}
	c := build(t, lenient, []compare.Run{runOf("A"), second}, pattern("y"), pattern("y")).Comparison()
	var names []string
	for _, p := range c.Lint[0].Parts {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"parameters", "prompt", "reading", "parser"}, names); diff != "" {
		t.Errorf("parts (-want +got)\n%s", diff)
	}
	for _, want := range []string{"reading, upstream and strict", "parser (version), 1 and 2", "temperature"} {
		if !strings.Contains(c.Lint[0].Message, want) {
			t.Errorf("no %q in %s", want, c.Lint[0].Message)
		}
	}
	long := compare.Part{Name: "prompt", Path: "prompt", First: strings.Repeat("世", 70) + "\r\n", Second: strings.Repeat("世", 70) + "\n"}
	if got, want := long.String(), `prompt, from character 71 on: "\r\n" and "\n"`; got != want {
		t.Errorf("Part.String() = %s, want %s", got, want)
	}
}

// Swapping the runs changes the sign of a difference and nothing else.
func TestSwapTurnsTheSign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "items")
		var records [2][]deem.Record
		for i := range records {
			recs := pattern(strings.Repeat("y", n))
			for j := range recs {
				recs[j].Verdict.Score = rapid.SampledFrom([]float64{0, 0.25, 0.5, 1}).Draw(t, "score")
			}
			records[i] = recs
		}
		first, err1 := gather(lenient, []compare.Run{runOf("A"), runOf("B")}, records[0], records[1])
		second, err2 := gather(lenient, []compare.Run{runOf("B"), runOf("A")}, records[1], records[0])
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		ab, ba := first.Comparison().Pairs[0].Overall, second.Comparison().Pairs[0].Overall
		near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }
		if !near(ab.Estimate.Value, -ba.Estimate.Value) || !near(ab.Estimate.Lo, -ba.Estimate.Hi) || !near(ab.Test.P, ba.Test.P) ||
			ab.Wins != ba.Losses || ab.Ties != ba.Ties || ab.Estimate.Lo > ab.Estimate.Hi {
			t.Fatalf("%+v and swapped %+v", ab, ba)
		}
	})
}

// Every trial counts: an item has the mean of its trials, and a failed trial of a judged
// item counts as wrong only in the strict number.
func TestEveryTrialCounts(t *testing.T) {
	var recs []deem.Record
	for trial, said := range []string{"yyyn", "ynyn", "yn!n"} { // "!" is a failure
		for i, rec := range pattern(strings.ReplaceAll(said, "!", "n")) {
			if said[i] == '!' {
				rec.Verdict, rec.Failure = nil, deem.Failf(deem.Empty, "")
			}
			rec.Trial = trial
			recs = append(recs, rec)
		}
	}
	slices.SortStableFunc(recs, func(a, b deem.Record) int { return a.Position - b.Position })
	c := build(t, lenient, []compare.Run{runOf("A"), runOf("B")}, pattern("nnnn"), recs).Comparison()
	d := c.Pairs[0].Overall
	if want := (1 + 1.0/3 + 1) / 4; c.Metric != compare.Score || d.N != 4 || d.Wins != 3 || d.Ties != 1 || math.Abs(d.Estimate.Value-want) > 1e-12 {
		t.Errorf("%s, n %d, %d won, %d ties, difference %v; want score, 4, 3, 1, %v", c.Metric, d.N, d.Wins, d.Ties, d.Estimate.Value, want)
	}
	if want := (1 + 1.0/3 + 2.0/3) / 4; math.Abs(d.Strict.Value-want) > 1e-12 || d.Unjudged != 0 {
		t.Errorf("strict difference %v, %d unjudged, want %v and none", d.Strict.Value, d.Unjudged, want)
	}
}

// Items of one conversation are flipped together: if all wins are in one cluster there is
// one win, which must not be a significant difference.
func TestClusters(t *testing.T) {
	a, b := pattern(strings.Repeat("n", 20)+strings.Repeat("y", 40)), pattern(strings.Repeat("y", 60))
	for i := range a {
		name := "c0"
		if i >= 20 {
			name = fmt.Sprint("c", i/10)
		}
		a[i].Item.Cluster, b[i].Item.Cluster = name, name
	}
	c := build(t, lenient, []compare.Run{runOf("A"), runOf("B")}, a, b).Comparison()
	d := c.Pairs[0].Overall
	if d.Test.Method != "cluster-permutation-exact" || d.Test.P != 1 || d.Outcome != compare.Undecided {
		t.Errorf("test %+v and outcome %q, want p 1 of a test that turns clusters", *d.Test, d.Outcome)
	}
	if d.McNemar == nil || d.McNemar.P > 1e-5 {
		t.Errorf("McNemar = %+v, want a tiny p beside it", d.McNemar)
	}
	if d.Estimate.Method != "cluster-robust" || d.Estimate.Lo > 0 {
		t.Errorf("difference %+v, want a cluster-robust interval that holds 0", *d.Estimate)
	}
	if c.Runs[0].Judged.Method != "cluster-robust" {
		t.Errorf("the first run's interval is %s, want %s", c.Runs[0].Judged.Method, "cluster-robust")
	}
	for i := range a { // A cluster of one item is not a cluster.
		name := fmt.Sprint("c", i)
		a[i].Item.Cluster, b[i].Item.Cluster = name, name
	}
	c = build(t, lenient, []compare.Run{runOf("A"), runOf("B")}, a, b).Comparison()
	if d := c.Pairs[0].Overall; d.Test.Method != "mcnemar-exact" || d.Estimate.Method != "tango" {
		t.Errorf("one item in each cluster: %s and %s, want McNemar and Tango", d.Test.Method, d.Estimate.Method)
	}
}

// A difference that is called detectable with 80% power must be one that the test can
// detect: none with five clusters, and with few clusters a larger one than by the normal
// quantile.
func TestFewClustersShowLittle(t *testing.T) {
	for _, tt := range []struct{ clusters, least int }{{5, 0}, {6, 4}, {10, 3}} {
		var x, y strings.Builder
		for i := range tt.clusters {
			x.WriteString(strings.Repeat("n", 10))
			y.WriteString(strings.Repeat("y", 1+i%3) + strings.Repeat("n", 9-i%3))
		}
		a, b := pattern(x.String()), pattern(y.String())
		for i := range a {
			a[i].Item.Cluster = fmt.Sprint("c", i/10)
			b[i].Item.Cluster = a[i].Item.Cluster
		}
		c := build(t, lenient, []compare.Run{runOf("A"), runOf("B")}, a, b).Comparison()
		d := c.Pairs[0].Overall
		hopeless := slices.ContainsFunc(c.Notes, func(s string) bool { return strings.Contains(s, "no difference can be established") })
		if hopeless != (tt.least == 0) {
			t.Errorf("%d clusters: notes %q", tt.clusters, c.Notes)
		}
		if tt.least == 0 {
			if d.Detectable != 1 || d.Outcome != compare.Undecided {
				t.Errorf("%d clusters: %v would be seen, and p is %v; want nothing to be seen", tt.clusters, d.Detectable, d.Test.P)
			}
			continue
		}
		if ratio := d.Detectable / d.Estimate.SE; ratio < float64(tt.least) || ratio > float64(tt.least)+1 {
			t.Errorf("%d clusters: %v standard errors would be seen, want %d to %d", tt.clusters, ratio, tt.least, tt.least+1)
		}
	}
}

// Scores that cancel out within every cluster are not a difference, despite rounding of
// their sum.
func TestScoresThatCancelOut(t *testing.T) {
	a, b := pattern(strings.Repeat("y", 30)), pattern(strings.Repeat("y", 30))
	for i := range a {
		a[i].Item.Cluster = fmt.Sprint("c", i/3)
		b[i].Item.Cluster = a[i].Item.Cluster
		a[i].Verdict.Score, b[i].Verdict.Score = []float64{0, 0, 0.3}[i%3], []float64{0.1, 0.2, 0}[i%3]
	}
	d := build(t, lenient, []compare.Run{runOf("A"), runOf("B")}, a, b).Comparison().Pairs[0].Overall
	if d.Test.P != 1 || d.Outcome != compare.Undecided {
		t.Errorf("a difference of %v has p = %v (%s) and is %q, want 1 and undecided", d.Estimate.Value, d.Test.P, d.Test.Method, d.Outcome)
	}
}

// Items that differ within clusters are not all equal even if their clusters are.
func TestSteadyClusters(t *testing.T) {
	a, b := pattern(strings.Repeat("yn", 20)), pattern(strings.Repeat("yy", 20))
	for i := range a {
		a[i].Item.Cluster = fmt.Sprint("c", i/4)
		b[i].Item.Cluster = a[i].Item.Cluster
	}
	c := build(t, lenient, []compare.Run{runOf("A"), runOf("B")}, a, b).Comparison()
	for _, est := range []stat.Estimate{*c.Runs[0].Judged, *c.Pairs[0].Overall.Estimate} {
		if !slices.ContainsFunc(est.Warnings, clustersEqual) {
			t.Errorf("value %v has the warnings %q, want that clusters do not differ", est.Value, est.Warnings)
		}
	}
	if est := c.Runs[1].Judged; !slices.ContainsFunc(est.Warnings, clustersEqual) {
		t.Errorf("all right: warnings %q, want that clusters do not differ", est.Warnings)
	}
}

func clustersEqual(warning string) bool {
	return strings.HasPrefix(warning, "all clusters have the same mean")
}

// A heavy item counts for more, and McNemar's test, which counts items, is not used.
func TestWeights(t *testing.T) {
	a, b := pattern("nnnnnyyyyy"), pattern("yyyyynyyyy")
	for _, recs := range [][]deem.Record{a, b} {
		recs[5].Item.Weight = 11
	}
	d := build(t, lenient, []compare.Run{runOf("A"), runOf("B")}, a, b).Comparison().Pairs[0].Overall
	if want := (5.0 - 11) / 20; math.Abs(d.Estimate.Value-want) > 1e-12 || d.Wins != 5 || d.Losses != 1 {
		t.Errorf("difference %v, wins %d, losses %d; want %v, 5, 1", d.Estimate.Value, d.Wins, d.Losses, want)
	}
	// Of the 64 sign patterns of 11 and five ones, all reach an absolute sum of 6 or more:
	// the heavy item alone decides.
	if d.Test.Method != "permutation-exact" || d.Test.P != 1 || !strings.HasPrefix(d.Estimate.Warnings[0], "items carry different weights") {
		t.Errorf("test %+v, warnings %q; want p 1 of a permutation and a warning of weights", *d.Test, d.Estimate.Warnings)
	}
	// Sixty items of which four have nearly all of the weight show as much as four.
	a, b = pattern(strings.Repeat("nyny", 15)), pattern(strings.Repeat("nnyy", 15))
	for i := range 4 {
		a[i].Item.Weight, b[i].Item.Weight = 100, 100
	}
	d = build(t, lenient, []compare.Run{runOf("A"), runOf("B")}, a, b).Comparison().Pairs[0].Overall
	if d.Detectable < 0.9 {
		t.Errorf("a difference of %v would be seen, although the interval is [%v, %v]", d.Detectable, d.Estimate.Lo, d.Estimate.Hi)
	}
}

// Scores are compared by a permutation test whose seed is printed, and pass marks take
// precedence over scores.
func TestScores(t *testing.T) {
	a, b := pattern(strings.Repeat("y", 200)), pattern(strings.Repeat("y", 200))
	for i := range a {
		a[i].Verdict.Score, b[i].Verdict.Score = math.Mod(float64(i)*math.Pi, 1), math.Mod(float64(i)*math.E, 1)
	}
	runs := []compare.Run{runOf("A"), runOf("B")}
	c := build(t, lenient, runs, a, b).Comparison()
	d := c.Pairs[0].Overall
	if c.Metric != compare.MeanScore || d.Test.Method != "permutation" || d.Estimate.Method != "t" {
		t.Errorf("metric %q, test %q, interval %q; want the mean score, permutation, t", c.Metric, d.Test.Method, d.Estimate.Method)
	}
	if !slices.ContainsFunc(c.Notes, func(s string) bool { return strings.Contains(s, "seed 1") }) {
		t.Errorf("notes %q, want the seed", c.Notes)
	}
	for i := range a {
		x, y := a[i].Verdict.Score >= 0.7, b[i].Verdict.Score >= 0.7
		a[i].Verdict.Pass, b[i].Verdict.Pass = &x, &y
	}
	c = build(t, lenient, runs, a, b).Comparison()
	if p := c.Pairs[0]; c.Metric != compare.PassRate || p.Overall.Test.Method != "mcnemar-exact" || p.Score == nil || p.Score.Estimate.Value != d.Estimate.Value {
		t.Errorf("metric %q, test %q, score %+v; want the pass rate by McNemar and the score beside", c.Metric, p.Overall.Test.Method, p.Score)
	}
}

// Indistinguishable runs share a rank, and Cochran's Q tests all of them.
func TestRanking(t *testing.T) {
	c := patterns(t, lenient,
		strings.Repeat("y", 40)+strings.Repeat("n", 60),
		strings.Repeat("y", 81)+strings.Repeat("n", 19),
		strings.Repeat("y", 80)+strings.Repeat("n", 20),
	)
	var got []string
	for _, p := range c.Ranking.Places {
		got = append(got, fmt.Sprintf("%d %s %.2f", p.Rank, p.Name, p.Estimate.Value))
	}
	if diff := cmp.Diff([]string{"1 B 0.81", "1 C 0.80", "3 A 0.40"}, got); diff != "" {
		t.Errorf("places (-want +got)\n%s", diff)
	}
	if q := c.Ranking.Cochran; q == nil || q.P > 1e-6 || q.N == 0 {
		t.Errorf("Cochran = %+v, want a tiny p", q)
	}
	if len(c.Ranking.Pairs) != 3 || len(c.Pairs) != 2 {
		t.Errorf("%d pairs in the ranking and %d with the baseline, want 3 and 2", len(c.Ranking.Pairs), len(c.Pairs))
	}
	// B and C differ on one item: 1, adjusted over three pairs.
	if d := c.Ranking.Pairs[2]; d.First != 1 || d.Second != 2 || *d.Adjusted != 1 || d.Outcome != compare.Undecided {
		t.Errorf("B and C: %+v", d)
	}
	p := c.Ranking.Pairs[0]
	if want := stat.Holm([]float64{c.Ranking.Pairs[0].Test.P, c.Ranking.Pairs[1].Test.P, c.Ranking.Pairs[2].Test.P})[0]; *p.Adjusted != want {
		t.Errorf("adjusted p %v, want %v", *p.Adjusted, want)
	}
}

// A long chain of small steps does not make the first and the last equal.
func TestRankOfChain(t *testing.T) {
	c := patterns(t, lenient,
		strings.Repeat("y", 60)+strings.Repeat("n", 40),
		strings.Repeat("y", 56)+strings.Repeat("n", 44),
		strings.Repeat("y", 50)+strings.Repeat("n", 50),
	)
	var ranks []int
	for _, p := range c.Ranking.Places {
		ranks = append(ranks, p.Rank)
	}
	if diff := cmp.Diff([]int{1, 1, 2}, ranks); diff != "" {
		t.Errorf("ranks (-want +got)\n%s", diff)
	}
}
