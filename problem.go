package deem

import (
	"fmt"
	"strings"
)

// A Problem is an error at one place in an input file: a dataset, a judge, a configuration.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // from 1; 0 for the whole file
	Message string `json:"message"`
}

// Error returns "file:line: message".
func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Problems is the error of an invalid input. It lists the first problems and counts all of
// them.
type Problems struct {
	List  []Problem
	Total int
}

// maxProblems is how many problems are listed. A file with more usually has the same problem
// many times.
const maxProblems = 20

// Add counts p, and lists it unless the list is full.
func (ps *Problems) Add(p Problem) {
	ps.Total++
	if len(ps.List) < maxProblems {
		ps.List = append(ps.List, p)
	}
}

// Err returns ps, or nil if there is no problem.
func (ps *Problems) Err() error {
	if ps.Total == 0 {
		return nil
	}
	return ps
}

// Error returns one line for each listed problem.
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
