package extract

import (
	"regexp"
	"sync"
)

// lazy returns a pattern that is compiled when it is first asked for. To compile all of
// them took a fifth of the time in which a command starts, and most commands read no
// reply.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
