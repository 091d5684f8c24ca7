package postgres

import (
	"net/url"
	"strings"
	"testing"

	"deem"
)

// FuzzParse puts a password into URLs of all kinds. Neither the error nor the name of the
// database may contain it, whether the URL can be parsed or not.
func FuzzParse(f *testing.F) {
	for _, seed := range []struct{ scheme, before, after, tail string }{
		{"postgres", "", "", "db"},
		{"postgresql", "1/", "", "db"},
		{"postgres", "", "#x", "db?sslmode=disable"},
		{"postgres", "%zz", "", ""},
		{"mysql", "", "", "db"},
		{"postgres", "a?b", "c", "db?pool_max_conns=x"},
		{"postgres", "", "", "db?connect_timeout=never"},
		{"postgres", "1:", "", "?host=/tmp"},
		{"postgres", "", "", "?sslmode=x&password=y"},
	} {
		f.Add(seed.scheme, seed.before, seed.after, seed.tail)
	}
	const secret = "hunter2-0123"
	f.Fuzz(func(t *testing.T, scheme, before, after, tail string) {
		if strings.Contains(before, "@") || strings.Contains(after, "@") {
			return // The part after it is the host.
		}
		raw := scheme + "://user:" + before + secret + after + "@localhost:5432/" + tail
		cfg, err := parse(raw)
		if err != nil {
			if text := err.Error() + deem.HintOf(err); strings.Contains(text, secret) || strings.ContainsAny(text, "\r\n") {
				t.Errorf("parse(%q): %q, which holds the password", raw, text)
			}
			return
		}
		shown := redacted(cfg)
		if strings.Contains(shown, secret) {
			t.Errorf("the database at %q is shown as %q", raw, shown)
		}
		if u, err := url.Parse(shown); err != nil || u.Scheme != "postgres" {
			t.Errorf("the database at %q is shown as %q: %v", raw, shown, err)
		}
	})
}
