package metric_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"deem/internal/text/metric"

	"pgregory.net/rapid"
)

// scores are the metrics that accept any two texts and return a score from 0 to 1.
var scores = map[string]func(response, reference string) float64{
	"F1":                 func(a, b string) float64 { return metric.F1(a, b).F1 },
	"F1Zh":               func(a, b string) float64 { return metric.F1Zh(a, b).F1 },
	"F1Chars":            func(a, b string) float64 { return metric.F1Chars(a, b).F1 },
	"ROUGE1":             func(a, b string) float64 { return metric.ROUGEN(a, b, 1, false).F1 },
	"ROUGE2":             func(a, b string) float64 { return metric.ROUGEN(a, b, 2, true).F1 },
	"ROUGEL":             func(a, b string) float64 { return metric.ROUGEL(a, b, false).F1 },
	"ROUGELsum":          func(a, b string) float64 { return metric.ROUGELsum(a, b, true).F1 },
	"LongBenchROUGE":     func(a, b string) float64 { return metric.LongBenchROUGE(a, b, false) },
	"LongBenchROUGEZh":   func(a, b string) float64 { return metric.LongBenchROUGEZh(a, b, true) },
	"BLEU":               func(a, b string) float64 { return metric.BLEU(a, []string{b}) / 100 },
	"Count":              metric.Count,
	"CodeSimDifflib":     metric.CodeSimDifflib,
	"CodeSimLevenshtein": metric.CodeSimLevenshtein,
	"LoCoMoF1":           metric.LoCoMoF1,
	"LoCoMoF1Multi":      metric.LoCoMoF1Multi,
}

// TestScores checks the metrics on one pair against results computed by hand.
func TestScores(t *testing.T) {
	const response, reference = "The cat sat on the mats.", "A cat was sitting on the mat"
	for name, want := range map[string]float64{
		"F1":             4. / 9,      // cat sat on mats, cat was sitting on mat
		"ROUGE1":         6. / 13,     // cat, on, the
		"ROUGE2":         4. / 11,     // on the, the mat
		"ROUGEL":         6. / 13,     // cat on the
		"ROUGELsum":      8. / 13,     // and mat
		"LoCoMoF1":       2. / 3,      // cat on mat
		"CodeSimDifflib": .69,         // in whole percent
		"LongBenchROUGE": 6. / 13,     // cat on the
		"Count":          0,           // no number
		"F1Chars":        .8,          // 16 characters in common
		"LoCoMoF1Multi":  2. / 3,      // one part each
		"F1Zh":           2 * 3. / 13, // every space is a word, but none is left
	} {
		if got := scores[name](response, reference); math.Abs(got-want) > 1e-8 {
			t.Errorf("%s(%q, %q) = %v, want %v", name, response, reference, got, want)
		}
	}
}

func TestLoCoMo(t *testing.T) {
	for _, tt := range []struct {
		category            int
		response, reference string
		want                float64
	}{
		{1, "red, blue", "blue, green", .5},
		{1, "red", "", 0},
		{2, "7 May 2023", "May 7, 2023", 1},
		{3, "Yes", "Yes; she said so", 1},
		{4, "running", "she runs", 2. / 3},
		{5, "That was NOT mentioned.", "", 1},
		{5, "No information available", "x", 1},
		{5, "I do not know", "x", 0},
	} {
		got, err := metric.LoCoMo(tt.category, tt.response, tt.reference)
		if err != nil || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("LoCoMo(%d, %q, %q) = %v, %v, want %v", tt.category, tt.response, tt.reference, got, err, tt.want)
		}
	}
	if _, err := metric.LoCoMo(6, "", ""); err == nil {
		t.Error("LoCoMo(6) has no error")
	}
}

