package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"deem/internal/doc"
	"deem/internal/store"
	"deem/internal/words"
	"deem/report"
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
	shape

	mu   sync.Mutex
	w    io.Writer
	err  error
	rest []byte // the beginning of a character that the next write completes
}

func (s *screen) Write(p []byte) (int, error) { return s.write(p, s.harmless) }

func (s *screen) write(p []byte, clean bool) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if clean {
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

// keep remembers the first error, as Write does, and returns err.
func (s *screen) keep(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.err == nil {
		s.err = err
	}
	return err
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

func (s trusted) Write(p []byte) (int, error) { return s.write(p, false) }

// Limits on the width of a report, whatever the width of the terminal.
const (
	leastColumns = 40
	mostColumns  = 120
)

// verboseFlag adds -v and -q to a command that prints a report.
func (a *app) verboseFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&a.quiet, "quiet", "q", false, "print only the section with the score, and errors")
	cmd.Flags().BoolVarP(&a.verbose, "verbose", "v", false, "print all details: hashes, parameters, power, parsers, confidence, notes")
}

// document prints a report: on a terminal in its width and in colour, otherwise in 80
// columns without colour.
func (a *app) document(d *doc.Document) error {
	if a.quiet {
		d.Title = ""
		d.Sections = slices.DeleteFunc(d.Sections, func(s doc.Section) bool {
			return !slices.Contains(scoreSections, cmp.Or(s.ID, strings.ToLower(s.Title)))
		})
		d.NotesInDetail = true
	}
	o := doc.TextOptions{Detail: a.verbose && !a.quiet}
	if f, ok := a.out.w.(*os.File); ok && isTerminal(f) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			o.Width = min(max(width, leastColumns), mostColumns)
		}
		o.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	// A document has no control characters except its own colours.
	return doc.Text(trusted{a.out}, d, o)
}

// scoreSections are the sections that -q prints: the score of a run, the answer of a
// comparison, and the scores of judges.
var scoreSections = []string{"score", "answer", "scores"}

// next adds suggestions for the next commands to the report of a run. The commands work as
// printed.
func (a *app) next(ctx context.Context, st store.Store, d *doc.Document, run store.Run, r report.Report) {
	newest, err := st.Run(ctx, "last")
	if err != nil {
		return
	}
	where := "" // the flags with which another command finds the same run
	if newest.ID != run.ID {
		where = " --run " + run.ID
	}
	for _, flag := range []struct{ name, value string }{{"--db", a.db}, {"--config", a.config}} {
		typed := slices.ContainsFunc(a.args, func(arg string) bool { return arg == flag.name || strings.HasPrefix(arg, flag.name+"=") })
		if typed && !plainWord(flag.value) {
			return
		}
		if typed {
			where += " " + flag.name + " " + flag.value
		}
	}
	var list []string
	for _, f := range r.Failures {
		if len(f.Examples) > 0 && plainWord(f.Examples[0]) {
			list = append(list, "deem show "+f.Examples[0]+where)
			break
		}
	}
	list = append(list, strings.Replace("deem report -v"+where, " --run", "", 1), strings.Replace("deem serve"+where, " --run "+run.ID, "", 1))
	d.Add(doc.Section{ID: "next", Blocks: []doc.Block{doc.Paragraph{Text: "Next: " + strings.Join(list, " · "), Tone: doc.Dim}}})
}

// plainWord reports whether a word needs no quoting in a shell.
func plainWord(s string) bool {
	return s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:", r))
	})
}
