package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"deem"
)

// A Format is a format of records that [Format.New] writes.
type Format struct {
	Name, Media, Ending string

	// New returns a writer of the format. The options are for CSV.
	New func(w io.Writer, run Run, o CSVOptions) Writer
}

// Formats returns the formats in the order of the help text. JUnit is not among them,
// because [JUnit] reads the records twice.
func Formats() []Format {
	const jsonType = "application/json"
	list := func(open, end string, entry func(Run, finding) any) func(io.Writer, Run, CSVOptions) Writer {
		return func(w io.Writer, run Run, _ CSVOptions) Writer {
			return &batches{w: w, run: run, open: open, close: end, entry: entry}
		}
	}
	return []Format{
		{"csv", "text/csv; charset=utf-8", "csv", func(w io.Writer, run Run, o CSVOptions) Writer { return NewCSV(w, run, o) }},
		{"jsonl", "application/x-ndjson", "jsonl", func(w io.Writer, run Run, _ CSVOptions) Writer { return NewJSONL(w, run) }},
		{"parquet", "application/vnd.apache.parquet", "parquet", func(w io.Writer, run Run, _ CSVOptions) Writer { return NewParquet(w, run) }},
		{"langfuse", jsonType, "json", list(`{"batch":[`, `]}`, langfuse)},
		{"phoenix", jsonType, "json", list(`{"data":[`, `]}`, phoenix)},
	}
}

// A finding is one result of an item, in the form that platforms store: the verdict, or one
// of its aspects, or a failure, which has no score.
type finding struct {
	*Row
	name   string // the judge, or the judge and the aspect
	label  string
	score  *float64
	reason string
	at     time.Time
}

func (run Run) findings(rec deem.Record) []finding {
	row := run.Of(rec)
	f := finding{Row: &row, name: rec.Judge, label: word(row.Label), score: row.Score, reason: row.Reason, at: run.Created}
	for _, c := range rec.Calls {
		if !c.Started.IsZero() {
			f.at = c.Started
		}
	}
	if row.Failure != nil {
		f.reason = "unjudged: " + deem.Failf(deem.Kind(*row.Failure), "%s", row.FailureDetail).Error()
	}
	list := []finding{f}
	for _, aspect := range slices.Sorted(maps.Keys(row.Aspects)) {
		score := row.Aspects[aspect]
		list = append(list, finding{Row: &row, name: f.name + "." + aspect, score: &score, at: f.at})
	}
	return list
}

// id returns a unique id of a result.
func (f finding) id() string { return fmt.Sprintf("%s-%d-%d-%s", f.Run, f.Position, f.Trial, f.name) }

// trace and span return the source of the item, or else its id.
func (f finding) trace() string { return cmp.Or(f.Fields[deem.FieldTrace], f.ID) }
func (f finding) span() string  { return cmp.Or(f.Fields[deem.FieldSpan], f.ID) }

// metadata returns the values that platforms have no field for.
func (f finding) metadata() members {
	m := members{"run": f.Run, "judge_hash": f.JudgeHash, "item": f.ID, "trial": f.Trial}
	for name, value := range map[string]string{"label": f.label, "category": f.Category, "failure": word(f.Failure)} {
		if value != "" {
			m[name] = value
		}
	}
	return m
}

// members are the members of a JSON object.
type members = map[string]any

// langfuse returns an event of Langfuse's POST /api/public/ingestion: a score for the
// trace. A numeric score must be a number, so a failure is a categorical score with a
// separate name.
func langfuse(_ Run, f finding) any {
	body := members{
		"id": f.id(), "traceId": f.trace(), "name": f.name, "dataType": "NUMERIC", "value": f.score,
		"comment": f.reason, "metadata": f.metadata(),
	}
	if f.score == nil {
		body["name"], body["dataType"], body["value"] = f.name+".failure", "CATEGORICAL", f.Failure
	}
	if span := f.Fields[deem.FieldSpan]; span != "" {
		body["observationId"] = span
	}
	return members{"id": f.id(), "type": "score-create", "timestamp": f.at.UTC().Format(time.RFC3339Nano), "body": body}
}

// phoenix returns an annotation of Phoenix's POST /v1/span_annotations. A failure has an
// explanation, and neither label nor score.
func phoenix(run Run, f finding) any {
	kind := "LLM"
	if run.Model == "" {
		kind = "CODE"
	}
	result := members{"score": f.score, "explanation": f.reason}
	if f.label != "" {
		result["label"] = f.label
	}
	return members{
		"span_id": f.span(), "name": f.name, "annotator_kind": kind, "result": result, "metadata": f.metadata(),
		"identifier": fmt.Sprintf("%s-%d", f.Run, f.Trial), // exporting twice gives one annotation
	}
}

// batchBytes is the approximate length of a line of JSON. Langfuse accepts 3.5 MB per
// request, and line readers rarely support longer lines.
const batchBytes = 1 << 20

// A batches writer writes JSON documents with a list of results, one document per line,
// each for one request to the platform.
type batches struct {
	w           io.Writer
	run         Run
	open, close string // around the results
	entry       func(run Run, f finding) any

	written int // bytes of the open document, 0 before the first
}

var _ Writer = (*batches)(nil)

// Add writes the results of a record.
func (b *batches) Add(rec deem.Record) error {
	for _, f := range b.run.findings(rec) {
		text, err := json.Marshal(b.entry(b.run, f))
		if err != nil {
			return fmt.Errorf("item %s: %w", f.ID, err)
		}
		between := ","
		switch {
		case b.written == 0:
			between = b.open
		case b.written+len(text) > batchBytes:
			between, b.written = b.close+"\n"+b.open, 0
		}
		n, err := io.WriteString(b.w, between+string(text))
		if b.written += n; err != nil {
			return err
		}
	}
	return nil
}

// Close ends the last document. A run without records has an empty one.
func (b *batches) Close() error {
	end := b.close + "\n"
	if b.written == 0 {
		end = b.open + end
	}
	_, err := io.WriteString(b.w, end)
	return err
}
