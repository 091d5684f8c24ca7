package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/doc"
	"deem/judge"
	"deem/judge/match"
	"deem/report"
)

// text returns the report as text in full detail, on long lines.
func text(t testing.TB, r report.Report) string {
	t.Helper()
	var b strings.Builder
	if err := doc.Text(&b, r.Document(), doc.TextOptions{Width: 200, Detail: true}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// data returns the report as JSON.
func data(t interface{ Fatal(...any) }, r report.Report) []byte {
	var b bytes.Buffer
	if err := r.JSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHeadlineReads(t *testing.T) {
	h := head()
	h.MaxUnjudged = new(1.0)
	recs := many(20, 30)
	for i := range 10 {
		recs = append(recs, failed(30+i, deem.Unparseable))
	}
	got := text(t, build(h, recs).Report())
	if want := "66.7% [48.8, 80.8]  30 judged, 10 unjudged"; !strings.Contains(got, want) {
		t.Errorf("the text lacks %q:\n%s", want, got)
	}
}

func TestWithheld(t *testing.T) {
	tests := []struct {
		name            string
		judged, missing int
		limit           float64
		want            bool
	}{
		{"no failures", 100, 0, 0.01, false},
		{"at the limit", 99, 1, 0.01, false},
		{"at the limit in other numbers", 297, 3, 0.01, false},
		{"above the limit", 98, 2, 0.01, true},
		{"none allowed", 999, 1, 0, true},
		{"all allowed", 0, 5, 1, false},
		{"all unjudged", 0, 5, 0.99, true},
		{"nothing", 0, 0, 0, false},
		{"a limit that is not a number allows none", 999, 1, math.NaN(), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := head()
			h.MaxUnjudged = new(tt.limit)
			recs := many(tt.judged/2, tt.judged)
			for i := range tt.missing {
				recs = append(recs, failed(tt.judged+i, deem.Empty))
			}
			r := build(h, recs).Report()
			if got := r.Hold != nil && r.Hold.Reason != ""; got != tt.want {
				t.Errorf("Hold = %+v, want one: %v", r.Hold, tt.want)
			}
			if got := strings.Contains(text(t, r), "withheld"); got != tt.want {
				t.Errorf("the text says withheld: %v, want %v", got, tt.want)
			}
		})
	}
}

// If the headline is withheld, no form of the report shows an estimate over judged items.
func TestWithheldEverywhere(t *testing.T) {
	pass := true
	recs := []deem.Record{failed(0, deem.Empty)}
	for i := 1; i < 8; i++ {
		rec := item(i)
		rec.Verdict = &deem.Verdict{Label: "PASS", Score: 0.75, Pass: &pass, Aspects: map[string]float64{"tone": 7.7}}
		rec.Item.Category = "easy"
		recs = append(recs, rec)
	}
	recs[0].Item.Category = "easy"
	r := build(head(), recs).Report()
	if n := bytes.Count(data(t, r), []byte(`"judged": null`)); n != 4 {
		// Two metrics, one category, one aspect.
		t.Errorf("the JSON has %d estimates that are null, want 4:\n%s", n, data(t, r))
	}
	for _, number := range []string{"100.0% [", "75.0% [", "7.70 ["} {
		if got := text(t, r); strings.Contains(got, number) {
			t.Errorf("the text gives %q away:\n%s", number, got)
		}
	}
}

func TestMetrics(t *testing.T) {
	pass, fail := true, false
	tests := []struct {
		name     string
		verdicts []deem.Verdict
		want     []string
		method   string
	}{
		{"zeros and ones", []deem.Verdict{{Score: 0}, {Score: 1}}, []string{"score"}, "wilson"},
		{"fractions", []deem.Verdict{{Score: 0}, {Score: 0.5}}, []string{"mean score"}, "t"},
		{"marks", []deem.Verdict{{Score: 0.2, Pass: &fail}, {Score: 0.9, Pass: &pass}}, []string{"pass rate", "mean score"}, "wilson"},
		{"marks with zeros and ones", []deem.Verdict{{Score: 0, Pass: &fail}, {Score: 1, Pass: &pass}}, []string{"pass rate", "score"}, "wilson"},
		{"some marks", []deem.Verdict{{Score: 0.2}, {Score: 0.9, Pass: &pass}}, []string{"mean score"}, "t"},
		{"nothing", nil, []string{"score"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := report.New(head())
			for i, v := range tt.verdicts {
				rec := item(i)
				rec.Verdict = &v
				b.Add(rec)
			}
			r := b.Report()
			var got []string
			for _, f := range r.Metrics {
				got = append(got, f.Metric)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
			if est := r.Metrics[0].Judged; tt.method != "" && est.Method != tt.method {
				t.Errorf("method = %q, want %q", est.Method, tt.method)
			}
		})
	}
}

// A category whose scores happen to be all 0 or 1 uses the metric of the whole run.
func TestCategoriesShareTheMetric(t *testing.T) {
	b := report.New(head())
	for i, score := range []float64{0, 1, 1, 0.5, 0.25} {
		rec := item(i)
		rec.Verdict = &deem.Verdict{Score: score}
		rec.Item.Category = map[bool]string{true: "even", false: "mixed"}[i < 3]
		b.Add(rec)
	}
	for _, c := range b.Report().Categories {
		if c.Metric != "mean score" {
			t.Errorf("metric of category %s = %q, want mean score", c.Name, c.Metric)
		}
	}
}

func TestNotes(t *testing.T) {
	pass := true
	tests := []struct {
		name  string
		head  func(*report.Head)
		recs  func() []deem.Record
		wants string
	}{
		{
			"missing items", func(h *report.Head) { h.Items = 50 }, func() []deem.Record { return many(1, 40) },
			"10 of 50 items have no record, and no number here speaks of them",
		},
		{
			"items twice", func(h *report.Head) { h.Items = 30 }, func() []deem.Record { return many(1, 40) },
			"there are 40 records for 30 items: some items were counted more than once",
		},
		{"two judges", nil, func() []deem.Record {
			recs := many(1, 2)
			recs[1].Judge = "other"
			return recs
		}, "the records come from 2 judges (longmemeval, other): the numbers mix them"},
		{"verdict and failure", nil, func() []deem.Record {
			recs := many(1, 2)
			recs[1].Failure = deem.Failf(deem.Empty, "")
			return recs
		}, "1 record holds a verdict and a failure, and counts as unjudged"},
		{"bad aspects", nil, func() []deem.Record {
			recs := many(1, 3)
			recs[0].Verdict.Aspects = map[string]float64{"tone": math.NaN()}
			recs[1].Verdict.Aspects = map[string]float64{"tone": math.Inf(1)}
			return recs
		}, "2 verdicts hold an aspect that is not a usable number, which was left out"},
		{"some marks", nil, func() []deem.Record {
			recs := many(1, 3)
			recs[0].Verdict.Pass = &pass
			return recs
		}, "2 of 3 verdicts carry no pass mark, so there is no pass rate"},
		{"no trial 0", nil, func() []deem.Record {
			recs := many(1, 1)
			recs[0].Trial = 1
			return recs
		}, "there are no records of trial 0, so there is nothing to estimate"},
		{"some clusters", nil, func() []deem.Record {
			recs := many(1, 4)
			recs[0].Item.Cluster, recs[1].Item.Cluster = "c", "c"
			return recs
		}, "2 of 4 items come in only 1 cluster: the intervals rest on few of them (at most 2 degrees of freedom), and may be too narrow or too wide"},
		{"many clusters", nil, func() []deem.Record {
			recs := many(1, 65_537)
			for i := range recs {
				recs[i].Item.Cluster = fmt.Sprint(i)
			}
			return recs
		}, "items come in more than 65,536 clusters, and intervals allow for that; " +
			"to keep memory bounded, clusters were put together at random, which is safe"},
		{"enough clusters", nil, func() []deem.Record {
			recs := many(20, 60)
			for i := range recs {
				recs[i].Item.Cluster = fmt.Sprint(i % 30)
			}
			return recs
		}, "items come in 30 clusters, and intervals allow for that"},
		{"trials that nobody announced", nil, func() []deem.Record {
			recs := append(many(1, 3), many(1, 3)...)
			for i := range 3 {
				recs[i].Trial = 1
			}
			return recs
		}, "the head of the report does not say how often items are judged, so only the first trial counts"},
		{"bad confidence", nil, func() []deem.Record {
			recs := many(1, 3)
			sure := math.NaN()
			recs[0].Verdict.Confidence = &sure
			return recs
		}, "1 verdict holds a confidence outside 0 to 1, which was left out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := head()
			if tt.head != nil {
				tt.head(&h)
			}
			if got := build(h, tt.recs()).Report().Notes; !slices.Contains(got, tt.wants) {
				t.Errorf("notes = %q, want among them %q", got, tt.wants)
			}
		})
	}
}

func TestLonelyClustersAreNoClusters(t *testing.T) {
	recs := many(1, 3)
	for i := range recs {
		recs[i].Item.Cluster = fmt.Sprint(i)
	}
	if got := build(head(), recs).Report().Notes; len(got) != 0 {
		t.Errorf("notes = %q, want none when every cluster holds one item", got)
	}
}

func TestRuleWithoutNote(t *testing.T) {
	h := head()
	h.Judge, h.JudgeKind = "exact", judge.KindRule
	if got := text(t, build(h, many(1, 2)).Report()); !strings.Contains(got, "exact is a rule, not a model") {
		t.Errorf("the text does not say that the judge is a rule:\n%s", got)
	}
}

// Report does not change the builder, which can take more records.
func TestReportTwice(t *testing.T) {
	b := build(head(), many(20, 40))
	first := data(t, b.Report())
	if again := data(t, b.Report()); !bytes.Equal(first, again) {
		t.Errorf("the second report differs (-first +second):\n%s", cmp.Diff(string(first), string(again)))
	}
	for i := 40; i < 80; i++ {
		b.Add(yes(i, i < 60))
	}
	all := many(20, 40)
	for i := 40; i < 80; i++ {
		all = append(all, yes(i, i < 60))
	}
	if diff := cmp.Diff(build(head(), all).Report(), b.Report()); diff != "" {
		t.Errorf("adding after a report (-want +got):\n%s", diff)
	}
}

func TestJSONReadsBack(t *testing.T) {
	for _, sc := range scenes {
		want := sc.build().Report()
		// An invalid UTF-8 byte is written as an escape and read as a character.
		raw := bytes.ReplaceAll(data(t, want), []byte(`\ufffd`), []byte("\ufffd"))
		var got report.Report
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatalf("%s: %v", sc.name, err)
		}
		if again := data(t, got); !bytes.Equal(raw, again) {
			t.Errorf("%s: read back and written again (-want +got):\n%s", sc.name, cmp.Diff(string(raw), string(again)))
		}
	}
}

func TestWriteErrors(t *testing.T) {
	r := build(head(), many(1, 2)).Report()
	for name, write := range map[string]func(io.Writer) error{"Text": r.Text, "JSON": r.JSON, "HTML": r.HTML} {
		if err := write(full{}); !errors.Is(err, errFull) {
			t.Errorf("%s to a full disk = %v, want %v", name, err, errFull)
		}
	}
}

var errFull = errors.New("disk full")

// full is a writer whose disk is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// records draws records of a run, including hostile names and invalid numbers.
func records() *rapid.Generator[[]deem.Record] {
	name := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "时间"}), rapid.StringN(0, 5, -1))
	score := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 0.1, 0.7}), rapid.Float64Range(-0.1, 1.1))
	return rapid.Custom(func(t *rapid.T) []deem.Record {
		recs := make([]deem.Record, rapid.IntRange(0, 25).Draw(t, "n"))
		binary := rapid.Bool().Draw(t, "binary")
		for i := range recs {
			rec := deem.Record{Position: i, Judge: "j", Trial: rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "trial")}
			rec.Item = deem.Item{
				ID: fmt.Sprint(i, name.Draw(t, "id")), Category: name.Draw(t, "category"), Cluster: name.Draw(t, "cluster"),
				Weight: rapid.SampledFrom([]float64{0, 0, 0.1, 3, 0.7, -1}).Draw(t, "weight"),
			}
			if rapid.IntRange(0, 4).Draw(t, "failure") == 0 {
				rec.Failure = deem.Failf(rapid.SampledFrom(deem.Kinds()).Draw(t, "kind"), "")
			} else {
				v := &deem.Verdict{Label: name.Draw(t, "label"), Score: score.Draw(t, "score")}
				if binary {
					v.Score = math.Round(math.Abs(v.Score))
				}
				v.Aspects = map[string]float64{"tone": score.Draw(t, "tone"), name.Draw(t, "aspect"): 3}
				rec.Verdict = v
			}
			rec.Calls = []deem.Call{call(rapid.IntRange(0, 5000).Draw(t, "call"))}
			recs[i] = rec
		}
		return recs
	})
}

