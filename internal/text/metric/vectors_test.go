package metric_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"deem/internal/text"
	"deem/internal/text/metric"
)

// The tests of this file read the answers of other people's systems, and the results of the
// original programs for them. Neither is part of the repository.
const shared = "../../../../shared/"

// lines decodes each line of a file in the shared folder. It skips the test if the file
// does not exist.
func lines[T any](t *testing.T, name string) []T {
	t.Helper()
	data, err := os.ReadFile(shared + name)
	if err != nil {
		t.Skipf("the vectors are not here: %v", err)
	}
	var list []T
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<26)
	for sc.Scan() {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		var row T
		dec := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		dec.UseNumber()
		if err := dec.Decode(&row); err != nil {
			t.Fatalf("%s:%d: %v", name, len(list)+1, err)
		}
		list = append(list, row)
	}
	if err := sc.Err(); err != nil || len(list) == 0 {
		t.Fatalf("%s: %d lines, %v", name, len(list), err)
	}
	return list
}

func equal(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }

func TestInfiniteBenchPredictions(t *testing.T) {
	type expected struct {
		Model, Task string
		N           int
		Mean        float64
		Scores      []float64
	}
	type prediction struct {
		Prediction, Pred *string
		GroundTruth      any `json:"ground_truth"`
		Label            any
	}
	rows := slices.Concat(
		lines[expected](t, "vectors/infinitebench_item_scores.jsonl"),
		lines[expected](t, "vectors/infinitebench_sum_scores.jsonl"))
	absent := []string{"chatglm3 math_calc", "gpt4 math_calc", "yarn-mistral longbook_sum_eng"} // missing in our copy of the predictions
	for _, want := range rows {
		if slices.Contains(absent, want.Model+" "+want.Task) {
			continue
		}
		preds := lines[prediction](t, "data/infinitebench_preds/results/"+want.Model+"/preds_"+want.Task+".jsonl")
		wrong := 0
		for i, p := range preds {
			response, label := p.Prediction, p.GroundTruth
			if response == nil {
				response = p.Pred
			}
			if label == nil {
				label = p.Label
			}
			got, err := metric.InfiniteBench(want.Task, *response, label, want.Model)
			if i < len(want.Scores) && (err != nil || !equal(got, want.Scores[i])) {
				if wrong++; wrong < 4 {
					t.Errorf("%s %s %d: score = %v, %v, want %v", want.Model, want.Task, i, got, err, want.Scores[i])
				}
			}
		}
		t.Logf("%s %s: %d scores, %d wrong", want.Model, want.Task, len(preds), wrong)
	}
}

func TestLoCoMoPredictions(t *testing.T) {
	rows := lines[struct {
		Answer     any
		Prediction string
		Category   int
		F1         float64
	}](t, "vectors/locomo_f1.jsonl")
	for i, row := range rows {
		got, err := metric.LoCoMo(row.Category, row.Prediction, text.Str(row.Answer))
		if err != nil || !equal(got, row.F1) {
			t.Errorf("line %d: LoCoMo(%d, %q, %v) = %v, %v, want %v", i+1, row.Category, row.Prediction, row.Answer, got, err, row.F1)
		}
	}
	t.Logf("%d scores", len(rows))
}

// A longBenchRow is one score of LongBench's metrics.py.
type longBenchRow struct {
	Metric, Pred, GT string
	AllClasses       []string `json:"all_classes"`
	PredTokens       []string `json:"pred_tokens"`
	Score            float64
	Levenshtein      *float64 `json:"levenshtein_variant"`
}

func TestLongBenchVectors(t *testing.T) {
	const name = shared + "vectors/longbench_metrics.json"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Skipf("the vectors are not here: %v", err)
	}
	var rows []longBenchRow
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if got := row.compute(t); !equal(got, row.Score) {
			t.Errorf("row %d: %s(%q, %q) = %v, want %v", i, row.Metric, row.Pred, row.GT, got, row.Score)
		}
		if row.PredTokens != nil {
			if got := metric.JiebaCut(row.Pred); !slices.Equal(got, row.PredTokens) {
				t.Errorf("row %d: Cut(%q) = %q, want %q", i, row.Pred, got, row.PredTokens)
			}
		}
		if row.Levenshtein != nil {
			if got := metric.CodeSimLevenshtein(row.Pred, row.GT); !equal(got, *row.Levenshtein) {
				t.Errorf("row %d: CodeSimLevenshtein(%q, %q) = %v, want %v", i, row.Pred, row.GT, got, *row.Levenshtein)
			}
		}
	}
	t.Logf("%d scores", len(rows))
}

func (r longBenchRow) compute(t *testing.T) float64 {
	t.Helper()
	var s float64
	var err error
	switch r.Metric {
	case "qa_f1_score":
		s = metric.F1(r.Pred, r.GT).F1
	case "qa_f1_zh_score":
		s = metric.F1Zh(r.Pred, r.GT).F1
	case "rouge_score":
		s = metric.LongBenchROUGE(r.Pred, r.GT, true)
	case "rouge_zh_score":
		s = metric.LongBenchROUGEZh(r.Pred, r.GT, true)
	case "count_score":
		s = metric.Count(r.Pred, r.GT)
	case "retrieval_score":
		s, err = metric.Retrieval(r.Pred, r.GT)
	case "retrieval_zh_score":
		s, err = metric.RetrievalZh(r.Pred, r.GT)
	case "classification_score":
		s = metric.Classification(r.Pred, r.GT, r.AllClasses)
	case "code_sim_score":
		s = metric.CodeSimDifflib(r.Pred, r.GT)
	default:
		t.Fatalf("unknown metric %q", r.Metric)
	}
	if err != nil {
		t.Error(err)
	}
	return s
}
