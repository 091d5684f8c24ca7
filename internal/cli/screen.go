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

// A screen is standard output or standard error. Everything that deem prints goes through one
// of the two, but for the progress bar, which draws with control characters of its own and
// shows no text of others.
//
// What a person may see holds no control characters but line ends and tabs, and none that turn
// the direction of text: it may come from a server, a dataset or a run file. That is all of
// standard error, and standard output where it is a terminal. Standard output in a pipe or a
// file is exact to the byte.
//
// A screen keeps the first error, because many commands print line by line and do not look:
// what could not be written is said at the end.
type screen struct {
	harmless bool
	json     *bool // what is written is JSON, in which characters can be escaped

	mu   sync.Mutex
	w    io.Writer
	err  error
	rest []byte // the beginning of a character that the next write ends
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

// clean returns a text with U+FFFD in place of each harmful character. In JSON it has the
// character's escape, which means the same.
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

// A trusted screen takes text as it is, from what has made it harmless itself.
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
