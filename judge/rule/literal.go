package rule

import (
	"context"
	"strings"

	"deem"
	"deem/internal/text"
)

// A literal judge asks of each reference whether the response meets it as it is
// spelled.
type literal struct {
	name    string
	version int
	yes, no string // labels
	// normal prepares the response and the references.
	normal func(string) string
	// meets compares a prepared response with a prepared reference.
	meets func(response, reference string) bool
}

var _ deem.Identified = (*literal)(nil)

// Exact returns the judge "exact": the response equals a reference byte for byte,
// white space around either aside. Its labels are "match" and "differ".
func Exact() deem.Judge {
	return &literal{
		name: "exact", version: 1, yes: "match", no: "differ",
		normal: text.Strip, meets: equal,
	}
}

// SQuADExact returns the judge "exact/squad": the response equals a reference
// after the normalisation of [text.SQuAD], which is the exact match of SQuAD v1.1.
// Its labels are "match" and "differ".
func SQuADExact() deem.Judge {
	return &literal{
		name: "exact/squad", version: 1, yes: "match", no: "differ",
		normal: text.SQuAD, meets: equal,
	}
}

// Contains returns the judge "contains": after the normalisation of [text.SQuAD] a
// reference occurs in the response as whole words. Its labels are "contained" and
// "missing". A reference that normalises to nothing occurs only in a response
// that does so too.
func Contains() deem.Judge {
	return &literal{
		name: "contains", version: 1, yes: "contained", no: "missing",
		normal: text.SQuAD, meets: containsWords,
	}
}

// ContainsText returns the judge "contains/text": after the normalisation of
// [text.SQuAD] a reference occurs in the response anywhere, also within a word. It is
// how published studies check that "the answer contains the gold"; it accepts "4" in
// "1947". Its labels are "contained" and "missing".
func ContainsText() deem.Judge {
	return &literal{
		name: "contains/text", version: 1, yes: "contained", no: "missing",
		normal: text.SQuAD, meets: containsText,
	}
}

// containsText looks for the reference anywhere. One of nothing is only in nothing.
func containsText(response, reference string) bool {
	if reference == "" {
		return response == ""
	}
	return strings.Contains(response, reference)
}

func equal(response, reference string) bool { return response == reference }

// containsWords looks for the words of the reference between single spaces.
// Scripts written without spaces have no such boundaries, so there a part of a
// word is enough.
func containsWords(response, reference string) bool {
	if reference == "" {
		return response == ""
	}
	if strings.ContainsFunc(reference, text.Unspaced) {
		return strings.Contains(response, reference)
	}
	return strings.Contains(" "+response+" ", " "+reference+" ")
}

// Name returns the name of the rule.
func (j *literal) Name() string { return j.name }

// Identity returns the name and the version of the rule.
func (j *literal) Identity() any {
	return spec(j.name, j.version, nil, nil)
}

// Judge compares the response with each reference until one is met.
func (j *literal) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ready(ctx, it); err != nil {
		return deem.Verdict{}, err
	}
	response := j.normal(it.Response)
	for _, ref := range it.References {
		if j.meets(response, j.normal(ref)) {
			return deem.Verdict{Label: j.yes, Score: 1}, nil
		}
	}
	return deem.Verdict{Label: j.no, Score: 0}, nil
}
