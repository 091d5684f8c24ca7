// Package panel combines several judges into one: a [New] panel asks different judges and
// lets them vote, and [Repeat] asks the same judge several times.
//
// A member that fails abstains: a failure is not a vote. If too few members have voted, or
// the vote is tied, the panel has no verdict and returns a failure. The verdict contains
// the vote of each member as the aspect "member/NAME", and the members' reasons in its own
// reason.
package panel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"deem"
	"deem/judge"
)

// A Rule says how votes become a verdict: "majority" (more than half of the votes), "mean"
// (of the scores, by weight), "veto" (yes only if no member votes no) or "weighted" (more
// than half of the weight of the votes).
type Rule string

// The rules. A member votes yes if its verdict passes or, without a pass mark, if its score
// is at least one half.
const (
	majority Rule = "majority" // more than half of the votes
	mean     Rule = "mean"     // the weighted mean of the scores; yes from the pass mark on
	veto     Rule = "veto"     // yes only if no member votes no
	weighted Rule = "weighted" // more than half of the weight of the votes
)

// rules returns the rules in the order of the documentation.
func rules() []Rule { return []Rule{majority, mean, veto, weighted} }

// A Tie says how a tied vote is decided: "unsure" (no verdict), "first" (the vote of the
// first member that voted), "yes" or "no".
type Tie string

// The ways to decide a tie.
const (
	tieUnsure Tie = "unsure" // no verdict: a failure of kind unsure
	first     Tie = "first"  // the vote of the first member that voted
	tieYes    Tie = "yes"
	tieNo     Tie = "no"
)

// A Member is a judge with a name and a weight in the panel.
type Member struct {
	Name   string // "" means the judge's name
	Judge  deem.Judge
	Weight float64 // 0 means 1
}

// Options configures a panel.
type Options struct {
	Name string // "" means "panel" or "repeat"
	Rule Rule   // "" means majority
	Tie  Tie    // "" means unsure

	// Quorum is the number of members that must have voted; 0 means more than half of
	// them. With the rule veto, a single no decides regardless of the quorum.
	Quorum int

	// Pass is the lowest mean score for which the rule mean votes yes; 0 means one
	// half.
	Pass float64
}

// A Panel is a judge that lets several judges vote. Members are asked concurrently.
type panel struct {
	members []Member
	opts    Options
	kind    string
}

var _ deem.Identified = (*panel)(nil)

// New returns a panel of the given members.
func New(members []Member, o Options) (deem.Judge, error) {
	if len(members) < 2 {
		return nil, fmt.Errorf("a panel wants two members or more, and has %d", len(members))
	}
	p := &panel{opts: o, kind: judge.KindPanel}
	seen := map[string]string{}
	names := map[string]bool{}
	for _, m := range members {
		if m.Name == "" {
			m.Name = m.Judge.Name()
		}
		hash, err := deem.JudgeHash(m.Judge)
		if err != nil {
			return nil, err
		}
		if twin, twice := seen[hash]; twice {
			return nil, deem.WithHint(fmt.Errorf("members %s and %s are the same judge, which would say the same twice", twin, m.Name),
				"a weight makes a member count for more, and a judge of kind repeat asks one several times")
		}
		if names[m.Name] {
			return nil, deem.WithHint(fmt.Errorf("two members have the name %s", m.Name), "give each a name of its own")
		}
		seen[hash], names[m.Name] = m.Name, true
		p.members = append(p.members, m)
	}
	return p, p.check()
}

// Repeat returns a judge that asks j k times and lets the answers vote. Each time is a
// separate trial, so that the cached reply of one is not used for another.
func Repeat(j deem.Judge, k int, o Options) (deem.Judge, error) {
	if k < 2 {
		return nil, fmt.Errorf("asking %d times is not repeating it: ask two times or more", k)
	}
	p := &panel{opts: o, kind: judge.KindRepeat}
	for i := range k {
		p.members = append(p.members, Member{Name: fmt.Sprint(i + 1), Judge: j})
	}
	return p, p.check()
}

