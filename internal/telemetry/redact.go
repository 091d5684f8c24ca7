package telemetry

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the minimum length of a secret to redact. Shorter ones are placeholders, and
// redacting them would hide ordinary words.
const minSecret = 6

// A redactor removes secrets from text. The clients of vendors redact their errors; this is
// a second safeguard, which also covers replies.
type redactor struct {
	replace *strings.Replacer
}

func newRedactor(secrets []string) redactor {
	secrets = slices.Clone(secrets)
	// If one secret is a prefix of another, the longer one must be replaced first.
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

// inJSON returns s as it appears inside a JSON string.
func inJSON(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // Cannot happen: strings can always be encoded.
	}
	return string(text[1 : len(text)-1])
}

// clean returns s without the secrets.
func (r redactor) clean(s string) string { return r.replace.Replace(s) }
