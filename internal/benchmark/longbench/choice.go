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

// fixedOptions are tried in this order. The last match of each counts, because a response
// may discuss the options before it decides.
var fixedOptions = []*regexp.Regexp{
	regexp.MustCompile(`(?i:correct (?:answer|option|choice) is):?\s*` + letter),
	regexp.MustCompile(`(?i:\b(?:(?:answer|option|choice) is:?|answer:))\s*(?i:option\s*)?` + letter),
	regexp.MustCompile(`^[\s("']*([A-D])()[\s)."']*$`),
}

// letter matches an option. An A followed by a lower-case letter is the article.
const letter = `[("']*(?:([B-D])(?:\W|$)|(A)(?:[^\w\s]|\s*$|\s*\n|\s+[^a-z\s]))`

// option returns the letter that a response decides on, or "".
func option(response, reading string) string {
	response = strings.ReplaceAll(response, "*", "")
	if reading == Upstream {
		for _, p := range upstreamOptions {
			if m := p.FindStringSubmatch(response); m != nil {
				return m[1]
			}
		}
		return ""
	}
	for _, p := range fixedOptions {
		if all := p.FindAllStringSubmatch(response, -1); len(all) > 0 {
			last := all[len(all)-1]
			return last[1] + last[2]
		}
	}
	return ""
}

// choose judges an item of LongBench v2: the response is right if it decides on the right
// option. A response without a decision is wrong, as in upstream: the system was asked for
// a letter and gave none.
func choose(it deem.Item, reading string) (deem.Verdict, error) {
	if len(it.References) == 0 {
		return deem.Verdict{}, deem.Failf(deem.Input, "no reference to compare with")
	}
	chosen, found := it.Fields[fieldOption]
	if !found {
		chosen = option(it.Response, reading)
	}
	switch chosen {
	case "":
		return deem.Verdict{Label: Wrong, Reason: "the response settles on no option"}, nil
	case it.References[0]:
		return deem.Verdict{Label: Right, Score: 1}, nil
	}
	return deem.Verdict{Label: Wrong, Reason: "the response settles on " + chosen}, nil
}
