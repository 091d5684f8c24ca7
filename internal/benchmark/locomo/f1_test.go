package locomo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/benchmark/locomo"
	pytext "deem/internal/text"
)

func newF1(tb testing.TB, reading string, p locomo.Policy) *locomo.F1 {
	tb.Helper()
	j, err := locomo.NewF1(reading, p)
	if err != nil {
		tb.Fatal(err)
	}
	return j
}

// lines reads a JSONL file. It skips the test if the file is missing and not part of the
// repository.
func lines[T any](t *testing.T, file string) []T {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && strings.HasPrefix(file, shared) {
		t.Skipf("the published vectors are not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []T
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	for dec.More() {
		var x T
		if err := dec.Decode(&x); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		list = append(list, x)
	}
	return list
}

// A vector is a real answer with the score of upstream's program.
type vector struct {
	System, Question, Prediction string
	Answer                       any
	Category                     json.Number
	F1                           float64
}

// TestPublishedF1 compares the score of every real answer with upstream's program, row by
// row, and the totals with the output of its script.
func TestPublishedF1(t *testing.T) {
	vectors := map[string][]vector{}
	for _, v := range lines[vector](t, filepath.Join(shared, "vectors/locomo_f1.jsonl")) {
		vectors[v.System] = append(vectors[v.System], v)
	}
	totals := map[string]string{
		"fc-gpt-4o-mini-memos": "4 841 514.8830000000003 0.612\n1 282 106.74200000000008 0.379\n2 321 153.31200000000004 0.478\n3 96 29.561000000000003 0.308\nOverall accuracy:  0.522\n",
		"fc-gpt-4o-mini-cot":   "4 841 202.43299999999996 0.241\n1 282 72.19899999999997 0.256\n2 321 67.54700000000007 0.21\n3 96 10.385 0.108\nOverall accuracy:  0.229\n",
	}
	for system, file := range map[string]string{
		"fc-gpt-4o-mini-memos": "data/locomo_audit/fc-baseline/results/gpt-4o-mini-memos/eval_results.json",
		"fc-gpt-4o-mini-cot":   "data/locomo_audit/fc-baseline/results/gpt-4o-mini-cot/eval_results.json",
	} {
		path := sharedFile(t, file)
		m := locomo.NewMetrics("", "")
		got := judged(t, open(t, locomo.Options{Responses: []string{path}}), newF1(t, "", ""))
		if len(got) != len(vectors[system]) || len(got) != 1540 {
			t.Fatalf("%s: %d records and %d vectors, want 1540", system, len(got), len(vectors[system]))
		}
		for i, v := range vectors[system] {
			rec := got[i]
			if rec.Item.Question != v.Question || rec.Item.Response != v.Prediction || rec.Item.Category != v.Category.String() {
				t.Fatalf("%s: item %d is %q, want %q", system, i, rec.Item.Question, v.Question)
			}
			if rec.Verdict == nil || rec.Verdict.Score != v.F1 {
				t.Errorf("%s: %s: verdict %+v, want score %v", system, rec.Item.ID, rec.Verdict, v.F1)
			}
			m.Add(rec)
		}
		want := "Total number of questions and corresponding accuracy in each category: \n" + totals[system]
		if m.Upstream() != want {
			t.Errorf("%s: upstream's lines\n%s\nwant\n%s", system, m.Upstream(), want)
		}
	}
}

// A goldenCase is an input of upstream's program with its output.
type goldenCase struct {
	Case  string
	Input struct {
		Category   json.Number
		Prediction string
		Answer     any
		Evidence   []string
		Context    []string `json:"prediction_context"`
	}
	Expected struct {
		Score, Recall float64
		Error         string
	}
}

func (c goldenCase) item() deem.Item {
	it := deem.Item{ID: c.Case, Category: c.Input.Category.String(), Response: c.Input.Prediction, Fields: map[string]string{}}
	if c.Input.Answer != nil {
		it.References = []string{pytext.Str(c.Input.Answer)}
	}
	if c.Input.Evidence != nil {
		it.Fields[locomo.EvidenceField] = list(c.Input.Evidence)
	}
	if c.Input.Context != nil {
		it.Fields[locomo.ContextField] = list(c.Input.Context)
	}
	return it
}

func list(ids []string) string {
	b, _ := json.Marshal(ids)
	return string(b)
}

// TestGolden compares with upstream's eval_question_answering, including the recall.
func TestGolden(t *testing.T) {
	j := newF1(t, locomo.Upstream, locomo.Phrases)
	for name, file := range map[string]string{
		"ours":    "testdata/eval_qa.jsonl",
		"open":    filepath.Join(shared, "golden/open/locomo_eval_qa.jsonl"),
		"open-nc": filepath.Join(shared, "golden/open-nc/locomo_eval_qa.jsonl"),
	} {
		t.Run(name, func(t *testing.T) {
			cases := lines[goldenCase](t, file)
			for _, c := range cases {
				checkGolden(t, j, c)
			}
			if len(cases) == 0 {
				t.Errorf("%s has no cases", file)
			}
		})
	}
}

func checkGolden(t *testing.T, j deem.Judge, c goldenCase) {
	t.Helper()
	it := c.item()
	v, err := j.Judge(t.Context(), it)
	switch {
	case c.Expected.Error == "KeyError" && it.Category == locomo.Adversarial:
		// Upstream stops because of a missing answer that its own rule does not
		// need.
		if err != nil || len(it.References) > 0 {
			t.Errorf("%s: verdict %+v, error %v, want one by the phrases", c.Case, v, err)
		}
	case c.Expected.Error != "":
		if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != deem.Input {
			t.Errorf("%s: verdict %+v, error %v, want a failure where upstream raises %s", c.Case, v, err, c.Expected.Error)
		}
	case err != nil || math.Abs(v.Score-c.Expected.Score) > 1e-15:
		t.Errorf("%s: score %v, error %v, want %v", c.Case, v.Score, err, c.Expected.Score)
	case c.Input.Context != nil && v.Aspects[locomo.RecallAspect] != c.Expected.Recall:
		t.Errorf("%s: recall %v, want %v", c.Case, v.Aspects[locomo.RecallAspect], c.Expected.Recall)
	case c.Input.Context == nil && v.Aspects != nil:
		t.Errorf("%s: aspects %v of an item that does not say what was retrieved", c.Case, v.Aspects)
	}
}

func TestReadings(t *testing.T) {
	tests := []struct {
		category, response, reference string
		upstream, fixed               float64
	}{
		{"1", "Bornholm, Rügen", "Rügen, Bornholm", 1, 1},
		{"1", "Rügen", "Rügen,", 0.5, 1},
		{"1", "Rügen", "Rügen, , ,", 0.25, 1},
		{"1", ",", ",", 0, 0},
		{"1", "", "Rügen", 0, 0},
		{"1", "1,000", "1,000", 1, 1},
		{"1", "1000", "1,000", 0, 1},
		{"1", "2,000,000 and more", "2,000,000", 1, 2.0 / 3},
		{"1", "May 7, 2023", "7 May 2023", 0.8, 1},
		{"1", "in June, 2023, with Anil", "Anil, 2023", (2.0/3 + 1) / 2, (2.0/3 + 0.5) / 2},
		{"1", "1, 2, 3", "1, 2, 3", 1, 1},
		{"2", "May 7, 2023", "7 May 2023", 1, 1},
		{"2", "2022", "2022", 1, 1},
		{"3", "yes", "Yes; because of this", 1, 1},
		{"4", "yes", "Yes; because of this", 0.4, 0.4},
		{"4", "the gardens", "A garden and", 1, 1},
		{"4", "", "", 0, 0},
	}
	for _, tt := range tests {
		it := deem.Item{Category: tt.category, Response: tt.response, References: []string{tt.reference}}
		for reading, want := range map[string]float64{locomo.Upstream: tt.upstream, locomo.Fixed: tt.fixed} {
			v, err := newF1(t, reading, "").Judge(t.Context(), it)
			if err != nil || math.Abs(v.Score-want) > 1e-12 {
				t.Errorf("%s: category %s, %q for %q: score %v, error %v, want %v", reading, tt.category, tt.response, tt.reference, v.Score, err, want)
			}
		}
	}
}

func TestCategory5(t *testing.T) {
	for response, want := range map[string]string{
		"No information available.":                 "abstains",
		"This is NOT MENTIONED in the conversation": "abstains",
		"not  mentioned":                            "answers",
		"I don't know":                              "answers",
		"":                                          "answers",
		"A dog, though it was not mentioned by name.": "abstains",
	} {
		it := deem.Item{Category: locomo.Adversarial, Response: response}
		v, err := newF1(t, "", locomo.Phrases).Judge(t.Context(), it)
		if err != nil || v.Label != want || (v.Score == 1) != (want == "abstains") {
			t.Errorf("%q: verdict %+v, error %v, want %s", response, v, err, want)
		}
		if _, err := newF1(t, "", locomo.Excluded).Judge(t.Context(), it); !isInput(err) {
			t.Errorf("%q: error %v under the policy %q, want a failure", response, err, locomo.Excluded)
		}
	}
}

func isInput(err error) bool {
	f, ok := errors.AsType[*deem.Failure](err)
	return ok && f.Kind == deem.Input
}

func TestRecall(t *testing.T) {
	tests := []struct {
		evidence, context string // as in the fields
		upstream, fixed   float64
	}{
		{`["D1:1"]`, "", -1, -1},
		{`["D1:1","D2:3"]`, `["D2:3"]`, 0.5, 0.5},
		{`["D1:1","D2:3"]`, `["S1","S3"]`, 0.5, 0.5},
		{`["D2:1; D2:2"]`, `["D2:1"]`, 0, 0.5},
		{`["D:11:26"]`, `["D11:26"]`, 0, 1},
		{`["D"]`, `["D11:26"]`, 0, -1},
		{``, `["D11:26"]`, 1, -1},
		{`["D1:1"]`, `[]`, 0, 0},
		{`["D1:1"]`, `null`, -1, -1},
		{`["D1:1"]`, `no list`, -1, -1},
	}
	for _, tt := range tests {
		it := deem.Item{Category: "4", Response: "x", References: []string{"x"}, Fields: map[string]string{}}
		if tt.evidence != "" {
			it.Fields[locomo.EvidenceField] = tt.evidence
		}
		if tt.context != "" {
			it.Fields[locomo.ContextField] = tt.context
		}
		for reading, want := range map[string]float64{locomo.Upstream: tt.upstream, locomo.Fixed: tt.fixed} {
			v, err := newF1(t, reading, "").Judge(t.Context(), it)
			got, ok := v.Aspects[locomo.RecallAspect]
			if !ok {
				got = -1
			}
			if err != nil || got != want {
				t.Errorf("%s: evidence %s in %s: recall %v, error %v, want %v", reading, tt.evidence, tt.context, got, err, want)
			}
		}
	}
}

func TestF1Refuses(t *testing.T) {
	for _, it := range []deem.Item{
		{Category: "6", Response: "a", References: []string{"a"}},
		{Category: "multi-hop", Response: "a", References: []string{"a"}},
		{Response: "a", References: []string{"a"}},
		{Category: "4", Response: "a"},
	} {
		if v, err := newF1(t, "", locomo.Phrases).Judge(t.Context(), it); !isInput(err) {
			t.Errorf("%+v: verdict %+v, error %v, want a failure of kind input", it, v, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newF1(t, "", "").Judge(ctx, deem.Item{Category: "4"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the context is done, want that of the context", err)
	}
	for _, tt := range []struct {
		reading string
		policy  locomo.Policy
		want    string
	}{
		{"strict", "", `judge locomo/f1 has no reading "strict"; it has upstream, fixed`},
		{"", "all", `no policy "all" for category 5; there are excluded, phrases, abstention`},
		{"", locomo.Abstention, `judge locomo/f1 is a rule, and the policy "abstention" for category 5 asks a model`},
	} {
		if _, err := locomo.NewF1(tt.reading, tt.policy); err == nil || err.Error() != tt.want {
			t.Errorf("NewF1(%q, %q): error %v, want %s", tt.reading, tt.policy, err, tt.want)
		}
	}
}

// TestIdentities checks that every judge of the benchmark has its own hash: readings and
// policies are part of a judge.
func TestIdentities(t *testing.T) {
	seen := map[string]string{}
	add := func(name string, identity any) {
		t.Helper()
		hash, err := deem.Hash(identity)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[hash]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[hash] = name
	}
	for _, reading := range locomo.Readings() {
		for _, p := range []locomo.Policy{locomo.Excluded, locomo.Phrases} {
			add(fmt.Sprint(reading, " ", p), newF1(t, reading, p).Identity())
		}
	}
	for _, name := range []string{locomo.StrictName, locomo.LenientName} {
		for _, p := range locomo.Policies() {
			q, err := locomo.Protocol(name, "", p)
			if err != nil {
				t.Fatal(err)
			}
			add(fmt.Sprint(name, " ", p), q.Spec())
		}
	}
}

// TestF1Laws checks properties that hold for any texts.
func TestF1Laws(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{1,6}|[0-9]{1,4}|,|;|May 7, 2023|the`)
	rapid.Check(t, func(t *rapid.T) {
		a := strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "response"), " ")
		b := strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "reference"), " ")
		category := strconv.Itoa(rapid.IntRange(1, 4).Draw(t, "category"))
		reading := rapid.SampledFrom(locomo.Readings()).Draw(t, "reading")
		j, err := locomo.NewF1(reading, "")
		if err != nil {
			t.Fatal(err)
		}
		score := func(response string, references ...string) float64 {
			v, err := j.Judge(context.Background(), deem.Item{Category: category, Response: response, References: references})
			if err != nil || v.Score < 0 || v.Score > 1+1e-12 {
				t.Fatalf("%q for %q: verdict %+v, error %v", response, references, v, err)
			}
			return v.Score
		}
		if s, shouted := score(a, b), score(strings.ToUpper(a), b); s != shouted {
			t.Errorf("%q for %q: score %v, and %v in upper case", a, b, s, shouted)
		}
		if s, both := score(a, b), score(a, b, a); both < s {
			t.Errorf("%q for %q: score %v, and %v with a second reference", a, b, s, both)
		}
	})
}
