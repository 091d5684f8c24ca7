package longmemeval

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"deem"
	"deem/benchmark/internal/itemset"
	"deem/internal/text"
	"deem/judge/extract"
)

// The labels, spelt as the prompts ask for them.
const (
	yes = "yes"
	no  = "no"
)

// Read returns the verdict that the reply gives under the protocol's reading.
//
// A reply without text is a failure under every reading, and so is one that the
// vendor marks as refused or filtered. Upstream reads an empty text as no, and
// crashes on a reply without one; nobody has judged anything there.
func (p *QA) Read(_ deem.Item, reply deem.Reply) (deem.Verdict, error) {
	said := text.Strip(reply.Text)
	if err := unspoken(said, reply); err != nil {
		return deem.Verdict{}, err
	}
	label := ""
	switch p.id.Reading {
	case Upstream:
		label = anywhere(said)
	case Strict:
		label = firstWord(said)
	case Seed:
		label = firstLetters(said)
	}
	if label == "" {
		return deem.Verdict{}, unreadable(said, reply.Stop)
	}
	v := deem.Verdict{Label: label}
	if label == yes {
		v.Score = 1
	}
	return v, nil
}

// unspoken returns why a reply has nothing to read, if so.
func unspoken(said string, reply deem.Reply) error {
	switch {
	case reply.Refusal != "":
		return deem.Failf(deem.Refused, "%s", clip(reply.Refusal))
	case reply.Stop == deem.StopFilter:
		return deem.Failf(deem.Refused, "stopped by a content filter")
	case said != "":
		return nil
	case reply.Stop == deem.StopLength:
		return deem.Failf(deem.Truncated, "the limit of tokens was reached before the reply began")
	default:
		return deem.Failf(deem.Empty, "the reply has no text")
	}
}

// anywhere reads as evaluate_qa.py does: 'yes' in reply.strip().lower(). "No, yes"
// is a yes, and so is "Yesterday".
func anywhere(said string) string {
	if strings.Contains(text.Lower(said), yes) {
		return yes
	}
	return no
}

// firstLetters reads as the seed does: white space and a few signs aside, the reply
// begins with yes or no. "Nothing" is a no. It returns "" for anything else, which
// the seed takes for a no, with a warning.
func firstLetters(said string) string {
	said = strings.Trim(text.Lower(said), ".:!- \t\n\r")
	for _, label := range []string{yes, no} {
		if strings.HasPrefix(said, label) {
			return label
		}
	}
	return ""
}

// firstWord reads as firstLetters does, and wants the letters to be a word: neither
// "Yesterday" nor "Note that" says what the judge decided.
func firstWord(said string) string {
	label := firstLetters(said)
	rest := strings.TrimLeft(text.Lower(said), ".:!- \t\n\r")[len(label):]
	if r, _ := utf8.DecodeRuneInString(rest); unicode.In(r, unicode.L, unicode.M, unicode.N) || r == '_' {
		return ""
	}
	return label
}

// unreadable says why a reply with text gives no verdict.
func unreadable(said string, stop deem.Stop) error {
	switch {
	case stop == deem.StopLength:
		return deem.Failf(deem.Truncated, "the reply was cut off at its limit of tokens: %s", clip(said))
	case extract.Refusal(said):
		return deem.Failf(deem.Refused, "%s", clip(said))
	default:
		return deem.Failf(deem.Unparseable, "the reply begins with neither yes nor no: %s", clip(said))
	}
}

// clip shortens a text that goes into a failure's detail, and makes it one line.
func clip(s string) string { return itemset.Clip(strings.Join(text.Split(s), " "), 80) }
