package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/benchmark"
	"deem/internal/reports"
	"deem/internal/server/web"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/report"
)

const exportHelp = `Write a run in another format.

"results", the default, is the result file of a benchmark run as the benchmark's own
scripts write it, for tools that read those files.

"csv", "jsonl", "parquet" and "junit" have a row, or a test case, for each item:
question, response and verdict. An unjudged item has no score, and is an error in JUnit,
not a failure.

"langfuse", "phoenix" and "otel" are scores, annotations and evaluation events for these
platforms, one JSON document per line. "mlflow" and "wandb" are tables in CSV.

"markdown" and "html" are the report, as tables for a README or comment and as one
self-contained page; --items sets how many items follow it. "card" is the harness card
as Markdown, "card-json" as JSON; "every-eval-ever" is card and scores in the aggregate
schema of that database. A score that is withheld is withheld there too, with exit
status 3.

These formats go to standard output unless -o names a file. Its extension also selects
the format: .csv, .jsonl, .parquet, .xml, .md, .html. A benchmark run goes to .jsonl only
with --format jsonl, because result files may be JSON lines too. docs/export.md describes
each format.

"bundle", the default if -o ends in .deem, is the whole run in one file: items, records,
calls with raw replies, the judge with its prompts, and the report, chained by SHA-256.
"deem verify" checks it, and every command that reads a run accepts it. --redact replaces
texts by their hashes, --sign signs the file; docs/bundle.md describes it.

With --anchor one line with the root hash of the run file is printed on standard output,
and without -o nothing is written. Publish the line where its date is visible: "deem
verify --anchor LINE run.deem" then proves what the run contained at that date.

"site" writes a folder of pages about one or more runs: reports, items, comparison and
trend, as deem serve shows them, and each run as a run file. The pages need no server.
-o names the folder, and --items sets how many items of each run get a page.

For "results" the benchmark's files are read again and must contain the judged items.
Unjudged items are left out of such a file, and their number is printed.

EXIT STATUS
  0 written   1 error   2 wrong usage, or the file exists
  3 written, but too many items are unjudged: the score is withheld`

// The formats of an export.
const (
	formatResults = "results"
	formatHTML    = "html"
	formatBundle  = "bundle"
	formatSite    = "site"
)

