package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"deem"
	"deem/internal/server"
)

// A problem is an error of the API (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Hint   string `json:"hint,omitempty"`

	// Problems are those of single items. Run is the run that contains what was judged
	// before the error.
	Problems []itemProblem `json:"problems,omitempty"`
	Run      string        `json:"run,omitempty"`
}

// problemOf returns the problem that API clients receive for an error.
func problemOf(err error) problem {
	status := server.StatusOf(err)
	p := problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: server.InFields(err.Error())}
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
		hint = server.InFields(hint)
	}
	p.Hint = hint
	return p
}

// writeProblem writes an error of the API.
func writeProblem(w http.ResponseWriter, p problem) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // The client may have disconnected.
}
