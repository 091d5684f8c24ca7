package locomo

import (
	"iter"
	"strings"

	"deem"
	"deem/internal/benchmark"
)

// RecordedName is the judge in the records of [Set.Recorded].
const RecordedName = "recorded"

// The labels of verdicts.
const (
	correct = "CORRECT"
	wrong   = "WRONG"
)

// voteColumns are the columns with the verdicts of a file's own judge, the most informative
// first.
var voteColumns = []string{"llm_judgments", "llm_score", "grade", "is_correct", "evaluationResult", "judge", "correct", "label"}

// A vote is one verdict in a file.
type vote struct {
	right bool
	text  string // the original text, if it was neither right nor wrong
}

// votes returns the verdicts of the file's own judge, one per trial.
func (o object) votes() []vote {
	v, ok := o.first(voteColumns...)
	if !ok {
		return nil
	}
	var list []vote
	add := func(v benchmark.Value) {
		if !v.Missing() {
			list = append(list, readVote(v.Str()))
		}
	}
	if elements, ok := v.List(); ok {
		for _, e := range elements {
			add(e)
		}
		return list
	}
	if !v.Members(func(_ string, value benchmark.Value) { add(value) }) {
		add(v)
	}
	return list
}

// readVote parses a verdict in Python's format.
func readVote(s string) vote {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "1", "1.0", "correct", "yes":
		return vote{right: true}
	case "false", "0", "0.0", "wrong", "incorrect", "no":
		return vote{}
	}
	return vote{text: s}
}

// Recorded yields the verdicts that the files already contain, as records of the judge
// [RecordedName], so that a published score can be recomputed from its own rows and
// compared with another judge. If a file has several verdicts on an item, as MemOS does,
// they are its trials. A verdict that is neither right nor wrong is a failure; items
// without a verdict have no record.
func (s *Set) Recorded() iter.Seq[deem.Record] {
	return func(yield func(deem.Record) bool) {
		position := 0
		for it := range s.Items() {
			for trial, v := range s.recorded[it.ID] {
				rec := deem.Record{Item: it, Position: position, Judge: RecordedName, Trial: trial}
				switch {
				case v.text != "":
					rec.Failure = deem.Failf(deem.Unparseable, "the file says %q", v.text)
				case v.right:
					rec.Verdict = &deem.Verdict{Label: correct, Score: 1}
				default:
					rec.Verdict = &deem.Verdict{Label: wrong}
				}
				if !yield(rec) {
					return
				}
			}
			position++
		}
	}
}
