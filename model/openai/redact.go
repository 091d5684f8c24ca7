package openai

import (
	"net/url"
	"sort"
	"strings"
)

// minSecret is how long a text must be to be blacked out. Shorter ones are
// placeholders, and would black out ordinary words.
const minSecret = 6

// A redactor blacks secrets out of texts.
type redactor struct {
	replace *strings.Replacer
}

// newRedactor returns a redactor for all that may be secret in the options: the
// key, the values of the headers, the password and the query of the base URL.
func newRedactor(o Options, addr *address) redactor {
	secrets := []string{o.Key, addr.password}
	for _, value := range o.Headers {
		secrets = append(secrets, value, strings.TrimPrefix(value, "Bearer "))
	}
	for name, values := range addr.query {
		if name != "api-version" {
			secrets = append(secrets, values...)
		}
	}
	// Of two secrets one of which begins the other, the longer must go first.
	sort.Slice(secrets, func(i, j int) bool { return len(secrets[i]) > len(secrets[j]) })
	var pairs []string
	for _, s := range secrets {
		if len(s) >= minSecret {
			pairs = append(pairs, s, "[redacted]", url.QueryEscape(s), "[redacted]")
		}
	}
	return redactor{replace: strings.NewReplacer(pairs...)}
}

// redact returns s without the secrets.
func (r redactor) redact(s string) string { return r.replace.Replace(s) }