func TestLoCoMoRecall(t *testing.T) {
	for _, tt := range []struct {
		evidence, context string
		want              float64
	}{
		{"D1:2 D3:4", "D3:4 D9:9", .5},
		{"D1:2 D3:4", "S3 S9", .5},
		{"D1:2", "S10", 0},
		{"", "D1:2", 1},
		{"D1:2", "", 0},
	} {
		context := strings.Fields(tt.context)
		if got := metric.LoCoMoRecall(strings.Fields(tt.evidence), context); got != tt.want {
			t.Errorf("LoCoMoRecall(%q, %q) = %v, want %v", tt.evidence, tt.context, got, tt.want)
		}
	}
	if got := metric.LoCoMoRecall([]string{"D1:2"}, nil); got != 1 {
		t.Errorf("LoCoMoRecall without a context = %v, want 1", got)
	}
}

// Upstream removes classes from the list while iterating over it, so it skips the class
// after each removed one.
func TestClassificationSkips(t *testing.T) {
	classes := []string{"art", "part", "party", "other"}
	// art is removed, part is skipped, party stays: two classes are left.
	if got := metric.Classification("a party", "party", classes); got != .5 {
		t.Errorf("Classification = %v, want 0.5", got)
	}
	if got := metric.Classification("a part", "party", classes); got != 0 {
		t.Errorf("Classification without the class = %v, want 0", got)
	}
}

func TestLongBenchROUGEEndsWherePythonDoes(t *testing.T) {
	long := strings.Repeat("a b c d e f g h i j ", 60)
	for _, tt := range []struct {
		response, reference string
		upstream            bool
		want                float64
	}{
		{long + "x", "y " + long, false, .909090904},
		{long + "x", "y " + long, true, .909090904},
		{long + long + "x", "y " + long + long, false, .909090904},
		{long + long + "x", "y " + long + long, true, 0},
	} {
		if got := metric.LongBenchROUGE(tt.response, tt.reference, tt.upstream); math.Abs(got-tt.want) > 1e-8 {
			t.Errorf("LongBenchROUGE(%d bytes, upstream %v) = %v, want %v", len(tt.response), tt.upstream, got, tt.want)
		}
	}
}

func TestCodeSimDependsOnWhatIsInstalled(t *testing.T) {
	// The longest block of difflib is not part of the longest common subsequence.
	if d, l := metric.CodeSimDifflib("aba", "bca"), metric.CodeSimLevenshtein("aba", "bca"); d != .33 || l != .67 {
		t.Errorf("difflib %v and Levenshtein %v, want 0.33 and 0.67", d, l)
	}
}

