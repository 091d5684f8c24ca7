package longbench_test

import (
	"encoding/json"
	"math"
	"testing"

	"deem"
	"deem/internal/benchmark/longbench"
	"deem/internal/test/golden"
)

// A goldenInput is the input of a golden vector.
type goldenInput struct {
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

// item returns the item of a response in the vector's task.
func (in goldenInput) item(response string, answers []string) deem.Item {
	it := deem.Item{Category: in.Dataset, Response: response, References: answers, Fields: map[string]string{}}
	if len(in.Classes) > 0 && string(in.Classes) != "null" {
		it.Fields["upstream_classes"] = string(in.Classes)
	}
	return it
}

// TestGolden compares single scores, the scores of tasks, and those of the buckets of
// LongBench-E with eval.py.
func TestGolden(t *testing.T) {
	j := upstream(t)
	golden.Test(t, map[string]golden.Metric{
		"longbench_eval_item": golden.Of(func(in goldenInput) (any, error) {
			v, err := j.Judge(t.Context(), in.item(in.Prediction, in.Answers))
			return v.Score, err
		}),
		"longbench_scorer": golden.Of(func(in goldenInput) (any, error) { return scorer(t, j, in), nil }),
	}, golden.Options{})
}

// scorer scores a whole file like eval.py.
func scorer(t *testing.T, j deem.Judge, in goldenInput) any {
	v1, even := longbench.NewMetrics(""), longbench.NewMetrics("")
	for _, row := range in.Items {
		it := in.item(row.Prediction, row.Answers)
		v1.Add(record(t, j, it))
		it.Fields["edition"], it.Fields["length"] = "e", row.Length.String()
		even.Add(record(t, j, it))
	}
	buckets := map[string]any{}
	for _, b := range even.Tasks()[0].Buckets {
		buckets[b.Name] = math.NaN()
		if b.Score != nil {
			buckets[b.Name] = *b.Score
		}
	}
	return map[string]any{"scorer": *v1.Tasks()[0].Score, "scorer_e": buckets}
}
