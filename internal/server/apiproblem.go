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

// apiStatus returns the status of errors that come from judging and from what clients
// send, 0 for others.
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

// flag is an option of a command in an error. Clients have fields and parameters.
var flag = regexp.MustCompile(`--([a-z]+(?:-[a-z]+)*)`)

// command is a command in a hint, whose options stay as they are typed.
var command = regexp.MustCompile(`\bdeem [a-z]+ -`)

// inFields writes the options in a text as clients know them: --max-cost is max_cost.
func inFields(text string) string {
	if command.MatchString(text) {
		return text
	}
	return flag.ReplaceAllStringFunc(text, func(option string) string {
		return strings.ReplaceAll(strings.TrimPrefix(option, "--"), "-", "_")
	})
}

// problemOf returns an error as programs get it.
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
	if !strings.Contains(hint, "deem serve") { // whose options are meant as they are
		hint = inFields(hint)
	}
	p.Hint = hint
	return p
}

// errReadOnly is the answer of a server that changes nothing.
var errReadOnly = deem.WithHint(errors.New("this server is read-only"), "start it without --read-only: deem serve")

// requireWritable refuses changes where there are none to be made. Who may look is
// decided with a form, so that has to stay.
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

// openAPI makes ready what the API needs.
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
