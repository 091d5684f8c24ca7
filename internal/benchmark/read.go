package benchmark

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"deem"
	"deem/internal/dataset"
	"deem/internal/text"
)

// A Row is one row of a file. These aliases of package dataset let a benchmark use one
// package for all of its reading.
type Row = dataset.Row

// A Value is the value of a column in a row.
type Value = dataset.Value

// An Input says which files to read.
type Input = dataset.Input

// At returns a problem at a row.
func At(row *Row, format string, args ...any) error {
	return deem.Problem{File: row.File, Line: row.Line, Message: fmt.Sprintf(format, args...)}
}

// Has reports whether a row has a column, even if its value is null.
func Has(row *Row, column string) bool { return slices.Contains(row.Names(), column) }

// IsText reports whether a value is a string, and not a number or a list.
func IsText(v Value) bool { return bytes.HasPrefix(v.JSON(), []byte{'"'}) }

// Text returns the text of a column, or "" if the row does not have it.
func Text(row *Row, column string) string {
	if v := row.Get(column); !v.Missing() {
		return v.Str()
	}
	return ""
}

// SetField sets a field of an item.
func SetField(it *deem.Item, name, value string) {
	if it.Fields == nil {
		it.Fields = map[string]string{}
	}
	it.Fields[name] = value
}

// SetSystemFields copies the usage of the system under test, such as time and cost, to the
// fields of an item; see [dataset.SetSystemFields].
func SetSystemFields(it *deem.Item, get func(path string) Value) { dataset.SetSystemFields(it, get) }

// CheckNames returns an error if there is no file to read, or if standard input would be
// read twice. It takes all names together, because a reader that opens data and responses
// separately would not notice.
func CheckNames(names []string) error {
	if len(names) == 0 {
		return errors.New("no file to read items from")
	}
	if i := slices.Index(names, "-"); i >= 0 && slices.Contains(names[i+1:], "-") {
		return errors.New("standard input can be read only once, but \"-\" is given more often")
	}
	return nil
}

// Visit reads the rows of files and calls visit for each. An error about one row, of the
// reader or of visit, is added to problems, and reading continues; any other error ends it.
// Visit returns the notes about the files.
func Visit(ctx context.Context, in Input, problems *Problems, visit func(*Row) error) (notes []string, err error) {
	files, err := dataset.OpenFiles(ctx, in)
	if err != nil {
		return nil, err
	}
	for row, err := range files.Rows(ctx) {
		if err == nil {
			err = visit(row)
		}
		if err != nil && !problems.Take(err) {
			return nil, errors.Join(err, files.Close())
		}
	}
	return files.Notes(), files.Close()
}

// Problems collects errors about rows, and the first hint. The zero value is empty.
type Problems struct {
	all    deem.Problems
	advice string
}

// Take adds an error that concerns one row. It returns false and adds nothing if the error
// concerns more than that.
func (ps *Problems) Take(err error) bool {
	p, ok := errors.AsType[deem.Problem](err)
	if ok {
		ps.Add(p, deem.HintOf(err))
	}
	return ok
}

// Add adds a problem, and keeps the first hint.
func (ps *Problems) Add(p deem.Problem, advice string) {
	ps.all.Add(p)
	if ps.advice == "" {
		ps.advice = advice
	}
}

// Err returns the problems found so far as a [*deem.Problems], with the first hint or else
// the given one. It returns nil if there are none.
func (ps *Problems) Err(otherwise string) error {
	advice := ps.advice
	if advice == "" {
		advice = otherwise
	}
	if err := ps.all.Err(); err == nil || advice == "" {
		return err
	}
	return deem.WithHint(&ps.all, "%s", advice)
}

// Content returns the text of a value. If it is a chat message encoded as a Python or JSON
// string, it returns the content of the message.
func Content(v Value) string {
	if value, err := text.Literal(v.Str()); err == nil {
		if message, ok := value.(map[string]any); ok && message["content"] != nil {
			return text.Str(message["content"])
		}
	}
	return v.Str()
}
