package locomo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"deem"
	"deem/internal/benchmark"
)

// Options says what to read. Data are the published conversations with their questions,
// locomo10.json. Responses are files with a system's answers: those of Mem0, of Zep, of MemOS
// and EverMemOS, of upstream's own script, or rows with a question and a response. They are
// recognised by their content. Without them Data must contain the responses too, and without
// Data they must contain the references.
//
// The param "category5" is a [Policy]. The param "system" chooses among the systems in a file
// of upstream's script, which has columns such as "gpt-4_prediction" and "claude_prediction";
// it may be "" if there is only one. The text of the evidence is part of the items if one of
// the judges is shown it.
type Options = benchmark.Options

// Open joins questions and responses into items, in the order of the questions. It reads
// and checks everything before any call is made; if rows are invalid, the error is a
// [*deem.Problems].
//
// A question may occur twice in a conversation, and twelve do in the published file. So
// responses are matched in order: the first of equal questions takes the first response to
// it with the same category and reference, as far as the response file contains them.
//
// Notes of the set describes how the files were joined: for example, how category 5 was
// treated, responses to unknown questions, and questions without a response.
func Open(ctx context.Context, o Options) (benchmark.Set, error) {
	policy, err := ParsePolicy(o.With["category5"])
	if err != nil {
		return nil, err
	}
	if err := benchmark.CheckNames(slices.Concat(o.Data, o.Responses)); err != nil {
		return nil, err
	}
	j := &join{policy: policy, whole: len(o.Data) == 0 || len(o.Responses) == 0}
	if j.whole {
		err = j.rows(ctx, slices.Concat(o.Data, o.Responses), o, j.both)
	} else if err = j.rows(ctx, o.Data, o, j.question); err == nil {
		err = j.rows(ctx, o.Responses, o, j.answer)
	}
	if err != nil {
		return nil, err
	}
	// A response file without a response column, but with an "answer", is ambiguous. If some
	// rows have a response, the others are simply without one.
	lookalike := slices.IndexFunc(j.answers, func(r row) bool { return r.lookalike })
	if lookalike >= 0 && !slices.ContainsFunc(j.answers, func(r row) bool { return r.answered }) {
		j.wrong(j.answers[lookalike].place, deem.WithHint(errors.New("the row has an \"answer\" and no response, and \"answer\" may mean either"),
			"call what the system gave \"response\""))
	}
	j.match()
	for _, s := range j.slots {
		if o.Unanswered {
			s.answer, s.answered = row{}, true
		}
	}
	j.missing(o.RequireAll)
	if err := j.problems.Err(""); err != nil {
		return nil, err
	}
	var items []deem.Item
	for _, s := range j.slots {
		if !s.answered || j.left(s) {
			continue
		}
		it := s.item()
		if o.Arm != "" {
			if s.history == nil {
				return nil, fmt.Errorf("%s: the question has no conversation, so there is no arm %s", s.place, o.Arm)
			}
			if err := s.history.SetContexts(&it, o.Arm, apart(s.evidence)); err != nil {
				return nil, err
			}
		}
		items = append(items, it)
	}
	if len(items) == 0 {
		return nil, j.nothing(o)
	}
	items, notes := benchmark.Limit(items, o.Limit, j.notes)
	return benchmark.Hold(items, slices.Concat(o.Data, o.Responses), notes)
}

// A join collects questions, responses and errors.
type join struct {
	policy Policy
	whole  bool // questions and responses are in the same rows

	slots   []*slot
	answers []row
	unknown []string // rows that answer no question of the data
	renamed []string // slots whose response has another category
	rekeyed []string // slots whose response has another reference

	notes    []string
	problems benchmark.Problems
}

// rows reads the rows of some files and calls visit, which returns an error about one row.
func (j *join) rows(ctx context.Context, names []string, o Options, visit func(row) error) error {
	// A file that is one object is read completely, because only its content shows
	// where the rows are.
	in := benchmark.Input{Names: names, Stdin: o.Stdin, Whole: func([]string) bool { return true }}
	w := &walker{system: o.With["system"], evidence: slices.ContainsFunc(o.Judges, ShowsEvidence), histories: o.Arm != "", visit: func(r row, err error) {
		if err == nil {
			err = visit(r)
		}
		j.wrong(r.place, err)
	}}
	notes, err := benchmark.Visit(ctx, in, &j.problems, func(r *benchmark.Row) error {
		w.top(r) // reports errors to the walker's visitor, with the location in the object
		return nil
	})
	j.notes = append(j.notes, notes...)
	return err
}

// wrong records an error at a location as a problem, unless it is nil.
func (j *join) wrong(at place, err error) {
	if err == nil {
		return
	}
	message := err.Error()
	if at.path != "" {
		message = at.path + ": " + message
	}
	j.problems.Add(deem.Problem{File: at.file, Line: at.line, Message: message}, deem.HintOf(err))
}

// question adds a row of the data.
func (j *join) question(r row) error {
	s, err := newSlot(r)
	if err != nil {
		return err
	}
	j.slots = append(j.slots, s)
	return nil
}

// answer adds a row of a system's answers.
func (j *join) answer(r row) error {
	j.answers = append(j.answers, r)
	return nil
}

// both adds a row that contains the question and, if the system gave one, the response.
func (j *join) both(r row) error {
	if r.category == "" {
		return deem.WithHint(errors.New("the question has no category, and each is scored in its own way"),
			"the published file has the categories: give it as the data, and this one as the responses")
	}
	s, err := newSlot(r)
	if err != nil {
		return err
	}
	if r.answered {
		s.answer, s.answered = r, true
	}
	j.slots = append(j.slots, s)
	return nil
}