func TestInfiniteBench(t *testing.T) {
	for _, tt := range []struct {
		task, response, label string
		want                  float64
	}{
		{"passkey", "The key is 12345.", `"12345"`, 1},
		{"passkey", "1 2345", `["2345"]`, 0},
		{"kv_retrieval", `{"a": "xyz"}`, `"xyz"`, 1},
		{"kv_retrieval", "xyz", `["xyz"]`, 0},
		{"code_run", "so it is `+1_0`", "10", 1},
		{"code_run", "4.0", "4", 0},
		{"code_run", "99999999999999999999", "99999999999999999999", 1},
		{"code_run", "4", `"4"`, 0},
		{"code_debug", "B. f", `["f", "B"]`, 1},
		{"code_debug", "I think the answer is: f", `["f", "B"]`, 1},
		{"code_debug", "The answer is:", `["f", "B"]`, 0},
		{"math_find", "about ３.5", "3.5", 1},
		{"math_find", "88", "88.0", 1},
		{"math_calc", "[1, -2, 3", "[1, 2, 4, 5]", .5},
		{"longdialogue_qa_eng", "It was bob.", `["BOB", "ROB"]`, 1},
		{"longbook_choice_eng", "A", `["text", "A"]`, 1},
		{"longbook_choice_eng", "it is AB", `["text", "A"]`, 0},
		{"longbook_choice_eng", "the answer is C", `["text", "C"]`, 1},
		{"longbook_qa_eng", "Paris", `["Rome", "paris"]`, 1},
		{"longbook_qa_chn", "有两人叫阿四。", `["2", "两个", "二"]`, .25},
		{"longbook_sum_eng", "one two", `"one two"`, 1},
	} {
		got, err := metric.InfiniteBench(tt.task, tt.response, decode(t, tt.label), "")
		if err != nil || got != tt.want {
			t.Errorf("InfiniteBench(%s, %q, %s) = %v, %v, want %v", tt.task, tt.response, tt.label, got, err, tt.want)
		}
	}
	if got, err := metric.InfiniteBench("math_calc", "9 1 2", decode(t, "[1, 2]"), "gpt4"); err != nil || got != 1 {
		t.Errorf("math_calc of gpt4 = %v, %v, want 1", got, err)
	}
	for _, tt := range []struct{ task, response, label string }{
		{"nonesuch", "", `""`},
		{"passkey", "1", "[]"},
		{"code_debug", "A", `["f"]`},
		{"math_find", "3.5", "3"},
		{"math_find", "3", `"3"`},
		{"math_calc", "3", "3"},
		{"math_calc", strings.Repeat("9", 5000), "[3]"},
		{"longbook_qa_eng", "3", "3"},
		{"longbook_qa_chn", "3", "[3]"},
		{"longdialogue_qa_eng", "3", "null"},
	} {
		if got, err := metric.InfiniteBench(tt.task, tt.response, decode(t, tt.label), ""); err == nil {
			t.Errorf("InfiniteBench(%s, %.10q, %s) = %v, want an error", tt.task, tt.response, tt.label, got)
		}
	}
}

func decode(t testing.TB, s string) any {
	t.Helper()
	var v any
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRetrievalError(t *testing.T) {
	if _, err := metric.Retrieval("1", "Paragraph one"); err == nil {
		t.Error("a reference without a number of a paragraph is no error")
	}
}

func TestBLEU(t *testing.T) {
	for _, tt := range []struct {
		response   string
		references []string
		want       float64
	}{
		{"a b c d", []string{"a b c d"}, 100},
		{"a b", []string{"a b"}, 100}, // orders for which the response is too short do not count
		{"x y", []string{"a b"}, 0},
		{"", []string{"a"}, 0},
		{"a", nil, 0},
		{"a b", []string{"a b c d"}, 100 * math.Exp(-1)},
		{"a b c", []string{"a b c d", "a b"}, 100},                    // of two equally close lengths the shorter
		{"a c", []string{"a b"}, 100 * math.Sqrt(1./2*1./2)},          // a missing order counts half of one match
		{"a x c", []string{"a b c"}, 100 * math.Cbrt(2./3*1./4*1./4)}, // and the next a quarter
	} {
		if got := metric.BLEU(tt.response, tt.references); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("BLEU(%q, %q) = %v, want %v", tt.response, tt.references, got, tt.want)
		}
	}
}

// TestScoreProperties checks what must be true of any two texts.
func TestScoreProperties(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"the", "cat", "cats", " ", "\n", ".", ",", "12", "1.5", "中文", "模型", "é", "\u3000", "\xff", "_", "and", "x",
	})
	document := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := document.Draw(t, "response"), document.Draw(t, "reference")
		for name, f := range scores {
			if s := f(a, b); !(s >= 0 && s <= 1+1e-12) {
				t.Fatalf("%s(%q, %q) = %v, want 0 to 1", name, a, b, s)
			}
			if s := f(a, a); s != 0 && s < .999999 && name != "Count" && name != "BLEU" && !strings.HasPrefix(name, "CodeSim") && name != "LoCoMoF1Multi" {
				t.Fatalf("%s(%q) with itself = %v, want 0 or 1", name, a, s)
			}
		}
		if x, y := metric.ROUGEL(a, b, false), metric.ROUGEL(b, a, false); x.Precision != y.Recall {
			t.Fatalf("ROUGEL(%q, %q) is not symmetric: %v, %v", a, b, x, y)
		}
	})
}

