// Package match is a judge that compares a response with its reference by what both say,
// and asks no model.
//
// It reads numbers, number words, dates, durations, units, times, lists, option letters,
// yes and no, negation and abstention in English, and in Chinese where the forms are
// regular. The rest it compares as words, without case, diacritics, articles and plural
// endings, but with the symbols that tell C from C++ and O+ from O-. A small model, fitted
// to what people said about answers, weighs what it finds; see docs/match.md. Where the evidence
// is too weak it returns a failure of kind unsure instead of a guess.
package match

import (
	"context"
	"strconv"

	"deem"
	"deem/internal/evidence"
	"deem/judge"
)

// The labels of match.
const (
	Correct   = "correct"
	Incorrect = "incorrect"
)

// match is the judge that understands what it compares.
type match struct {
	name   string
	forced bool
}

var _ deem.Identified = (*match)(nil)

// New returns the judge "match". Its labels are [Correct] and [Incorrect]. The confidence is
// the probability that a person would say the same, and the reason says what decided. Where
// that probability is too small, as for a free-text reference of which the response shares
// half the words, it returns a failure of kind unsure with the probability that the response
// is right: the item stays undecided, for a person or a model to decide.
func New() deem.Judge { return &match{name: "match"} }

// Forced returns the judge "match/forced", which is never unsure: it takes the likelier
// label, and its confidence says how likely that is.
func Forced() deem.Judge { return &match{name: "match/forced", forced: true} }

// Doc describes the judge with the given name in one line. It is "" if this package has no
// such judge.
func Doc(name string) string {
	switch name {
	case "match":
		return "correct or incorrect by numbers, dates, units, lists, negation and abstention; unsure without evidence"
	case "match/forced":
		return "match, but takes the likelier label where it would be unsure"
	}
	return ""
}

// Name returns the name of the rule.
func (j *match) Name() string { return j.name }

// Identity returns the [judge.Spec] of the rule, with the hash of the model that it weighs
// with and the error of its probabilities. The version is raised whenever the verdicts may
// change.
func (j *match) Identity() any {
	s := judge.Spec{Kind: judge.KindRule, Name: j.name, Version: 8, Options: map[string]string{"model": evidence.Default().Hash()}}
	if !j.forced {
		s.Options[judge.CalibrationError] = strconv.FormatFloat(evidence.Default().Error, 'g', -1, 64)
	}
	return s
}

// Judge compares the response with each reference, and weighs the comparison that
// speaks most for it.
func (j *match) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return deem.Verdict{}, err
	}
	if len(it.References) == 0 {
		return deem.Verdict{}, deem.Failf(deem.Input, "no reference to compare with")
	}
	model := evidence.Default()
	e := evidence.New(it, model.Words.Weight)
	p := e.Probability(model)
	// What was not read may have the answer.
	unread := e.Cut && p < .5
	if !j.forced && (unread || !e.Decides(p, model)) {
		f := deem.Failf(deem.Unsure, "%s (right with probability %.2f)", e.Why, p)
		f.Probability = &p
		return deem.Verdict{}, f
	}
	conf := max(p, 1-p)
	v := deem.Verdict{Label: Incorrect, Reason: e.Reason(p >= .5, model), Confidence: &conf}
	if p >= .5 {
		v.Label, v.Score = Correct, 1
	}
	return v, nil
}
