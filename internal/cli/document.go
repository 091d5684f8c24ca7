package cli

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"deem/internal/doc"
	"deem/internal/store"
	"deem/report"
)

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
