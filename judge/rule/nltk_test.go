package rule_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"testing"

	"deem"
	"deem/judge/rule"
)

func TestMem0(t *testing.T) {
	for _, tt := range []struct {
		name, response string
		references     []string
		label          string
		score          float64
	}{
		{"mem0/f1", "Paris, Paris, Paris!", []string{"london", "paris"}, "full", 1},
		{"mem0/f1", "it is Paris", []string{"Paris"}, "partial", .5},
		{"mem0/f1", "...", []string{"Paris"}, "none", 0},
		{"mem0/bleu1", "19 January 2023", []string{"19 January, 2023"}, "partial", math.Exp(-1. / 3)},
		{"mem0/bleu1", "PARIS", []string{"paris"}, "full", 1},
		{"mem0/bleu1", "", []string{"paris"}, "none", 0},
	} {
		j, _ := rule.Named(tt.name)
		v, err := j.Judge(t.Context(), deem.Item{References: tt.references, Response: tt.response})
		if err != nil || v.Label != tt.label || math.Abs(v.Score-tt.score) > 1e-12 || v.Aspects != nil {
			t.Errorf("%s(%q, %q) = %+v, %v, want %s %v", tt.name, tt.references, tt.response, v, err, tt.label, tt.score)
		}
	}
}

// TestMem0File recomputes the scores in a published file in Mem0's format, which is not
// part of the repository.
func TestMem0File(t *testing.T) {
	t.Parallel()
	const name = "../../../shared/data/locomo_memobase/derived.jsonl.gz"
	f, err := os.Open(name)
	if err != nil {
		t.Skipf("the published file is not here: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	f1, bleu, n := 0.0, 0.0, 0.0
	for sc := bufio.NewScanner(z); sc.Scan(); n++ {
		var row struct {
			Reference, Response string
			F1, BLEU1           float64
		}
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		it := deem.Item{References: []string{row.Reference}, Response: row.Response}
		f1 += checkPublished(t, ruleNamed("mem0/f1"), it, row.F1)
		bleu += checkPublished(t, ruleNamed("mem0/bleu1"), it, row.BLEU1)
	}
	t.Logf("%v items: F1 %.4f, BLEU-1 %.4f", n, f1/n, bleu/n)
	if math.Abs(f1/n-.4884) > 5e-5 || math.Abs(bleu/n-.3515) > 5e-5 {
		t.Errorf("F1 = %.4f, BLEU-1 = %.4f, want .4884 and .3515", f1/n, bleu/n)
	}
}

// checkPublished returns the score of a rule and checks that it equals the published one.
func checkPublished(t *testing.T, j deem.Judge, it deem.Item, want float64) float64 {
	t.Helper()
	v, err := j.Judge(t.Context(), it)
	if err != nil || math.Abs(v.Score-want) > 1e-12 {
		t.Errorf("%s(%q, %q) = %v, %v, want %v", j.Name(), it.References, it.Response, v.Score, err, want)
	}
	return v.Score
}
