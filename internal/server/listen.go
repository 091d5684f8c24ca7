package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"deem"
)

// ErrNoToken is returned if a server without a token would listen on an address that other
// machines can reach.
var ErrNoToken = errors.New("others can reach this address, and there is no token")

// minToken is the minimum length of a token. Guesses are throttled, but a short token could
// still be guessed.
const minToken = 16

// CheckListen returns an error with a hint if a server may not listen on addr, for example
// "127.0.0.1:8080" or ":8080". Every address except a loopback address requires a token.
func CheckListen(addr, token string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return deem.WithHint(fmt.Errorf("listen on %s: %w", addr, err), "an address has a port, as 127.0.0.1:8080")
	}
	switch {
	case token != "" && len(token) < minToken:
		return deem.WithHint(fmt.Errorf("the token has %d characters, and needs at least %d", len(token), minToken),
			"export DEEM_TOKEN=$(openssl rand -hex 16)")
	case token == "" && !loopback(host):
		return deem.WithHint(fmt.Errorf("listen on %s: %w", addr, ErrNoToken),
			"export DEEM_TOKEN=$(openssl rand -hex 16) and start again, or listen on 127.0.0.1 only")
	}
	return nil
}

// loopback reports whether a host is always this machine, whatever DNS returns.
func loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}

// hostOf returns the host of a Host header, without the port.
func hostOf(header string) string {
	if host, _, err := net.SplitHostPort(header); err == nil {
		return host
	}
	return header
}
