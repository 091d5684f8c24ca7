package report

import (
	"fmt"
	"slices"
	"strings"

	"deem/internal/doc"
	"deem/internal/words"
)

// harness returns the harness of the head, or an empty one.
func (h Head) harness() doc.Harness {
	if h.Harness == nil {
		return doc.Harness{}
	}
	return *h.Harness
}

// seen is the maximum number of models in a line.
const seen = 3

// Seen returns the models that vendors reported, for example "gpt-4o-2024-08-06 (fp_a1)".
func (r Report) Seen() []string {
	var list []string
	for _, m := range r.Calls.Models {
		name := m.Reported
		if m.Fingerprint != "" {
			name = strings.TrimSpace(name + " (" + m.Fingerprint + ")")
		}
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// seenWords returns the same as one line.
func seenWords(r Report) string {
	list := r.Seen()
	more := len(list) - seen
	if more > 0 {
		list = append(list[:seen:seen], fmt.Sprintf("and %d more", more))
	}
	return doc.Prefix("seen as ", strings.Join(list, ", "))
}

// Counts describes which items the score counts: the category policy, the excluded items
// and the denominators.
func (r Report) Counts() string {
	h := r.Head.harness()
	policy := h.Policy
	switch n := len(r.Categories); {
	case policy != "":
	case n == 0:
		policy = "no categories"
	case n == 1:
		policy = "one category"
	default:
		policy = fmt.Sprintf("all %s categories together", words.Comma(n))
	}
	left := ""
	if len(h.Excluded) > 0 {
		left = "left out: " + strings.Join(h.Excluded, ", ")
	}
	over := fmt.Sprintf("%s over %s judged, strict over all %s", r.metric(), words.Comma(r.Judged), words.Comma(r.Items))
	if r.Undecided != nil {
		over = fmt.Sprintf("%s over %s judged and undecided, strict over all %s", r.metric(), words.Comma(r.Items-r.Unjudged), words.Comma(r.Items))
	}
	return doc.Join("; ", policy, left, over)
}

// metric returns the name of the headline.
func (r Report) metric() string {
	if len(r.Metrics) == 0 {
		return doc.Score
	}
	return r.Metrics[0].Metric
}
