package doc

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/words"
)

// A Harness is the additional information needed to reproduce the score, or to see that two
// scores are not comparable. With the head of a report and the models that were called it
// forms the harness card at the start of every report.
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

// ParamList returns the parameters in a fixed order, for example "temperature 0".
func (h Harness) ParamList() []string { return sorted(h.Params, " ") }

// DroppedList returns the parameters that were not sent, in a fixed order, for example
// "temperature: the model rejects it".
func (h Harness) DroppedList() []string { return sorted(h.Dropped, ": ") }

// sorted returns names and values in the order of the names.
func sorted(values map[string]string, between string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, name+between+values[name])
	}
	return list
}

// Structured returns how replies were constrained to a schema, "" if the judge has none.
func (h Harness) Structured() string {
	var ways []string
	for _, name := range slices.Sorted(maps.Keys(h.Params)) {
		switch {
		case !strings.HasPrefix(h.Params[name], "sha256:"):
		case strings.HasPrefix(name, "tool"):
			ways = append(ways, "the input of a tool call ("+name+")")
		case name == "format":
			ways = append(ways, "a grammar ("+name+")")
		case name != "schema": // the judge's own schema, before the first reply
			ways = append(ways, "a JSON schema ("+name+")")
		}
	}
	if h.Dropped["schema"] != "" {
		ways = append(ways, "no schema: it was not sent")
	}
	return strings.Join(ways, " or ")
}

// ParseWire parses [deem.Reply.Sent] or [deem.Reply.Dropped].
func ParseWire(text string) map[string]string {
	values, err := url.ParseQuery(text)
	if err != nil || len(values) == 0 {
		return nil
	}
	params := map[string]string{}
	for name, v := range values {
		params[name] = strings.Join(v, ", ")
	}
	return params
}

// WireList returns the entries of [deem.Reply.Sent] or [deem.Reply.Dropped], for example
// "max_completion_tokens 8197".
func WireList(text string) []string { return sorted(ParseWire(text), " ") }

// Words describes the errata in one line.
func (e *ErrataFile) Words() string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%s, hash %s, %s with a wrong reference", e.File, deem.ShortHash(e.Hash), words.Count(e.Faulty, "item"))
}

// Card describes the lock in one line, with its hash and time.
func (l *Lock) Card() string {
	if l == nil {
		return ""
	}
	when := ""
	if !l.Created.IsZero() {
		when = " of " + l.Created.UTC().Format(time.DateTime) + " UTC"
	}
	return fmt.Sprintf("hash %s%s, %s", deem.ShortHash(l.Hash), when, l.Words())
}
