package rule_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"os"
	"path"
	"strings"
	"testing"

	"deem"
	"deem/internal/evidence"
	"deem/judge/match"
	"deem/judge/rule"
)

func TestNames(t *testing.T) {
	hashes := map[string]string{}
	for _, name := range rule.Names() {
		j, ok := rule.Named(name)
		if !ok || j.Name() != name {
			t.Errorf("Named(%q) = %v, %t", name, j, ok)
			continue
		}
		if rule.Doc(name) == "" || strings.Contains(rule.Doc(name), "\n") {
			t.Errorf("Doc(%q) = %q, want one line", name, rule.Doc(name))
		}
		h, err := deem.JudgeHash(j)
		if err != nil {
			t.Fatal(err)
		}
		if other, seen := hashes[h]; seen {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		hashes[h] = name
	}
	if j, ok := rule.Named("nonesuch"); ok || j != nil {
		t.Errorf("Named(nonesuch) = %v, %t, want nil, false", j, ok)
	}
	if doc := rule.Doc("nonesuch"); doc != "" {
		t.Errorf("Doc(nonesuch) = %q, want none", doc)
	}
}

func TestIdentity(t *testing.T) {
	for _, tt := range []struct {
		judge deem.Judge
		want  string
	}{
		{rule.Exact(), `{"kind":"rule","name":"exact","version":1}`},
		{match.New(), `{"kind":"rule","name":"match","options":{"calibration_error":"0.09","model":"` + evidence.Default().Hash() + `"},"version":8}`},
		{withPass(t, ruleNamed("f1"), .5), `{"kind":"rule","name":"f1","pass":0.5,"version":1}`},
	} {
		id, ok := tt.judge.(deem.Identified)
		if !ok {
			t.Fatalf("%s does not say what it is", tt.judge.Name())
		}
		got, err := deem.Canonical(id.Identity())
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tt.want {
			t.Errorf("identity of %s = %s, want %s", tt.judge.Name(), got, tt.want)
		}
	}
}

func withPass(t *testing.T, j deem.Judge, mark float64) deem.Judge {
	t.Helper()
	with, err := rule.WithPass(j, mark)
	if err != nil {
		t.Fatal(err)
	}
	return with
}

func TestWithPass(t *testing.T) {
	j := withPass(t, ruleNamed("f1"), .5)
	for response, want := range map[string]bool{"Paris": true, "Paris in France today": false} {
		v, err := j.Judge(t.Context(), deem.Item{References: []string{"Paris"}, Response: response})
		if err != nil || v.Pass == nil || *v.Pass != want {
			t.Errorf("pass of %q = %v, %v, want %t", response, v.Pass, err, want)
		}
	}
	for _, mark := range []float64{-.1, 1.1, math.NaN(), math.Inf(1)} {
		if _, err := rule.WithPass(ruleNamed("f1"), mark); err == nil {
			t.Errorf("WithPass(f1, %v) has no error", mark)
		}
	}
	_, err := rule.WithPass(rule.Exact(), .5)
	if err == nil || deem.HintOf(err) == "" {
		t.Errorf("WithPass(exact) = %v with hint %q, want an error and a hint", err, deem.HintOf(err))
	}
}

// every yields the rules of this package and of package match, by name.
func every() iter.Seq2[string, deem.Judge] {
	return func(yield func(string, deem.Judge) bool) {
		rules := []deem.Judge{match.New(), match.Forced()}
		for _, name := range rule.Names() {
			rules = append(rules, ruleNamed(name))
		}
		for _, j := range rules {
			if !yield(j.Name(), j) {
				return
			}
		}
	}
}

func TestUnjudged(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, j := range every() {
		_, err := j.Judge(t.Context(), deem.Item{Response: "Paris"})
		f, ok := errors.AsType[*deem.Failure](err)
		if !ok || *f != (deem.Failure{Kind: deem.Input, Detail: "no reference to compare with"}) {
			t.Errorf("%s without references: %v", name, err)
		}
		if _, err := j.Judge(done, deem.Item{References: []string{"a"}}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s in a done context: %v", name, err)
		}
	}
}

func TestLiteral(t *testing.T) {
	for _, tt := range []struct {
		judge               deem.Judge
		reference, response string
		label               string
		score               float64
	}{
		{rule.Exact(), "Paris", " Paris\n", "match", 1},
		{rule.Exact(), "Paris", "paris", "differ", 0},
		{rule.Exact(), "Paris", "", "differ", 0},
		{rule.Exact(), "", "\u2003", "match", 1},
		{ruleNamed("exact/squad"), "The Paris!", "paris", "match", 1},
		{ruleNamed("exact/squad"), "Paris", "Paris France", "differ", 0},
		{rule.Contains(), "the cat", "I saw a Cat.", "contained", 1},
		{rule.Contains(), "cat", "concatenate", "missing", 0},
		{rule.Contains(), "New York", "York, New", "missing", 0},
		{rule.Contains(), "北京", "首都是北京。", "contained", 1},
		{rule.Contains(), "the", "anything", "missing", 0},
		{rule.Contains(), "the", "", "contained", 1},
		{ruleNamed("f1"), "Paris", "Paris", "full", 1},
		{ruleNamed("f1"), "Paris", "London", "none", 0},
		{ruleNamed("f1"), "Paris", "", "none", 0},
		{ruleNamed("f1"), "big red dog", "red dog", "partial", .8},
	} {
		v, err := tt.judge.Judge(t.Context(), deem.Item{References: []string{"zzz", tt.reference}, Response: tt.response})
		if err != nil || v.Label != tt.label || math.Abs(v.Score-tt.score) > 1e-12 {
			t.Errorf("%s(%q, %q) = %s %v, %v, want %s %v", tt.judge.Name(), tt.reference, tt.response, v.Label, v.Score, err, tt.label, tt.score)
		}
	}
}

func TestTokenF1Aspects(t *testing.T) {
	v, err := ruleNamed("f1").Judge(t.Context(), deem.Item{References: []string{"nothing", "big red dog"}, Response: "red dog"})
	if err != nil {
		t.Fatal(err)
	}
	if p, r := v.Aspects["precision"], v.Aspects["recall"]; p != 1 || r != 2./3 {
		t.Errorf("precision, recall = %v, %v, want 1, 2/3", p, r)
	}
}

// A goldenRow is one case computed by the original scoring program.
type goldenRow struct {
	Case  string
	Input struct {
		Prediction   string
		GroundTruths []string `json:"ground_truths"`
		GoldAnswers  []string `json:"gold_answers"`
	}
	Expected struct {
		ExactMatch *float64 `json:"exact_match"`
		Exact      *float64 `json:"exact"`
		F1         float64  `json:"f1"`
	}
}

func readGolden(t *testing.T, name string) []goldenRow {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		if strings.HasPrefix(name, "../") {
			t.Skipf("the published vectors are not here: %v", err)
		}
		t.Fatal(err)
	}
	defer f.Close()
	var rows []goldenRow
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		var row goldenRow
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatalf("%s:%d: %v", name, len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	if err := sc.Err(); err != nil || len(rows) == 0 {
		t.Fatalf("%s: %d cases, %v", name, len(rows), err)
	}
	return rows
}

func TestSQuADGolden(t *testing.T) {
	for _, dir := range []string{"testdata", "../../../shared/golden/open", "../../../shared/golden/open-nc"} {
		t.Run(path.Base(dir), func(t *testing.T) {
			for _, row := range readGolden(t, dir+"/squad_v11_em_f1.jsonl") {
				it := deem.Item{References: row.Input.GroundTruths, Response: row.Input.Prediction}
				checkScore(t, row.Case, ruleNamed("f1"), it, row.Expected.F1)
				checkScore(t, row.Case, ruleNamed("exact/squad"), it, *row.Expected.ExactMatch)
			}
		})
	}
}

func checkScore(t *testing.T, name string, j deem.Judge, it deem.Item, want float64) {
	t.Helper()
	if len(it.References) == 0 {
		return // the original accepts an empty list; here such an item is unjudged
	}
	v, err := j.Judge(t.Context(), it)
	if err != nil || v.Score != want {
		t.Errorf("%s: %s of %q = %v, %v, want %v", name, j.Name(), it.Response, v.Score, err, want)
	}
}

// validVerdict describes what is wrong with a verdict of a rule, or returns "".
func validVerdict(v deem.Verdict, err error) string {
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		if f.Kind != deem.Unsure && f.Kind != deem.Input || f.Detail == "" {
			return "failure " + f.Error()
		}
		return ""
	}
	switch {
	case err != nil:
		return "error " + err.Error()
	case v.Label == "":
		return "no label"
	case !(v.Score >= 0 && v.Score <= 1):
		return "score out of range"
	case v.Confidence != nil && !(*v.Confidence >= .5 && *v.Confidence <= 1):
		return "confidence out of range"
	case (v.Label == match.Correct) != (v.Score == 1) && v.Confidence != nil:
		return "label and score disagree"
	}
	return ""
}

