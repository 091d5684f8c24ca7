package rule_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/text/metric"
	"deem/judge/rule"
)

// A thesaurus is a list of groups of synonyms.
type thesaurus [][]string

func (th thesaurus) Name() string { return "test:2" }

func (th thesaurus) Synonyms(word string) []string {
	list := []string{word}
	for _, group := range th {
		if slices.Contains(group, word) {
			list = append(list, group...)
		}
	}
	return list
}

var pets = thesaurus{{"dog", "hound"}, {"big", "larg"}} // Synonyms are looked up by stem.

func TestNLTK(t *testing.T) {
	for _, tt := range []struct {
		name, response string
		references     []string
		label          string
		score          float64
	}{
		// Four equal words, and a penalty of half of (1/4)³ for one run.
		{"meteor/stem", "The dogs ran home", []string{"the dogs ran home"}, "partial", 1 - .5/64},
		{"meteor/stem", "dogs", []string{"cats", "dog"}, "partial", .5},
		{"meteor/stem", "hound", []string{"dog"}, "none", 0},
		{"meteor/stem", "", []string{"dog"}, "none", 0},
		{"meteor", "hound", []string{"dog"}, "partial", .5},
		{"meteor", "A large dog", []string{"a big hound"}, "partial", 1 - .5/27},
		{"meteor", "cat", []string{"dog"}, "none", 0},
		{"bleu/nltk", "the cat sat on the mat", []string{"a dog", "the cat sat on the mat"}, "full", 1},
		{"bleu/nltk", "The cat sat on the mat", []string{"the cat sat on the mat"}, "partial", math.Sqrt(math.Sqrt(5. / 6 * 4 / 5 * 3 / 4 * 2 / 3))},
		{"bleu/nltk", "cat", []string{"dog"}, "none", 0},
		{"bleu/nltk", "", []string{"dog"}, "none", 0},
		{"mem0/f1", "Paris, Paris, Paris!", []string{"london", "paris"}, "full", 1},
		{"mem0/f1", "it is Paris", []string{"Paris"}, "partial", .5},
		{"mem0/f1", "...", []string{"Paris"}, "none", 0},
		{"mem0/bleu1", "19 January 2023", []string{"19 January, 2023"}, "partial", math.Exp(-1. / 3)},
		{"mem0/bleu1", "PARIS", []string{"paris"}, "full", 1},
		{"mem0/bleu1", "", []string{"paris"}, "none", 0},
	} {
		j, _ := rule.Named(tt.name)
		if rule.NeedsThesaurus(tt.name) {
			j = rule.METEOR(pets)
		}
		v, err := j.Judge(t.Context(), deem.Item{References: tt.references, Response: tt.response})
		if err != nil || v.Label != tt.label || math.Abs(v.Score-tt.score) > 1e-12 || v.Aspects != nil {
			t.Errorf("%s(%q, %q) = %+v, %v, want %s %v", tt.name, tt.references, tt.response, v, err, tt.label, tt.score)
		}
	}
}

func TestNeedsThesaurus(t *testing.T) {
	for _, name := range rule.Names() {
		if got, want := rule.NeedsThesaurus(name), name == "meteor"; got != want {
			t.Errorf("NeedsThesaurus(%q) = %t, want %t", name, got, want)
		}
	}
	if rule.NeedsThesaurus("nonesuch") {
		t.Error("NeedsThesaurus(nonesuch) = true")
	}
}

// TestMETEORWithoutThesaurus checks that a missing thesaurus ends the run with a hint.
func TestMETEORWithoutThesaurus(t *testing.T) {
	j, _ := rule.Named("meteor")
	_, err := j.Judge(t.Context(), deem.Item{References: []string{"a"}, Response: "a"})
	if _, isFailure := errors.AsType[*deem.Failure](err); err == nil || isFailure || !strings.Contains(deem.HintOf(err), "meteor/stem") {
		t.Errorf("error %v with hint %q, want one that ends the run and names meteor/stem", err, deem.HintOf(err))
	}
}

// TestMETEORIdentity checks that a different thesaurus or pass mark is a different judge.
func TestMETEORIdentity(t *testing.T) {
	for _, tt := range []struct {
		judge deem.Judge
		want  string
	}{
		{rule.METEOR(pets), `{"kind":"rule","name":"meteor","options":{"thesaurus":"test:2"},"version":1}`},
		{withPass(t, rule.METEOR(pets), .5), `{"kind":"rule","name":"meteor","options":{"thesaurus":"test:2"},"pass":0.5,"version":1}`},
		{ruleNamed("meteor/stem"), `{"kind":"rule","name":"meteor/stem","version":1}`},
	} {
		got, err := deem.Canonical(tt.judge.(deem.Identified).Identity())
		if err != nil || string(got) != tt.want {
			t.Errorf("identity of %s = %s, %v, want %s", tt.judge.Name(), got, err, tt.want)
		}
	}
	v, err := withPass(t, rule.METEOR(pets), .5).Judge(t.Context(), deem.Item{References: []string{"dog"}, Response: "hound"})
	if err != nil || v.Pass == nil || !*v.Pass {
		t.Errorf("a score of .5 with pass mark .5 = %+v, %v, want a pass", v, err)
	}
}

// TestMETEORWordNet checks that the real database implements Thesaurus.
func TestMETEORWordNet(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("DEEM_WORDNET")
	if dir == "" {
		dir = "../../.tools/wordnet"
	}
	if _, err := os.Stat(filepath.Join(dir, "data.noun")); err != nil {
		t.Skipf("WordNet is missing: %v; scripts/wordnet.sh .tools/wordnet downloads it", err)
	}
	wn, err := metric.OpenWordNet(dir)
	if err != nil {
		t.Fatal(err)
	}
	it := deem.Item{References: []string{"The dog slept."}, Response: "The hound slept."}
	with, err := rule.METEOR(wn).Judge(t.Context(), it)
	if err != nil {
		t.Fatal(err)
	}
	without, err := ruleNamed("meteor/stem").Judge(t.Context(), it)
	// With synonyms all four words match, in one run.
	if want := 1 - .5/64; err != nil || math.Abs(with.Score-want) > 1e-12 || without.Score >= with.Score {
		t.Errorf("meteor = %v, meteor/stem = %v, %v, want %v and less", with.Score, without.Score, err, want)
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
