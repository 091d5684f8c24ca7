// Package pairwise judges which of two responses to the same question is better.
//
// A model that compares two texts often prefers the one it reads first, or the one it
// reads last. So each pair is asked about twice, with the responses in either order,
// and a preference counts only when both orders have it. When they disagree, the two
// are tied, and the verdict says that the order decided.
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

// Field is the field of an item that holds the other response, B.
const Field = "other"

// The labels of a verdict. The score is how far A is the better one: 1, 0.5 or 0.
const (
	A   = "A"
	B   = "B"
	Tie = "tie"
)

//go:embed prompt/pairwise.yaml prompt/pairwise.txt
var files embed.FS

// Declaration returns the judge that is asked when no other is named. Its prompt is
// our own.
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
type Pairwise struct {
	name  string
	judge deem.Judge
}

var _ deem.Identified = (*Pairwise)(nil)

// New returns the judge that asks j about both orders. A score of j above one half
// prefers the response, and one below prefers the field "other". The name "" means
// "pairwise".
func New(name string, j deem.Judge) *Pairwise {
	if name == "" {
		name = judge.KindPairwise
	}
	return &Pairwise{name: name, judge: j}
}

// Name returns the name that was given.
func (p *Pairwise) Name() string { return p.name }

// Identity returns the [judge.Spec] of the comparison.
func (p *Pairwise) Identity() any {
	return judge.Spec{Kind: judge.KindPairwise, Name: p.name, Members: []judge.Member{{Judge: judge.SpecOf(p.judge)}}}
}

// The aspects of a verdict. The scores of both orders are those of A; that A does
// better when it stands first than when it stands second, on average, is the judge's
// preference for the first place.
const (
	AspectFirst  = "A shown first"
	AspectSecond = "A shown second"
	AspectFlip   = "position flip" // 1 when the order decided
)

// Judge asks about both orders.
func (p *Pairwise) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
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
	second, err := p.ask(ctx, swapped(it), "A shown second")
	if err != nil {
		return deem.Verdict{}, err
	}
	reason := fmt.Sprintf("A shown first: %s %s\nA shown second: %s %s", first.Label, first.Reason, second.Label, second.Reason)
	return verdict(first.Score, 1-second.Score, reason), nil
}

// ask asks about one order. A failure says of which.
func (p *Pairwise) ask(ctx context.Context, it deem.Item, order string) (deem.Verdict, error) {
	v, err := p.judge.Judge(ctx, it)
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return v, &deem.Failure{Kind: f.Kind, Detail: order + ": " + f.Detail}
	}
	return v, err
}

// swapped returns the item with the responses in the other order.
func swapped(it deem.Item) deem.Item {
	it.Fields = maps.Clone(it.Fields)
	it.Response, it.Fields[Field] = it.Fields[Field], it.Response
	return it
}

// verdict makes one verdict of how good A looked in both orders.
func verdict(first, second float64, reason string) deem.Verdict {
	v := deem.Verdict{
		Label: Tie, Score: 0.5, Reason: reason,
		Aspects: map[string]float64{AspectFirst: first, AspectSecond: second, AspectFlip: 0},
	}
	switch {
	case first > 0.5 && second > 0.5:
		v.Label, v.Score = A, 1
	case first < 0.5 && second < 0.5:
		v.Label, v.Score = B, 0
	case (first-0.5)*(second-0.5) < 0:
		v.Aspects[AspectFlip] = 1
	}
	return v
}
