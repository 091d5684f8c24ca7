package web

import (
	"errors"
	"net/http"

	"deem/internal/server"
	"deem/internal/words"
)

// A loginForm is the data of the login page.
type loginForm struct {
	Problem string // why the last attempt failed
	Next    string // the path on this server to redirect to
}

// loginPage asks for the token.
func (s *Server) loginPage(r *http.Request) (page, error) {
	return page{Template: "login", Title: "Log in", Data: loginForm{Next: server.OurPath(r.URL.Query().Get("next"))}}, nil
}

// refusedPage asks for the token in place of the requested page.
func refusedPage(r *http.Request, status int, why error) page {
	form := loginForm{Next: "/"}
	switch {
	case r.Method == http.MethodGet:
		form.Next = server.OurPath(r.URL.RequestURI())
	case r.URL.Path == "/login": // Only the body of this form is limited by now.
		form.Next = server.OurPath(r.PostFormValue("next"))
	}
	if !errors.Is(why, server.ErrLogin) {
		form.Problem = words.UpperFirst(why.Error()) + "."
	}
	return page{Template: "login", Title: "Log in", Status: status, Data: form}
}
