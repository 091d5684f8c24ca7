package locomo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"deem/internal/benchmark/locomo"
)

// shared is the folder of published data that deem does not ship.
const shared = "../../../../shared"

// sharedFile returns the path of a shared file. It skips the test if the file is missing.
func sharedFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(shared, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the published file is not here: %v", err)
	}
	return path
}

const locomo10 = "data/locomo10/data/locomo10.json"

// A run is a set of published answers.
type run struct {
	name  string
	files []string // below shared
	items int
	alone bool // do not join it with the data, unlike the others
}

// runs are all published answers in the shared data.
func runs() []run {
	var conversations []string
	for i := range 10 {
		conversations = append(conversations, fmt.Sprintf("data/locomo_mflow5/benchmarks/locomo-cognee/results/per_conversation/conv%d/eval.json", i))
	}
	var core []string
	for i := 1; i <= 5; i++ {
		core = append(core, fmt.Sprintf("data/locomo_core_raw/locomo/evals/evaluation_locomo%d.json", i))
	}
	list := []run{
		{
			name: "memobase", files: []string{"data/locomo_memobase/docs/experiments/locomo-benchmark/fixture/memobase/memobase_eval_0503_3000.json"},
			items: 1540,
		},
		{
			name: "acb", files: []string{"data/locomo_acb_raw/results/results-complete.judged.jsonl"},
			items: 1540,
		},
		{name: "cognee", files: conversations, items: 1540},
		{name: "core", files: core, items: 762},
		{name: "samem", files: []string{"data/locomo_samem_f1/out/locomo_b_btf_recheck_20260624/evaluation_results_locomo_baseline.jsonl"}, items: 1540},
		{name: "audit-memos", files: []string{"data/locomo_audit/fc-baseline/results/gpt-4o-mini-memos/eval_results.json"}, items: 1540},
		{name: "audit-cot", files: []string{"data/locomo_audit/fc-baseline/results/gpt-4o-mini-cot/eval_results.json"}, items: 1540, alone: true},
		{name: "audit-wrong", files: []string{"data/locomo_audit/ap-baseline/v1/ap_eval_results_scored.json"}, items: 1540, alone: true},
	}
	for r := 1; r <= 5; r++ {
		for _, k := range []int{3, 5, 10} {
			file := fmt.Sprintf("data/locomo_amem_reps/amem/results/entrega3/results_amem_gpt4omini_sample0_r%d_k%d.json", r, k)
			list = append(list, run{name: filepath.Base(file), files: []string{file}, items: 152, alone: r > 1 || k > 3})
		}
	}
	return list
}

// paths returns the paths of the files of a run.
func (r run) paths(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, f := range r.files {
		paths = append(paths, sharedFile(t, f))
	}
	return paths
}

// TestPublishedAnswers reads the real files, joined with the data and alone: both have the
// same responses.
func TestPublishedAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	data := sharedFile(t, locomo10)
	for _, r := range runs() {
		t.Run(r.name, func(t *testing.T) {
			files := r.paths(t)
			alone := said(t, r, locomo.Options{Responses: files})
			if r.alone {
				return
			}
			if joined := said(t, r, locomo.Options{Data: []string{data}, Responses: files}); !slices.Equal(joined, alone) {
				t.Error("joined with the data the responses are others than alone")
			}
		})
	}
}

// said returns the category and the response of each item, sorted.
func said(t *testing.T, r run, o locomo.Options) []string {
	t.Helper()
	s := open(t, o)
	if s.Len() != r.items {
		t.Errorf("%d items, want %d", s.Len(), r.items)
	}
	var list []string
	for _, it := range items(t, s) {
		list = append(list, it.Category+" "+it.Response)
	}
	slices.Sort(list)
	return list
}
