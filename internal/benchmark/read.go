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

// A Row is one row of a file. Here and below the words of package dataset stand under
// their own names, so that a benchmark has one place to look for all of its reading.
type Row = dataset.Row

// A Value is what stands in a column of a row.
type Value = dataset.Value

// An Input says which files to read.
type Input = dataset.Input

// Files can have their rows read more than once.
type Files = dataset.Files

// OpenFiles opens the inputs, as [dataset.OpenFiles] does.
func OpenFiles(ctx context.Context, in Input) (*Files, error) { return dataset.OpenFiles(ctx, in) }

// At returns a problem at a row.
func At(row *Row, format string, args ...any) error {
	return deem.Problem{File: row.File, Line: row.Line, Message: fmt.Sprintf(format, args...)}
}

// Has reports whether a row has a column, also when there is a null in it.
func Has(row *Row, column string) bool { return slices.Contains(row.Names(), column) }

// IsText reports whether a value is a text, and not a number or a list.
func IsText(v Value) bool { return bytes.HasPrefix(v.JSON(), []byte{'"'}) }

// SetField enters a field into an item.
func SetField(it *deem.Item, name, value string) {
	if it.Fields == nil {
		it.Fields = map[string]string{}
	}
	it.Fields[name] = value
}

// SetSystemFields enters into an item what its response took the system under test, as
// [dataset.SetSystemFields] does.
func SetSystemFields(it *deem.Item, get func(path string) Value) { dataset.SetSystemFields(it, get) }

// IsSystemColumn reports whether [SetSystemFields] reads a column.
func IsSystemColumn(column string) bool { return dataset.IsSystemColumn(column) }

// CheckNames reports that there is no file to read, or that standard input is to be
// read twice, over all names at once: a reader that opens data and responses apart
// would not see it.
func CheckNames(names []string) error {
	if len(names) == 0 {
		return errors.New("no file to read items from")
	}
	if i := slices.Index(names, "-"); i >= 0 && slices.Contains(names[i+1:], "-") {
		return errors.New("standard input can be read only once, but \"-\" is given more often")
	}
	return nil
}

// Visit reads the rows of files and gives each to visit. An error about one row, of
// the reader or of visit, goes to problems, and reading goes on; any other ends it.
// Visit returns the notes about the files.
func Visit(ctx context.Context, in Input, problems *Problems, visit func(*Row) error) (notes []string, err error) {
	files, err := OpenFiles(ctx, in)
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

// Problems collect what is wrong with rows, and the first advice about it. The zero
// value has none.
type Problems struct {
	all    deem.Problems
	advice string
}

// Take adds an error that is about one row. It returns false, and adds nothing, when
// the error is about more than that.
func (ps *Problems) Take(err error) bool {
	p, ok := errors.AsType[deem.Problem](err)
	if ok {
		ps.Add(p, deem.HintOf(err))
	}
	return ok
}

// Add adds a problem, and keeps the first advice.
func (ps *Problems) Add(p deem.Problem, advice string) {
	ps.all.Add(p)
	if ps.advice == "" {
		ps.advice = advice
	}
}

// Err returns the problems found so far as a [*deem.Problems], with the first advice,
// or otherwise with the given one, as a hint. It returns nil when there are none.
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

// Content returns the text of a value. Of a chat message that Python or JSON wrote into one
// text it returns what is said.
func Content(v Value) string {
	if value, err := text.Literal(v.Str()); err == nil {
		if message, ok := value.(map[string]any); ok && message["content"] != nil {
			return text.Str(message["content"])
		}
	}
	return v.Str()
}
