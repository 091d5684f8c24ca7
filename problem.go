package deem

import (
	"fmt"
	"strings"
)

// A Problem is something wrong at one place of an input file: a dataset, a judge,
// a configuration.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // from 1; 0 when the whole file is meant
	Message string `json:"message"`
}

// Error returns "file:line: message".
func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Problems is the error of an input in which something is wrong. It lists the
// first problems and counts them all.
type Problems struct {
	List  []Problem
	Total int
}

// maxProblems is how many problems are listed. A file with more of them has one
// problem many times.
const maxProblems = 20

// Add counts p, and lists it unless the list is long already.
func (ps *Problems) Add(p Problem) {
	ps.Total++
	if len(ps.List) < maxProblems {
		ps.List = append(ps.List, p)
	}
}

// Err returns ps, or nil when there is no problem.
func (ps *Problems) Err() error {
	if ps.Total == 0 {
		return nil
	}
	return ps
}

// Error returns a line for each problem that is listed.
func (ps *Problems) Error() string {
	lines := make([]string, 0, len(ps.List)+1)
	for _, p := range ps.List {
		lines = append(lines, p.Error())
	}
	if more := ps.Total - len(ps.List); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}
