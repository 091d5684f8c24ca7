package compare_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports/compare"
	"deem/judge"
	"deem/stat"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with the file of that name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(file, []byte(got), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", name, diff)
	}
}

// goldens compares a comparison with its golden files: short and detailed at 80 columns,
// and short at 60 and 120. No line is wider than the screen.
func goldens(t *testing.T, name string, c compare.Comparison) {
	t.Helper()
	for _, width := range []int{60, 80, 120} {
		for _, detail := range []bool{false, true} {
			var out strings.Builder
			if err := doc.Text(&out, c.Document(), doc.TextOptions{Width: width, Detail: detail}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if line = strings.TrimSuffix(line, "\n"); doc.Clip(line, width) != line {
					t.Errorf("%s: a line is wider than %d columns: %s", name, width, line)
				}
			}
			switch {
			case width == 80 && detail:
				golden(t, name+".v.txt", out.String())
			case width == 80:
				golden(t, name+".txt", out.String())
			case !detail && name == "three":
				golden(t, fmt.Sprintf("%s.%d.txt", name, width), out.String())
			}
		}
	}
}

// story returns runs with realistic differences: by category, with some failures.
func story() ([]compare.Run, [][]deem.Record) {
	runs := []compare.Run{runOf("naive_rag"), runOf("memory"), runOf("full")}
	texts := []string{
		strings.Repeat("yynyn", 30) + "yynnn", strings.Repeat("yyyyn", 30) + "yynnf", strings.Repeat("yynyy", 30) + "yynyf",
	}
	var records [][]deem.Record
	for i, s := range texts {
		recs := pattern(s)
		for j := range recs {
			recs[j].Item.Category = []string{"temporal-reasoning", "multi-session", "preference"}[j*7%3]
			recs[j].Item.Response = fmt.Sprintf("run %d says %d", i, j)
		}
		records = append(records, recs)
	}
	return runs, records
}

func TestTexts(t *testing.T) {
	runs, records := story()
	o := compare.Options{MaxUnjudged: 0.05, Seed: 1, Examples: 3}
	goldens(t, "two", build(t, o, runs[:2], records[:2]...).Comparison())
	goldens(t, "three", build(t, o, runs, records...).Comparison())

	other := runs[1]
	other.JudgeHash, other.Model = strings.Repeat("beef", 16), "openai:gpt-4o-mini"
	other.Spec = &judge.Spec{Kind: judge.KindModel, Name: "universal", Version: 1, Reading: "strict", Model: "openai:gpt-4o-mini", Declaration: &judge.Declaration{Prompt: "Is it right?"}}
	unfair := []compare.Run{runs[0], other}
	goldens(t, "refused", build(t, o, unfair, records[0], records[1][:150]).Comparison())
	o.Anyway = true
	goldens(t, "anyway", build(t, o, unfair, records[0], records[1][:150]).Comparison())

	o.MaxUnjudged = 0
	goldens(t, "withheld", build(t, o, runs[:2], records[:2]...).Comparison())
	goldens(t, "nothing", patterns(t, lenient, "", ""))
}

// textsOf returns flips with their texts, like a store.
func textsOf(flips []compare.Flip, response string) iter.Seq2[compare.FlipText, error] {
	return func(yield func(compare.FlipText, error) bool) {
		for _, f := range flips {
			n := len(f.Outcomes)
			text := compare.FlipText{Flip: f, Question: "=1+1", References: []string{"a", "b\nc"}, Responses: make([]string, n), Reasons: make([]string, n)}
			for i := range text.Responses {
				text.Responses[i] = response
			}
			if !yield(text, nil) {
				return
			}
		}
	}
}

func TestCSV(t *testing.T) {
	b := build(t, lenient, []compare.Run{runOf("A"), runOf("B"), runOf("C")}, pattern("yyn"), pattern("yny"), pattern("yff"))
	var out bytes.Buffer
	if err := compare.WriteCSV(&out, []string{"A", "B", "C"}, textsOf(b.Flips(), "@SUM(\"x\"),\n-2")); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{
			"id", "category", "change", "question", "references", "A.response", "A.label", "A.score", "A.failure",
			"B.response", "B.label", "B.score", "B.failure", "C.response", "C.label", "C.score", "C.failure",
		},
		{
			"q01", "", "yes no -", "'=1+1", `["a","b\nc"]`, "'@SUM(\"x\"),\n-2", "CORRECT", "1", "",
			"'@SUM(\"x\"),\n-2", "INCORRECT", "0", "", "'@SUM(\"x\"),\n-2", "", "", "refused",
		},
		{
			"q02", "", "no yes -", "'=1+1", `["a","b\nc"]`, "'@SUM(\"x\"),\n-2", "INCORRECT", "0", "",
			"'@SUM(\"x\"),\n-2", "CORRECT", "1", "", "'@SUM(\"x\"),\n-2", "", "", "refused",
		},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got)\n%s", diff)
	}
}

