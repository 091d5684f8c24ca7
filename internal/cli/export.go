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
	"deem/report"
)

const exportHelp = `Write a run in another form.

The format "results", the default, is the result file of a benchmark's run as the
benchmark's own scripts write it, so that whatever reads their files reads ours.

The format "html" is the report as one page that stands alone: it loads nothing from
elsewhere and runs no script, so it can be mailed or kept. It goes to standard output
unless -o names a file. A score that is withheld is withheld there too, with exit
status 3.

The format "bundle", the default when -o names a file ending in .deem, is the whole run
in one file: items, records, calls with raw replies, the judge with its prompts, and
what the report says, chained by SHA-256. "deem verify" checks it, and every command
that reads a run reads it in place of one. With --redact texts are replaced by their
hashes, with --sign the file is signed; docs/bundle.md describes it.

For "results" the benchmark's files are read again and must hold the items that were judged.
Items without a verdict have no place in such a file; how many are left out is said.

EXIT STATUS
  0 written   1 could not   2 wrong usage, or the file is there already
  3 written, but too many items are unjudged: the score is withheld`

// The formats of an export.
const (
	formatResults = "results"
	formatHTML    = "html"
	formatBundle  = "bundle"
)

func (a *app) exportCommand() *cobra.Command {
	var out string
	format := formatResults
	var file bundleOptions
	want := showing{maxUnjudged: report.DefaultMaxUnjudged}
	var draws int
	var seed uint64
	cmd := &cobra.Command{
		Use: "export [RUN] [flags]", Short: "write a run in another form", Long: exportHelp,
		Example: "  deem export\n  deem export last~1 -o -\n  deem export last --format html -o report.html\n  deem export last -o run.deem",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.HasSuffix(out, bundleExt) && !cmd.Flags().Changed("format") {
				format = formatBundle
			}
			if (file.redact || file.sign != "") && format != formatBundle {
				return usage(deem.WithHint(fmt.Errorf("--redact and --sign are for run files"), "-o run.deem writes one"))
			}
			st, err := a.readRuns(cmd.Context(), runArg(args))
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			if want.bootstrap, err = bootstrapOf(cmd, draws, seed); err != nil {
				return err
			}
			switch format {
			case formatResults:
				return a.export(cmd.Context(), st, runArg(args), out)
			case formatHTML:
				return a.exportHTML(cmd.Context(), st, runArg(args), out, want)
			case formatBundle:
				return a.exportBundle(cmd.Context(), st, runArg(args), out, file)
			}
			return usagef("--format %s: there are results and html, and bundle for run files", format)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file`, - for standard output (default: the name that the benchmark gives it)")
	cmd.Flags().StringVar(&format, "format", format, "the `format`: results, html or bundle (default for a file named .deem)")
	cmd.Flags().Var(shareFlag{&want.maxUnjudged}, "max-unjudged", "html: withhold the score when more items than this `share` are unjudged")
	file.flags(cmd)
	bootstrapFlags(cmd, &draws, &seed)
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

// exportHTML writes the report of a run as a page.
func (a *app) exportHTML(ctx context.Context, st store.Store, ref, out string, want showing) error {
	run, err := findRun(ctx, st, ref)
	if err != nil {
		return err
	}
	r, published, err := reportOf(ctx, st, run, want)
	if err != nil {
		return err
	}
	if published != nil {
		var text strings.Builder
		if err := published.Text(&text); err != nil {
			return err
		}
		r.PublishedText = text.String()
	}
	if err := a.writePage(r, out); err != nil {
		return err
	}
	if r.Withheld() {
		return withheld(r, want.maxUnjudged)
	}
	return nil
}

// writePage writes the page to a file that is not there yet, or to standard output.
func (a *app) writePage(r report.Report, out string) error {
	if out == "" || out == "-" {
		return r.HTML(a.out)
	}
	w, err := createNew(out)
	if err != nil {
		return err
	}
	if err := errors.Join(r.HTML(w), w.Close()); err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"written": out})
		return nil
	}
	a.say("wrote %s", out)
	return nil
}

// createNew creates a file. One that is there already is not touched.
func createNew(name string) (*os.File, error) {
	w, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, usage(deem.WithHint(fmt.Errorf("%s is there already", name), "move it away, or name another file with -o"))
	}
	return w, err
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
	w, err := createNew(out)
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
