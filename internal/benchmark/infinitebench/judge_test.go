package infinitebench_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/infinitebench"
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
	j, err := infinitebench.Judge(reading)
	if err != nil {
		tb.Fatal(err)
	}
	return j
}

// item returns an item with a label as JSON.
func item(task, response, label string, references ...string) deem.Item {
	return deem.Item{
		ID: task + "/0", Category: task, Response: response, References: references,
		Fields: map[string]string{"label": label},
	}
}

// unjudged means that there must be no score.
const unjudged = -1

// TestReadings checks the results of upstream's rules and of the fixed ones.
func TestReadings(t *testing.T) {
	for _, c := range []struct {
		it              deem.Item
		upstream, fixed float64
	}{
		{item("passkey", "The key is 12345.", `"12345"`, "12345"), 1, 1},
		{item("passkey", "Between 1 and 12345.", `["12345"]`, "12345"), 0, 0},
		{item("number_string", "no digits", `["007"]`, "007"), 0, 0},
		{item("kv_retrieval", `{"key": "ab-1"}`, `"ab-1"`, "ab-1"), 1, 1},
		// A list is not in a list of words.
		{item("kv_retrieval", "ab-1", `["ab-1"]`, "ab-1"), 0, 1},

		// The point is removed, so that the last word is 0.
		{item("code_run", "The value is 4.0", `[4]`, "4"), 0, 1},
		{item("code_run", "It returns -3, as expected", `-3`, "-3"), 0, 1},
		{item("code_run", "func_12(-3) cannot be computed", `-3`, "-3"), 0, 0},
		{item("code_run", "So func_12(4) is `-3`.", `-3`, "-3"), 1, 1},
		{item("code_run", "", `4`, "4"), 0, 0},

		{item("math_find", "The largest is 88.", `88`, "88"), 1, 1},
		{item("math_find", "-88", `88`, "88"), 1, 0},
		// Upstream stops at a fraction where it expects an integer.
		{item("math_find", "3.5", `3`, "3"), unjudged, 0},
		{item("math_find", "88.0", `88.0`, "88.0"), 1, 1},

		{item("longdialogue_qa_eng", "It was Ace.", `["ACE", "ACE ROTHSTEIN"]`, "ACE", "ACE ROTHSTEIN"), 1, 1},
		// Only the first name counts, and a name of two words is never found.
		{item("longdialogue_qa_eng", "It was Remo.", `["GAGGI", "Remo"]`, "GAGGI", "Remo"), 0, 1},
		{item("longdialogue_qa_eng", "Mr. Pink, I think", `["MR. PINK"]`, "MR. PINK"), 0, 1},
		{item("longdialogue_qa_eng", "Pink or Mr. White", `["MR. PINK"]`, "MR. PINK"), 0, 0},

		{item("longbook_choice_eng", "C. Snowfield", `["Snowfield", "C"]`, "Snowfield", "C"), 1, 1},
		{item("longbook_choice_eng", "(D) The mill", `["The mill", "D"]`, "The mill", "D"), 0, 1},
		// The first letter of a word is not an option.
		{item("longbook_choice_eng", "Alice says the answer is: B", `["The mill", "A"]`, "The mill", "A"), 1, 0},
		{item("longbook_choice_eng", "I am sure: the correct answer is B.", `["The mill", "B"]`, "The mill", "B"), 1, 1},
		{item("longbook_choice_eng", "The answer is a mill", `["The mill", "A"]`, "The mill", "A"), 0, 0},

		{item("code_debug", "C. decode", `["decode", "C"]`, "decode", "C"), 1, 1},
		// The letter alone, and another capitalisation, are not recognised.
		{item("code_debug", "C", `["decode", "C"]`, "decode", "C"), 0, 1},
		{item("code_debug", "The Answer Is C", `["decode", "C"]`, "decode", "C"), 0, 1},
		// A response that lists all options does not choose one.
		{item("code_debug", "A. encode\nB. flush\nC. decode\nD. seek", `["encode", "A"]`, "encode", "A"), 1, 0},
		{item("code_debug", "The faulty one is:\n\n**Option B: flush**", `["flush", "B"]`, "flush", "B"), 1, 1},
		{item("code_debug", "It is decode.", `["decode", "C"]`, "decode", "C"), 0, 1},

		// Upstream iterates over the characters of a string.
		{item("longbook_qa_eng", "x marks the spot", `"x marks the spot"`, "x marks the spot"), 0.5, 1},
		{item("longbook_qa_chn", "有两人叫阿四。", `["2", "两个", "二"]`, "2", "两个", "二"), 0.25, 0.25},
		{item("longbook_sum_eng", "a cat sat", `["a cat sat"]`, "a cat sat"), 1, 1},

		// Signs are lost.
		{item("math_calc", "[1, -2, 3]", `[1, -2, 3]`, "[1, -2, 3]"), 1.0 / 3, 1},
		{item("math_calc", "1, 2, 4", `[[1, 2, 3, 4]]`, "[[1, 2, 3, 4]]"), 0.5, 0.5},
	} {
		for reading, want := range map[string]float64{infinitebench.Upstream: c.upstream, infinitebench.Fixed: c.fixed} {
			v, err := judge(t, reading).Judge(t.Context(), c.it)
			if want == unjudged {
				if f := failure(t, err); f.Kind != deem.Input {
					t.Errorf("%s of %s %q: failure %v, want one of kind input", reading, c.it.Category, c.it.Response, f)
				}
				continue
			}
			if err != nil || math.Abs(v.Score-want) > 1e-12 {
				t.Errorf("%s of %s %q against %s: score %v, error %v, want %v",
					reading, c.it.Category, c.it.Response, c.it.Fields["label"], v.Score, err, want)
			}
		}
	}
}

