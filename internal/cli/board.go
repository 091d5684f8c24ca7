package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/board"
	"deem/internal/usage"
	"deem/internal/words"
)

// errBoard means that something on a board is not so.
var errBoard = errors.New("the board is not what it says")

const boardHelp = `Check and build a leaderboard of run files.

A board is a folder: board.yaml with title, lanes and rules, run files in runs, and a log in
log. Only runs of one lane are compared: the same questions, judge, reader and budget of
contexts. "deem init board" writes an example; docs/board.md explains all of it.`

func (a *app) boardCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "board check|build|log|identify|key", Short: "check and build a leaderboard of run files", Long: boardHelp,
		Annotations: map[string]string{noConfig: "yes"},
		Args:        cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.boardCheck(), a.boardBuild(), a.boardLog(), a.boardIdentify(), a.boardKey())
	return cmd
}

const boardCheckHelp = `Verify every run file of a board, compute every number again, and check the log.

Every file must be right, belong to a lane, and be the one that its log entry names; the log
must be the one that the checkpoint signed; board.yaml must be the one in the log. With
--since the log must also begin with the entries of an earlier checkpoint, which somebody
kept. With --site the pages in a folder must be those that the files give. Run files that the
log does not have yet are verified and listed.

EXIT STATUS
  0 everything is so   1 error   2 wrong usage   4 something is not so`