// check fills in the defaults and rejects invalid options.
func (p *panel) check() error {
	o := &p.opts
	o.Name = cmp.Or(o.Name, p.kind)
	o.Rule = cmp.Or(o.Rule, majority)
	o.Tie = cmp.Or(o.Tie, tieUnsure)
	o.Quorum = cmp.Or(o.Quorum, len(p.members)/2+1)
	o.Pass = cmp.Or(o.Pass, 0.5)
	switch {
	case !slices.Contains(rules(), o.Rule):
		return fmt.Errorf("there is no rule %q; there are majority, mean, veto and weighted", o.Rule)
	case !slices.Contains([]Tie{tieUnsure, first, tieYes, tieNo}, o.Tie):
		return fmt.Errorf("a tie cannot come to %q, but to unsure, first, yes or no", o.Tie)
	case o.Quorum < 1 || o.Quorum > len(p.members):
		return fmt.Errorf("a quorum of %d: the panel has %d members", o.Quorum, len(p.members))
	case !(o.Pass > 0 && o.Pass <= 1):
		return fmt.Errorf("pass mark %v lies outside 0 to 1", o.Pass)
	}
	for i, m := range p.members {
		switch {
		case m.Weight == 0:
			p.members[i].Weight = 1
		case math.IsNaN(m.Weight) || math.IsInf(m.Weight, 0) || m.Weight < 0:
			return fmt.Errorf("the weight of %s is %v, and wants to be a number above 0", m.Name, m.Weight)
		case m.Weight != 1 && (o.Rule == majority || o.Rule == veto):
			return deem.WithHint(fmt.Errorf("%s has the weight %v, which the rule %s does not heed", m.Name, m.Weight, o.Rule),
				"the rules weighted and mean heed weights")
		}
	}
	return nil
}

// Name returns the name of the panel.
func (p *panel) Name() string { return p.opts.Name }

// Identity returns the [judge.Spec] of the panel.
func (p *panel) Identity() any {
	s := judge.Spec{Kind: p.kind, Name: p.opts.Name, Rule: string(p.opts.Rule), Tie: string(p.opts.Tie), Quorum: p.opts.Quorum}
	if p.opts.Rule == mean {
		s.Pass = &p.opts.Pass
	}
	if p.kind == judge.KindRepeat {
		s.Times, s.Members = len(p.members), []judge.Member{{Judge: judge.SpecOf(p.members[0].Judge)}}
		return s
	}
	for _, m := range p.members {
		s.Members = append(s.Members, judge.Member{Name: m.Name, Weight: m.Weight, Judge: judge.SpecOf(m.Judge)})
	}
	return s
}

// Judge asks all members concurrently and counts the votes. It waits for all of them, so
// that a paid reply is not lost because another member fails. Each member has its own
// ledger, so that calls are recorded in the order of the members.
func (p *panel) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	ballots := make([]ballot, len(p.members))
	var wg sync.WaitGroup
	for i, m := range p.members {
		trial := deem.TrialOf(ctx)
		if p.kind == judge.KindRepeat { // It uses several trials for each of its own.
			trial = trial*len(p.members) + i
		}
		wg.Go(func() {
			lctx, calls := deem.WithLedger(ctx, trial)
			b := ballot{member: m}
			b.verdict, b.err = m.Judge.Judge(lctx, it)
			b.calls = calls()
			if f, ok := errors.AsType[*deem.Failure](b.err); ok {
				b.failure, b.err = f, nil
			}
			ballots[i] = b
		})
	}
	wg.Wait()
	for _, b := range ballots {
		for _, c := range b.calls {
			deem.NoteCall(ctx, c)
		}
	}
	if err := ctx.Err(); err != nil {
		return deem.Verdict{}, err
	}
	for _, b := range ballots {
		if b.err != nil {
			return deem.Verdict{}, b.err
		}
	}
	return p.decide(ballots)
}

// A ballot is the result of asking one member: a verdict, a failure, or an error that ends
// the run.
type ballot struct {
	member  Member
	verdict deem.Verdict
	failure *deem.Failure
	err     error
	calls   []deem.Call
}
