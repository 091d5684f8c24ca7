package cli

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/benchmark"
	"deem/internal/doc"
	"deem/internal/export"
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

"langfuse" and "phoenix" are scores and annotations for these platforms, one JSON document
per line.

"markdown" and "html" are the report, as tables for a README or comment and as one
self-contained page; --items sets how many items follow it. "card" is the harness card
as Markdown; "every-eval-ever" is card and scores in the aggregate schema of that
database. A score that is withheld is withheld there too, with exit status 3.

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
	formatResults   = "results"
	formatBundle    = "bundle"
	formatSite      = "site"
	formatCSV       = "csv"
	formatJSONL     = "jsonl"
	formatParquet   = "parquet"
	formatJUnit     = reports.JUnit
	formatHTML      = "html"
	formatMarkdown  = "markdown"
	formatCard      = "card"
	formatAggregate = "every-eval-ever"
)

// exportFormats are all formats, in the order of the help.
var exportFormats = slices.Concat([]string{formatResults, formatBundle}, recordFormats,
	[]string{formatMarkdown, formatHTML, formatSite, formatCard, formatAggregate})

// recordFormats are the formats that contain the records of a run.
var recordFormats = func() []string {
	var names []string
	for _, f := range export.Formats() {
		names = append(names, f.Name)
	}
	return append(names, formatJUnit)
}()

// formatEndings are the formats that the ending of a file chooses. JSON lines may be a
// benchmark's own format, which depends on the run.
var formatEndings = map[string]string{
	bundleExt: formatBundle, ".csv": formatCSV, ".parquet": formatParquet, ".xml": formatJUnit,
	".md": formatMarkdown, ".html": formatHTML, ".htm": formatHTML,
}

// defaultItems is the default number of items on a page: enough for an impression, and
// still small enough to mail.
const defaultItems = 200

type exportOptions struct {
	format string
	out    string
	want   reports.Options

	redact, anchor bool // of a run file
	sign           string

	items        int // number of items on a page
	spreadsheet  bool
	organization string
	relationship string
}

