package longmemeval

import (
	"strings"

	"deem"
	"deem/internal/text"
	"deem/internal/words"
	"deem/judge"
)

// The labels, spelled as in the prompts.
const (
	yes = "yes"
	no  = "no"
)

// form is what the prompts demand: "Answer yes or no only."
var form = judge.MustForm("", yes, no)

// Read returns the verdict that the reply gives under the protocol's reading.
//
// Upstream reads an empty text as no, and crashes on a reply without text. Neither is a
// judgement, and [judge.Read] makes such replies failures.
func (p *QA) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	said := text.Strip(reply.Text)
	label := ""
	switch p.reading {
	case Upstream:
		// Like evaluate_qa.py: "No, yes" is a yes, and so is "Yesterday".
		if label = no; strings.Contains(text.Lower(said), yes) {
			label = yes
		}
	case Strict:
		found, err := form.Read(it, reply.Text)
		if err == nil && reply.Stop == deem.StopLength {
			err = deem.Failf(deem.Truncated, "the reply was cut off at its limit of tokens")
		}
		if err != nil {
			return deem.Verdict{}, err
		}
		label = found.Label
	case Seed:
		label = firstLetters(said)
	}
	if label == "" {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply begins with neither yes nor no: %s", words.Clip(strings.Join(text.Split(said), " "), 80))
	}
	v := deem.Verdict{Label: label}
	if label == yes {
		v.Score = 1
	}
	return v, nil
}

// firstLetters reads like the seed: ignoring white space and some punctuation, the reply
// must begin with yes or no. "Nothing" is a no. It returns "" for anything else, which the
// seed treats as a no, with a warning.
func firstLetters(said string) string {
	said = strings.Trim(text.Lower(said), ".:!- \t\n\r")
	for _, label := range []string{yes, no} {
		if strings.HasPrefix(said, label) {
			return label
		}
	}
	return ""
}
