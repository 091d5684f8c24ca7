package longmemeval

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"deem/internal/benchmark"
	"deem/internal/text"
)

// modelZoo maps model names to evaluate_qa.py's short names.
var modelZoo = map[string]string{
	"gpt-4o-2024-08-06":                      "gpt-4o",
	"gpt-4o-mini-2024-07-18":                 "gpt-4o-mini",
	"meta-llama/Meta-Llama-3.1-70B-Instruct": "llama-3.1-70b-instruct",
}

// ownName returns OpenAI's spelling of a model name if it is an OpenAI model:
// print_qa_metrics.py accepts only gpt-4o-2024-08-06.
func ownName(model string) string { return strings.TrimPrefix(model, "openai:") }

// ResultsName returns the name that evaluate_qa.py gives to its file: that of the
// responses, ".eval-results-", and upstream's short name of the model. Other models keep
// their name, with a hyphen for characters that do not belong in a file name. The model may
// be spelled as in deem, "openai:gpt-4o-2024-08-06".
func ResultsName(hypothesisFile, model string) string {
	name := ownName(model)
	if short, ok := modelZoo[name]; ok {
		return hypothesisFile + ".eval-results-" + short
	}
	safe := strings.Map(func(r rune) rune {
		if text.IsWord(r) || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, name)
	return hypothesisFile + ".eval-results-" + safe
}

// WriteResults writes the file of evaluate_qa.py, which print_qa_metrics.py reads: each row
// of the responses unchanged, with "autoeval_label" added, in the format of Python's
// json.dumps. verdict returns the verdict on a question; rows without one are left out, as
// upstream leaves out unknown questions, and counted.
//
// The files of o are read again, so that columns that no judge needs are kept without
// having been in memory during the run.
func WriteResults(ctx context.Context, w io.Writer, o Options, model string, verdict func(id string) (label, ok bool)) (left int, err error) {
	names := o.Responses
	if len(names) == 0 {
		names = o.Data
	}
	files, err := benchmark.OpenFiles(ctx, benchmark.Input{Names: names, Stdin: o.Stdin, Whole: join(o).IsRow})
	if err != nil {
		return 0, err
	}
	out := bufio.NewWriter(w)
	r := results{out: out, model: ownName(model), verdict: verdict}
	err = r.write(files.Rows(ctx))
	if err == nil && r.rows == 0 {
		err = fmt.Errorf("write results: %s has no rows, or cannot be read twice", strings.Join(names, ", "))
	}
	return r.left, errors.Join(err, out.Flush(), files.Close())
}

// results writes rows with their labels.
type results struct {
	out        io.Writer
	model      string
	verdict    func(id string) (label, ok bool)
	rows, left int
}

// write writes all rows.
func (r *results) write(rows func(func(*benchmark.Row, error) bool)) error {
	for row, err := range rows {
		if err != nil {
			return err
		}
		r.rows++
		if err := r.row(row); err != nil {
			return fmt.Errorf("write results: %s:%d: %w", row.File, row.Line, err)
		}
	}
	return nil
}

// row writes one row, unless there is no verdict on it.
func (r *results) row(row *benchmark.Row) error {
	id, err := join(Options{}).RowID(row)
	if err != nil {
		return err
	}
	label, ok := r.verdict(id)
	if !ok {
		r.left++
		return nil
	}
	object, err := r.labelled(row, label)
	if err != nil {
		return err
	}
	line, err := text.Dumps(object)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(r.out, line)
	return err
}

// labelled returns the row with its label as JSON. A label from an earlier run is replaced
// in its place, because the last of equal keys counts.
func (r *results) labelled(row *benchmark.Row, label bool) ([]byte, error) {
	object := []byte("{")
	for _, name := range row.Names() {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		object = append(append(object, key...), ':')
		object = append(append(object, row.Get(name).JSON()...), ',')
	}
	value, err := json.Marshal(struct {
		Model string `json:"model"`
		Label bool   `json:"label"`
	}{r.model, label})
	if err != nil {
		return nil, err
	}
	object = append(append(object, `"autoeval_label":`...), value...)
	return append(object, '}'), nil
}
