// Package cascade combines judges that are asked in turn: a cheap one first, and the next
// only about items that the earlier ones were unsure of. The last stage may be people.
//
// A stage decides an item if the confidence of its verdict reaches its threshold. [Fit]
// finds thresholds on human labels such that the decisions of the stages agree with people
// at a given rate, and states how far that can be guaranteed.
package cascade

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"deem"
	"deem/judge"
)

// A Stage is a judge with the confidence from which it decides.
type Stage struct {
	Name  string // "" means the judge's name
	Judge deem.Judge

	// Threshold is the lowest confidence with which a verdict counts. Nil means that
	// every verdict counts, even one without a confidence.
	Threshold *float64
}

// A Cascade is a judge that asks several judges in turn.
type cascade struct {
	name   string
	stages []Stage
}

var _ deem.Identified = (*cascade)(nil)

// New returns a cascade of the given stages. An empty name means "cascade".
func New(name string, stages []Stage) (deem.Judge, error) {
	if len(stages) < 2 {
		return nil, fmt.Errorf("a cascade wants two stages or more, and has %d", len(stages))
	}
	if name == "" {
		name = judge.KindCascade
	}
	c := &cascade{name: name}
	seen := map[string]bool{}
	for i, s := range stages {
		if s.Name == "" {
			s.Name = s.Judge.Name()
		}
		last := i == len(stages)-1
		_, leave := s.Judge.(people)
		switch {
		case seen[s.Name]:
			return nil, deem.WithHint(fmt.Errorf("two stages have the name %s", s.Name), "give each a name of its own")
		case leave && !last:
			return nil, fmt.Errorf("people are stage %d of %d: nobody comes after them", i+1, len(stages))
		case s.Threshold != nil && !(*s.Threshold >= 0 && *s.Threshold <= 1):
			return nil, fmt.Errorf("stage %s: threshold %v lies outside 0 to 1", s.Name, *s.Threshold)
		}
		seen[s.Name] = true
		c.stages = append(c.stages, s)
	}
	return c, nil
}

// Name returns the name of the cascade.
func (c *cascade) Name() string { return c.name }

// Identity returns the [judge.Spec] of the cascade.
func (c *cascade) Identity() any {
	spec := judge.Spec{Kind: judge.KindCascade, Name: c.name}
	for _, s := range c.stages {
		spec.Members = append(spec.Members, judge.Member{Name: s.Name, Threshold: s.Threshold, Judge: judge.SpecOf(s.Judge)})
	}
	return spec
}

// StageAspect is the aspect with the number of the stage that decided, from 1.
const StageAspect = "stage"

// Judge asks one stage after another until one is confident. The verdict has the labels of
// the cascade, because stages use different labels for the same decision.
func (c *cascade) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	var said []string // by the stages, in order
	kind := deem.Unsure
	for i, s := range c.stages {
		v, err := s.Judge.Judge(ctx, it)
		f, failed := errors.AsType[*deem.Failure](err)
		switch {
		case err != nil && ctx.Err() != nil:
			return deem.Verdict{}, ctx.Err()
		case err != nil && !failed:
			return deem.Verdict{}, err
		case failed:
			kind = f.Kind
			said = append(said, s.Name+": "+f.Error())
			continue
		case !s.accepts(v):
			kind = deem.Unsure
			sure := "but not how sure it is"
			if v.Confidence != nil {
				sure = short(*v.Confidence) + " sure"
			}
			said = append(said, fmt.Sprintf("%s: said %s, %s, and %s is asked for", s.Name, v.Label, sure, short(*s.Threshold)))
			continue
		}
		label, reason := "no", s.Name+": "+v.Label
		if v.Yes() {
			label = "yes"
		}
		if v.Reason != "" {
			reason += ": " + v.Reason
		}
		return deem.Verdict{
			Label: label, Score: v.Score, Pass: v.Pass, Confidence: v.Confidence,
			Aspects: map[string]float64{StageAspect: float64(i + 1)},
			Reason:  strings.Join(append(said, reason), "\n"),
		}, nil
	}
	return deem.Verdict{}, deem.Failf(kind, "%s", strings.Join(said, "\n"))
}

// accepts reports whether the confidence of a verdict is sufficient.
func (s Stage) accepts(v deem.Verdict) bool {
	return s.Threshold == nil || v.Confidence != nil && *v.Confidence >= *s.Threshold
}

// short formats a confidence. It rounds down, so that a value below a threshold never looks
// equal to it.
func short(x float64) string { return fmt.Sprintf("%.3f", math.Floor(x*1000)/1000) }

// people is the last stage of a cascade that leaves items to people.
type people struct{}

var _ deem.Identified = people{}

// People returns a judge that leaves every item to people. The items are unjudged until
// they are labelled.
func People() deem.Judge { return people{} }

// peopleName is the name of the stage People.
const peopleName = "people"

func (people) Name() string { return peopleName }

func (people) Identity() any { return judge.Spec{Kind: judge.KindPeople, Name: peopleName} }

// left is the detail of the failure of an item that is left to people.
const left = "left to people"

func (people) Judge(ctx context.Context, _ deem.Item) (deem.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return deem.Verdict{}, err
	}
	return deem.Verdict{}, deem.Failf(deem.Unsure, left)
}

// LeftToPeople reports whether a cascade left the item of a record to people.
func LeftToPeople(rec deem.Record) bool {
	return rec.Failure != nil && rec.Failure.Kind == deem.Unsure &&
		strings.HasSuffix(rec.Failure.Detail, peopleName+": "+string(deem.Unsure)+": "+left)
}
