package reports

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"deem"
	"deem/bundle"
	"deem/internal/export"
	"deem/internal/model"
	"deem/internal/store"
	"deem/report"
)

// JUnit is a format of [WriteRecords] that is not in [export.Formats].
const JUnit = "junit"

// An ExportOptions configures how records are written.
type ExportOptions struct {
	Spreadsheet bool // in CSV, text that a spreadsheet would treat as a formula gets a leading apostrophe
	Redacted    bool // the texts of the items were removed
}

// ExportRun describes the run of exported records.
func ExportRun(run store.Run, redacted bool) export.Run {
	return export.Run{
		ID: run.ID, Judge: run.Judge.Name, JudgeHash: run.Judge.Hash, Model: run.Model,
		Dataset: strings.Join(run.Dataset.Names, ", "), DatasetHash: run.Dataset.Hash, Trials: run.Trials,
		Created: run.Created, Software: strings.TrimSpace("deem " + SettingsOf(run.Spec).Deem), Redacted: redacted,
	}
}

// WriteRecords streams the records of a run in a format that other programs read.
func WriteRecords(ctx context.Context, w io.Writer, st store.Store, run store.Run, format string, o ExportOptions) error {
	as := ExportRun(run, o.Redacted)
	records := func() iter.Seq2[deem.Record, error] {
		return store.Ahead(st.Records(ctx, run.ID, store.Query{WithCalls: true}))
	}
	if format == JUnit {
		return export.JUnit(w, as, records)
	}
	formats := export.Formats()
	at := slices.IndexFunc(formats, func(f export.Format) bool { return f.Name == format })
	if at < 0 {
		return fmt.Errorf("records are not written as %q", format)
	}
	to := formats[at].New(w, as, export.CSVOptions{Spreadsheet: o.Spreadsheet})
	for rec, err := range records() {
		if err != nil {
			return err
		}
		if err := to.Add(rec); err != nil {
			return err
		}
	}
	return to.Close()
}

// First returns the first n records of the first trial of a run, for a page that lists some
// of them.
func First(ctx context.Context, st store.Store, run store.Run, n int) ([]deem.Record, error) {
	if n == 0 {
		return nil, nil
	}
	var recs []deem.Record
	for rec, err := range st.Records(ctx, run.ID, store.Query{Trial: new(int), Limit: n}) {
		if err != nil {
			return nil, err
		}
		recs = append(recs, rec)
	}
	return recs, nil
}

// WriteBundle writes a run as a run file. The source says which program writes it, and how; the
// rest of it is taken from the run.
func WriteBundle(ctx context.Context, w io.Writer, st store.Store, run store.Run, src bundle.Source) (bundle.Manifest, error) {
	r, err := NewReporter(ctx, run, Options{MaxUnjudged: report.DefaultMaxUnjudged})
	if err != nil {
		return bundle.Manifest{}, err
	}
	src.Records = store.Ahead(st.Records(ctx, run.ID, store.Query{WithCalls: true}))
	src.Numbers = r
	src.Run, src.Judge = DescribeRun(run)
	src.Run.ID, _, _ = strings.Cut(run.ID, "@") // without the suffix that a command may add to distinguish two runs
	// The prices are those of this version of deem, because a run does not store its own.
	table := model.BuiltinPrices()
	if price, ok := table.Of(run.Model, ""); ok && run.Model != "" {
		src.Prices, err = json.Marshal(model.Prices{Version: table.Version, Date: table.Date, Entries: []model.Price{price}})
		if err != nil {
			return bundle.Manifest{}, err
		}
	}
	return bundle.Write(w, src)
}

var _ bundle.Counter = (*Reporter)(nil)

// Numbers returns the report as JSON, for the manifest of a run file. Without texts, replies cannot be parsed again, and
// benchmarks cannot compute their own numbers.
func (r *Reporter) Numbers() (json.RawMessage, []string, error) {
	rep := r.report()
	if r.Published != nil {
		rep.Published = r.Published.JSON()
	}
	var text bytes.Buffer
	if err := rep.JSON(&text); err != nil {
		return nil, nil, err
	}
	var left []string
	if r.redacted {
		left = []string{"notes", "published", "readings", "retrieval", "system_under_test"}
	}
	return text.Bytes(), left, nil
}
