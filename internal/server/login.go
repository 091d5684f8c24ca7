package server

import (
	"net/http"
	"net/url"
	"strings"

	"deem/internal/words"
)

// A loginForm is the data of the login page.
type loginForm struct {
	Problem string // why the last attempt failed
	Next    string // the path on this server to redirect to
}

// loginPage asks for the token.
func (s *Server) loginPage(r *http.Request) (page, error) {
	return page{Template: "login", Title: "Log in", Data: loginForm{Next: ourPath(r.URL.Query().Get("next"))}}, nil
}

// askToken shows the login page instead of the requested one.
func (s *Server) askToken(w http.ResponseWriter, r *http.Request, status int, why error, next string) {
	form := loginForm{Next: ourPath(next)}
	if why != errLogin { //nolint:errorlint // It is our own, and never wrapped.
		form.Problem = words.UpperFirst(why.Error()) + "."
	}
	p := page{Template: "login", Title: "Log in", Status: status, Data: form}
	if err := s.render(w, r, p); err != nil {
		s.log.Error("login page", "error", err)
		http.Error(w, http.StatusText(status), status)
	}
}

// login checks the token from the form and begins a session.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	next := ourPath(r.PostFormValue("next"))
	if s.guard.token != "" {
		if ok, err := s.guard.try(r, r.PostFormValue("token")); !ok {
			s.askToken(w, r, refusal(w, err), err, next)
			return nil
		}
		http.SetCookie(w, s.guard.newSession(r))
	}
	http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // ourPath lets only our own paths through.
	return nil
}

// logout ends the session.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	http.SetCookie(w, s.guard.endSession(r))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

// ourPath returns the path if it is a path of this server, else "/". A path that begins
// with two slashes names another host.
func ourPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(path, "/") ||
		strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") || u.Path == "/login" {
		return "/"
	}
	return path
}
