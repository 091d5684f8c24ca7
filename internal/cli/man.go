package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"deem/internal/usage"
	"deem/internal/words"
)

const manHelp = `Write the manual pages of all commands into a folder, for man(1): deem.1, deem-run.1 and
so on. They contain the text of --help.

EXIT STATUS
  0 written   1 error   2 wrong usage`

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man FOLDER", Short: "write manual pages", Long: manHelp, Example: "  deem man /usr/local/share/man/man1",
		Hidden: true, Annotations: map[string]string{noConfig: "yes"}, Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage.Errorf("deem man needs one folder, not %s", words.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // Everybody reads manual pages.
				return err
			}
			n, err := manPages(args[0], cmd.Root())
			if err == nil {
				a.say("wrote %s into %s", words.Count(n, "page"), args[0])
			}
			return err
		},
	}
}

// manPages writes the page of a command and those of its subcommands, and returns their
// number. The pages use the macros of man(7). The texts are formatted for a terminal, so
// they are shown unchanged.
func manPages(dir string, cmd *cobra.Command) (int, error) {
	dashed := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	text, exits, _ := strings.Cut(strings.TrimSpace(cmd.Long), "\nEXIT STATUS\n")
	var page strings.Builder
	fmt.Fprintf(&page, ".TH %s 1 \"\" \"deem %s\" \"deem\"\n", strings.ToUpper(roff(dashed)), roff(version()))
	fmt.Fprintf(&page, ".SH NAME\n%s \\- %s\n", roff(dashed), roff(cmd.Short))
	fmt.Fprintf(&page, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	manSection(&page, "DESCRIPTION", text)
	manSection(&page, "FLAGS", flagUsages(cmd.LocalNonPersistentFlags(), flagWidth))
	manSection(&page, "COMMON FLAGS", flagUsages(cmd.Root().PersistentFlags(), flagWidth))
	manSection(&page, "EXAMPLE", cmd.Example)
	manSection(&page, "EXIT STATUS", exits)
	if err := os.WriteFile(filepath.Join(dir, dashed+".1"), []byte(page.String()), 0o644); err != nil {
		return 0, err
	}
	n := 1
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		more, err := manPages(dir, sub)
		if err != nil {
			return n, err
		}
		n += more
	}
	return n, nil
}

// manSection writes a section with its line breaks unchanged.
func manSection(w io.Writer, title, text string) {
	if text = strings.Trim(text, "\n"); text == "" {
		return
	}
	fmt.Fprintf(w, ".SH %s\n.nf\n", title)
	for line := range strings.Lines(text + "\n") {
		fmt.Fprintln(w, roff(strings.TrimSuffix(line, "\n")))
	}
	fmt.Fprintln(w, ".fi")
}

// roff escapes characters that are special in troff.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
