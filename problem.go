package deem

import (
	"fmt"
	"slices"
	"strings"
)

// A Problem is an error at one place in an input file: a dataset, a judge, a configuration.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`    // from 1; 0 for the whole file
	Element int    `json:"element,omitempty"` // of a list in that line, from 1; 0 for the whole line
	Message string `json:"message"`
	More    int    `json:"more,omitempty"` // further places in the file with the same message
}

// Error returns "file:line: message", with the element and in how many more places of the
// file the same is wrong.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Element > 0 {
		fmt.Fprintf(&b, " (element %d)", p.Element)
	}
	b.WriteString(": " + p.Message)
	switch {
	case p.More == 1:
		b.WriteString("; the same in 1 more place")
	case p.More > 1:
		fmt.Fprintf(&b, "; the same in %d more places", p.More)
	}
	return b.String()
}

// Problems is the error of an invalid input. It lists the first problems, each message of a
// file once, and counts all of them.
type Problems struct {
	List  []Problem
	Total int
}

// maxProblems is how many problems are listed.
const maxProblems = 20

// Add counts p, and lists it unless the list is full or has the same message of the file.
func (ps *Problems) Add(p Problem) {
	ps.Total += 1 + p.More
	same := slices.IndexFunc(ps.List, func(q Problem) bool { return q.File == p.File && q.Message == p.Message })
	switch {
	case same >= 0:
		ps.List[same].More += 1 + p.More
	case len(ps.List) < maxProblems:
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
	more := ps.Total
	for _, p := range ps.List {
		lines = append(lines, p.Error())
		more -= 1 + p.More
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}
