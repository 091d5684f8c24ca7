package server

import (
	"errors"
	"fmt"
	"net/http"
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

// wrap adds the middleware of all routes. The order matters: the headers are set on every
// answer, and a request that fails a check gets no further.
func (s *Server) wrap(routes http.Handler) http.Handler {
	h := s.requireWritable(s.requireOwnPage(routes))
	h = s.requireToken(h)
	h = s.requireOrigin(h)
	h = s.requireHost(h)
	h = s.recovered(h)
	return secureHeaders(h)
}

// secureHeaders sets the security headers for browsers.
func secureHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		next.ServeHTTP(w, r)
	})
}

// errPanic is the error that a client sees after a panic. The details are in the log.
var errPanic = errors.New("deem has a bug here; the log of the server says more")

// recovered answers with 500 if a handler panics.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler { //nolint:errorlint // It is panicked with as it is.
				panic(v)
			}
			s.log.Error("panic", "method", r.Method, "path", r.URL.Path, "value", fmt.Sprint(v), "stack", string(debug.Stack()))
			s.fail(w, r, errPanic)
		}()
		next.ServeHTTP(w, r)
	})
}

// requireHost refuses host names other than localhost if there is no token. Another site can
// make its own name resolve to this machine (DNS rebinding), and its requests then have the
// same origin; but they contain that name. If there is a token, they have no session.
func (s *Server) requireHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.guard.token == "" && !loopback(hostOf(r.Host)) {
			err := deem.WithHint(fmt.Errorf("this server answers only to localhost, not to %q", r.Host),
				"a server with a token answers to every name: set DEEM_TOKEN and start it again")
			s.fail(w, r, withStatus(http.StatusMisdirectedRequest, err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// requireOrigin refuses unsafe requests that browsers mark as coming from other sites.
func (s *Server) requireOrigin(next http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, withStatus(http.StatusForbidden, errors.New("this request came from another site")))
	}))
	return p.Handler(next)
}

// open reports whether a path needs no token.
func open(path string) bool {
	return path == "/login" || path == "/healthz" || path == "/readyz" || strings.HasPrefix(path, "/static/")
}

// requireToken requires a session or the token. Browsers without either get the login page.
func (s *Server) requireToken(next http.Handler) http.Handler {
	g := s.guard
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.token == "" || open(r.URL.Path) || g.session(r) != "" {
			next.ServeHTTP(w, r)
			return
		}
		guess, given := bearer(r)
		if given {
			ok, err := g.try(r, guess)
			if ok {
				next.ServeHTTP(w, r)
				return
			}
			s.refuse(w, r, err)
			return
		}
		s.refuse(w, r, errLogin)
	})
}

// The reasons for a refusal, in addition to waitError.
var (
	errLogin = errors.New("this server wants its token")
	errToken = errors.New("this is not the token")
)

// A waitError means that a client sent too many wrong tokens.
type waitError struct{ wait time.Duration }

func (e *waitError) Error() string {
	return fmt.Sprintf("too many wrong tokens: try again in %d seconds", e.seconds())
}

func (e *waitError) seconds() int { return int(e.wait.Seconds()) + 1 }

// try reports whether a guess is the token. After too many wrong guesses, even the right
// token is refused for a while.
func (g *guard) try(r *http.Request, guess string) (bool, error) {
	addr := g.remote(r)
	if wait := g.misses.wait(addr); wait > 0 {
		return false, &waitError{wait}
	}
	if !g.isToken(guess) {
		g.misses.miss(addr)
		return false, errToken
	}
	return true, nil
}

// refuse answers a request without a valid token: 429 after too many guesses, otherwise 401.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status := refusal(w, err)
	if isAPI(r) {
		s.fail(w, r, withStatus(status, err))
		return
	}
	next := ""
	if r.Method == http.MethodGet {
		next = r.URL.RequestURI()
	}
	s.askToken(w, r, status, err, next)
}

// refusal returns the status of a refusal and sets the header that goes with it.
func refusal(w http.ResponseWriter, err error) int {
	if wait, ok := errors.AsType[*waitError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(wait.seconds()))
		return http.StatusTooManyRequests
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="deem"`)
	return http.StatusUnauthorized
}

// requireOwnPage refuses unsafe requests without the CSRF value of our pages, in addition to
// requireOrigin. The API does not need it: see the package comment.
func (s *Server) requireOwnPage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
			next.ServeHTTP(w, r)
			return
		}
		if isAPI(r) {
			next.ServeHTTP(w, r)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, defaultBody)
		if !s.guard.isOurs(r) {
			err := deem.WithHint(errors.New("this form is too old, or is not ours"), "go back, load the page again, and repeat what you did")
			s.fail(w, r, withStatus(http.StatusForbidden, err))
			return
		}
		next.ServeHTTP(w, r)
	})
}
