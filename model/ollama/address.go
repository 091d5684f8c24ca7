package ollama

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"deem"
)

// defaultBaseURL is Ollama's default address.
const defaultBaseURL = "http://127.0.0.1:11434"

// defaultPort is the port of a host written without a scheme.
const defaultPort = "11434"

// BaseURL returns the base URL for a text in the format of OLLAMA_HOST: a host, a port
// after a colon, both, or a URL with or without a path. An address that means all networks,
// such as 0.0.0.0 or no host at all, becomes this machine. An empty text means
// defaultBaseURL.
//
// As in Ollama's own client, a host without a scheme has the port 11434 and a URL has that
// of its scheme. Unlike there, an invalid port is an error.
func BaseURL(host string) (string, error) {
	// .env files leave spaces and quotes around values.
	base, err := readHost(strings.TrimSpace(strings.Trim(strings.TrimSpace(host), `"'`)))
	if err != nil {
		return "", deem.WithHint(fmt.Errorf("read the address of Ollama: %w", err), "write it as in 127.0.0.1:11434 or https://ollama.example.com")
	}
	return base, nil
}

// readHost parses an address. Its errors do not repeat the address, which may contain a
// password.
func readHost(text string) (string, error) {
	if text == "" {
		return defaultBaseURL, nil
	}
	u, err := parse(text)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("scheme %q is neither http nor https", u.Scheme)
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || port == 0) {
		return "", fmt.Errorf("%s is not a port", u.Port())
	}
	u.Host = hostPort(reachable(u.Hostname()), u.Port())
	u.Path, u.RawPath = trimPath(u.Path), ""
	u.Fragment, u.RawFragment = "", ""
	return u.String(), nil
}

// parse parses a URL, or an address to which it adds a scheme and the default port.
func parse(text string) (*url.URL, error) {
	if strings.Contains(text, "://") {
		return parseURL(text)
	}
	if ip := net.ParseIP(text); ip != nil && strings.Contains(text, ":") {
		text = "[" + text + "]" // an IPv6 address without brackets
	}
	if text == "ollama.com" || strings.HasPrefix(text, "ollama.com/") {
		return parseURL("https://" + text) // the hosted service, under the name its client uses
	}
	u, err := parseURL("http://" + text)
	if err == nil && u.Port() == "" {
		u.Host = hostPort(u.Hostname(), defaultPort)
	}
	return u, err
}

// parseURL parses a URL. If there may be a password, the error has no details, because they
// would quote a part of it.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if ue, ok := errors.AsType[*url.Error](err); ok && !strings.Contains(text, "@") {
		return nil, ue.Err
	}
	if err != nil {
		return nil, errors.New("it is not a URL")
	}
	return u, nil
}

// reachable returns the host to call for a host to listen on.
func reachable(host string) string {
	ip := net.ParseIP(host)
	switch {
	case host == "", ip != nil && ip.IsUnspecified() && ip.To4() != nil:
		return "127.0.0.1"
	case ip != nil && ip.IsUnspecified():
		return "::1"
	}
	return host
}

// hostPort joins a host and a port, which may be missing.
func hostPort(host, port string) string {
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// trimPath removes suffixes that users copy from examples: those of a call, and that of the
// OpenAI-compatible API.
func trimPath(path string) string {
	path = strings.TrimRight(path, "/")
	for _, end := range []string{"/api/chat", "/api/embed", "/api", "/v1"} {
		if base, ok := strings.CutSuffix(path, end); ok {
			return base
		}
	}
	return path
}
