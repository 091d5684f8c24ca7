package longmemeval

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"deem"
	"deem/internal/text"
	"deem/internal/words"
)

// The labels, spelled as in the prompts.
const (
	yes = "yes"
	no  = "no"
)

// Read returns the verdict that the reply gives under the protocol's reading.
//
// Upstream reads an empty text as no, and crashes on a reply without text. Neither is a
// judgement, and [judge.Read] makes such replies failures.
func (p *QA) Read(_ deem.Item, reply deem.Reply) (deem.Verdict, error) {
	said := text.Strip(reply.Text)
	label := ""
	switch p.reading {
	case Upstream:
		// Like evaluate_qa.py: "No, yes" is a yes, and so is "Yesterday".
		if label = no; strings.Contains(text.Lower(said), yes) {
			label = yes
		}
	case Strict:
		label = firstWord(said)
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

// firstWord is like firstLetters, but the letters must be a whole word: "Yesterday" and
// "Note that" do not state a decision.
func firstWord(said string) string {
	label := firstLetters(said)
	rest := strings.TrimLeft(text.Lower(said), ".:!- \t\n\r")[len(label):]
	if r, _ := utf8.DecodeRuneInString(rest); unicode.In(r, unicode.L, unicode.M, unicode.N) || r == '_' {
		return ""
	}
	return label
}