func FuzzScores(f *testing.F) {
	f.Add("", "", "[]")
	f.Add("The answer is: B.", "Paragraph 3", `["f", "B"]`)
	f.Add("段落3。\xff", "段落３", `[[1, 2.5], "x"]`)
	f.Add("1 22 ３.5", "x;y,z", `3.5`)
	f.Fuzz(func(t *testing.T, response, reference, label string) {
		for name, score := range scores {
			if s := score(response, reference); !(s >= 0 && s <= 1+1e-12) {
				t.Errorf("%s(%q, %q) = %v", name, response, reference, s)
			}
		}
		for category := range 7 {
			if s, err := metric.LoCoMo(category, response, reference); err == nil && !(s >= 0 && s <= 1) {
				t.Errorf("LoCoMo(%d) = %v", category, s)
			}
		}
		if s, err := metric.Retrieval(response, reference); err == nil && !(s >= 0 && s <= 1) {
			t.Errorf("Retrieval = %v", s)
		}
		metric.Classification(response, reference, strings.Fields(label))
		if json.Valid([]byte(label)) {
			for _, task := range infiniteTasks {
				if s, err := metric.InfiniteBench(task, response, decode(t, label), "gpt4"); err == nil && !(s >= 0 && s <= 1) {
					t.Errorf("%s(%q, %s) = %v", task, response, label, s)
				}
			}
		}
	})
}

// words returns a text of n words and a few sentences and lines.
func words(n int) string {
	var b strings.Builder
	x := uint32(n)
	for i := range n {
		x = x*1664525 + 1013904223
		b.WriteString([]string{"w", "x", "y", "z"}[x>>30] + string(rune('a'+x>>16%26)) + string(rune('a'+x>>8%26)))
		switch {
		case i%397 == 396:
			b.WriteString(".\n")
		case i%23 == 22:
			b.WriteString(". ")
		default:
			b.WriteString(" ")
		}
	}
	return b.String()
}

// TestLongTexts limits the time for long texts, with and without lines.
func TestLongTexts(t *testing.T) {
	const limit = 10 * time.Second // much more than needed
	for name, n := range map[string]int{
		"ROUGEL": 10000, "ROUGELsum": 10000, "LongBenchROUGE": 3000,
		"F1": 3000, "ROUGE2": 3000, "BLEU": 3000, "LoCoMoF1": 3000,
	} {
		lines := words(n)
		for form, a := range map[string]string{"lines": lines, "one line": strings.NewReplacer("\n", " ", ".", "").Replace(lines)} {
			b := strings.ToUpper(a[:len(a)/2]) + a[:len(a)/2]
			start := time.Now()
			scores[name](a, b)
			took := time.Since(start)
			t.Logf("%s, %d words, %s: %v", name, n, form, took.Round(time.Millisecond))
			if took > limit {
				t.Errorf("%s, %d words, %s took %v, want less than %v", name, n, form, took, limit)
			}
		}
	}
}

func BenchmarkScores(b *testing.B) {
	response := "The committee decided on 7 May 2023 to move the office to Berlin, because rents had doubled.\n在北京大学读书。"
	reference := "In May 2023 the committee decided to move to Berlin since the rent had doubled.\n他在北京读大学。"
	for name, f := range scores {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f(response, reference)
			}
		})
	}
	for _, task := range infiniteTasks {
		label := decode(b, `["decided", "B"]`)
		switch task {
		case "math_find":
			label = decode(b, "7")
		case "math_calc":
			label = decode(b, "[7, 2023]")
		}
		b.Run("InfiniteBench/"+task, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := metric.InfiniteBench(task, response, label, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLong(b *testing.B) {
	x, y := words(10000), words(9999)
	for name, f := range scores {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f(x, y)
			}
		})
	}
}
