// Package lazy puts off what a command may never need. To compile every pattern took a
// fifth of the time in which a command starts, and most commands match none.
package lazy

import (
	"regexp"
	"sync"
)

// Pattern returns a pattern that is compiled when it is first asked for. It panics then
// if it is none.
func Pattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
