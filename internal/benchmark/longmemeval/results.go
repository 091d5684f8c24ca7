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
	"deem/internal/dataset"
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
	files, err := dataset.OpenFiles(ctx, benchmark.Input{Names: names, Stdin: o.Stdin, Whole: join(o).IsRow})
	if err != nil {
		return 0, err
	}
	out := bufio.NewWriter(w)
	rows := 0
	for row, failed := range files.Rows(ctx) {
		if err = failed; err != nil {
			break
		}
		rows++
		written, failed := writeRow(out, row, ownName(model), verdict)
		if failed != nil {
			err = fmt.Errorf("write results: %s:%d: %w", row.File, row.Line, failed)
			break
		}
		if !written {
			left++
		}
	}
	if err == nil && rows == 0 {
		err = fmt.Errorf("write results: %s has no rows, or cannot be read twice", strings.Join(names, ", "))
	}
	return left, errors.Join(err, out.Flush(), files.Close())
}

// writeRow writes a row with its label as JSON, or reports false if there is no verdict on
// it. A label from an earlier run is replaced in its place, because the last of equal keys
// counts.
func writeRow(w io.Writer, row *benchmark.Row, model string, verdict func(id string) (label, ok bool)) (bool, error) {
	id, err := join(Options{}).RowID(row)
	if err != nil {
		return false, err
	}
	label, ok := verdict(id)
	if !ok {
		return false, nil
	}
	object := []byte("{")
	for _, name := range row.Names() {
		key, err := json.Marshal(name)
		if err != nil {
			return false, err
		}
		object = append(append(object, key...), ':')
		object = append(append(object, row.Get(name).JSON()...), ',')
	}
	value, err := json.Marshal(struct {
		Model string `json:"model"`
		Label bool   `json:"label"`
	}{model, label})
	if err != nil {
		return false, err
	}
	object = append(append(object, `"autoeval_label":`...), value...)
	line, err := text.Dumps(append(object, '}'))
	if err != nil {
		return false, err
	}
	_, err = fmt.Fprintln(w, line)
	return true, err
}
