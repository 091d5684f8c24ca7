package beam

import (
	"encoding/json"
	"io"
	"iter"
	"path/filepath"

	"deem"
	"deem/internal/benchmark"
)

// A result is a question in the file of upstream's script.
type result struct {
	Precision *float64 `json:"precision,omitempty"`
	Recall    *float64 `json:"recall,omitempty"`
	F1        *float64 `json:"f1,omitempty"`
	Tau       *float64 `json:"tau_norm,omitempty"`
	Final     *float64 `json:"final_score,omitempty"`

	Score     float64    `json:"llm_judge_score"`
	Responses []response `json:"llm_judge_responses"`
}

// A response is the model's reply about a rubric item.
type response struct {
	Score  any    `json:"score"`
	Reason string `json:"reason"`
}

// ResultsName returns a name for the file of upstream's script in the folder of the data.
func ResultsName(data string) string {
	if filepath.Ext(data) != "" {
		data = filepath.Dir(data)
	}
	return filepath.Join(data, "evaluation.json")
}

// WriteResults writes the file of upstream's script: an object with a list for each
// ability. Upstream has a file for each chat; here each chat is a separate object, one
// after another. It returns the number of items that are not in it because they have no
// verdict.
func WriteResults(w io.Writer, records iter.Seq2[deem.Record, error]) (left int, err error) {
	chats := map[string]map[string][]result{}
	var order []string
	for rec, err := range benchmark.Judged(records, &left) {
		if err != nil {
			return left, err
		}
		chat := rec.Item.Cluster
		if chats[chat] == nil {
			chats[chat] = map[string][]result{}
			order = append(order, chat)
		}
		v := rec.Verdict
		number := func(name string) *float64 {
			if x, ok := v.Aspects[name]; ok {
				return &x
			}
			return nil
		}
		r := result{
			Precision: number("precision"), Recall: number("recall"), F1: number("f1"), Tau: number("tau_norm"), Final: number("final_score"),
			Score: v.Score, Responses: []response{},
		}
		if score := number("llm_judge_score"); score != nil {
			r.Score = *score
		}
		for _, p := range v.Parts {
			said := response{Score: p.Label, Reason: p.Reason}
			if json.Valid([]byte(p.Label)) {
				said.Score = json.RawMessage(p.Label) // as the model stated it
			}
			r.Responses = append(r.Responses, said)
		}
		chats[chat][rec.Item.Category] = append(chats[chat][rec.Item.Category], r)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if len(order) == 1 {
		enc.SetIndent("", "    ")
	}
	for _, chat := range order {
		if err := enc.Encode(chats[chat]); err != nil {
			return 0, err
		}
	}
	return left, nil
}
