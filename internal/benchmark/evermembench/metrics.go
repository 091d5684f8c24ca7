package evermembench

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"deem"
	"deem/internal/benchmark"
)

// NewMetrics returns the metrics by type of question.
func NewMetrics() *benchmark.Table {
	t := &benchmark.Table{Benchmark: Name, By: []string{"question_type"}, Group: func(it deem.Item, _ string) string { return it.Category }}
	t.Upstream = func() (program, output string) {
		all := t.All()
		b := fmt.Sprintf("   Total: %d, Correct: %d, Accuracy: %.2f%%\n", all.All(), all.Right(), 100*float64(all.Right())/float64(all.All()))
		for _, kind := range []struct{ name, short string }{{multipleChoice, "MC"}, {openEnded, "OE"}} {
			if of := t.Of("question_type")[kind.name]; of != nil {
				b += fmt.Sprintf("   %s: %d/%d = %.2f%%\n", kind.short, of.Right(), of.All(), 100*float64(of.Right())/float64(of.All()))
			}
		}
		return "evaluator.py", b
	}
	return t
}

// A result is a question in upstream's result file.
type result struct {
	ID        string `json:"question_id"`
	Question  string `json:"question"`
	Type      string `json:"question_type"`
	Golden    string `json:"golden_answer"`
	Generated string `json:"generated_answer"`
	IsCorrect bool   `json:"is_correct"`
}

// A byType is the summary of a type of question in upstream's file.
type byType struct {
	Total    int     `json:"total"`
	Correct  int     `json:"correct"`
	Accuracy float64 `json:"accuracy"`
}

func (b *byType) add(right bool) {
	b.Total++
	if right {
		b.Correct++
	}
	b.Accuracy = float64(b.Correct) / float64(b.Total)
}

// WriteResults writes the first trial of the records in the format of upstream's program.
// It returns the number of items that are not in it because they have no verdict.
func WriteResults(w io.Writer, model string, records iter.Seq2[deem.Record, error]) (left int, err error) {
	var all byType
	types := map[string]*byType{}
	details := []result{}
	for rec, err := range benchmark.Judged(records, &left) {
		if err != nil {
			return left, err
		}
		it, right := rec.Item, rec.Verdict.Score == 1
		if types[it.Category] == nil {
			types[it.Category] = &byType{}
		}
		all.add(right)
		types[it.Category].add(right)
		details = append(details, result{it.ID, it.Question, it.Category, strings.Join(it.References, " or "), it.Response, right})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return left, enc.Encode(map[string]any{
		"total_questions": all.Total, "correct": all.Correct, "accuracy": all.Accuracy, "accuracy_by_type": types,
		"detailed_results": details, "metadata": map[string]any{"model": model, "num_runs": 1},
	})
}
