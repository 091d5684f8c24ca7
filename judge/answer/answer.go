// Package answer judges answers that a reader gives to the items of a run.
//
// A memory system retrieves contexts; a reader answers each question from them; another
// judge judges the answer. Both calls belong to one record, so that a run file proves how
// the answer came about as well as what was thought of it.
package answer

import (
	"context"
	"fmt"

	"deem"
	"deem/judge"
)

// An answering judge has each item answered before it is judged.
type answering struct {
	reader deem.Judge
	judge  deem.Judge // nil if answers are not judged
}

var _ deem.Identified = (*answering)(nil)

// New returns a judge that has items answered by a reader, and then judged. The verdict of
// reader has the answer as its reason; see the protocol of a reader. Without a judge the
// verdict only says that there is an answer.
func New(reader, j deem.Judge) deem.Judge { return &answering{reader, j} }

// Name returns the name of the judge, or of the reader if answers are not judged.
func (a *answering) Name() string {
	if a.judge == nil {
		return a.reader.Name()
	}
	return a.judge.Name()
}

// Identity returns the spec with reader and judge as members.
func (a *answering) Identity() any {
	s := judge.Spec{Kind: judge.KindAnswer, Name: a.Name(), Members: []judge.Member{{Judge: judge.SpecOf(a.reader)}}}
	if a.judge != nil {
		s.Members = append(s.Members, judge.Member{Judge: judge.SpecOf(a.judge)})
	}
	return s
}

// Judge answers the item and judges the answer. An item without an answer is not judged.
func (a *answering) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	it.Response = ""
	v, err := a.reader.Judge(ctx, it)
	if f, ok := err.(*deem.Failure); ok { //nolint:errorlint // A judge returns it unwrapped.
		return deem.Verdict{}, &deem.Failure{Kind: f.Kind, Detail: fmt.Sprintf("no answer: %s", f.Detail)}
	}
	if err != nil {
		return deem.Verdict{}, err
	}
	deem.NoteAnswer(ctx, v.Reason)
	if a.judge == nil {
		return deem.Verdict{Label: v.Label, Score: v.Score}, nil
	}
	it.Response = v.Reason
	return a.judge.Judge(ctx, it)
}
