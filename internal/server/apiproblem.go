package server

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	"deem"
	"deem/internal/store"
	"deem/internal/usage"
)

// apiStatus returns the HTTP status of an error from judging or from invalid input, or 0 for
// other errors.
func apiStatus(err error) int {
	_, wrong := errors.AsType[*badItems](err)
	_, problems := errors.AsType[*deem.Problems](err)
	me, asked := errors.AsType[*deem.ModelError](err)
	switch {
	case wrong || problems || usage.Is(err):
		return http.StatusBadRequest
	case errors.Is(err, store.ErrBusy), errors.Is(err, errCancelled):
		return http.StatusConflict
	case errors.Is(err, deem.ErrStopped):
		return http.StatusServiceUnavailable
	case asked && me.Kind == deem.Budget:
		return http.StatusPaymentRequired
	case asked:
		return http.StatusBadGateway
	}
	return 0
}

// flag matches a command-line flag in an error. Clients use fields and parameters instead.
var flag = regexp.MustCompile(`--([a-z]+(?:-[a-z]+)*)`)

// command matches a command in a hint, whose flags are left unchanged.
var command = regexp.MustCompile(`\bdeem [a-z]+ -`)

// inFields replaces flags in a text by the names of API fields: --max-cost becomes max_cost.
func inFields(text string) string {
	if command.MatchString(text) {
		return text
	}
	return flag.ReplaceAllStringFunc(text, func(option string) string {
		return strings.ReplaceAll(strings.TrimPrefix(option, "--"), "-", "_")
	})
}

// problemOf returns the problem that API clients receive for an error.
func (s *Server) problemOf(err error) problem {
	status := statusOf(err)
	p := problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: inFields(err.Error())}
	hint := deem.HintOf(err)
	if bad, ok := errors.AsType[*badItems](err); ok {
		p.Problems, hint = bad.list, bad.hint
	}
	if ended, ok := errors.AsType[*runError](err); ok {
		p.Run = ended.run
	}
	if errors.Is(err, deem.ErrStopped) {
		p.Detail, hint = "the server stopped before the last item; what was judged is kept", "resume the run, or send the same items again"
	}
	if !strings.Contains(hint, "deem serve") { // whose flags are left unchanged
		hint = inFields(hint)
	}
	p.Hint = hint
	return p
}

// errReadOnly is returned for changes to a read-only server.
var errReadOnly = deem.WithHint(errors.New("this server is read-only"), "start it without --read-only: deem serve")

// requireWritable rejects changes if the server is read-only, except logging in and out,
// which use forms.
func (s *Server) requireWritable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.readOnly, r.Method == http.MethodGet, r.Method == http.MethodHead, r.Method == http.MethodOptions,
			r.URL.Path == "/login", r.URL.Path == "/logout":
			next.ServeHTTP(w, r)
		default:
			s.fail(w, r, withStatus(http.StatusForbidden, errReadOnly))
		}
	})
}

// openAPI initializes the API.
func (s *Server) openAPI(o Options) error {
	s.api, s.readOnly = o.API, o.ReadOnly
	if o.ReadOnly {
		s.api.Spool = ""
	}
	s.spool = newSpool(s.api.Spool)
	var err error
	if s.models, err = openModels(s.api); err != nil {
		return err
	}
	s.jobs = newJobs(s)
	if s.api.Spool != "" {
		s.spool.sweep(s.unfinished)
	}
	return nil
}
