package retrieval_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"deem"
	"deem/benchmark/longmemeval"
	"deem/internal/report/retrieval"
)

// program computes the metrics from their textbook definitions, in another language and
// without a line of ours.
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

func lists(n int) []retrieval.List {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]retrieval.List, n)
	for i := range all {
		all[i] = retrieval.List{ID: fmt.Sprint(i), Cluster: fmt.Sprint(i % 40), Ranked: []string{}, Gold: []string{}}
		for range r.IntN(15) {
			all[i].Ranked = append(all[i].Ranked, fmt.Sprint("d", r.IntN(20)))
		}
		for range r.IntN(5) {
			all[i].Gold = append(all[i].Gold, fmt.Sprint("d", r.IntN(20)))
		}
	}
	return all
}

// TestPython holds every number to what an independent program computes.
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
	b := retrieval.New(1, 3, 10)
	for _, l := range all {
		b.Add(l)
	}
	r := b.Summary()
	if len(r.Figures) != len(want) {
		t.Errorf("%d numbers, want %d", len(r.Figures), len(want))
	}
	for _, f := range r.Figures {
		if e := f.Estimate; math.Abs(e.Value-want[f.Metric]) > 1e-12 || e.N != r.N || !(e.Lo < e.Value && e.Value < e.Hi) || e.Clusters != 40 {
			t.Errorf("%s = %+v, want %v", f.Metric, e, want[f.Metric])
		}
	}
}

// TestLongMemEval: its own nDCG, hit and all are those of its programs.
func TestLongMemEval(t *testing.T) {
	var corpus []string
	for i := range 30 {
		corpus = append(corpus, fmt.Sprint("d", i))
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		places := r.Perm(len(corpus))
		l := retrieval.List{Gold: corpus[:1+r.IntN(4)]}
		for _, at := range places {
			l.Ranked = append(l.Ranked, corpus[at])
		}
		b := retrieval.New(5)
		b.Add(l)
		hit, all, ndcg := longmemeval.Retrieval(places, l.Gold, corpus, 5)
		for _, f := range b.Summary().Figures {
			want, ok := map[string]float64{"hit@5": hit, "all@5": all, "LongMemEval-ndcg_any@5": ndcg}[f.Metric]
			if ok && math.Abs(f.Estimate.Value-want) > 1e-12 {
				t.Fatalf("%s = %v, want %v", f.Metric, f.Estimate.Value, want)
			}
		}
	}
}

// TestOf: an item has a list when its fields hold both sides.
func TestOf(t *testing.T) {
	if _, ok := retrieval.Of(deem.Item{Fields: map[string]string{"retrieved": `["a"]`}}); ok {
		t.Error("a list without gold documents")
	}
	l, ok := retrieval.Of(deem.Item{ID: "x", Fields: map[string]string{"context_ids": `["S1"]`, "evidence": `["D1:2"]`, "gold_ids": `["S1"]`}})
	if !ok || l.Ranked[0] != "S1" || l.Gold[0] != "S1" {
		t.Errorf("Of = %+v, %v", l, ok)
	}
	if retrieval.New().Summary() != nil {
		t.Error("a report of no list")
	}
}
