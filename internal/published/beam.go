package published

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/rows"
)

const shapeBEAM = "evaluation of BEAM's own script"

// isBEAM reports whether files are from BEAM's own script: scores by ability.
func isBEAM(c *content) bool {
	for _, p := range c.pieces {
		if p.Kind != rows.Object || len(p.Vals) == 0 {
			return false
		}
		for _, v := range p.Vals {
			if v.Kind != rows.List || len(v.Vals) == 0 || !v.Vals[0].Has("llm_judge_score") || !v.Vals[0].Has("llm_judge_responses") {
				return false
			}
		}
	}
	return true
}

// readBEAM reads scores without questions and answers. Event ordering is scored by tau, and
// every other ability by the mean of its rubric.
func (s *Set) readBEAM(_ context.Context, _ Source, c *content) error {
	for i, p := range c.pieces {
		for j, ability := range p.Keys {
			for k, question := range p.Vals[j].Vals {
				it := deem.Item{ID: fmt.Sprintf("%s/q%d", ability, k), Category: ability}
				if len(c.pieces) > 1 {
					it.Cluster = fmt.Sprintf("chat%d", i)
					it.ID = it.Cluster + "/" + it.ID
				}
				column := "llm_judge_score"
				if ability == "event_ordering" && question.Has("tau_norm") {
					column = "tau_norm"
				}
				o := vocabulary{}.read(question.Member(column))
				s.unanswered[len(s.items)] = true
				s.records = append(s.records, deem.Record{Position: len(s.items), Verdict: o.verdict, Failure: o.failure})
				s.items = append(s.items, it)
			}
		}
	}
	s.Shape, s.lacksResponses, s.columnList = shapeBEAM, true, "llm_judge_score, llm_judge_responses"
	s.Columns = []string{"category=the name of the list", "label=llm_judge_score, or tau_norm of event_ordering"}
	s.Rule = "the score is the number in llm_judge_score, and in tau_norm for event ordering"
	s.identity = map[string]string{"column": "llm_judge_score", "event_ordering": "tau_norm"}
	s.Note("the file holds no responses, so only the recorded verdicts are counted")
	return nil
}
