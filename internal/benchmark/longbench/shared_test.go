package longbench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"deem"
	"deem/internal/benchmark/longbench"
)

// shared is the folder of published data that deem does not ship.
const shared = "../../../../shared"

// judged judges all items of a set and returns the metrics.
func judged(t *testing.T, o longbench.Options, reading string) *longbench.Metrics {
	t.Helper()
	s, err := longbench.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	j, err := longbench.Judge(reading)
	if err != nil {
		t.Fatal(err)
	}
	m := longbench.NewMetrics(reading)
	for it, err := range s.Items() {
		if err != nil {
			t.Fatal(err)
		}
		m.Add(record(t, j, it))
	}
	return m
}

// record judges one item.
func record(t *testing.T, j deem.Judge, it deem.Item) deem.Record {
	t.Helper()
	rec := deem.Record{Item: it, Judge: j.Name()}
	v, err := j.Judge(t.Context(), it)
	if err != nil {
		rec.Failure = failure(t, err)
		return rec
	}
	rec.Verdict = &v
	return rec
}

// TestPublishedScores judges published predictions of systems, and compares with their
// published scores to the last digit.
func TestPublishedScores(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	folders, err := filepath.Glob(filepath.Join(shared, "data/longbench_preds/pred/*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) == 0 {
		t.Skipf("the published predictions are not here: %s/data/longbench_preds", shared)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			m := judged(t, longbench.Options{Data: []string{folder}, RequireAll: true}, longbench.Upstream)
			var got, want map[string]float64
			if err := json.Unmarshal([]byte(m.Upstream()), &got); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(folder, "result.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			if len(want) != 21 || len(got) != len(want) {
				t.Errorf("%d tasks, want %d, which should be 21", len(got), len(want))
			}
			for task, score := range want {
				if got[task] != score {
					t.Errorf("%s = %v, want %v", task, got[task], score)
				}
			}
		})
	}
}
