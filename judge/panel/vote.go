package panel

import (
	"fmt"
	"math"
	"strings"

	"deem"
	"deem/judge"
)

// A Vote is a member's decision on an item.
type Vote int8

// The votes. VoteNone is that of a member without a verdict.
const (
	VoteNone Vote = iota
	VoteNo
	VoteYes
)

// String returns the vote as it appears in reasons.
func (v Vote) String() string { return [...]string{"unjudged", "no", "yes"}[v] }

// vote returns the member's vote.
func (b ballot) vote() Vote {
	switch {
	case b.failure != nil:
		return VoteNone
	case b.verdict.Yes():
		return VoteYes
	}
	return VoteNo
}

// A count is the sum of the votes.
type count struct {
	ballots   []ballot
	yes, no   int
	forYes    float64 // weight
	forNo     float64
	score     float64 // weighted
	firstVote Vote    // of the members that voted
}

// tally renders the votes in a form that [Votes] can parse.
func (c count) tally() string {
	list := make([]string, len(c.ballots))
	for i, b := range c.ballots {
		list[i] = b.member.Name + " " + b.vote().String()
	}
	return fmt.Sprintf("%d of %d say yes (%s)", c.yes, c.yes+c.no, strings.Join(list, ", "))
}

// words returns the members' reasons, one line each.
func (c count) words() string {
	var lines strings.Builder
	for _, b := range c.ballots {
		said := b.verdict.Reason
		if b.failure != nil {
			said = b.failure.Error()
		}
		if said != "" {
			fmt.Fprintf(&lines, "\n%s: %s", b.member.Name, said)
		}
	}
	return lines.String()
}

// decide returns the verdict for the votes, or a failure.
func (p *panel) decide(ballots []ballot) (deem.Verdict, error) {
	c := count{ballots: ballots}
	for _, b := range ballots {
		v := b.vote()
		if c.firstVote == VoteNone {
			c.firstVote = v
		}
		switch v {
		case VoteNone:
			continue
		case VoteYes:
			c.yes++
			c.forYes += b.member.Weight
		case VoteNo:
			c.no++
			c.forNo += b.member.Weight
		}
		c.score += b.member.Weight * b.verdict.Score
	}
	vetoed := p.opts.Rule == veto && c.no > 0
	if c.yes+c.no < p.opts.Quorum && !vetoed {
		return deem.Verdict{}, deem.Failf(c.failureKind(), "no quorum, which is %d: %s%s", p.opts.Quorum, c.tally(), c.words())
	}
	var yes, tie bool
	switch p.opts.Rule {
	case mean:
		yes = c.mean() >= p.opts.Pass
	case veto:
		yes = c.no == 0
	case weighted:
		// Weights such as 0.1 and 0.2 do not add up exactly.
		tie = math.Abs(c.forYes-c.forNo) <= 1e-9*(c.forYes+c.forNo)
		yes = c.forYes > c.forNo
	default:
		yes, tie = c.yes > c.no, c.yes == c.no
	}
	switch {
	case !tie:
	case p.opts.Tie == tieUnsure:
		return deem.Verdict{}, deem.Failf(deem.Unsure, "evenly split: %s%s", c.tally(), c.words())
	case p.opts.Tie == first:
		yes = c.firstVote == VoteYes
	default:
		yes = p.opts.Tie == tieYes
	}
	return p.verdict(c, yes), nil
}

// mean returns the mean score, clamped to its range after rounding.
func (c count) mean() float64 {
	return math.Min(math.Max(c.score/(c.forYes+c.forNo), 0), 1)
}

// verdict returns the verdict with the members' votes and reasons.
func (p *panel) verdict(c count, yes bool) deem.Verdict {
	v := deem.Verdict{Label: VoteNo.String(), Reason: c.tally() + c.words(), Aspects: map[string]float64{}}
	side := c.forNo
	if yes {
		v.Label, v.Score, side = VoteYes.String(), 1, c.forYes
	}
	switch p.opts.Rule {
	case mean:
		v.Score, v.Pass = c.mean(), &yes
	case majority, weighted:
		sure := side / (c.forYes + c.forNo)
		v.Confidence = &sure
	case veto: // The count is not a confidence for a veto.
	}
	for _, b := range c.ballots {
		vote := b.vote()
		if vote == VoteNone {
			continue
		}
		v.Aspects["member/"+b.member.Name] = float64(vote - VoteNo)
		if p.opts.Rule == mean {
			v.Aspects["score/"+b.member.Name] = b.verdict.Score
		}
	}
	if p.kind == judge.KindRepeat {
		// The probability that two answers drawn from those given differ.
		n := c.yes + c.no
		v.Aspects["flips"] = 2 * float64(c.yes) * float64(c.no) / (float64(n) * float64(max(n-1, 1)))
	}
	return v
}

// failureKind returns the kind of failure if too few members voted: that of the members if all
// have the same kind, so that a report shows the cause, and unsure otherwise.
func (c count) failureKind() deem.Kind {
	var kind deem.Kind
	for _, b := range c.ballots {
		if b.failure == nil {
			continue
		}
		if kind != "" && kind != b.failure.Kind {
			return deem.Unsure
		}
		kind = b.failure.Kind
	}
	return kind
}

// Votes returns the votes of the members, parsed from the reason of a panel's verdict or
// the detail of its failure. A failure has no aspects, so this is the only way to get the
// votes of a panel without a verdict. It reports false if the text does not contain them.
func Votes(members []string, rec deem.Record) ([]Vote, bool) {
	text := ""
	switch {
	case rec.Verdict != nil:
		text = rec.Verdict.Reason
	case rec.Failure != nil:
		text = rec.Failure.Detail
	}
	_, text, ok := strings.Cut(text, " say yes (")
	votes := make([]Vote, len(members))
	for i, name := range members {
		if i > 0 {
			text, ok = cut(text, ", ", ok)
		}
		text, ok = cut(text, name+" ", ok)
		found := false
		for _, v := range []Vote{VoteNone, VoteNo, VoteYes} {
			if rest, is := strings.CutPrefix(text, v.String()); is && !found {
				votes[i], text, found = v, rest, true
			}
		}
		ok = ok && found
	}
	if !ok || !strings.HasPrefix(text, ")") {
		return nil, false
	}
	return votes, true
}

func cut(text, prefix string, ok bool) (string, bool) {
	rest, has := strings.CutPrefix(text, prefix)
	return rest, ok && has
}
