package telemetry

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// minSecret is how long a text must be to be blacked out. Shorter ones are
// placeholders, and would black out ordinary words.
const minSecret = 6

// A redactor blacks secrets out of texts. The wires do the same with what they return;
// this is the second net, for what a server says in a reply that is none of its errors.
type redactor struct {
	replace *strings.Replacer
}

func newRedactor(secrets []string) redactor {
	secrets = slices.Clone(secrets)
	// Of two secrets one of which begins the other, the longer must go first.
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, s := range secrets {
		if len(s) < minSecret {
			continue
		}
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), inJSON(s)} {
			pairs = append(pairs, form, "[redacted]")
		}
	}
	return redactor{strings.NewReplacer(pairs...)}
}

// inJSON returns s as it stands inside a JSON text.
func inJSON(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // Every string has a JSON.
	}
	return string(text[1 : len(text)-1])
}

// clean returns s without the secrets.
func (r redactor) clean(s string) string { return r.replace.Replace(s) }
