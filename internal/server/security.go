package server

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"deem"
)

// policy lets a page load only resources of this server. Judged texts are escaped wherever
// they are shown; the policy protects against a missing escape.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// ErrPanic is the error that a client sees after a panic. The details are in the log.
var ErrPanic = errors.New("deem has a bug here; the log of the server says more")

// ServeHTTP answers a request. The order of the checks matters: a request that fails one gets
// no further. The headers, which are for browsers, are set on every answer.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler: // net/http ends the response.
			panic(v)
		default:
			s.Logger.Error("panic", "method", r.Method, "path", r.URL.Path, "value", fmt.Sprint(v), "stack", string(debug.Stack()))
			s.fail(w, r, ErrPanic)
		}
	}()
	for _, check := range []func(http.ResponseWriter, *http.Request) error{s.checkHost, checkOrigin, s.checkToken, s.checkChange} {
		if err := check(w, r); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	s.Mux.ServeHTTP(w, r)
}

// checkHost refuses host names other than localhost if there is no token. Another site can
// make its own name resolve to this machine (DNS rebinding), and its requests then have the
// same origin; but they contain that name. If there is a token, they have no session.
func (s *Server) checkHost(_ http.ResponseWriter, r *http.Request) error {
	if s.Token != "" || loopback(hostOf(r.Host)) {
		return nil
	}
	err := deem.WithHint(fmt.Errorf("this server answers only to localhost, not to %q", r.Host),
		"a server with a token answers to every name: set DEEM_TOKEN and start it again")
	return WithStatus(http.StatusMisdirectedRequest, err)
}

// checkOrigin refuses unsafe requests that browsers mark as coming from other sites.
func checkOrigin(_ http.ResponseWriter, r *http.Request) error {
	if http.NewCrossOriginProtection().Check(r) != nil {
		return WithStatus(http.StatusForbidden, errors.New("this request came from another site"))
	}
	return nil
}

// checkToken requires a session or the token, except for what a login needs and for probes
// of the server's health.
func (s *Server) checkToken(w http.ResponseWriter, r *http.Request) error {
	path := r.URL.Path
	open := path == "/login" || path == "/healthz" || path == "/readyz" || strings.HasPrefix(path, "/static/")
	if s.Token == "" || open || s.Guard.Session(r) != "" {
		return nil
	}
	kind, guess, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return refused(w, ErrLogin)
	}
	return s.try(w, r, strings.TrimSpace(guess))
}

// checkChange refuses changes if the server is read-only, and forms without the CSRF value of
// our pages, in addition to checkOrigin. The API does not need that value: see the package
// comment.
func (s *Server) checkChange(w http.ResponseWriter, r *http.Request) error {
	session := r.URL.Path == "/login" || r.URL.Path == "/logout"
	switch {
	case r.Method == http.MethodGet, r.Method == http.MethodHead, r.Method == http.MethodOptions:
		return nil
	case s.ReadOnly && !session:
		return WithStatus(http.StatusForbidden, ErrReadOnly)
	case strings.HasPrefix(r.URL.Path, "/api/"):
		return nil
	}
	r.Body = http.MaxBytesReader(w, r.Body, defaultBody)
	if s.Guard.fits(cmp.Or(r.Header.Get("X-CSRF-Token"), r.PostFormValue("csrf")), "csrf", s.Guard.Session(r)) {
		return nil
	}
	err := deem.WithHint(errors.New("this form is too old, or is not ours"), "go back, load the page again, and repeat what you did")
	return WithStatus(http.StatusForbidden, err)
}

// ErrReadOnly is returned for changes to a read-only server.
var ErrReadOnly = deem.WithHint(errors.New("this server is read-only"), "start it without --read-only: deem serve")

// ErrLogin is the error of a request without a token.
var ErrLogin = errors.New("this server wants its token")

// try returns an error with status 401 if a guess is not the token, and with status 429 after
// too many wrong guesses. The right token always passes: a token is too long to be guessed,
// and another client at the same address must not lock its owner out.
func (s *Server) try(w http.ResponseWriter, r *http.Request, guess string) error {
	// The hashes have the same length, whatever the guess is.
	a, b := sha256.Sum256([]byte(guess)), sha256.Sum256([]byte(s.Token))
	if subtle.ConstantTimeCompare(a[:], b[:]) == 1 {
		return nil
	}
	g, addr := s.Guard, s.Guard.Remote(r)
	if wait := g.misses.wait(addr); wait > 0 {
		seconds := int(wait.Seconds()) + 1
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		return WithStatus(http.StatusTooManyRequests, fmt.Errorf("too many wrong tokens: try again in %d seconds", seconds))
	}
	g.misses.miss(addr)
	return refused(w, errors.New("this is not the token"))
}

// refused returns an error with status 401.
func refused(w http.ResponseWriter, err error) error {
	w.Header().Set("WWW-Authenticate", `Bearer realm="deem"`)
	return WithStatus(http.StatusUnauthorized, err)
}

// login checks the token from the form of the login page and begins a session.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	if s.Token != "" {
		if err := s.try(w, r, r.PostFormValue("token")); err != nil {
			return err
		}
		http.SetCookie(w, s.Guard.newSession(r))
	}
	http.Redirect(w, r, OurPath(r.PostFormValue("next")), http.StatusSeeOther) //nolint:gosec // OurPath lets only our own paths through.
	return nil
}

// logout ends the session, so that copies of its cookie are refused, and removes the cookie
// from the browser.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	g := s.Guard
	if session := g.Session(r); session != "" {
		g.mu.Lock()
		now := g.now()
		maps.DeleteFunc(g.ended, func(_ string, expires time.Time) bool { return expires.Before(now) })
		g.ended[session] = now.Add(sessionLife)
		g.mu.Unlock()
	}
	http.SetCookie(w, g.cookie(r, "", -1))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

// OurPath returns the path if it is a path of this server, else "/". A path that begins
// with two slashes names another host.
func OurPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(path, "/") ||
		strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") || u.Path == "/login" {
		return "/"
	}
	return path
}

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

// hostOf returns the host of a Host header, without the port. What follows the colon must
// be a port: "localhost:80.example.com" is not localhost.
func hostOf(header string) string {
	host, port, err := net.SplitHostPort(header)
	if err != nil {
		return header
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return header
	}
	return host
}
