package longmemeval

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/benchmark/internal/itemset"
)

// match makes items of the responses whose question is known, and notes the rest.
func (j *join) match(requireAll bool) {
	var unknown, byType []string
	for _, r := range j.answers {
		q, ok := j.questions[r.id]
		if !ok {
			unknown = append(unknown, r.id)
			continue
		}
		if !isAbstention(r.id) && promptOf[q.kind] == "" {
			byType = append(byType, r.id)
		}
		j.items = append(j.items, q.item(r))
	}
	j.notes = itemset.Note(j.notes, unknown, "response", "to no question of the data, left out")
	j.notes = itemset.Note(j.notes, byType, "question", "of a type that ends in "+abstentionMark+", for which only the reading "+Seed+" has a prompt")
	j.missing(requireAll)
}

// item returns the item that a question and its response make.
func (q question) item(r response) deem.Item {
	it := deem.Item{
		ID: r.id, Category: q.kind, Question: q.text,
		References: []string{q.reference}, Response: r.text, Fields: r.took,
	}
	if q.date != "" {
		itemset.SetField(&it, dateColumn, q.date)
	}
	return it
}

// missing notes the questions that nobody answered, or makes each a problem.
func (j *join) missing(requireAll bool) {
	var ids []string
	for _, id := range j.order {
		if _, ok := j.responses[id]; ok {
			continue
		}
		ids = append(ids, id)
		if requireAll {
			q := j.questions[id]
			j.problems.Add(deem.Problem{File: q.file, Line: q.line, Message: fmt.Sprintf("question %q has no response", id)}, "")
		}
	}
	j.notes = itemset.Note(j.notes, ids, "question", "without a response, in no number")
}

// set returns the items found.
func (j *join) set(o Options) (*Set, error) {
	if len(j.items) == 0 {
		return nil, j.nothing(o)
	}
	items, notes := itemset.Limit(j.items, o.Limit, j.notes)
	held, err := itemset.Hold(items, slices.Concat(o.Data, o.Responses), notes)
	return &Set{held}, err
}

// nothing says why there are no items.
func (j *join) nothing(o Options) error {
	switch {
	case len(o.Responses) == 0:
		return deem.WithHint(fmt.Errorf("no row of %s has a response", strings.Join(o.Data, ", ")),
			"name the file with the system's responses too, or put them in a column %q", responseColumns[0])
	case len(j.answers) == 0:
		return fmt.Errorf("no row of %s has a response", strings.Join(o.Responses, ", "))
	case len(j.order) == 0:
		return fmt.Errorf("no question in %s", strings.Join(o.Data, ", "))
	default:
		return deem.WithHint(errors.New("no response answers a question of the data"),
			"the ids must be equal; the first response has %q, the first question %q", j.answers[0].id, j.order[0])
	}
}
