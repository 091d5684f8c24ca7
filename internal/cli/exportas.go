package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/doc"
	"deem/internal/export"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/report"
)

// Export formats for other programs.
const (
	formatUpstream  = "upstream" // another name for results
	formatCSV       = "csv"
	formatJSONL     = "jsonl"
	formatParquet   = "parquet"
	formatJUnit     = reports.JUnit
	formatMarkdown  = "markdown"
	formatCard      = "card"
	formatCardJSON  = "card-json"
	formatAggregate = "every-eval-ever"
)

// exportFormats are all formats, in the order of the help.
var exportFormats = slices.Concat([]string{formatResults, formatUpstream, formatBundle}, recordFormats,
	[]string{formatMarkdown, formatHTML, formatSite, formatCard, formatCardJSON, formatAggregate})

// recordFormats are the formats that contain the records of a run.
var recordFormats = func() []string {
	var names []string
	for _, f := range export.Formats() {
		names = append(names, f.Name)
	}
	return append(names, formatJUnit)
}()

// formatOf guesses the format from the name of the file; the default is results. JSON lines
// may be a benchmark's own format, which depends on the run.
func formatOf(name string) string {
	format, ok := map[string]string{
		bundleExt: formatBundle, ".csv": formatCSV, ".parquet": formatParquet, ".xml": formatJUnit,
		".md": formatMarkdown, ".html": formatHTML, ".htm": formatHTML,
	}[strings.ToLower(filepath.Ext(name))]
	if !ok {
		return formatResults
	}
	return format
}

// isLines reports whether the name is that of a JSON lines file.
func isLines(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".jsonl" || ext == ".ndjson"
}

// defaultItems is the default number of items on a page: enough for an impression, and
// still small enough to mail.
const defaultItems = 200

// exportOptions are the options of the other formats.
type exportOptions struct {
	format string
	want   reports.Options

	items        int // number of items on a page
	spreadsheet  bool
	organization string
	relationship string
}

func (o *exportOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.items, "items", defaultItems, "html: list the first `n` items below the report; site: write pages for the first n items of each run")
	f.BoolVar(&o.spreadsheet, "spreadsheet", false, "csv: put an apostrophe before cells that a spreadsheet would read as a formula")
	f.StringVar(&o.organization, "organization", "", "every-eval-ever: the `name` of the organization that publishes the numbers")
	f.StringVar(&o.relationship, "relationship", "", "every-eval-ever: its relationship to the `system`: "+strings.Join(reports.Relationships(), ", "))
}

// check rejects options that the format does not use.
func (o exportOptions) check(cmd *cobra.Command) error {
	for flag, formats := range map[string][]string{
		"items": {formatHTML, formatSite}, "spreadsheet": {formatCSV, "mlflow", "wandb"}, "organization": {formatAggregate}, "relationship": {formatAggregate},
		"max-unjudged": {formatHTML, formatMarkdown, formatCard, formatCardJSON, formatAggregate},
	} {
		if cmd.Flags().Changed(flag) && !slices.Contains(formats, o.format) {
			return usage.Errorf("--%s says nothing to the format %s; it goes with %s", flag, o.format, strings.Join(formats, ", "))
		}
	}
	if o.items < 0 {
		return usage.Errorf("--items is %d; a page lists 0 items or more", o.items)
	}
	if o.relationship != "" && !slices.Contains(reports.Relationships(), o.relationship) {
		return usage.Mark(usage.Unknown("relationship", o.relationship, reports.Relationships()))
	}
	return nil
}

// exportAs writes a run in a format for other programs.
func (a *app) exportAs(ctx context.Context, st store.Store, ref, out string, o exportOptions) error {
	run, err := findRun(ctx, st, ref)
	if err != nil {
		return err
	}
	if slices.Contains(recordFormats, o.format) {
		if out == "" && o.format == formatParquet {
			return usage.Mark(deem.WithHint(errors.New("a Parquet file is not for a terminal"), "name a file with -o, or - for standard output"))
		}
		as := reports.ExportOptions{Spreadsheet: o.spreadsheet, Redacted: redacted(st, run)}
		return a.writeOut(out, func(w io.Writer) error { return reports.WriteRecords(ctx, w, st, run, o.format, as) })
	}
	return a.exportReport(ctx, st, run, out, o)
}

// exportReport writes the report of a run, or its card.
func (a *app) exportReport(ctx context.Context, st store.Store, run store.Run, out string, o exportOptions) error {
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
	var first []deem.Record
	if o.format == formatHTML && !want.Redacted {
		if first, err = reports.First(ctx, st, run, o.items); err != nil {
			return err
		}
	}
	listed := doc.Listed(first, r.Items, want.Redacted)
	if err := a.writeOut(out, func(w io.Writer) error { return writeReport(w, r, listed, o) }); err != nil {
		return err
	}
	if r.Hold != nil {
		return withheld(r, o.want.MaxUnjudged)
	}
	return nil
}

// writeReport writes a report in the given format.
func writeReport(w io.Writer, r report.Report, listed doc.Section, o exportOptions) error {
	switch o.format {
	case formatMarkdown:
		return doc.Markdown(w, r.Document())
	case formatCard:
		return reports.CardMarkdown(w, r)
	case formatCardJSON:
		return reports.NewCard(r).JSON(w)
	case formatAggregate:
		return reports.Aggregate(w, r, reports.AggregateSource{Organization: o.organization, Relationship: o.relationship, Retrieved: clock()})
	default:
		d := r.Document()
		d.Add(listed)
		return doc.HTML(w, d)
	}
}

// writeOut writes to a new file or to standard output. It removes a file that could not be
// written completely, because half a file looks like a whole one.
func (a *app) writeOut(out string, write func(w io.Writer) error) error {
	if out == "" || out == "-" {
		return write(a.out)
	}
	w, err := createNew(out)
	if err != nil {
		return err
	}
	if err := errors.Join(write(w), w.Close()); err != nil {
		return errors.Join(err, os.Remove(out))
	}
	if a.json {
		writeJSON(a.out, map[string]any{"written": out})
		return nil
	}
	a.say("wrote %s", out)
	return nil
}