func (a *app) boardCheck() *cobra.Command {
	var since, site string
	cmd := &cobra.Command{
		Use: "check [DIR] [flags]", Short: "verify every file, number and entry", Long: boardCheckHelp, Args: atMost(1),
		Annotations: map[string]string{noConfig: "yes"},
		Example:     "  deem board check\n  deem board check board --since main-checkpoint --site site",
		RunE: func(cmd *cobra.Command, args []string) error {
			o := board.Options{Software: software()}
			if since != "" {
				text, err := os.ReadFile(since)
				if err != nil {
					return usage.Mark(err)
				}
				o.Since = text
			}
			c, err := a.checkBoard(cmd.Context(), args, o)
			if err != nil {
				return err
			}
			if site != "" {
				if err := c.CompareSite(cmd.Context(), site); err != nil {
					return err
				}
			}
			if a.json {
				_ = writeJSON(a.out, c)
			} else {
				boardText(a.out, c)
			}
			if n := len(c.Findings); n > 0 {
				return fmt.Errorf("%w: %s", errBoard, words.Count(n, "finding"))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "the log must begin with the entries of the earlier checkpoint in this `file`")
	cmd.Flags().StringVar(&site, "site", "", "the pages in this `folder` must be those that the files give")
	return cmd
}

// checkBoard checks the board in the folder that the arguments name.
func (a *app) checkBoard(ctx context.Context, args []string, o board.Options) (*board.Checked, error) {
	b, err := openBoard(args)
	if err != nil {
		return nil, err
	}
	return b.Check(ctx, o)
}

func openBoard(args []string) (*board.Board, error) {
	b, err := board.Open(append(args, ".")[0])
	return b, usage.Mark(err)
}

// boardText prints the result of a check.
func boardText(w io.Writer, c *board.Checked) {
	for i, f := range c.Findings {
		if i == maxShown {
			fmt.Fprintf(w, "and %s more\n", words.Comma(len(c.Findings)-maxShown))
			break
		}
		fmt.Fprintln(w, words.Printable(f.String()))
	}
	for _, file := range c.Pending {
		fmt.Fprintf(w, "%s: right, and not in the log yet\n", words.Printable(file))
	}
	fmt.Fprintf(w, "%s with %s verified; the log has length %s\n", words.Count(c.Files, "run file"), words.Count(c.Records, "record"), words.Comma(c.Entries))
	if c.OK() {
		fmt.Fprintln(w, "ok")
	}
}

const boardBuildHelp = `Write the pages of a board that was checked, as static files.

The same board gives the same bytes on every machine. Nothing is written if something on the
board is not so. With --verifier the pages can verify a row in the reader's browser: the file
is the verifier for WebAssembly, which "make verifier" builds.

EXIT STATUS
  0 written   1 error   2 wrong usage, or the folder exists   4 something is not so`

func (a *app) boardBuild() *cobra.Command {
	var out, verifier string
	cmd := &cobra.Command{
		Use: "build [DIR] -o SITE [flags]", Short: "write the pages of a board", Long: boardBuildHelp, Args: atMost(1),
		Annotations: map[string]string{noConfig: "yes"},
		Example:     "  deem board build -o site\n  deem board build board -o site --verifier verifier.wasm",
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usage.Mark(deem.WithHint(errors.New("no folder for the pages"), "deem board build -o site"))
			}
			c, err := a.checkBoard(cmd.Context(), args, board.Options{Software: software()})
			if err != nil {
				return err
			}
			if !c.OK() {
				boardText(a.out, c)
				return fmt.Errorf("%w: nothing is written", errBoard)
			}
			n, err := c.Build(cmd.Context(), out, verifier)
			if err != nil {
				return err
			}
			if a.json {
				return writeJSON(a.out, map[string]any{"written": out, "files": n})
			}
			a.say("wrote %s to %s", words.Count(n, "file"), out)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the pages to this `folder`, which must not exist")
	cmd.Flags().StringVar(&verifier, "verifier", "", "put this WebAssembly `file` on the pages, to verify rows in the browser")
	return cmd
}

const boardLogHelp = `Add what changed to the log of a board, and sign a new checkpoint.

New run files, files in place of others, and a changed board.yaml each get an entry; every
new file is verified first. Nothing is ever taken out of the log: a correction is a new
entry, and so is the withdrawal of a file that you removed. Keep the old checkpoint if you
want to prove later that nothing vanished.

EXIT STATUS
  0 written, or nothing changed   1 error   2 wrong usage`

func (a *app) boardLog() *cobra.Command {
	var key, reason string
	var withdraw []string
	cmd := &cobra.Command{
		Use: "log [DIR] --key FILE [flags]", Short: "add what changed to the log, and sign it", Long: boardLogHelp, Args: atMost(1),
		Annotations: map[string]string{noConfig: "yes"},
		Example:     "  deem board log --key board.key\n  deem board log --key board.key --withdraw runs/x.deem --reason 'wrong contexts'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if key == "" {
				return usage.Mark(deem.WithHint(errors.New("no key to sign the log with"), "deem export keygen board, then deem board log --key board.key"))
			}
			text, err := os.ReadFile(key)
			if err != nil {
				return usage.Mark(err)
			}
			private, err := parsePrivateKey(text)
			if err != nil {
				return usage.Mark(fmt.Errorf("%s: %w", key, err))
			}
			b, err := openBoard(args)
			if err != nil {
				return err
			}
			said, err := b.Append(cmd.Context(), private, withdraw, reason)
			if err != nil {
				return err
			}
			if a.json {
				return writeJSON(a.out, map[string]any{"entries": append([]string{}, said...)})
			}
			if len(said) == 0 {
				said = []string{"nothing changed"}
			}
			fmt.Fprintln(a.out, strings.Join(said, "\n"))
			return nil
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "sign with the private key in this `file`, made by deem export keygen")
	cmd.Flags().StringArrayVar(&withdraw, "withdraw", nil, "this run `file`, which was removed from the folder, leaves the board; repeatable")
	cmd.Flags().StringVar(&reason, "reason", "", "the `reason` of a correction or withdrawal")
	return cmd
}

func (a *app) boardIdentify() *cobra.Command {
	return &cobra.Command{
		Use: "identify FILE", Short: "print what the lane of a run file must say",
		Long:        "Verify a run file and print the hashes of its questions, judge and reader, and its budget,\nas board.yaml has them.\n\nEXIT STATUS\n  0 done   1 error, or the file is not right   2 wrong usage",
		Annotations: map[string]string{noConfig: "yes"}, Example: "  deem board identify run.deem",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage.Mark(deem.WithHint(errors.New("deem board identify needs one run file"), "deem board identify run.deem"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := os.ReadFile(args[0])
			if err != nil {
				return usage.Mark(err)
			}
			id, err := board.Identify(cmd.Context(), text)
			if err != nil {
				return deem.WithHint(fmt.Errorf("%s: %w", args[0], err), "deem verify %s says what is wrong", args[0])
			}
			if a.json {
				return writeJSON(a.out, id)
			}
			fmt.Fprintf(a.out, "questions: %s\njudge: %s\n", id.Questions, id.Judge)
			if id.Reader != "" {
				fmt.Fprintf(a.out, "reader: %s\nbudget: %d\n", id.Reader, id.Budget)
			}
			return nil
		},
	}
}

func (a *app) boardKey() *cobra.Command {
	var origin string
	cmd := &cobra.Command{
		Use: "key FILE --origin NAME", Short: "print a public key as board.yaml has it",
		Long:        "Print the public key of \"deem export keygen\" in the form that key in board.yaml has. The origin names\nthe log, for example example.org/board.\n\nEXIT STATUS\n  0 done   1 error   2 wrong usage",
		Annotations: map[string]string{noConfig: "yes"}, Example: "  deem board key board.pub --origin example.org/board",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || origin == "" {
				return usage.Mark(deem.WithHint(errors.New("deem board key needs a public key and --origin"), "deem board key board.pub --origin example.org/board"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := os.ReadFile(args[0])
			if err != nil {
				return usage.Mark(err)
			}
			key, err := parsePublicKey(text)
			if err != nil {
				return usage.Mark(fmt.Errorf("%s: %w", args[0], err))
			}
			line, err := board.VerifierKey(origin, key)
			if err != nil {
				return usage.Mark(err)
			}
			if a.json {
				return writeJSON(a.out, map[string]string{"key": line})
			}
			fmt.Fprintln(a.out, line)
			return nil
		},
	}
	cmd.Flags().StringVar(&origin, "origin", "", "the `name` of the log")
	return cmd
}