// rebuild returns the report of the records with a second reading of each.
func rebuild(recs []deem.Record) report.Report {
	h := head()
	h.MaxUnjudged = new(0.3)
	b := build(h, recs)
	for _, rec := range recs {
		if rec.Position%3 == 0 {
			b.AddReread("strict", rec, nil, deem.Failf(deem.Contradictory, ""))
		} else {
			b.AddReread("strict", rec, rec.Verdict, rec.Failure)
		}
	}
	return b.Report()
}

func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		recs := records().Draw(t, "records")
		want := data(t, rebuild(recs))
		got := data(t, rebuild(rapid.Permutation(recs).Draw(t, "order")))
		if !bytes.Equal(want, got) {
			t.Fatalf("another order gave another report (-one +other):\n%s", cmp.Diff(string(want), string(got)))
		}
	})
}

func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rebuild(records().Draw(t, "records"))
		if r.Judged+r.Unjudged != r.Items {
			t.Fatalf("judged %d + unjudged %d is not %d items", r.Judged, r.Unjudged, r.Items)
		}
		sum := 0
		for _, f := range r.Failures {
			sum += f.N
		}
		if sum != r.Unjudged {
			t.Fatalf("the kinds of failure add up to %d, want %d", sum, r.Unjudged)
		}
		figures := slices.Clone(r.Metrics)
		for _, c := range r.Categories {
			figures = append(figures, c.Figures)
		}
		for _, f := range figures {
			checkFigures(t, f)
		}
		checkText(t, r)
	})
}