func TestHTML(t *testing.T) {
	runs, records := story()
	runs[1].Name = `<script>alert("name")</script>`
	records[0][2].Item.Category, records[1][2].Item.Category = `<img src=x onerror=alert(1)>`, `<img src=x onerror=alert(1)>`
	b := build(t, compare.Options{MaxUnjudged: 0.05}, runs[:2], records[:2]...)
	c, flips := b.Comparison(), b.Flips()
	var out bytes.Buffer
	texts := func(flips []compare.Flip) iter.Seq2[compare.FlipText, error] {
		return textsOf(flips, `</pre><script>steal()</script>`)
	}
	if err := c.HTML(&out, flips, texts); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for _, bad := range []string{"<script", "<img", "http://", "https://", "ZgotmplZ", "<no value>"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, want := range []string{"<svg", "temporal-reasoning", "&lt;script&gt;steal()", "prefers-color-scheme", "Passed by"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	if n := strings.Count(got, "<article "); n != len(flips) {
		t.Errorf("%d items on the page, want %d", n, len(flips))
	}
	broken := func([]compare.Flip) iter.Seq2[compare.FlipText, error] {
		return func(yield func(compare.FlipText, error) bool) { yield(compare.FlipText{}, os.ErrClosed) }
	}
	if err := c.HTML(&out, flips, broken); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v, want %v", err, os.ErrClosed)
	}
}

// A baseline without items is compared as two lists of different items.
func TestBaseline(t *testing.T) {
	const saved = `{"version":"deem.report/1","head":{"run":"old","judge":"universal","judge_hash":%q,"complete":true},
	 "metrics":[{"metric":"score","judged":{"value":0.7,"lo":0.61,"hi":0.78,"level":0.95,"n":100,"method":"wilson"},
	   "strict":{"value":0.7,"lo":0.61,"hi":0.78,"level":0.95,"n":100,"method":"wilson"},"items":100,"unjudged":0}],
	 "categories":[]}`
	hash := runOf("A").JudgeHash
	base, err := compare.ReadBaseline(strings.NewReader(fmt.Sprintf(saved, hash)))
	if err != nil {
		t.Fatal(err)
	}
	est := stat.Proportion(70, 100, stat.DefaultLevel)
	base.Side.Judged, base.Side.Strict = &est, est
	b := build(t, lenient, []compare.Run{runOf("new")}, pattern(strings.Repeat("y", 85)+strings.Repeat("n", 15)))
	c, err := b.Against(base)
	if err != nil {
		t.Fatal(err)
	}
	d, want := c.Pairs[0].Overall, stat.Difference(stat.Proportion(85, 100, 0.95), stat.Proportion(70, 100, 0.95), 0.95)
	if math.Abs(d.Estimate.Lo-want.Lo) > 1e-12 || math.Abs(d.Estimate.Hi-want.Hi) > 1e-12 || d.Outcome != compare.Better || d.Test == nil {
		t.Errorf("difference %+v, want Newcombe's %+v", d.Estimate, want)
	}
	if c.Refused || c.Ranking != nil || c.Unpaired == "" || len(c.Lint) != 1 || c.Lint[0].Kind != compare.KindUnpaired {
		t.Errorf("refused %v, ranking %v, unpaired %q, lint %v", c.Refused, c.Ranking, c.Unpaired, c.Lint)
	}
	goldens(t, "baseline", c)

	base.Side.JudgeHash, base.Side.Model = "beef", "openai:gpt-4o-mini"
	if c, err = b.Against(base); err != nil || !c.Refused || !strings.Contains(c.Lint[0].Message, "model, openai:gpt-4o-mini and openai:gpt-4o") {
		t.Errorf("another judge: refused %v, lint %v, error %v", c.Refused, c.Lint, err)
	}
	base.Metric = compare.PassRate
	if _, err = b.Against(base); err == nil {
		t.Error("another metric: no error")
	}

	var out bytes.Buffer
	if err := c.JSON(&out); err != nil {
		t.Fatal(err)
	}
	again, err := compare.ReadBaseline(&out)
	if err != nil || again.Side.Judged.Value != 0.7 || again.Metric != compare.Score {
		t.Errorf("the baseline of a saved comparison: %+v, error %v", again, err)
	}
	for _, bad := range []string{"", "[]", "{}", `{"version":"deem.report/1"}`, `{"version":"deem.compare/1"}`, `{"version":"\u001b[31m"}`} {
		if _, err := compare.ReadBaseline(strings.NewReader(bad)); err == nil || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("ReadBaseline(%q): error %v", bad, err)
		}
	}
}

// Two lists that do not vary may still differ.
func TestBaselineOfAllWrong(t *testing.T) {
	b := build(t, lenient, []compare.Run{runOf("new")}, pattern(strings.Repeat("y", 40)))
	for _, tt := range []struct {
		right   int
		outcome string
	}{{0, compare.Better}, {40, compare.Undecided}} {
		est := stat.Proportion(tt.right, 40, stat.DefaultLevel)
		base := compare.Saved{Metric: compare.Score, Side: compare.Side{Run: runOf("old"), Figures: compare.Figures{Judged: &est, Strict: est, Items: 40}}}
		c, err := b.Against(base)
		if err != nil {
			t.Fatal(err)
		}
		if d := c.Pairs[0].Overall; d.Outcome != tt.outcome || (d.Test.P < 0.05) != (tt.outcome == compare.Better) {
			t.Errorf("40 of 40 after %d of 40: %s with p = %v (%s), want %s", tt.right, d.Outcome, d.Test.P, d.Test.Method, tt.outcome)
		}
	}
}
