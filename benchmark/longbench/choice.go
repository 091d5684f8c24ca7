package longbench

import (
	"regexp"
	"strings"

	"deem"
)

// The two patterns of extract_answer in pred.py of v2, in this order.
var upstreamOptions = []*regexp.Regexp{
	regexp.MustCompile(`The correct answer is \(([A-D])\)`),
	regexp.MustCompile(`The correct answer is ([A-D])`),
}

// fixedOptions are tried in this order; of each the last match counts, since a
// response may go through the options before it settles on one.
var fixedOptions = []*regexp.Regexp{
	regexp.MustCompile(`(?i:correct (?:answer|option|choice) is:?)\s*\(?([A-D])(?:\W|$)`),
	regexp.MustCompile(`(?i:(?:answer|option|choice)(?: is)?:?)\s*\(?([A-D])(?:\W|$)`),
	regexp.MustCompile(`^\W*([A-D])\W*$`),
	regexp.MustCompile(`^\W*([A-D])[).:]`),
}

// option returns the letter that a response settles on, "" if upstream finds none.
func option(response, reading string) string {
	response = strings.ReplaceAll(response, "*", "")
	patterns := upstreamOptions
	if reading == Fixed {
		patterns = fixedOptions
	}
	for _, p := range patterns {
		found := p.FindAllStringSubmatch(response, -1)
		switch {
		case found == nil:
		case reading == Fixed:
			return found[len(found)-1][1]
		default:
			return found[0][1]
		}
	}
	return ""
}

// choose judges an item of LongBench v2: the response is right if it settles on the
// right option. A response that settles on none is wrong, upstream as here: the
// system was asked for a letter and gave none.
func (r *Rule) choose(it deem.Item) (deem.Verdict, error) {
	if len(it.References) == 0 {
		return deem.Verdict{}, deem.Failf(deem.Input, "no reference to compare with")
	}
	letter, found := it.Fields[fieldOption]
	if !found {
		letter = option(it.Response, r.reading)
	}
	switch letter {
	case "":
		return deem.Verdict{Label: Wrong, Reason: "the response settles on no option"}, nil
	case it.References[0]:
		return deem.Verdict{Label: Right, Score: 1}, nil
	}
	return deem.Verdict{Label: Wrong, Reason: "the response settles on " + letter}, nil
}
