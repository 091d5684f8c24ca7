package openai

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"deem"
)

// An address is where a server is called, and how that is shown.
type address struct {
	chat     string // the URL that calls go to, secrets included
	endpoint string // the base URL without user, password and query
	host     string // without its port
	port     string // "" when it is the usual one
	password string
	query    url.Values
}

const chatPath = "/chat/completions"

// parseAddress reads a base URL in any of the forms that people write.
func parseAddress(base string) (*address, error) {
	base = strings.TrimSpace(base)
	if base == "" {
		base = DefaultBaseURL
	}
	u, err := parseURL(base)
	if err != nil {
		return nil, err
	}
	u.Fragment, u.RawFragment = "", ""
	path, whole := strings.CutSuffix(strings.TrimRight(u.Path, "/"), chatPath)
	if path == "" && !whole {
		path = "/v1"
	}
	a := &address{host: u.Hostname(), port: u.Port(), query: u.Query()}
	if u.User != nil {
		a.password, _ = u.User.Password()
	}
	u.RawPath = ""
	u.Path = path + chatPath
	a.chat = u.String()

	u.User, u.RawQuery, u.ForceQuery, u.Path = nil, "", false, path
	a.endpoint = u.String()
	return a, nil
}

// parseURL reads a URL, guessing the scheme where it was left out. Its errors do
// not repeat the URL, which may hold a password.
func parseURL(base string) (*url.URL, error) {
	if !strings.Contains(base, "://") {
		base = guessScheme(base) + "://" + base
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, baseURLError(unwrapURL(err))
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, baseURLError(fmt.Errorf("scheme %q is neither http nor https", u.Scheme))
	case u.Hostname() == "":
		return nil, baseURLError(errors.New("no host"))
	}
	return u, nil
}

// baseURLError says that the base URL is at fault.
func baseURLError(err error) error {
	return deem.WithHint(fmt.Errorf("read base URL: %w", err), "write it as in %s or http://localhost:8000/v1", DefaultBaseURL)
}

// guessScheme returns http for servers on this machine and https for all others.
func guessScheme(base string) string {
	host, _, _ := strings.Cut(base, "/")
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if loopback(host) {
		return "http"
	}
	return "https"
}

// loopback reports whether host is this machine.
func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// azure reports whether the server is Azure's, which wants its key in a header of
// its own.
func (a *address) azure() bool {
	for _, suffix := range []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"} {
		if strings.HasSuffix(a.host, suffix) {
			return true
		}
	}
	return false
}
