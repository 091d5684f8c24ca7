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

// defaultBaseURL is where Ollama listens unless it is told otherwise.
const defaultBaseURL = "http://127.0.0.1:11434"

// defaultPort is the port of a host that is written without a scheme.
const defaultPort = "11434"

// BaseURL returns the base URL that a text means which is written as OLLAMA_HOST
// is: a host, a port behind a colon, both, or a URL with or without a path. Where
// the text is the address at which a server listens on all networks, as 0.0.0.0 or
// no host at all, this machine is meant. The empty text means defaultBaseURL.
//
// As with Ollama's own client, a host without a scheme has the port 11434 and a URL
// has that of its scheme. Unlike it, a port that is none is an error.
func BaseURL(host string) (string, error) {
	base, err := readHost(unquote(host))
	if err != nil {
		return "", deem.WithHint(fmt.Errorf("read the address of Ollama: %w", err), "write it as in 127.0.0.1:11434 or https://ollama.example.com")
	}
	return base, nil
}

// unquote takes off the spaces and quotes that .env files leave around values.
func unquote(s string) string {
	return strings.TrimSpace(strings.Trim(strings.TrimSpace(s), `"'`))
}

// readHost reads an address. Its errors do not repeat it, as it may hold a password.
func readHost(text string) (string, error) {
	if text == "" {
		return defaultBaseURL, nil
	}
	u, err := parse(text)
	if err != nil {
		return "", err
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("scheme %q is neither http nor https", u.Scheme)
	case u.Port() != "" && !isPort(u.Port()):
		return "", fmt.Errorf("%s is not a port", u.Port())
	}
	u.Host = hostPort(reachable(u.Hostname()), u.Port())
	u.Path, u.RawPath = trimPath(u.Path), ""
	u.Fragment, u.RawFragment = "", ""
	return u.String(), nil
}

// parse reads a URL, or an address to which it adds a scheme and the usual port.
func parse(text string) (*url.URL, error) {
	if strings.Contains(text, "://") {
		return parseURL(text)
	}
	if ip := net.ParseIP(text); ip != nil && strings.Contains(text, ":") {
		text = "[" + text + "]" // an IPv6 address as people write it
	}
	if text == "ollama.com" || strings.HasPrefix(text, "ollama.com/") {
		return parseURL("https://" + text) // the hosted service, named as its client names it
	}
	u, err := parseURL("http://" + text)
	if err == nil && u.Port() == "" {
		u.Host = hostPort(u.Hostname(), defaultPort)
	}
	return u, err
}

// parseURL reads a URL. Its error does not say what is wrong where there may be a
// password, as it would quote a part of it.
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

// isPort reports whether text is the number of a port that can be called.
func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n < 1<<16
}

// reachable returns the host to call for the host to listen at.
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

// trimPath takes off the ends that people copy from examples: those of a call, and
// that of the OpenAI-compatible API.
func trimPath(path string) string {
	path = strings.TrimRight(path, "/")
	for _, end := range []string{"/api/chat", "/api/embed", "/api", "/v1"} {
		if base, ok := strings.CutSuffix(path, end); ok {
			return base
		}
	}
	return path
}
