package personamem

import (
	"encoding/json"
	"io"
	"iter"
	"strings"

	"deem"
	"deem/internal/benchmark"
)

// A result is a row of upstream's result file.
type result struct {
	ID          string            `json:"id"`
	Persona     string            `json:"persona_id"`
	Scenario    string            `json:"conversation_scenario"`
	Type        string            `json:"pref_type"`
	Updated     string            `json:"updated"`
	Who         string            `json:"who"`
	Query       string            `json:"user_query"`
	Correct     string            `json:"correct_answer"`
	Preference  string            `json:"preference"`
	Mode        string            `json:"eval_mode"`
	Response    string            `json:"model_response"`
	Options     map[string]string `json:"option_mapping,omitempty"`
	IsCorrect   *bool             `json:"is_correct,omitempty"`
	NarrowScore *float64          `json:"narrow_judge_score,omitempty"`
}

// ResultsName returns the name of upstream's result file in the folder of the responses.
func ResultsName(responses, judge string) string {
	mode := "mcq"
	if judge == OpenName {
		mode = "generative"
	}
	for _, ext := range []string{".gz", ".zst", ".jsonl", ".json", ".csv", ".parquet"} {
		responses = strings.TrimSuffix(responses, ext)
	}
	return responses + ".evaluation_results_" + mode + ".json"
}

// WriteResults writes the first trial of the records in the format of upstream's program.
// It returns the number of items that are not in it because they have no verdict.
func WriteResults(w io.Writer, records iter.Seq2[deem.Record, error]) (left int, err error) {
	file := struct {
		Metadata map[string]any `json:"metadata"`
		Results  []result       `json:"results"`
	}{Results: []result{}}
	mode := "mcq"
	for rec, err := range benchmark.Judged(records, &left) {
		if err != nil {
			return left, err
		}
		it := rec.Item
		r := result{
			ID: it.ID, Persona: it.Cluster, Scenario: it.Fields[fieldScenario], Type: it.Fields[fieldType], Updated: it.Fields[fieldUpdated], Who: it.Fields[fieldWho],
			Query: it.Question, Correct: strings.Join(it.References, " or "), Preference: it.Fields[fieldPreference], Mode: mode, Response: it.Response,
		}
		if rec.Judge == OpenName {
			mode = "generative"
			r.Mode, r.NarrowScore = mode, &rec.Verdict.Score
		} else {
			r.Options, _ = benchmark.ChoiceOptions(it.Fields[benchmark.OptionsField]) // It was judged, so there are some.
			r.IsCorrect = new(rec.Verdict.Score == 1)
		}
		file.Results = append(file.Results, r)
	}
	file.Metadata = map[string]any{"eval_mode": mode, "processed_rows": len(file.Results), "total_rows": len(file.Results) + left}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return left, enc.Encode(file)
}
