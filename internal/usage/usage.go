// Package usage marks errors that are the user's to mend: a flag, a file, a name. A
// command that ends with one exits with status 2, and the server answers with status
// 400; everything else is a failure of ours or of the world.
package usage

import (
	"errors"
	"fmt"
	"strings"

	"deem"
	"deem/internal/text"
)

// An Error is the user's to mend: a flag, a file, a name.
type Error struct{ err error }

func (e *Error) Error() string { return e.err.Error() }

func (e *Error) Unwrap() error { return e.err }

// Mark marks err as the user's to mend. It returns nil when err is nil.
func Mark(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err}
}

// Errorf is Mark of a formatted error.
func Errorf(format string, args ...any) error { return Mark(fmt.Errorf(format, args...)) }

// Unknown returns the error for a name that is not among the known ones, with the
// likeliest of them as a hint.
func Unknown(what, name string, known []string) error {
	err := fmt.Errorf("no %s %q", what, name)
	if near := text.Closest(name, known); near != "" {
		return deem.WithHint(err, "did you mean %q?", near)
	}
	if len(known) > 30 && what == "judge" {
		return deem.WithHint(err, "deem list judges lists them")
	}
	return deem.WithHint(err, "there are: %s", strings.Join(known, ", "))
}

// Is reports whether err is the user's to mend.
func Is(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}