func (a *app) exportCommand() *cobra.Command {
	o := exportOptions{want: reports.Options{MaxUnjudged: report.DefaultMaxUnjudged}}
	cmd := &cobra.Command{
		Use: "export [RUN...] [flags]", Short: "write a run in another format", Long: exportHelp,
		Example: "  deem export\n  deem export last~1 -o -\n  deem export last --format html -o report.html\n  deem export last -o verdicts.csv\n  deem export last --format card\n  deem export last -o run.deem\n  deem export last last~1 --format site -o site",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.want.Bootstrap, err = bootstrapOf(cmd); err != nil {
				return err
			}
			return a.export(cmd, args, o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "", "write to this `file`, - for standard output (default: the name that the benchmark gives it)")
	f.StringVar(&o.format, "format", "", "the `format`: "+strings.Join(exportFormats, ", ")+" (default: by the ending of the file, else results)")
	f.Var(shareFlag(&o.want.MaxUnjudged), "max-unjudged", "withhold the score if more than this `share` of items is unjudged")
	notFromFile(f, "format") // There it is the format of the data.
	f.BoolVar(&o.redact, "redact", false, "bundle: replace all texts by hashes; chain and signature stay valid")
	f.StringVar(&o.sign, "sign", "", "bundle: sign with the private key in this `file`, made by deem export keygen")
	f.BoolVar(&o.anchor, "anchor", false, "bundle: print a line with the root hash of the run file, for posting in public; without -o no file is written")
	f.IntVar(&o.items, "items", defaultItems, "html: list the first `n` items below the report; site: write pages for the first n items of each run")
	f.BoolVar(&o.spreadsheet, "spreadsheet", false, "csv: put an apostrophe before cells that a spreadsheet would read as a formula")
	f.StringVar(&o.organization, "organization", "", "every-eval-ever: the `name` of the organization that publishes the numbers")
	f.StringVar(&o.relationship, "relationship", "", "every-eval-ever: its relationship to the `system`: "+strings.Join(reports.Relationships(), ", "))
	bootstrapFlags(cmd)
	cmd.AddCommand(a.exportKeygen())
	return cmd
}

// export determines the format, rejects options that it does not use, and writes the run.
func (a *app) export(cmd *cobra.Command, args []string, o exportOptions) error {
	ctx, ref, named := cmd.Context(), append(args, "last")[0], o.format != ""
	switch {
	case named:
	case o.anchor && o.out == "":
		o.format = formatBundle
	default:
		o.format = cmp.Or(formatEndings[strings.ToLower(filepath.Ext(o.out))], formatResults)
	}
	if !slices.Contains(exportFormats, o.format) {
		return usage.Mark(usage.Unknown("format", o.format, exportFormats))
	}
	for _, f := range []struct {
		flag    string
		formats []string
	}{
		{"items", []string{formatHTML, formatSite}},
		{"spreadsheet", []string{formatCSV}},
		{"organization", []string{formatAggregate}},
		{"relationship", []string{formatAggregate}},
		{"max-unjudged", []string{formatHTML, formatMarkdown, formatCard, formatAggregate}},
	} {
		if cmd.Flags().Changed(f.flag) && !slices.Contains(f.formats, o.format) {
			return usage.Errorf("--%s says nothing to the format %s; it goes with %s", f.flag, o.format, strings.Join(f.formats, ", "))
		}
	}
	switch {
	case o.items < 0:
		return usage.Errorf("--items is %d; a page lists 0 items or more", o.items)
	case o.relationship != "" && !slices.Contains(reports.Relationships(), o.relationship):
		return usage.Mark(usage.Unknown("relationship", o.relationship, reports.Relationships()))
	case (o.redact || o.sign != "" || o.anchor) && o.format != formatBundle:
		return usage.Mark(deem.WithHint(fmt.Errorf("--redact, --sign and --anchor are for run files"), "-o run.deem writes one"))
	case o.format == formatSite:
		return a.exportSite(ctx, args, o.out, o.items)
	}
	if err := atMost(1)(cmd, args); err != nil {
		return err
	}
	st, run, err := a.readRun(ctx, ref)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	switch {
	case o.format == formatResults:
		return a.exportResults(ctx, st, run, named, o)
	case o.format == formatBundle:
		return a.exportBundle(ctx, st, run, ref, o)
	case slices.Contains(recordFormats, o.format):
		return a.exportRecords(ctx, st, run, o)
	}
	return a.exportReport(ctx, st, run, o)
}

// exportResults writes the result file of a benchmark. For a run without one it uses the
// format of the file's extension, unless results were requested by name.
func (a *app) exportResults(ctx context.Context, st store.Store, run store.Run, named bool, o exportOptions) error {
	b, set, err := reports.Benchmark(run)
	if err != nil {
		return err
	}
	if b == nil || b.WriteResults == nil || !slices.Contains(b.Judges, run.Judge.Name) {
		hint := "the ending of a file chooses a format, as -o verdicts.csv: .csv, .jsonl, .parquet, .xml (junit), .md, .html, .deem; --format names one: " + strings.Join(exportFormats[1:], ", ")
		switch ext := filepath.Ext(o.out); {
		case named || o.out == "" || o.out == "-":
			err = fmt.Errorf("run %s has no result file: it was not judged by a benchmark's own judge, or the benchmark's scripts write none", run.ID)
		case strings.EqualFold(ext, ".jsonl") || strings.EqualFold(ext, ".ndjson"):
			o.format = formatJSONL
			return a.exportRecords(ctx, st, run, o)
		case strings.EqualFold(ext, ".json"):
			err = fmt.Errorf("the ending %q does not say which format is meant", ext)
			hint = fmt.Sprintf("--format %s; a line for each item is .jsonl", formatAggregate)
		case ext == "":
			err = fmt.Errorf("the name %q has no ending that says which format is meant", o.out)
		default:
			err = fmt.Errorf("no format has the ending %q", ext)
		}
		return usage.Mark(deem.WithHint(err, "%s", hint))
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
	left := 0
	write := func(w io.Writer) (err error) {
		left, err = b.WriteResults(ctx, w, f)
		return err
	}
	out := o.out
	switch out {
	case "-":
		err = write(a.out)
	case "":
		out = b.ResultsName(f)
		fallthrough
	default:
		err = writeNew(out, write)
	}
	if err != nil {
		return err
	}
	if a.json && out != "-" {
		return writeJSON(a.out, map[string]any{"written": out, "left_out": left})
	}
	if left > 0 {
		a.say("%s without a verdict: the benchmark's file has no word for that", words.Count(left, "item"))
	}
	if out != "-" {
		a.say("wrote %s", out)
	}
	return nil
}

// exportSite writes the pages of runs to a folder.
func (a *app) exportSite(ctx context.Context, refs []string, out string, items int) error {
	if out == "" || out == "-" {
		return usage.Mark(deem.WithHint(errors.New("a site is a folder"), "name it with -o, as -o site"))
	}
	if _, err := os.Lstat(out); err == nil {
		return usage.Mark(deem.WithHint(fmt.Errorf("%s is there already", out), "name a folder that is not there, for example -o site-2"))
	}
	if len(refs) == 0 {
		refs = []string{"last"}
	}
	st, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	var runs []store.Run
	for _, ref := range refs {
		run, err := findRun(ctx, st, ref)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(runs, func(r store.Run) bool { return r.ID == run.ID }) {
			runs = append(runs, run)
		}
	}
	slices.SortStableFunc(runs, func(x, y store.Run) int { return y.Created.Compare(x.Created) })
	// The folder gets its name when it is complete, so that no half of a site is published.
	dir, err := os.MkdirTemp(filepath.Dir(out), ".site-")
	if err != nil {
		return err
	}
	n, err := web.WriteSite(ctx, st, runs, dir, version(), items)
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o755), os.Rename(dir, out)) //nolint:gosec // The exported site is meant to be read by everyone.
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	if a.json {
		return writeJSON(a.out, map[string]any{"written": out, "files": n, "runs": len(runs)})
	}
	a.say("wrote %s about %s to %s", words.Count(n, "file"), words.Count(len(runs), "run"), filepath.Join(out, "index.html"))
	return nil
}

