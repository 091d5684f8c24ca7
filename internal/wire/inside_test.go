package wire

import (
	"strings"
	"testing"
)

// FuzzParseProxy checks that a proxy address is rejected or has a host, and that a
// rejection does not repeat its password.
func FuzzParseProxy(f *testing.F) {
	const password = "hunter2secret"
	for _, seed := range []string{
		"", "proxy.example:3128", "http://user:" + password + "@proxy.example", "user:" + password + "@:3128", "ftp://user:" + password + "@h",
		"http://user:" + password + "@[::1", "http://user:" + password + "%zz@h", password + "://h", "http://h:port" + password, "\x7f",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parseProxy(text)
		switch {
		case err != nil && strings.Contains(text, ":"+password+"@") && strings.Contains(err.Error(), password):
			t.Errorf("parseProxy(%q) tells the password: %v", text, err)
		case err == nil && u == nil && strings.TrimSpace(text) != "":
			t.Errorf("parseProxy(%q) takes it for none", text)
		case err == nil && u != nil && u.Hostname() == "":
			t.Errorf("parseProxy(%q) has no host", text)
		}
	})
}
