package doc_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/dataset"
	"deem/internal/doc"
	"deem/internal/test/golden"
)

// program computes the metrics from their textbook definitions, independently of our code.
const program = `
import json, math, sys
def dcg(rel, d): return sum(r / d(i + 1) for i, r in enumerate(rel))
sums, n = {}, 0
for row in json.load(sys.stdin):
    gold = set(row["Gold"])
    if not gold: continue
    n += 1
    seen, rel = set(), []
    for x in row["Ranked"]:
        rel.append(1 if x in gold and x not in seen else 0); seen.add(x)
    first = next((i + 1 for i, r in enumerate(rel) if r), None)
    got = {"MRR": 1 / first if first else 0}
    for k in (1, 3, 10):
        top = rel[:k]; f = sum(top)
        got[f"hit@{k}"] = float(f > 0); got[f"recall@{k}"] = f / len(gold); got[f"all@{k}"] = float(f == len(gold)); got[f"precision@{k}"] = f / k
        for name, d in (("nDCG", lambda i: math.log2(i + 1)), ("LongMemEval-ndcg_any", lambda i: 1 if i == 1 else math.log2(i))):
            got[f"{name}@{k}"] = dcg(top, d) / dcg([1] * min(k, len(gold)), d)
    for m, x in got.items(): sums[m] = sums.get(m, 0) + x
print(json.dumps({m: s / n for m, s in sums.items()}))
`

func lists(n int) []doc.RankedList {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]doc.RankedList, n)
	for i := range all {
		all[i] = doc.RankedList{Cluster: fmt.Sprint(i % 40), Ranked: []string{}, Gold: []string{}}
		for range r.IntN(15) {
			all[i].Ranked = append(all[i].Ranked, fmt.Sprint("d", r.IntN(20)))
		}
		for range r.IntN(5) {
			all[i].Gold = append(all[i].Gold, fmt.Sprint("d", r.IntN(20)))
		}
	}
	return all
}

// TestPython checks every number against an independent program.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("python3 is not here: %v", err)
	}
	all := lists(400)
	input, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", program)
	cmd.Stdin = strings.NewReader(string(input))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]float64
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	b := doc.NewRetrieval(1, 3, 10)
	for _, l := range all {
		b.Add(l)
	}
	r := b.Retrieval()
	if len(r.Figures) != len(want) {
		t.Errorf("%d numbers, want %d", len(r.Figures), len(want))
	}
	for _, f := range r.Figures {
		if e := f.Estimate; math.Abs(e.Value-want[f.Metric]) > 1e-12 || e.N != r.N || !(e.Lo < e.Value && e.Value < e.Hi) || e.Clusters != 40 {
			t.Errorf("%s = %+v, want %v", f.Metric, e, want[f.Metric])
		}
	}
}

// A ranking is a case of LongMemEval's evaluate_retrieval: positions in a corpus, best
// first.
type ranking struct {
	Rankings []int
	Correct  []string `json:"correct_docs"`
	Corpus   []string `json:"corpus_ids"`
	K        int
}

// bySession returns the ranking of sessions whose turns were ranked, as deem retrieval makes
// it of a list of turns.
func (r ranking) bySession() ranking {
	s := ranking{K: r.K}
	for _, id := range r.Correct {
		s.Correct = append(s.Correct, id[:max(0, strings.LastIndexByte(id, '_'))])
	}
	var turns []string
	for _, at := range r.Rankings {
		turns = append(turns, r.Corpus[at])
	}
	s.Corpus = dataset.Sessions(turns, s.Correct)
	for i := range s.Corpus {
		s.Rankings = append(s.Rankings, i)
	}
	return s
}

// scores returns what LongMemEval calls recall_any, recall_all and ndcg_any.
func (r ranking) scores() map[string]any {
	l := doc.RankedList{Gold: r.Correct}
	for _, at := range r.Rankings {
		l.Ranked = append(l.Ranked, r.Corpus[at])
	}
	b := doc.NewRetrieval(r.K)
	b.Add(l)
	names := map[string]string{"hit": "recall_any", "all": "recall_all", "LongMemEval-ndcg_any": "ndcg"}
	got := map[string]any{}
	for _, f := range b.Retrieval().Figures {
		if name := names[strings.TrimSuffix(f.Metric, fmt.Sprintf("@%d", r.K))]; name != "" {
			got[name] = f.Estimate.Value
		}
	}
	return got
}