func (a *app) exportCommand() *cobra.Command {
	var out string
	var format string
	var file bundleOptions
	var more exportOptions
	want := reports.Options{MaxUnjudged: report.DefaultMaxUnjudged}
	var draws int
	var seed uint64
	cmd := &cobra.Command{
		Use: "export [RUN...] [flags]", Short: "write a run in another format", Long: exportHelp,
		Example: "  deem export\n  deem export last~1 -o -\n  deem export last --format html -o report.html\n  deem export last -o verdicts.csv\n  deem export last --format card\n  deem export last -o run.deem\n  deem export last last~1 --format site -o site",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			named := format != ""
			switch {
			case !named && file.anchor && out == "":
				format = formatBundle
			case !named:
				format = formatOf(out)
			}
			more.format, more.want.MaxUnjudged = format, want.MaxUnjudged
			if !slices.Contains(exportFormats, format) {
				return usage.Mark(usage.Unknown("format", format, exportFormats))
			}
			if err := more.check(cmd); err != nil {
				return err
			}
			if (file.redact || file.sign != "" || file.anchor) && format != formatBundle {
				return usage.Mark(deem.WithHint(fmt.Errorf("--redact, --sign and --anchor are for run files"), "-o run.deem writes one"))
			}
			if format == formatSite {
				return a.exportSite(cmd.Context(), args, out, more.items)
			}
			if err := atMost(1)(cmd, args); err != nil {
				return err
			}
			st, err := a.readRuns(cmd.Context(), runArg(args))
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			if want.Bootstrap, err = bootstrapOf(cmd, draws, seed); err != nil {
				return err
			}
			more.want.Bootstrap = want.Bootstrap
			switch format {
			case formatResults, formatUpstream:
				return a.export(cmd.Context(), st, runArg(args), out, named, more)
			case formatBundle:
				return a.exportBundle(cmd.Context(), st, runArg(args), out, file)
			}
			return a.exportAs(cmd.Context(), st, runArg(args), out, more)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file`, - for standard output (default: the name that the benchmark gives it)")
	cmd.Flags().StringVar(&format, "format", "", "the `format`: "+strings.Join(exportFormats, ", ")+" (default: by the ending of the file, else results)")
	cmd.Flags().Var(shareFlag(&want.MaxUnjudged), "max-unjudged", "withhold the score if more than this `share` of items is unjudged")
	notFromFile(cmd.Flags(), "format") // There it is the format of the data.
	file.flags(cmd)
	more.flags(cmd)
	bootstrapFlags(cmd, &draws, &seed)
	return cmd
}

// export writes the result file of a benchmark. For a run without one it uses the format of
// the file's extension, unless results were requested by name.
func (a *app) export(ctx context.Context, st store.Store, ref, out string, named bool, more exportOptions) error {
	run, err := findRun(ctx, st, ref)
	if err != nil {
		return err
	}
	b, set, err := reports.Benchmark(run)
	if err != nil {
		return err
	}
	if b == nil || b.WriteResults == nil || !slices.Contains(b.Judges, run.Judge.Name) {
		if !named && isLines(out) {
			more.format = formatJSONL
			return a.exportAs(ctx, st, ref, out, more)
		}
		return usage.Mark(noResults(run, out, named))
	}
	if err := sameItems(ctx, *b, run, set); err != nil {
		return err
	}
	f := benchmark.Finished{
		Options: set.BenchmarkOptions(),
		Judge:   run.Judge.Name,
		Model:   run.Model,
		Records: st.Records(ctx, run.ID, store.Query{Trial: new(int)}),
	}
	if out == "" {
		out = b.ResultsName(f)
	}
	return a.writeResults(ctx, *b, f, out)
}

// exportSite writes the pages of runs to a folder.
func (a *app) exportSite(ctx context.Context, refs []string, out string, items int) error {
	if out == "" || out == "-" {
		return usage.Mark(deem.WithHint(errors.New("a site is a folder"), "name it with -o, as -o site"))
	}
	if err := os.Mkdir(out, 0o755); errors.Is(err, fs.ErrExist) { //nolint:gosec // The exported site is meant to be read by everyone.
		return usage.Mark(deem.WithHint(fmt.Errorf("%s is there already", out), "name a folder that is not there, as -o site-2"))
	} else if err != nil {
		return err
	}
	if len(refs) == 0 {
		refs = []string{"last"}
	}
	st, err := a.readStore(ctx)
	if err != nil {
		return errors.Join(err, os.Remove(out))
	}
	defer func() { _ = st.Close() }()
	var runs []store.Run
	for _, ref := range refs {
		run, err := findRun(ctx, st, ref)
		if err != nil {
			return errors.Join(err, os.Remove(out))
		}
		if !slices.ContainsFunc(runs, func(r store.Run) bool { return r.ID == run.ID }) {
			runs = append(runs, run)
		}
	}
	slices.SortStableFunc(runs, func(x, y store.Run) int { return y.Created.Compare(x.Created) })
	n, err := web.WriteSite(ctx, st, runs, out, web.SiteOptions{Version: version(), Items: items})
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"written": out, "files": n, "runs": len(runs)})
		return nil
	}
	a.say("wrote %s about %s to %s", words.Count(n, "file"), words.Count(len(runs), "run"), filepath.Join(out, "index.html"))
	return nil
}

// noResults returns the error for a run without a result file, or for a file name without a
// known extension.
func noResults(run store.Run, out string, named bool) error {
	const formatHint = "the ending of a file chooses a format, as -o verdicts.csv: .csv, .jsonl, .parquet, .xml (junit), .md, .html, .deem; --format names one: "
	hint := formatHint + strings.Join(exportFormats[2:], ", ")
	ext := filepath.Ext(out)
	switch {
	case named || out == "" || out == "-":
		err := fmt.Errorf("run %s has no result file: it was not judged by a benchmark's own judge, or the benchmark's scripts write none", run.ID)
		return deem.WithHint(err, "%s", hint)
	case strings.EqualFold(ext, ".json"):
		return deem.WithHint(fmt.Errorf("the ending %q does not say which format is meant", ext), "--format %s or %s; a line for each item is .jsonl", formatCardJSON, formatAggregate)
	case ext == "":
		return deem.WithHint(fmt.Errorf("the name %q has no ending that says which format is meant", out), "%s", hint)
	default:
		return deem.WithHint(fmt.Errorf("no format has the ending %q", ext), "%s", hint)
	}
}

// createNew creates a file. It does not overwrite an existing file.
func createNew(name string) (*os.File, error) {
	w, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, newFile)
	if errors.Is(err, fs.ErrExist) {
		return nil, thereAlready(name, "-o", "")
	}
	return w, err
}

// sameItems reads the benchmark's files again and checks that they still contain the judged
// items.
func sameItems(ctx context.Context, b benchmark.Benchmark, run store.Run, set reports.Settings) error {
	data, err := b.Open(ctx, set.BenchmarkOptions())
	if err != nil {
		return usage.Mark(err)
	}
	rest, _, err := excluded(data, set.Excluded())
	if s := set.Sample; err == nil && s != nil {
		rest, _, err = sample(rest, s.N, s.Seed)
	}
	if err != nil {
		return errors.Join(err, data.Close())
	}
	hash := rest.Hash()
	if err := data.Close(); err != nil {
		return err
	}
	if hash != run.Dataset.Hash {
		return usage.Errorf("%s: the items are not those that run %s judged (hash %s, then %s)",
			strings.Join(run.Dataset.Names, ", "), run.ID, deem.ShortHash(hash), deem.ShortHash(run.Dataset.Hash))
	}
	return nil
}

// writeResults writes the file, or standard output for "-". It does not overwrite an
// existing file.
func (a *app) writeResults(ctx context.Context, b benchmark.Benchmark, f benchmark.Finished, out string) error {
	if out == "-" {
		left, err := b.WriteResults(ctx, a.out, f)
		a.reportOmitted(left)
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
	a.reportOmitted(left)
	a.say("wrote %s", out)
	return nil
}

// reportOmitted reports how many items are not in a result file.
func (a *app) reportOmitted(n int) {
	if n > 0 {
		a.say("%s without a verdict: the benchmark's file has no word for that", words.Count(n, "item"))
	}
}
