package web

import (
	"fmt"

	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// trust is the assessment whether a judge can be trusted for a use.
type trust struct {
	Tone doc.Tone
	Text string
	Why  string // the errors of the judge, "" if there is too little data
}

// Thresholds of trust. An error rate below trusted is small compared with the uncertainty of
// most runs; above distrusted, the corrected score depends more on the labels than on the
// judge.
const (
	trusted    = 0.10
	distrusted = 0.25
	fewLabels  = 30
)

// newTrust assesses a judge by its error rates: the share of wrong responses that it accepts
// and of right responses that it rejects, among n responses with a known truth. An unknown
// error rate does not count in favour of the judge.
func newTrust(accepts, rejects *stat.Estimate, n int, known string) trust {
	if n < fewLabels || accepts == nil || rejects == nil || doc.Unknown(*accepts) || doc.Unknown(*rejects) {
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
