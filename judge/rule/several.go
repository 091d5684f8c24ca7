package rule

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"deem"
	"deem/judge"
)

// several applies several rules to an item.
type several struct{ rules []deem.Judge }

var _ deem.Identified = (*several)(nil)

// Several returns a judge whose verdict is that of the first rule, with the scores of all
// rules as aspects under their names. Each item is read and stored once instead of once per
// rule. An item that one of the rules cannot judge is unjudged.
func Several(rules ...deem.Judge) (deem.Judge, error) {
	if len(rules) < 2 {
		return nil, errors.New("several rules are at least two")
	}
	seen := map[string]bool{}
	for _, r := range rules {
		if seen[r.Name()] {
			return nil, fmt.Errorf("the rule %s stands twice among several", r.Name())
		}
		seen[r.Name()] = true
	}
	return &several{rules}, nil
}

// Name returns the names of the rules, joined by "+".
func (s *several) Name() string {
	names := make([]string, len(s.rules))
	for i, r := range s.rules {
		names[i] = r.Name()
	}
	return strings.Join(names, "+")
}

// Identity returns the [judge.Spec] of the rules.
func (s *several) Identity() any {
	spec := judge.Spec{Kind: judge.KindRules, Name: s.Name()}
	for _, r := range s.rules {
		spec.Members = append(spec.Members, judge.Member{Judge: judge.SpecOf(r)})
	}
	return spec
}

// Judge returns the first rule's verdict with the scores of all rules.
func (s *several) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	var first deem.Verdict
	aspects := make(map[string]float64, len(s.rules))
	for i, r := range s.rules {
		v, err := r.Judge(ctx, it)
		if f, ok := errors.AsType[*deem.Failure](err); ok {
			return deem.Verdict{}, deem.Failf(f.Kind, "%s: %s", r.Name(), f.Detail)
		}
		if err != nil {
			return deem.Verdict{}, err
		}
		aspects[r.Name()] = v.Score
		if i == 0 {
			first = v
		}
	}
	first.Aspects = aspects
	return first, nil
}
