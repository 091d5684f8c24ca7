package longbench_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"deem"
	"deem/benchmark/longbench"
)

// shared is where real data lies that others published and we do not ship.
const shared = "../../../shared"

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

// TestPublishedScores judges the predictions of systems that others published, and
// wants the numbers that they published with them, to the last digit.
func TestPublishedScores(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(shared, "data/longbench_preds/pred/*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) == 0 {
		t.Log("nothing compared: no published predictions here")
		return
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

// A golden is a case of the golden vectors.
type golden struct {
	Case  string
	Input struct {
		Dataset    string
		Prediction string
		Answers    []string
		Classes    json.RawMessage `json:"all_classes"`
		Items      []struct {
			Prediction string
			Answers    []string
			Length     json.Number
		}
	}
	Expected json.RawMessage
}

// goldens reads the cases of a metric; none when they are not there.
func goldens(t *testing.T, metric string) []golden {
	t.Helper()
	var list []golden
	for _, folder := range []string{"open", "open-nc"} {
		f, err := os.Open(filepath.Join(shared, "golden", folder, metric+".jsonl"))
		if err != nil {
			t.Log("nothing compared:", err)
			continue
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var g golden
			if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
				t.Fatal(err)
			}
			list = append(list, g)
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		f.Close() //nolint:errcheck // the file was only read
	}
	return list
}

// goldenItem returns the item of a case.
func goldenItem(task, response string, answers []string, classes json.RawMessage) deem.Item {
	it := deem.Item{Category: task, Response: response, References: answers, Fields: map[string]string{}}
	if len(classes) > 0 && string(classes) != "null" {
		it.Fields["upstream_classes"] = string(classes)
	}
	return it
}

// TestGoldenItems holds single scores to those of eval.py.
func TestGoldenItems(t *testing.T) {
	j := upstream(t)
	for _, g := range goldens(t, "longbench_eval_item") {
		var want float64
		if err := json.Unmarshal(g.Expected, &want); err != nil {
			t.Fatal(err)
		}
		v, err := j.Judge(t.Context(), goldenItem(g.Input.Dataset, g.Input.Prediction, g.Input.Answers, g.Input.Classes))
		if err != nil || v.Score != want {
			t.Errorf("%s: score %v, error %v, want %v", g.Case, v.Score, err, want)
		}
	}
}

// TestGoldenScorer holds the numbers of tasks, and of the buckets of LongBench-E, to
// those of eval.py.
func TestGoldenScorer(t *testing.T) {
	j := upstream(t)
	for _, g := range goldens(t, "longbench_scorer") {
		v1, even := longbench.NewMetrics(""), longbench.NewMetrics("")
		for _, row := range g.Input.Items {
			it := goldenItem(g.Input.Dataset, row.Prediction, row.Answers, g.Input.Classes)
			v1.Add(record(t, j, it))
			it.Fields["edition"], it.Fields["length"] = "e", row.Length.String()
			even.Add(record(t, j, it))
		}
		var want struct {
			Scorer  float64
			ScorerE map[string]any `json:"scorer_e"`
		}
		if err := json.Unmarshal(g.Expected, &want); err != nil {
			t.Fatal(err)
		}
		if got := v1.Tasks()[0].Score; got == nil || *got != want.Scorer {
			t.Errorf("%s: score %v, want %v", g.Case, got, want.Scorer)
		}
		for _, bucket := range even.Tasks()[0].Buckets {
			var got any = "NaN"
			if bucket.Score != nil {
				got = *bucket.Score
			}
			if got != want.ScorerE[bucket.Name] {
				t.Errorf("%s: bucket %s = %v, want %v", g.Case, bucket.Name, got, want.ScorerE[bucket.Name])
			}
		}
	}
}
