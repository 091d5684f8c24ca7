package locomo

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"

	"deem"
	"deem/internal/benchmark"
)

// ResultsName returns the name of the result file in the folder of the judged file:
// "answers.locomo-strict.json" for "answers.json".
func ResultsName(responses, judge string) string {
	for _, ext := range []string{".gz", ".zst", ".jsonl", ".json", ".csv", ".parquet"} {
		responses = strings.TrimSuffix(responses, ext)
	}
	return responses + "." + strings.ReplaceAll(path.Clean(judge), "/", "-") + ".json"
}

// A result is one item in a result file, in Mem0's format, which is common. The score of
// the published rule has a separate name, because Mem0's f1_score is a different measure.
type result struct {
	ID       string   `json:"question_id"`
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	Response string   `json:"response"`
	Category string   `json:"category"`
	Evidence []string `json:"evidence,omitempty"`
	LLMScore *float64 `json:"llm_score,omitempty"`
	F1       *float64 `json:"locomo_f1,omitempty"`
	Reason   string   `json:"reasoning,omitempty"`
}

// WriteResults writes the first trial of the records in Mem0's format, which [Open] can
// read: a list of rows under the name of each conversation. It returns the number of items
// that are not in it because they have no verdict.
func WriteResults(w io.Writer, records iter.Seq2[deem.Record, error]) (left int, err error) {
	rows := map[string][]result{}
	var order []string
	for rec, err := range benchmark.Judged(records, &left) {
		if err != nil {
			return left, err
		}
		c := rec.Item.Cluster
		if _, ok := rows[c]; !ok {
			order = append(order, c)
		}
		it := rec.Item
		r := result{
			ID: it.ID, Question: it.Question, Answer: strings.Join(it.References, " or "),
			Response: it.Response, Category: it.Category, Reason: rec.Verdict.Reason,
		}
		r.Evidence, _ = ids(it.Fields[EvidenceField])
		if rec.Judge == F1Name {
			r.F1 = &rec.Verdict.Score
		} else {
			r.LLMScore = &rec.Verdict.Score
		}
		rows[c] = append(rows[c], r)
	}
	for i, name := range order {
		key, err := json.Marshal(name)
		if err != nil {
			return left, err
		}
		list, err := json.MarshalIndent(rows[name], "  ", "  ")
		if err != nil {
			return left, err
		}
		if _, err := fmt.Fprintf(w, "%s\n  %s: %s", map[bool]string{true: "{", false: ","}[i == 0], key, list); err != nil {
			return left, err
		}
	}
	end := "\n}\n"
	if len(order) == 0 {
		end = "{}\n"
	}
	_, err = io.WriteString(w, end)
	return left, err
}