// checkFigures checks the relations between the three numbers.
func checkFigures(t *rapid.T, f report.Figures) {
	const tiny = 1e-12
	if f.Items > 0 && f.Band.Lo != f.Strict.Value {
		t.Fatalf("band %+v does not begin at strict %v", f.Band, f.Strict.Value)
	}
	if f.Judged == nil {
		return
	}
	if f.Judged.Value < f.Band.Lo-tiny || f.Judged.Value > f.Band.Hi+tiny {
		t.Fatalf("the judged value %v lies outside its band %+v", f.Judged.Value, f.Band)
	}
	if f.Judged.N+f.Unjudged != f.Items || f.Strict.N != f.Items {
		t.Fatalf("n %d + unjudged %d, strict n %d: want both %d", f.Judged.N, f.Unjudged, f.Strict.N, f.Items)
	}
}

var trailingMarks = regexp.MustCompile(`( *\(\d+\))+$`)

// checkText checks that a terminal can show the text.
func checkText(t *rapid.T, r report.Report) {
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	if !utf8.ValidString(b.String()) {
		t.Fatalf("the text is not UTF-8: %q", b.String())
	}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if i := strings.IndexFunc(line, func(c rune) bool { return !unicode.IsPrint(c) }); i >= 0 {
			t.Fatalf("the line %q holds a character that does not print", line)
		}
		if strings.Contains(line, "NaN") || strings.Contains(line, "Inf") {
			t.Fatalf("the line %q holds a number that is none", line)
		}
		// Footnote marks may exceed the width after rows of huge numbers.
		if w := runewidth.StringWidth(trailingMarks.ReplaceAllString(line, "")); w > 100 {
			t.Fatalf("the line %q is %d columns wide", line, w)
		}
		if strings.HasSuffix(line, " ") {
			t.Fatalf("the line %q ends in a blank", line)
		}
	}
}

