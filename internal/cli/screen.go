package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"deem/internal/words"
)

// A screen is standard output or standard error. Everything that deem prints goes through
// one of the two, except the progress bar, which uses its own control characters and shows
// no foreign text.
//
// Text for people may come from a server, a dataset or a run file. A screen therefore
// removes control characters except line ends and tabs, and characters that change the
// direction of text, from standard error, and from standard output if it is a terminal.
// Standard output to a pipe or a file is exact to the byte.
//
// A screen keeps the first error, because many commands print line by line without
// checking; the error is reported at the end.
type screen struct {
	harmless bool
	json     *bool // the output is JSON, in which characters can be escaped

	mu   sync.Mutex
	w    io.Writer
	err  error
	rest []byte // the beginning of a character that the next write completes
}

func (s *screen) Write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.harmless {
		text := slices.Concat(s.rest, p)
		whole := len(text)
		for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
			if at := len(text) - back; utf8.RuneStart(text[at]) {
				if !utf8.FullRune(text[at:]) {
					whole = at
				}
				break
			}
		}
		s.rest = bytes.Clone(text[whole:])
		n = len(p)
		_, err = io.WriteString(s.w, s.clean(string(text[:whole])))
	} else {
		n, err = s.w.Write(p)
	}
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}

// clean replaces each harmful character by U+FFFD. In JSON it uses the character's escape,
// which means the same.
func (s *screen) clean(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch one := string(r); {
		case r == '\n' || words.Printable(one) == one:
			b.WriteRune(r)
		case *s.json:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(utf8.RuneError)
		}
	}
	return b.String()
}

// A trusted screen passes text unchanged, from writers that have made it harmless.
type trusted struct{ *screen }

func (s trusted) Write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err = s.w.Write(p)
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}
