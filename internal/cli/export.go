package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/benchmark"
	"deem/internal/store"
)

const exportHelp = `Write the result file of a benchmark's run as the benchmark's own scripts write it,
so that whatever reads their files reads ours.

The benchmark's files are read again and must hold the items that were judged.
Items without a verdict have no place in such a file; how many are left out is said.

EXIT STATUS
  0 written   1 could not   2 wrong usage, or the file is there already`

func (a *app) exportCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "export [RUN] [flags]", Short: "write a run as its benchmark's scripts would", Long: exportHelp,
		Example: "  deem export\n  deem export last~1 -o -",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := a.readStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			return a.export(cmd.Context(), st, runArg(args), out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file`, - for standard output (default: the name that the benchmark gives it)")
	return cmd
}

func (a *app) export(ctx context.Context, st store.Store, ref, out string) error {
	run, err := findRun(ctx, st, ref)
	if err != nil {
		return err
	}
	b, set, err := benchmarkOf(run)
	if err != nil {
		return err
	}
	if b == nil || b.WriteResults == nil || !slices.Contains(b.Judges, run.Judge.Name) {
		return usage(deem.WithHint(fmt.Errorf("run %s was not judged by a benchmark's own judge, or its scripts write no file", run.ID), "deem report %s --json writes what it found", run.ID))
	}
	if err := sameItems(ctx, *b, run, set); err != nil {
		return err
	}
	f := benchmark.Finished{
		Options: set.options(),
		Judge:   run.Judge.Name,
		Model:   run.Model,
		Records: st.Records(ctx, run.ID, store.Query{Trial: new(int)}),
	}
	if out == "" {
		out = b.ResultsName(f)
	}
	return a.writeResults(ctx, *b, f, out)
}

// options returns what the benchmark read.
func (s settings) options() benchmark.Options {
	return benchmark.Options{Data: s.Data, Responses: s.Responses, Limit: s.Limit, Reading: s.Reading, With: s.With}
}

// sameItems reads the benchmark's files again and looks whether they still hold the
// items that were judged.
func sameItems(ctx context.Context, b benchmark.Benchmark, run store.Run, set settings) error {
	data, err := b.Open(ctx, set.options())
	if err != nil {
		return usage(err)
	}
	hash := data.Hash()
	if err := data.Close(); err != nil {
		return err
	}
	if hash != run.Dataset.Hash {
		return usagef("%s: the items are not those that run %s judged (hash %s, then %s)",
			strings.Join(run.Dataset.Names, ", "), run.ID, deem.ShortHash(hash), deem.ShortHash(run.Dataset.Hash))
	}
	return nil
}

// writeResults writes the file; "-" is standard output. A file that is there
// already is not touched.
func (a *app) writeResults(ctx context.Context, b benchmark.Benchmark, f benchmark.Finished, out string) error {
	if out == "-" {
		left, err := b.WriteResults(ctx, a.out, f)
		a.sayLeft(left)
		return err
	}
	w, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usage(deem.WithHint(fmt.Errorf("%s is there already", out), "move it away, or name another file with -o"))
	}
	if err != nil {
		return err
	}
	left, err := b.WriteResults(ctx, w, f)
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"written": out, "left_out": left})
		return nil
	}
	a.sayLeft(left)
	a.say("wrote %s", out)
	return nil
}

// sayLeft says how many items have no place in a result file.
func (a *app) sayLeft(n int) {
	if n > 0 {
		a.say("%s without a verdict: the benchmark's file has no word for that", count(n, "item"))
	}
}