// newFile is the mode of files for people: everything that the umask allows.
const newFile = 0o666

// writeWhole writes a file atomically. It replaces an existing file of the same kind,
// because these can be regenerated; checkOutputs has rejected others. The new file has the
// mode of the old one, or what the umask allows.
func writeWhole(name string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(name), ".deem-"+rand.Text()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, newFile)
	if err != nil {
		return usage.Mark(err)
	}
	if old, statErr := os.Stat(name); statErr == nil {
		err = f.Chmod(old.Mode().Perm()) // before anything is written
	}
	w := bufio.NewWriter(f)
	if err == nil {
		err = write(w)
	}
	err = errors.Join(err, w.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// writeNew writes a file that must not exist. It removes a file that could not be written
// completely, because half a file looks like a whole one.
func writeNew(name string, write func(w io.Writer) error) error {
	w, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, newFile)
	if errors.Is(err, fs.ErrExist) {
		return thereAlready(name, "-o", "")
	}
	if err != nil {
		return err
	}
	if err := errors.Join(write(w), w.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
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

// exportRecords writes the records of a run in a format for other programs.
func (a *app) exportRecords(ctx context.Context, st store.Store, run store.Run, o exportOptions) error {
	if o.out == "" && o.format == formatParquet {
		return usage.Mark(deem.WithHint(errors.New("a Parquet file is not for a terminal"), "name a file with -o, or - for standard output"))
	}
	as := reports.ExportOptions{Spreadsheet: o.spreadsheet, Redacted: redacted(st, run)}
	return a.writeOut(o.out, func(w io.Writer) error { return reports.WriteRecords(ctx, w, st, run, o.format, as) })
}

// exportReport writes the report of a run, or its card.
func (a *app) exportReport(ctx context.Context, st store.Store, run store.Run, o exportOptions) error {
	want := o.want
	want.Redacted = redacted(st, run)
	f, err := reports.Of(ctx, st, run, want)
	if err != nil {
		return err
	}
	r := f.Report
	faults, err := a.errataOf(ctx, st, run, r.Head, "")
	if err != nil {
		return err
	}
	reports.AddErrata(&r, faults)
	err = a.writeOut(o.out, func(w io.Writer) error {
		switch o.format {
		case formatMarkdown:
			return doc.Markdown(w, r.Document())
		case formatCard:
			return reports.CardMarkdown(w, r)
		case formatAggregate:
			return reports.Aggregate(w, r, reports.AggregateSource{Organization: o.organization, Relationship: o.relationship, Retrieved: clock()})
		}
		var first []deem.Record
		if !want.Redacted {
			if first, err = reports.First(ctx, st, run, o.items); err != nil {
				return err
			}
		}
		d := r.Document()
		d.Add(doc.Listed(first, r.Items, want.Redacted))
		return doc.HTML(w, d)
	})
	if err == nil && r.Hold != nil {
		return withheld(r, want.MaxUnjudged)
	}
	return err
}

// writeOut writes to a new file or to standard output.
func (a *app) writeOut(out string, write func(w io.Writer) error) error {
	if out == "" || out == "-" {
		return write(a.out)
	}
	if err := writeNew(out, write); err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, map[string]any{"written": out})
	}
	a.say("wrote %s", out)
	return nil
}
