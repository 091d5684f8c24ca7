package server

import (
	"errors"
	"fmt"
	"net/http"
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

// ErrPanic is the error that a client sees after a panic. The details are in the log.
var ErrPanic = errors.New("deem has a bug here; the log of the server says more")

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
			s.Logger.Error("panic", "method", r.Method, "path", r.URL.Path, "value", fmt.Sprint(v), "stack", string(debug.Stack()))
			s.fail(w, r, ErrPanic)
		}()
		next.ServeHTTP(w, r)
	})
}

// requireHost refuses host names other than localhost if there is no token. Another site can
// make its own name resolve to this machine (DNS rebinding), and its requests then have the
// same origin; but they contain that name. If there is a token, they have no session.
func (s *Server) requireHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Token == "" && !loopback(hostOf(r.Host)) {
			err := deem.WithHint(fmt.Errorf("this server answers only to localhost, not to %q", r.Host),
				"a server with a token answers to every name: set DEEM_TOKEN and start it again")
			s.fail(w, r, WithStatus(http.StatusMisdirectedRequest, err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// requireOrigin refuses unsafe requests that browsers mark as coming from other sites.
func (s *Server) requireOrigin(next http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, WithStatus(http.StatusForbidden, errors.New("this request came from another site")))
	}))
	return p.Handler(next)
}

// open reports whether a path needs no token.
func open(path string) bool {
	return path == "/login" || path == "/healthz" || path == "/readyz" || strings.HasPrefix(path, "/static/")
}

// requireToken requires a session or the token. Browsers without either get the login page.
func (s *Server) requireToken(next http.Handler) http.Handler {
	g := s.Guard
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.token == "" || open(r.URL.Path) || g.Session(r) != "" {
			next.ServeHTTP(w, r)
			return
		}
		err := ErrLogin
		if guess, given := bearer(r); given {
			err = g.try(r, guess)
		}
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// The reasons for a refusal, in addition to waitError. ErrLogin means that there was no token.
var (
	ErrLogin = errors.New("this server wants its token")
	errToken = errors.New("this is not the token")
)

// A waitError means that a client sent too many wrong tokens.
type waitError struct{ wait time.Duration }

func (e *waitError) Error() string {
	return fmt.Sprintf("too many wrong tokens: try again in %d seconds", e.seconds())
}

func (e *waitError) seconds() int { return int(e.wait.Seconds()) + 1 }

// try returns an error if a guess is not the token. After too many wrong guesses, even the
// right token is refused for a while.
func (g *Guard) try(r *http.Request, guess string) error {
	addr := g.Remote(r)
	if wait := g.misses.wait(addr); wait > 0 {
		return &waitError{wait}
	}
	if !g.isToken(guess) {
		g.misses.miss(addr)
		return errToken
	}
	return nil
}

// refuse answers a request without a valid token: 429 after too many guesses, otherwise 401.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusUnauthorized
	if wait, ok := errors.AsType[*waitError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(wait.seconds()))
		status = http.StatusTooManyRequests
	} else {
		w.Header().Set("WWW-Authenticate", `Bearer realm="deem"`)
	}
	s.fail(w, r, WithStatus(status, err))
}

// login checks the token from the form of the login page and begins a session.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	if s.Token != "" {
		if err := s.Guard.try(r, r.PostFormValue("token")); err != nil {
			s.refuse(w, r, err)
			return nil
		}
		http.SetCookie(w, s.Guard.newSession(r))
	}
	http.Redirect(w, r, OurPath(r.PostFormValue("next")), http.StatusSeeOther) //nolint:gosec // OurPath lets only our own paths through.
	return nil
}

// logout ends the session.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	http.SetCookie(w, s.Guard.endSession(r))
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
		if !s.Guard.isOurs(r) {
			err := deem.WithHint(errors.New("this form is too old, or is not ours"), "go back, load the page again, and repeat what you did")
			s.fail(w, r, WithStatus(http.StatusForbidden, err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ErrReadOnly is returned for changes to a read-only server.
var ErrReadOnly = deem.WithHint(errors.New("this server is read-only"), "start it without --read-only: deem serve")

// requireWritable rejects changes if the server is read-only, except logging in and out,
// which use forms.
func (s *Server) requireWritable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.ReadOnly, r.Method == http.MethodGet, r.Method == http.MethodHead, r.Method == http.MethodOptions,
			r.URL.Path == "/login", r.URL.Path == "/logout":
			next.ServeHTTP(w, r)
		default:
			s.fail(w, r, WithStatus(http.StatusForbidden, ErrReadOnly))
		}
	})
}
