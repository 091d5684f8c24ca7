// Package pairwise judges which of two responses to the same question is better.
//
// Models that compare two texts often prefer the first or the last one they read. So each
// pair is judged twice, in both orders, and a preference counts only if both orders agree.
// If they disagree, the result is a tie, and the verdict says that the order decided.
//
// The response of an item is A, and its field "other" is B.
package pairwise

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"path"

	"deem"
	"deem/judge"
)

// Field is the field of an item that contains the other response, B.
const Field = "other"

// The labels of a verdict. The score is 1 if A is better, 0.5 for a tie, and 0 if B is
// better.
const (
	winA   = "A"
	winB   = "B"
	winTie = "tie"
)

//go:embed prompt/pairwise.yaml prompt/pairwise.txt
var files embed.FS

// Declaration returns the default judge. The prompt was written for deem.
func Declaration() *judge.Declaration {
	const file = "prompt/pairwise.yaml"
	data, err := files.ReadFile(file)
	if err != nil {
		panic(fmt.Sprintf("pairwise: %v", err))
	}
	d, err := judge.Parse(file, data, func(name string) ([]byte, error) {
		return files.ReadFile(path.Join(path.Dir(file), name))
	})
	if err != nil {
		panic(fmt.Sprintf("pairwise: %v", err))
	}
	return d
}

// A Pairwise asks a judge about both orders of a pair.
type pairwise struct {
	name  string
	judge deem.Judge
}

var _ deem.Identified = (*pairwise)(nil)

// New returns a judge that asks j about both orders. A score of j above one half prefers
// the response, and one below prefers the field "other". An empty name means "pairwise".
func New(name string, j deem.Judge) deem.Judge {
	if name == "" {
		name = judge.KindPairwise
	}
	return &pairwise{name: name, judge: j}
}

// Name returns the name of the judge.
func (p *pairwise) Name() string { return p.name }

// Identity returns the [judge.Spec] of the comparison.
func (p *pairwise) Identity() any {
	return judge.Spec{Kind: judge.KindPairwise, Name: p.name, Members: []judge.Member{{Judge: judge.SpecOf(p.judge)}}}
}

// The aspects of a verdict. Both scores are those of A. If A scores higher on average when
// shown first than when shown second, the judge prefers the first position.
const (
	AspectFirst  = "A shown first"
	AspectSecond = "A shown second"
	aspectFlip   = "position flip" // 1 if the order decided
)

// Judge asks about both orders.
func (p *pairwise) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	other, ok := it.Fields[Field]
	if !ok {
		return deem.Verdict{}, deem.Failf(deem.Input, "the item has no field %q with the response to compare with", Field)
	}
	if other == it.Response {
		return verdict(0.5, 0.5, "both responses are the same text"), nil
	}
	first, err := p.ask(ctx, it, "A shown first")
	if err != nil {
		return deem.Verdict{}, err
	}
	swapped := it
	swapped.Fields = maps.Clone(it.Fields)
	swapped.Response, swapped.Fields[Field] = other, it.Response
	second, err := p.ask(ctx, swapped, "A shown second")
	if err != nil {
		return deem.Verdict{}, err
	}
	reason := fmt.Sprintf("A shown first: %s %s\nA shown second: %s %s", first.Label, first.Reason, second.Label, second.Reason)
	return verdict(first.Score, 1-second.Score, reason), nil
}

// ask asks about one order. A failure names the order.
func (p *pairwise) ask(ctx context.Context, it deem.Item, order string) (deem.Verdict, error) {
	v, err := p.judge.Judge(ctx, it)
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return v, &deem.Failure{Kind: f.Kind, Detail: order + ": " + f.Detail}
	}
	return v, err
}

// verdict combines the scores of A in both orders.
func verdict(first, second float64, reason string) deem.Verdict {
	v := deem.Verdict{
		Label: winTie, Score: 0.5, Reason: reason,
		Aspects: map[string]float64{AspectFirst: first, AspectSecond: second, aspectFlip: 0},
	}
	switch {
	case first > 0.5 && second > 0.5:
		v.Label, v.Score = winA, 1
	case first < 0.5 && second < 0.5:
		v.Label, v.Score = winB, 0
	case (first-0.5)*(second-0.5) < 0:
		v.Aspects[aspectFlip] = 1
	}
	return v
}
