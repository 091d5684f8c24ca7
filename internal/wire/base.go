package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"deem"
)

// A Base is the base URL of a server. It may contain a password, so it prints as its
// Endpoint.
type Base struct {
	url   *url.URL
	usual string // the path of the vendor's own URL
}

// ParseBase parses a base URL in the common forms: without a scheme, with a trailing slash,
// with spaces around it. An empty text means usual, which is also shown in the hint of an
// error.
func ParseBase(text, usual string) (Base, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		text = usual
	}
	u, err := parseURL(text)
	if err != nil {
		return Base{}, deem.WithHint(fmt.Errorf("read base URL: %w", err), "write it as in %s or http://localhost:8000/v1", usual)
	}
	u.Fragment, u.RawFragment = "", ""
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	b := Base{url: u}
	if own, err := url.Parse(usual); err == nil {
		b.usual = own.Path
	}
	return b, nil
}

// parseURL parses a URL, guessing a missing scheme. Its errors do not repeat the URL, which
// may contain a password.
func parseURL(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		host, _, _ := strings.Cut(text, "/")
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if loopback(host) {
			text = "http://" + text
		} else {
			text = "https://" + text
		}
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, unwrapURL(err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("scheme %q is neither http nor https", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("no host")
	}
	return u, nil
}

// unwrapURL returns the error inside that of an HTTP client or a URL, which would repeat
// the URL with its password and its query.
func unwrapURL(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// loopback reports whether host is this machine.
func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// Path returns the path of the base URL without a trailing slash, or "".
func (b Base) Path() string { return b.url.Path }

// WithPath returns the base URL with another path.
func (b Base) WithPath(path string) Base {
	u := *b.url
	u.Path, u.RawPath = path, ""
	return Base{url: &u, usual: b.usual}
}

// Host returns the name of the server without its port.
func (b Base) Host() string { return b.url.Hostname() }

// Port returns the port, or "" for the default.
func (b Base) Port() string { return b.url.Port() }

// Loopback reports whether the server is on this machine.
func (b Base) Loopback() bool { return loopback(b.Host()) }

// Query returns the query of the base URL, for example Azure's api-version.
func (b Base) Query() url.Values { return b.url.Query() }

// Endpoint returns the base URL without user, password and query.
func (b Base) Endpoint() string {
	u := *b.url
	u.User, u.RawQuery, u.ForceQuery = nil, "", false
	return u.String()
}

// String returns the endpoint.
func (b Base) String() string {
	if b.url == nil {
		return ""
	}
	return b.Endpoint()
}

// GoString is String, so that %#v shows no password.
func (b Base) GoString() string { return b.String() }

// A Target is the URL of calls, parsed once for all of them.
type Target struct {
	url *url.URL
}

// To returns the target for a path below the base URL, for example "/chat/completions". The
// query of the base URL is kept.
func (b Base) To(path string) Target {
	return Target{url: b.WithPath(b.url.Path + path).url}
}

// basicAuth returns the header for the user and password of the base URL, or "".
func (b Base) basicAuth() string {
	if b.url.User == nil {
		return ""
	}
	password, _ := b.url.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(b.url.User.Username()+":"+password))
}
