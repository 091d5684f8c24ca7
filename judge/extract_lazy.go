package judge

import (
	"regexp"
	"sync"
)

// lazy returns a function that compiles the pattern on first use. Compiling all patterns at
// start took a fifth of the startup time of a command, and most commands read no reply.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
