package server

import (
	"fmt"

	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// A trust says in one sentence whether a judge can be trusted for a use.
type trust struct {
	Tone doc.Tone
	Text string
	Why  string // the errors of the judge, "" if too little is known of them
}

// What a judge may get wrong. A share of errors below trusted is small compared with the
// uncertainty of most runs; above distrusted, the corrected score depends more on the
// labels than on the judge.
const (
	trusted    = 0.10
	distrusted = 0.25
	fewLabels  = 30
)

// newTrust judges a judge by its errors: the wrong responses that it accepts and the right
// ones that it rejects, among so many responses of which the truth is known. An error that
// nothing is known of does not count for the judge.
func newTrust(accepts, rejects *stat.Estimate, n int, known string) trust {
	if n < fewLabels || accepts == nil || rejects == nil || accepts.Unknown() || rejects.Unknown() {
		return trust{Tone: doc.Warning, Text: fmt.Sprintf("It is too early to say whether this judge can be trusted: there are %s, and both right and wrong responses are needed.", words.Count(n, known))}
	}
	errs := fmt.Sprintf("It accepts %s of the wrong responses and rejects %s of the right ones.", percent(accepts.Value), percent(rejects.Value))
	switch {
	case accepts.Value > distrusted || rejects.Value > distrusted:
		return trust{doc.Bad, "Do not trust this judge for this use.", errs}
	case accepts.Hi <= trusted && rejects.Hi <= trusted:
		return trust{doc.Good, "This judge can be trusted for this use.", errs}
	case accepts.Value <= trusted && rejects.Value <= trusted:
		return trust{doc.Warning, "This judge looks right for this use, but the evidence is thin. Quote the corrected score.", errs}
	}
	return trust{doc.Warning, "Quote the corrected score of this judge, not its own.", errs}
}
