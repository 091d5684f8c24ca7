package reports

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/dataset"
)

// ErrataOptions configures how a list is read. The zero value is usable.
type ErrataOptions struct {
	// ID returns a canonical form of an id, for benchmarks whose files write the ids of
	// questions in several ways; nil means that ids are compared as text.
	ID func(id string) string
}

// The columns of a list: our own names first, then those of others. The locomo-audit
// project uses question_id, golden_answer, correct_answer and error_type.
var (
	idColumns        = []string{"id", "item_id", "question_id", "qid"}
	questionColumns  = []string{"question", "query", "input"}
	categoryColumns  = []string{"category", "question_type", "task"}
	kindColumns      = []string{"kind", "error_type", "type", "error"}
	publishedColumns = []string{"published", "golden_answer", "gold_answer", "original_answer", "wrong_reference"}
	correctedColumns = []string{"corrected", "corrected_references", "corrected_reference", "corrected_answer", "correct_answer", "references", "reference"}
	corruptsColumns  = []string{"corrupts", "corrupts_score", "score_corrupting"}
)

// OpenErrata reads a list of errata from JSON, JSONL, CSV or Parquet. A row identifies an item by
// "id", by "question", or by both. It may give the correct answer ("corrected", a text or a
// list), the wrong one ("published"), the kind of error ("kind"), and whether it can change
// a score ("corrupts", yes or no). By default all errors can, except those whose kind
// contains "citation". If rows are invalid, the error is a [*deem.Problems].
func OpenErrata(ctx context.Context, path string, o ErrataOptions) (*ErrataList, error) {
	files, err := dataset.OpenFiles(ctx, dataset.Input{Names: []string{path}, Whole: isErratum})
	if err != nil {
		return nil, err
	}
	e := &ErrataList{name: filepath.Base(path), id: o.ID, byID: map[string]int{}, byText: map[string][]int{}}
	if e.id == nil {
		e.id = func(id string) string { return id }
	}
	err = errors.Join(e.rows(ctx, path, files), files.Close())
	if err != nil {
		return nil, err
	}
	e.hash, err = deem.Hash(e.list)
	return e, err
}

// isErratum reports whether the only object of a file is itself an erratum.
func isErratum(keys []string) bool {
	return slices.ContainsFunc(keys, func(k string) bool {
		return slices.Contains(idColumns, k) || slices.Contains(questionColumns, k)
	})
}

// rows reads all rows of the file.
func (e *ErrataList) rows(ctx context.Context, path string, files *dataset.Files) error {
	var problems deem.Problems
	for row, err := range files.Rows(ctx) {
		if err == nil {
			err = e.row(row)
		}
		if p, ok := errors.AsType[deem.Problem](err); ok {
			problems.Add(p)
		} else if err != nil {
			return err
		}
	}
	if problems.Total == 0 && len(e.list) == 0 {
		problems.Add(deem.Problem{File: path, Message: "there is no erratum in it"})
	}
	return problems.Err()
}

// errataRow adds one row of the file.
func (e *ErrataList) row(r *dataset.Row) error {
	x := Erratum{
		ID: errataText(r, idColumns), Question: errataText(r, questionColumns), Category: errataText(r, categoryColumns), Kind: errataText(r, kindColumns),
		Published: errataTexts(r, publishedColumns), References: errataTexts(r, correctedColumns),
	}
	if x.ID == "" && x.Question == "" {
		return errataFault(r, `the erratum names no item: it has neither "id" nor "question"`)
	}
	corrupts, err := corrupts(r, x.Kind)
	if err != nil {
		return err
	}
	x.Corrupts = corrupts
	if x.ID != "" {
		id := e.id(x.ID)
		if _, ok := e.byID[id]; ok {
			return errataFault(r, "there was an erratum of %s before", x.ID)
		}
		e.byID[id] = len(e.list)
	}
	if x.Question != "" {
		e.byText[plain(x.Question)] = append(e.byText[plain(x.Question)], len(e.list))
	}
	e.list = append(e.list, x)
	return nil
}

// corrupts reports whether an error can change a score.
func corrupts(r *dataset.Row, kind string) (bool, error) {
	switch said := errataText(r, corruptsColumns); strings.ToLower(said) {
	case "":
		return !strings.Contains(strings.ToLower(kind), "citation"), nil
	case "yes", "y", "true", "1":
		return true, nil
	case "no", "n", "false", "0":
		return false, nil
	default:
		return false, errataFault(r, "whether the fault can move a score is %q, and not yes or no", said)
	}
}

// findErrata returns the value in the first column that has one.
func findErrata(r *dataset.Row, columns []string) (dataset.Value, bool) {
	for _, name := range columns {
		if v := r.Get(name); !v.Blank() {
			return v, true
		}
	}
	return dataset.Value{}, false
}

// errataText returns a text without surrounding white space, "" if there is none.
func errataText(r *dataset.Row, columns []string) string {
	v, ok := findErrata(r, columns)
	if !ok {
		return ""
	}
	return strings.TrimSpace(v.Str())
}

// errataTexts returns the texts of a list, or a single one.
func errataTexts(r *dataset.Row, columns []string) []string {
	v, ok := findErrata(r, columns)
	if !ok {
		return nil
	}
	values, isList := v.List()
	if !isList {
		values = []dataset.Value{v}
	}
	var list []string
	for _, v := range values {
		if text := strings.TrimSpace(v.Str()); !v.Blank() && text != "" {
			list = append(list, text)
		}
	}
	return list
}

// errataFault returns an error about a row.
func errataFault(r *dataset.Row, format string, args ...any) error {
	return deem.Problem{File: r.File, Line: r.Line, Message: fmt.Sprintf(format, args...)}
}
