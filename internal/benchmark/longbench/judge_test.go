package longbench_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/longbench"
)

// failure returns the error as a failure, or fails the test.
func failure(tb testing.TB, err error) *deem.Failure {
	tb.Helper()
	f, ok := errors.AsType[*deem.Failure](err)
	if !ok {
		tb.Fatalf("error %v, want a failure", err)
	}
	return f
}

func judge(tb testing.TB, reading string) deem.Judge {
	tb.Helper()
	j, err := longbench.Judge(reading)
	if err != nil {
		tb.Fatal(err)
	}
	return j
}

func upstream(tb testing.TB) deem.Judge {
	tb.Helper()
	return judge(tb, longbench.Upstream)
}

// item returns an item of a task.
func item(task, response string, references ...string) deem.Item {
	return deem.Item{ID: task + "/1", Category: task, Response: response, References: references}
}

// classed returns an item with its own classes and those of the last line of its file.
func classed(response, reference, own, ofFile string) deem.Item {
	it := item("trec", response, reference)
	it.Fields = map[string]string{"all_classes": own, "upstream_classes": ofFile}
	return it
}

// choice returns an item of LongBench v2.
func choice(response, answer string) deem.Item {
	it := item("Code Repository Understanding", response, answer)
	it.Fields = map[string]string{"edition": "v2", "difficulty": "easy", "length": "short"}
	return it
}

// unjudged means that there must be no score.
const unjudged = -1

// manyWords is a text of n different words without a full stop.
func manyWords(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" w" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)))
	}
	return b.String()[1:]
}

// TestReadings checks the results of upstream's metrics and of the fixed ones.
func TestReadings(t *testing.T) {
	const classes = `["number", "other number", "other", "date"]`
	for _, c := range []struct {
		it              deem.Item
		upstream, fixed float64
	}{
		{item("narrativeqa", "The grey cat", "a grey cat", "dog"), 1, 1},
		{item("qasper", "grey cat", "grey dog"), 0.5, 0.5},
		{item("multifieldqa_zh", "有两人叫阿四。", "2", "两个", "二"), 0, 0},
		{item("multifieldqa_zh", "有两人叫阿四。", "两人"), 0.4, 0.4}, // one word of four
		{item("triviaqa", "\n\nParis\nQuestion: and Rome?", "Paris"), 1, 1},
		{item("hotpotqa", "Paris\nQuestion: and Rome?", "Paris"), 0.4, 0.4},
		{item("samsum", "Ann will call Ben.\nDialogue: x", "Ann will call Ben."), 0.999999995, 0.999999995},
		{item("gov_report", ".", "a."), 0, 0},

		// One sentence with more words than Python's recursion limit.
		{item("gov_report", manyWords(1100), manyWords(1100)), 0, 0.999999995},
		{item("gov_report", manyWords(900), manyWords(900)), 0.999999995, 0.999999995},

		{classed("date", "date", classes, classes), 1, 1},
		// "number" and "other" are parts of the right name. Upstream removes the
		// first, skips the next, and keeps the second.
		{classed("other number", "other number", `["number", "other", "other number"]`, `["number", "other", "other number"]`), 0.5, 1},
		// A duplicate class counts twice.
		{classed("date", "date", `["date", "date"]`, `["date", "date"]`), 0.5, 1},
		// The last line of the file has other classes than the item.
		{classed("date", "date", classes, `["number"]`), 0, 1},
		{classed("date or number", "date", `["date"]`, `["date", "number"]`), 0.5, 1},

		{item("passage_retrieval_en", "Paragraph 7, not 8", "Paragraph 7"), 0.5, 0.5},
		{item("passage_retrieval_zh", "段落7", "段落7"), 1, 1},
		{item("passage_retrieval_en", "Paragraph 7", "the seventh"), unjudged, unjudged},
		{item("passage_count", "There are 3 of 4", "3"), 0.5, 0.5},
		{item("passage_count", "none", "3"), 0, 0},

		{item("lcc", "# no\nx = 1", "x = 1"), 1, 1},
		// difflib takes the first block that it finds; the longest common
		// subsequence is longer.
		{item("lcc", "x(.x", "(0x"), 0.29, 0.57},

		{item("narrativeqa", "x"), 0, unjudged},
	} {
		for reading, want := range map[string]float64{longbench.Upstream: c.upstream, longbench.Fixed: c.fixed} {
			check(t, reading, c.it, want)
		}
	}
}

// check checks a score, or that there is none.
func check(t *testing.T, reading string, it deem.Item, want float64) {
	t.Helper()
	v, err := judge(t, reading).Judge(t.Context(), it)
	if want == unjudged {
		if f := failure(t, err); f.Kind != deem.Input {
			t.Errorf("%s of %s %.40q: failure %v, want one of kind input", reading, it.Category, it.Response, f)
		}
		return
	}
	if err != nil || math.Abs(v.Score-want) > 1e-9 {
		t.Errorf("%s of %s %.40q against %.40q: score %v, error %v, want %v", reading, it.Category, it.Response, it.References, v.Score, err, want)
	}
}

