package memoryagentbench

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"deem"
	"deem/internal/benchmark"
)

// WriteResults writes the first trial of the records in the format of upstream's programs:
// one part of the benchmark, with the results of the rules and the model in each row. It
// returns the number of items that are not in it because they have no verdict.
func WriteResults(w io.Writer, model string, records iter.Seq2[deem.Record, error]) (left int, err error) {
	var source string
	data, sums, counts := []map[string]any{}, map[string]float64{}, map[string]float64{}
	add := func(name string, value float64) {
		sums[name] += value
		counts[name]++
	}
	for rec, err := range benchmark.Judged(records, &left) {
		switch {
		case err != nil:
			return left, err
		case source != "" && source != rec.Item.Category:
			return left, deem.WithHint(fmt.Errorf("upstream's result file has one part of the benchmark, and this run has %s and %s", source, rec.Item.Category),
				"export them with --format jsonl, or judge each part in a run of its own")
		}
		it, v := rec.Item, rec.Verdict
		source = it.Category
		row := map[string]any{"output": it.Response, "answer": it.References, "query": it.Question, fieldPair: it.Fields[fieldPair]}
		for name, field := range map[string]string{"input_len": deem.FieldTokensIn, "output_len": deem.FieldTokensOut, "query_time_len": deem.FieldLatency} {
			if x, err := strconv.ParseFloat(it.Fields[field], 64); err == nil {
				if field == deem.FieldLatency {
					x /= 1000
				}
				row[name] = x
				add(name, x)
			}
		}
		for _, field := range []string{fieldKeypoints, fieldPredicted, fieldMovies} {
			if json.Valid([]byte(it.Fields[field])) {
				row[field] = json.RawMessage(it.Fields[field])
			}
		}
		switch {
		case isChat(source):
			row[fieldQuestionID], row[fieldType] = it.Fields[fieldQuestionID], it.Fields[fieldType]
			row["autoeval_label"] = map[string]any{"model": model, "label": v.Score == 1}
		case isSummary(source):
			row["gpt-4-scores"] = gptScores(*v)
			for name, value := range v.Aspects {
				add("gpt-4-"+name, value)
			}
			add("gpt-4-f1", v.Score)
		default:
			for name, value := range v.Aspects {
				row[name] = value
				add(name, 100*value)
			}
		}
		data = append(data, row)
	}
	for name := range sums {
		sums[name] /= counts[name]
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	return left, enc.Encode(map[string]any{"dataset_config": map[string]string{"sub_dataset": source}, "data": data, "averaged_metrics": sums})
}

// gptScores are the values that summarization_evaluate.py stores about a summary, including
// its misspelling.
func gptScores(v deem.Verdict) map[string]any {
	scores := map[string]any{"f1": v.Score, "fluency": v.Aspects["fluency"], "recall": v.Aspects["recall"], "precision": v.Aspects["precision"]}
	for _, part := range v.Parts {
		found, total, _ := strings.Cut(part.Label, "/")
		if part.Name != "fluency" {
			scores[part.Name+"_found"], scores[part.Name+"_total"] = json.Number(found), json.Number(total)
			scores[part.Name+"_output"] = part.Reason
		} else {
			scores["flunecy_output"] = part.Reason
		}
	}
	return scores
}
