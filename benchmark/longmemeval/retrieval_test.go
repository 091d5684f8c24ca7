package longmemeval_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"deem/benchmark/longmemeval"
)

// scores are recall_any, recall_all and ndcg_any.
type scores [3]float64

func turnScores(ranking []int, correct, corpus []string, k int) scores {
	a, b, c := longmemeval.Retrieval(ranking, correct, corpus, k)
	return scores{a, b, c}
}

func sessionScores(ranking []int, correct, corpus []string, k int) scores {
	a, b, c := longmemeval.SessionRetrieval(ranking, correct, corpus, k)
	return scores{a, b, c}
}

// near reports whether two scores are the same but for the last digit, in which
// the logarithms of numpy and Go may differ.
func near(a, b scores) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-15 {
			return false
		}
	}
	return true
}

// TestRetrieval compares with upstream's functions, run on rankings that we drew.
func TestRetrieval(t *testing.T) {
	f, err := os.Open("testdata/retrieval.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // the file was only read
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); n++ {
		var c struct {
			Case     string
			Rankings []int
			Correct  []string `json:"correct_docs"`
			Corpus   []string `json:"corpus_ids"`
			K        int
			Expected map[string]float64
		}
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		want := scores{c.Expected["recall_any"], c.Expected["recall_all"], c.Expected["ndcg"]}
		if got := turnScores(c.Rankings, c.Correct, c.Corpus, c.K); !near(got, want) {
			t.Errorf("%s: turns %v, want %v", c.Case, got, want)
		}
		want = scores{c.Expected["session_recall_any"], c.Expected["session_recall_all"], c.Expected["session_ndcg"]}
		if got := sessionScores(c.Rankings, c.Correct, c.Corpus, c.K); !near(got, want) {
			t.Errorf("%s: sessions %v, want %v", c.Case, got, want)
		}
	}
	if n != 80 {
		t.Errorf("%d rankings were compared, want 80", n)
	}
}

// TestSharedRetrieval compares with two hundred more corpora where they are there.
func TestSharedRetrieval(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(shared, "vectors/longmemeval_retrieval.json"))
	if err != nil {
		t.Skipf("the published corpora are not here: %v", err)
	}
	var cases []struct {
		Corpus   []string `json:"corpus_ids"`
		Rankings []int
		Correct  []string          `json:"correct_docs"`
		Turn     map[string]scores `json:"turn"`
		Session  map[string]scores `json:"session_from_turn"`
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		for key, want := range c.Turn {
			k, err := strconv.Atoi(key)
			if err != nil {
				t.Fatal(err)
			}
			if got := turnScores(c.Rankings, c.Correct, c.Corpus, k); !near(got, want) {
				t.Errorf("corpus %d at %d: turns %v, want %v", i, k, got, want)
			}
			if got := sessionScores(c.Rankings, c.Correct, c.Corpus, k); !near(got, c.Session[key]) {
				t.Errorf("corpus %d at %d: sessions %v, want %v", i, k, got, c.Session[key])
			}
		}
	}
}

func TestRetrievalEdges(t *testing.T) {
	corpus := []string{"a_1", "a_2", "b_1", "c_1"}
	for name, c := range map[string]struct {
		got, want scores
	}{
		"no correct document":   {turnScores([]int{0, 1}, nil, corpus, 5), scores{0, 1, 0}},
		"nothing ranked":        {turnScores(nil, []string{"a_1"}, corpus, 5), scores{0, 0, 0}},
		"k of 0":                {turnScores([]int{0}, []string{"a_1"}, corpus, 0), scores{0, 0, 0}},
		"outside the corpus":    {turnScores([]int{9, -1, 0}, []string{"a_1"}, corpus, 3), scores{1, 1, 1 / math.Log2(3)}},
		"second counts in full": {turnScores([]int{1, 0}, []string{"a_1"}, corpus, 2), scores{1, 1, 1}},
		"id without a session":  {sessionScores([]int{0}, []string{"x"}, []string{"x"}, 1), scores{1, 1, 1}},
		"empty corpus":          {sessionScores(nil, nil, nil, 3), scores{0, 1, 0}},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

// TestRetrievalBounds holds for whatever ranking that scores lie in range, that more
// is found further down, and that the ideal ranking is ideal.
func TestRetrievalBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		corpus := make([]string, n)
		ranking := make([]int, n)
		for i := range corpus {
			corpus[i], ranking[i] = "d_"+strconv.Itoa(i), i
		}
		ranking = rapid.Permutation(ranking).Draw(t, "ranking")
		correct := rapid.SliceOfNDistinct(rapid.SampledFrom(corpus), 1, min(n, 20), func(s string) string { return s }).Draw(t, "correct")
		var before scores
		for _, k := range []int{1, 3, 5, 10, 30, 50, 400} {
			got := turnScores(ranking, correct, corpus, k)
			if got[2] < 0 || got[2] > 1+1e-12 || got[1] > got[0] || got[0] < before[0] || got[1] < before[1] {
				t.Fatalf("at %d: %v after %v", k, got, before)
			}
			before = got
		}
		if before[0] != 1 || before[1] != 1 {
			t.Fatalf("the whole corpus finds %v", before)
		}
		slices.SortStableFunc(ranking, func(a, b int) int {
			return boolInt(slices.Contains(correct, corpus[b])) - boolInt(slices.Contains(correct, corpus[a]))
		})
		if got := turnScores(ranking, correct, corpus, 10); math.Abs(got[2]-1) > 1e-12 {
			t.Fatalf("the ideal ranking has ndcg %v", got[2])
		}
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