// TestChoices reads responses of LongBench v2.
func TestChoices(t *testing.T) {
	for _, c := range []struct {
		response        string
		upstream, fixed string
	}{
		{"The correct answer is (B)", "B", "B"},
		{"The correct answer is B.", "B", "B"},
		{"**The correct answer is (B)**", "B", "B"},
		{"The correct answer is A. No: The correct answer is (C)", "C", "C"}, // upstream looks for parentheses first
		{"The correct answer is (A). I was wrong. The correct answer is (D)", "A", "D"},
		{"the correct answer is (B)", "", "B"},
		{"The correct answer is: (B)", "", "B"},
		{"The correct answer is Bonn", "B", ""},
		{"The correct answer is a cat", "", ""},
		{"The correct answer is A cat", "A", ""},
		{"Answer: C", "", "C"},
		{"C", "", "C"},
		{"(C)", "", "C"},
		{"Option A: x\nOption B: y", "", ""},
		{"I do not know", "", ""},
		{"", "", ""},
	} {
		for _, answer := range []string{"A", "B", "C", "D"} {
			check(t, longbench.Upstream, choice(c.response, answer), truth(c.upstream == answer))
			check(t, longbench.Fixed, choice(c.response, answer), truth(c.fixed == answer))
		}
	}
	it := choice("ignored", "B")
	it.Fields["option"] = "B"
	check(t, longbench.Upstream, it, 1)
	it.Fields["option"] = ""
	check(t, longbench.Upstream, it, 0)
	check(t, longbench.Fixed, deem.Item{Response: "B", Fields: it.Fields}, unjudged)
}

func truth(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// TestLabels checks that the label of a verdict is the name of the metric, or right and
// wrong.
func TestLabels(t *testing.T) {
	want := map[string]string{
		"narrativeqa": "f1", "multifieldqa_zh": "f1_zh", "gov_report": "rouge_l", "vcsum": "rouge_l_zh",
		"trec": "classification", "passage_retrieval_en": "retrieval", "passage_retrieval_zh": "retrieval_zh",
		"passage_count": "count", "repobench-p": "code_sim",
	}
	for task, label := range want {
		it := item(task, "x", "Paragraph 1 段落1")
		it.Fields = map[string]string{"all_classes": `["x"]`}
		if v, err := upstream(t).Judge(t.Context(), it); err != nil || v.Label != label {
			t.Errorf("label of %s = %q, %v, want %q", task, v.Label, err, label)
		}
	}
	if v, err := upstream(t).Judge(t.Context(), choice("The correct answer is (B)", "B")); err != nil || v.Label != "right" {
		t.Errorf("label of v2 = %q, %v, want right", v.Label, err)
	}
}

// TestUnjudged checks that an incomplete item is a failure of kind input, never a score.
func TestUnjudged(t *testing.T) {
	for _, it := range []deem.Item{
		item("narativeqa", "x", "x"),
		item("", "x", "x"),
		item("trec", "x", "x"), // no classes
		classed("x", "x", "{", "["),
	} {
		for _, reading := range benchmark.Readings() {
			check(t, reading, it, unjudged)
		}
	}
	_, err := upstream(t).Judge(t.Context(), item("narativeqa", "x", "x"))
	if !strings.Contains(err.Error(), "did you mean narrativeqa?") {
		t.Errorf("%v, want the task that is meant", err)
	}
}

func TestJudgeIdentity(t *testing.T) {
	up, fixed := judge(t, ""), judge(t, longbench.Fixed)
	a, errA := deem.JudgeHash(up)
	b, errB := deem.JudgeHash(fixed)
	if errA != nil || errB != nil || a == b {
		t.Errorf("hashes %s and %s, errors %v and %v: want two different ones", a, b, errA, errB)
	}
	if other, err := deem.JudgeHash(fixed.(*benchmark.Rule).Reread()); err != nil || other != a {
		t.Errorf("Reread of fixed has the hash %s, want %s", other, a)
	}
	if up.Name() != "longbench" {
		t.Errorf("Name = %q", up.Name())
	}
	if _, err := longbench.Judge("strict"); err == nil || !strings.Contains(deem.HintOf(err), "fixed") {
		t.Errorf("reading strict: error %v with hint %q, want one that names fixed", err, deem.HintOf(err))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := up.Judge(ctx, item("qasper", "x", "x")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want context.Canceled", err)
	}
}

// FuzzJudge checks that any item gives a score from 0 to 1 or a failure, and the same
// result twice.
func FuzzJudge(f *testing.F) {
	f.Add("qasper", "the cat", "a cat", "[]", "", "")
	f.Add("trec", "date\nx", "date", `["date","dat"]`, `["date"]`, "")
	f.Add("vcsum", "有两人叫阿四。", "两人", "", "", "")
	f.Add("gov_report", "a. b.. c", "b. a", "", "", "e")
	f.Add("passage_retrieval_zh", "段落٣ 3", "段落3", "", "", "")
	f.Add("lcc", "`\n#\nx=1", "x = 1", "", "", "")
	f.Add("x", "The correct answer is (A", "A", "", "", "v2")
	f.Fuzz(func(t *testing.T, task, response, reference, classes, ofFile, edition string) {
		if !utf8.ValidString(response) || !utf8.ValidString(reference) || len(response)+len(reference) > 4000 {
			return
		}
		it := item(task, response, reference)
		it.Fields = map[string]string{"all_classes": classes, "upstream_classes": ofFile, "edition": edition}
		for _, reading := range benchmark.Readings() {
			v, err := judge(t, reading).Judge(t.Context(), it)
			again, _ := judge(t, reading).Judge(t.Context(), it)
			if err != nil {
				if f := failure(t, err); f.Kind != deem.Input {
					t.Errorf("%s of %s %q: %v, want a failure of kind input", reading, task, response, f)
				}
				continue
			}
			if !(v.Score >= 0 && v.Score <= 1) || v.Label == "" || again.Score != v.Score {
				t.Errorf("%s of %s %q against %q: %+v, and again %+v", reading, task, response, reference, v, again)
			}
		}
	})
}
