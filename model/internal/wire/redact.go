package wire

import (
	"encoding/json"
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
// key, the values of the headers, the passwords of the base URL and the proxy, and
// the query of the base URL.
func newRedactor(o Options, proxy *url.URL) redactor {
	secrets := append([]string{o.Key}, o.Base.secrets()...)
	for _, value := range o.Headers {
		secrets = append(secrets, value, strings.TrimPrefix(value, "Bearer "))
	}
	if proxy != nil && proxy.User != nil {
		password, _ := proxy.User.Password()
		secrets = append(secrets, password)
	}
	// Of two secrets one of which begins the other, the longer must go first.
	sort.Slice(secrets, func(i, j int) bool { return len(secrets[i]) > len(secrets[j]) })
	var pairs []string
	for _, s := range secrets {
		if len(s) >= minSecret {
			pairs = append(pairs, s, "[redacted]", url.QueryEscape(s), "[redacted]", inJSON(s), "[redacted]")
		}
	}
	return redactor{replace: strings.NewReplacer(pairs...)}
}

// inJSON returns s as it stands in a JSON text: servers quote what they were sent.
func inJSON(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // Every string has a JSON.
	}
	return string(text[1 : len(text)-1])
}

// redact returns s without the secrets.
func (r redactor) redact(s string) string { return r.replace.Replace(s) }