// The columns of a table align, whatever script the names use.
func TestChineseAligns(t *testing.T) {
	var starts []int
	for line := range strings.Lines(text(t, sceneChinese().Report())) {
		if before, _, ok := strings.Cut(line, "% ["); ok && strings.Contains(line, "(1)") {
			starts = append(starts, runewidth.StringWidth(before))
		}
	}
	if len(starts) != 4 || slices.Min(starts) != slices.Max(starts) {
		t.Errorf("the values of the categories end in columns %v, want four times the same", starts)
	}
}

func TestAddKeepsNothing(t *testing.T) {
	b := report.New(head())
	recs := many(30, 60)
	for i := range recs {
		recs[i].Item.Category, recs[i].Item.Cluster = "c", "k"
		b.Add(recs[i])
	}
	i := 0
	if got := testing.AllocsPerRun(1000, func() { b.Add(recs[i%60]); i++ }); got != 0 {
		t.Errorf("Add of a record with known names makes %v allocations, want 0", got)
	}
}

// TestOf checks that a report on a judge knows the judge, and that without a setting one
// failure in a hundred withholds nothing.
func TestOf(t *testing.T) {
	records := func(failures int) iter.Seq2[deem.Record, error] {
		return func(yield func(deem.Record, error) bool) {
			for i := range 100 {
				rec := yes(i, true)
				if i < failures {
					rec.Verdict, rec.Failure = nil, deem.Failf(deem.Unparseable, "no label")
				}
				if !yield(rec, nil) {
					return
				}
			}
		}
	}
	for failures, withheld := range map[int]bool{0: false, 1: false, 2: true} {
		r, err := report.Of(match.New()).Collect(records(failures))
		if err != nil || (r.Hold != nil) != withheld || !r.Head.Complete {
			t.Errorf("%d failures: withheld %v, complete %v, %v", failures, r.Hold, r.Head.Complete, err)
		}
		if hash, _ := deem.JudgeHash(match.New()); r.Head.Judge != "match" || r.Head.JudgeKind != judge.KindRule || r.Head.JudgeHash != hash || r.Head.CalibrationError == 0 {
			t.Errorf("the head is %+v", r.Head)
		}
	}
	broken := errors.New("the file has changed")
	r, err := report.Of(match.New()).Collect(func(yield func(deem.Record, error) bool) {
		_ = yield(yes(0, true), nil) && yield(deem.Record{}, broken)
	})
	if !errors.Is(err, broken) || r.Head.Complete || r.Records != 1 {
		t.Errorf("%d records, complete %v, %v", r.Records, r.Head.Complete, err)
	}
}