// TestSystemName checks that upstream drops the first number of one system, identified by
// name, and that the fixed rule allows every system to repeat the initial value.
func TestSystemName(t *testing.T) {
	for _, c := range []struct {
		system, response string
		upstream, fixed  float64
	}{
		{"gpt4", "9, 1, 2", 1, 1},
		{"gpt4", "1, 2", 0, 1},
		{"other", "9, 1, 2", 0, 1},
		{"other", "1, 2", 1, 1},
	} {
		it := item("math_calc", c.response, "[1, 2]")
		it.Fields["model"] = c.system
		for reading, want := range map[string]float64{infinitebench.Upstream: c.upstream, infinitebench.Fixed: c.fixed} {
			if v, err := judge(t, reading).Judge(t.Context(), it); err != nil || v.Score != want {
				t.Errorf("%s of %s %q = %v, %v, want %v", reading, c.system, c.response, v.Score, err, want)
			}
		}
	}
}

// TestLabels checks that the label of a verdict is the name of the metric, or right and
// wrong.
func TestLabels(t *testing.T) {
	for task, want := range map[string]string{
		"passkey": "right", "code_run": "wrong", "longbook_qa_eng": "f1", "longbook_qa_chn": "f1_chars",
		"longbook_sum_eng": "rouge_lsum", "kv_retrieval_both": "right",
	} {
		v, err := judge(t, "").Judge(t.Context(), item(task, "7", `"7"`, "7"))
		if task == "code_run" {
			v, err = judge(t, "").Judge(t.Context(), item(task, "8", `7`, "7"))
		}
		if err != nil || v.Label != want {
			t.Errorf("label of %s = %q, %v, want %q", task, v.Label, err, want)
		}
	}
}

// TestUnjudged checks that an incomplete item is a failure of kind input, never a score.
func TestUnjudged(t *testing.T) {
	for _, c := range []struct {
		name    string
		it      deem.Item
		reading string
	}{
		{"unknown task", deem.Item{Category: "passkeys", References: []string{"7"}}, "upstream"},
		{"no task", deem.Item{References: []string{"7"}}, "fixed"},
		{"no label", deem.Item{Category: "passkey"}, "upstream"},
		{"no label, fixed", deem.Item{Category: "passkey"}, "fixed"},
		{"label of a line that has none, fixed", item("passkey", "7", `"XXXXXXXXXX"`), "fixed"},
		{"label no JSON", item("passkey", "7", "{"), "upstream"},
		{"text for a list of numbers", item("math_calc", "7", `"7"`), "upstream"},
		{"text for a list of numbers, fixed", item("math_calc", "7", `"7"`), "fixed"},
		{"empty list", item("passkey", "7", `[]`), "upstream"},
	} {
		_, err := judge(t, c.reading).Judge(t.Context(), c.it)
		if f := failure(t, err); f.Kind != deem.Input || f.Detail == "" {
			t.Errorf("%s: %v, want a failure of kind input", c.name, err)
		}
	}
	// Upstream treats a line without a label as wrong.
	if v, err := judge(t, "").Judge(t.Context(), item("passkey", "7", `"XXXXXXXXXX"`)); err != nil || v.Score != 0 {
		t.Errorf("no label: %v, %v, want a score of 0", v, err)
	}
}

func TestJudgeIdentity(t *testing.T) {
	up, fixed := judge(t, ""), judge(t, infinitebench.Fixed)
	a, errA := deem.JudgeHash(up)
	b, errB := deem.JudgeHash(fixed)
	if errA != nil || errB != nil || a == b {
		t.Errorf("hashes %s and %s, errors %v and %v: want two different ones", a, b, errA, errB)
	}
	if other, err := deem.JudgeHash(up.(*benchmark.Rule).Reread()); err != nil || other != b {
		t.Errorf("Reread of upstream has the hash %s, want %s", other, b)
	}
	if up.Name() != "infinitebench" {
		t.Errorf("Name = %q", up.Name())
	}
	if _, err := infinitebench.Judge("strict"); err == nil || !strings.Contains(deem.HintOf(err), "fixed") {
		t.Errorf("reading strict: error %v with hint %q, want one that names fixed", err, deem.HintOf(err))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := up.Judge(ctx, item("passkey", "7", `"7"`)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want context.Canceled", err)
	}
}

// FuzzJudge checks that any label and response give a score from 0 to 1 or a failure, and
// the same result twice.
func FuzzJudge(f *testing.F) {
	f.Add("code_debug", "The answer is A", `["f","A"]`, "f", "gpt4")
	f.Add("longbook_choice_eng", "B\n\nQuestion: is C", `["x","B"]`, "B", "")
	f.Add("math_calc", "1 -2 3.5", `[[1,-2]]`, "", "gpt4")
	f.Add("math_find", "1e9 ٣.٤", `1.5`, "1e9", "")
	f.Add("code_run", "f(3) is -4.", `-4`, "-4", "")
	f.Add("longbook_qa_chn", "有两人叫阿四。", `["2"]`, "2", "")
	f.Add("longbook_sum_eng", "a\n\nb", `"a"`, "a", "")
	f.Add("longdialogue_qa_eng", "ﬁ ß", `[1]`, "SS", "")
	f.Fuzz(func(t *testing.T, task, response, label, reference, system string) {
		if !utf8.ValidString(response) || len(response) > 2000 {
			return
		}
		it := item(task, response, label, reference)
		it.Fields["model"] = system
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
				t.Errorf("%s of %s %q against %s: %+v, and again %+v", reading, task, response, label, v, again)
			}
		}
	})
}