func FuzzRules(f *testing.F) {
	pairs, err := os.ReadFile("../match/testdata/match.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(pairs)) {
		if parts := strings.Split(line, "|"); len(parts) >= 3 {
			f.Add(parts[0], parts[1], parts[2])
		}
	}
	f.Add("", "", "")
	f.Add("a or b", "\xff", "1,2,3,,4/5/6:7 -8")
	f.Fuzz(func(t *testing.T, question, reference, response string) {
		it := deem.Item{Question: question, References: []string{reference}, Response: response}
		for name, j := range every() {
			if rule.NeedsEmbedder(name) {
				continue // the missing part is an error, which its own tests check
			}
			v, err := j.Judge(t.Context(), it)
			if bad := validVerdict(v, err); bad != "" {
				t.Errorf("%s: %s", name, bad)
			}
			again, errAgain := j.Judge(t.Context(), it)
			if v.Label != again.Label || v.Score != again.Score || v.Reason != again.Reason || (err == nil) != (errAgain == nil) {
				t.Errorf("%s: %v, then %v", name, v, again)
			}
		}
	})
}

// ruleNamed returns the named rule.
func ruleNamed(name string) deem.Judge {
	j, ok := rule.Named(name)
	if !ok {
		panic("no rule " + name)
	}
	return j
}
