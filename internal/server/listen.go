package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"deem"
)

// ErrNoToken means that an address which others can reach has no token.
var ErrNoToken = errors.New("others can reach this address, and there is no token")

// minToken is how long a token must be at least. Guesses are slowed down, but a short
// token falls all the same.
const minToken = 16

// CheckListen says whether a server may listen on addr, as "127.0.0.1:8080" or ":8080".
// Any address but those of this machine alone demands a token. The error comes with
// a hint.
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

// loopback reports whether a host name means this machine and cannot be made to mean
// another.
func loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}

// hostOf returns the host in a Host header, without its port.
func hostOf(header string) string {
	if host, _, err := net.SplitHostPort(header); err == nil {
		return host
	}
	return header
}