// findable reports whether there is something to find and all of it is in the corpus. A
// list of ids does not show the latter.
func (r ranking) findable() bool {
	for _, id := range r.Correct {
		if !slices.Contains(r.Corpus, id) {
			return false
		}
	}
	return len(r.Correct) > 0
}

// These vectors may not be part of the repository; testdata/longmemeval.jsonl has our own
// rankings.
func TestGolden(t *testing.T) {
	golden.Test(t, map[string]golden.Metric{
		"longmemeval_retrieval": golden.Of(func(r ranking) (any, error) {
			if !r.findable() {
				return golden.Skip, nil
			}
			got, sessions := r.scores(), r.bySession().scores()
			got["session_recall_any"], got["session_recall_all"] = sessions["recall_any"], sessions["recall_all"]
			return got, nil
		}),
	}, golden.Options{})
}

// TestLongMemEval compares with upstream's functions, run on our own rankings.
func TestLongMemEval(t *testing.T) {
	f, err := os.Open("testdata/longmemeval.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // the file was only read
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); n++ {
		var c struct {
			Case string
			ranking
			Expected map[string]float64
		}
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if !c.findable() {
			continue
		}
		for name, got := range c.scores() {
			if want := c.Expected[name]; math.Abs(got.(float64)-want) > 1e-12 {
				t.Errorf("%s: %s = %v, want %v", c.Case, name, got, want)
			}
		}
	}
	if n != 80 {
		t.Errorf("%d rankings were compared, want 80", n)
	}
}

// TestOf checks that an item has a list if its fields contain both sides.
func TestOf(t *testing.T) {
	if _, ok := doc.RankedBy(deem.Item{Fields: map[string]string{"retrieved": `["a"]`}}); ok {
		t.Error("a list without gold documents")
	}
	l, ok := doc.RankedBy(deem.Item{ID: "x", Fields: map[string]string{"context_ids": `["S1"]`, "evidence": `["D1:2"]`, "gold_ids": `["S1"]`}})
	if !ok || l.Ranked[0] != "S1" || l.Gold[0] != "S1" {
		t.Errorf("Of = %+v, %v", l, ok)
	}
	if doc.NewRetrieval().Retrieval() != nil {
		t.Error("a report of no list")
	}
}

// Lists that never contain a gold document of any row were made with other ids: a score of
// zero would be about the names of documents and not about the system.
func TestIDsThatNeverMeet(t *testing.T) {
	b := doc.NewRetrieval(1)
	b.Add(doc.RankedList{Ranked: []string{"session_7"}, Gold: []string{"D1:3"}})
	b.Add(doc.RankedList{Ranked: []string{"session_8"}, Gold: []string{"D1:4"}})
	b.Add(doc.RankedList{Ranked: []string{"session_8"}})
	r := b.Retrieval()
	if len(r.Figures) > 0 || r.Apart == nil || *r.Apart != (doc.Apart{Gold: "D1:3", Retrieved: "session_7"}) {
		t.Fatalf("%+v, want no figures and an id of each kind", r)
	}
	// A gold document that another row retrieved shows that the ids are of one kind.
	b.Add(doc.RankedList{Ranked: []string{"D1:3"}, Gold: []string{"D1:9"}})
	if r := b.Retrieval(); r.Apart != nil || r.N != 3 || r.Figures[0].Estimate.Value != 0 {
		t.Errorf("%+v, want three lists that found nothing", r)
	}
	// Nothing was retrieved, which is a score of zero.
	empty := doc.NewRetrieval(1)
	empty.Add(doc.RankedList{Gold: []string{"D1:3"}})
	if r := empty.Retrieval(); r.Apart != nil || len(r.Figures) == 0 {
		t.Errorf("%+v, want a score of zero", r)
	}
}
