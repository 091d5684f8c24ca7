package rule

import (
	"context"
	"strings"

	"deem"
	"deem/internal/text"
)

// A literal judge compares the spelling of the response with each reference.
type literal struct {
	name    string
	yes, no string // labels
	// normal prepares the response and the references.
	normal func(string) string
	// meets compares a prepared response with a prepared reference.
	meets func(response, reference string) bool
}

var _ deem.Identified = (*literal)(nil)

// Exact returns the judge "exact": the response equals a reference byte for byte, ignoring
// surrounding white space. Its labels are "match" and "differ".
func Exact() deem.Judge {
	return &literal{name: "exact", yes: "match", no: "differ", normal: text.Strip, meets: equal}
}

// Contains returns the judge "contains": after SQuAD v1.1 normalisation, a reference occurs
// in the response as whole words. Its labels are "contained" and "missing". A reference
// that is empty after normalisation is contained only in a response that is also empty.
func Contains() deem.Judge {
	return &literal{name: "contains", yes: "contained", no: "missing", normal: text.SQuAD, meets: containsWords}
}

// containsText reports whether the reference occurs anywhere. An empty reference is
// contained only in an empty response.
func containsText(response, reference string) bool {
	if reference == "" {
		return response == ""
	}
	return strings.Contains(response, reference)
}

func equal(response, reference string) bool { return response == reference }

// containsWords looks for the words of the reference between single spaces. Scripts written
// without spaces have no such boundaries, so for them part of a word is enough.
func containsWords(response, reference string) bool {
	if reference == "" || strings.ContainsFunc(reference, text.Unspaced) {
		return containsText(response, reference)
	}
	return strings.Contains(" "+response+" ", " "+reference+" ")
}

// Name returns the name of the rule.
func (j *literal) Name() string { return j.name }

// Identity returns the name and the version of the rule.
func (j *literal) Identity() any { return spec(j.name, nil, nil) }

// Judge compares the response with each reference until one matches.
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
