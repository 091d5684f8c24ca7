package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
)

// A Harness is the additional information needed to reproduce the score, or to see that two
// scores are not comparable. With the rest of a [Head] and the models in [Calls] it forms
// the harness card at the start of every report.
type Harness struct {
	// Deem is the version of deem that judged.
	Deem string `json:"deem,omitempty"`

	// Prompts are the prompts of the judge. A rule has none.
	Prompts []Prompt `json:"prompts,omitempty"`

	// Params are the parameters of the judge's requests as sent, under the vendor's names,
	// or those of the rule. Before the first reply they are the parameters that the judge
	// declares. Parameters not listed were left to the vendor.
	Params map[string]string `json:"params,omitempty"`

	// Dropped are declared parameters that were not sent, with the reason.
	Dropped map[string]string `json:"dropped,omitempty"`

	// Policy describes categories with special treatment, for example "category 5
	// (adversarial) excluded". "" means that all categories count equally.
	Policy string `json:"category_policy,omitempty"`

	// Excluded lists the items left out on purpose, for example "category=adversarial (446
	// items)".
	Excluded []string `json:"excluded,omitempty"`

	// Errata is the list of known errors in the answer key that was used, or null.
	Errata *ErrataFile `json:"errata,omitempty"`

	// Lock is the lock that was made before the run, or null.
	Lock *Lock `json:"lock,omitempty"`
}

// A Prompt is one prompt of a judge, identified by its bytes.
type Prompt struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Text   string `json:"-"`
}

// An ErrataFile is a list of known errors in an answer key.
type ErrataFile struct {
	File   string `json:"file"`
	Hash   string `json:"hash"`
	Faulty int    `json:"faulty"` // items of the run with a wrong reference
}

// A Lock is what was promised before a run, and whether the run kept it.
type Lock struct {
	Hash    string    `json:"hash"` // of the lock file
	Created time.Time `json:"created"`
	Kept    bool      `json:"kept"`

	// Broken describes the differences, for example "judge hash differs".
	Broken []string `json:"broken,omitempty"`

	// Gates are the promised conditions.
	Gates []string `json:"gates,omitempty"`
}

// Words returns one line on whether the lock was kept.
func (l Lock) Words() string {
	if l.Kept {
		return "locked before the run: kept"
	}
	return "locked, and broken: " + strings.Join(l.Broken, "; ")
}

// harness returns the harness of the head, or an empty one.
func (h Head) harness() Harness {
	if h.Harness == nil {
		return Harness{}
	}
	return *h.Harness
}

// ParamList returns the parameters in a fixed order, for example "temperature 0".
func (h Harness) ParamList() []string {
	list := make([]string, 0, len(h.Params))
	for _, name := range slices.Sorted(maps.Keys(h.Params)) {
		list = append(list, name+" "+h.Params[name])
	}
	return list
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
		return Score
	}
	return r.Metrics[0].Metric
}

// errataWords describes the errata in one line.
func errataWords(e *ErrataFile) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%s, hash %s, %s with a wrong reference", e.File, deem.ShortHash(e.Hash), words.Count(e.Faulty, "item"))
}

// lockWords describes the lock in one line.
func lockWords(l *Lock) string {
	if l == nil {
		return ""
	}
	when := ""
	if !l.Created.IsZero() {
		when = " of " + l.Created.UTC().Format(time.DateTime) + " UTC"
	}
	return fmt.Sprintf("hash %s%s, %s", deem.ShortHash(l.Hash), when, l.Words())
}
