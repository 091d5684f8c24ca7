package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/doc"
	"deem/internal/usage"
	"deem/internal/words"
)

const explainHelp = `Explain a note or a warning. Notes end with a code, such as D012; "deem explain D012"
says what it means and what to do. The text of a note, as it is in JSON, works too. Without an
argument all codes are listed.

EXIT STATUS
  0 done   1 error   2 no such code`

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain [CODE]", Short: "explain the code of a note", Long: explainHelp, Example: "  deem explain D012\n  deem explain --json=code,text",
		Annotations: map[string]string{noConfig: "yes"}, Args: atMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listCodes()
			}
			code := strings.ToUpper(args[0])
			if found := words.CodeOf(args[0]); found != "" {
				code = found
			}
			i := slices.IndexFunc(words.Explanations, func(e words.Explanation) bool { return e.Code == code })
			if i < 0 {
				return usage.Mark(deem.WithHint(fmt.Errorf("no note has the code %q", args[0]), "deem explain lists them"))
			}
			e := words.Explanations[i]
			if a.json {
				return writeJSON(a.out, e)
			}
			d := &doc.Document{Title: e.Code + "  " + strings.Join(e.On, "; ")}
			d.Add(doc.Section{ID: "text", Blocks: []doc.Block{doc.Paragraph{Text: e.Text}}})
			return a.document(d)
		},
	}
}

// listCodes lists the codes, each with the beginning of a note that has it.
func (a *app) listCodes() error {
	if a.json {
		return writeJSON(a.out, words.Explanations)
	}
	for _, e := range words.Explanations {
		fmt.Fprintf(a.out, "%s  %s\n", e.Code, e.On[0])
	}
	return nil
}
