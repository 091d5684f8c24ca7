package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"deem"
	"deem/internal/rows"
	"deem/internal/text"
)

// An Input selects files to read rows from.
type Input struct {
	Names  []string  // files, folders, patterns or addresses; "-" is standard input; see [OpenFiles]
	Stdin  io.Reader // what "-" reads
	Format string    // one of [Formats]; "" detects it from name and first bytes

	// Want reports whether the values of a column are needed; nil means all. Other columns
	// of Parquet files are not read.
	Want func(column string) bool

	// Whole reports whether the only object in a JSON file, with the given keys, is a row.
	// Otherwise the rows are the elements of the list of objects in it, if it has exactly
	// one.
	Whole func(keys []string) bool

	// Unquoted means that quotes in CSV and TSV are ordinary characters.
	Unquoted bool
}

// Files are inputs whose rows can be read more than once.
type Files struct {
	files []*file
	names []string // as given, except that data on the hub has its commit
	want  func(column string) bool
	whole func(keys []string) bool

	unquoted bool

	mu    sync.Mutex // several goroutines may read rows independently
	notes []string
}

// OpenFiles opens the inputs in order and detects their formats. A folder means the files
// below it with a known extension, in order; a pattern such as data/*.jsonl means the files
// that match. Addresses are fetched. Standard input, and any other input
// that cannot be read twice, is copied to a temporary file that Close removes.
func OpenFiles(ctx context.Context, in Input) (*Files, error) {
	if in.Format != "" && !slices.Contains(Formats(), in.Format) {
		hint := "it may be " + strings.Join(Formats(), ", ")
		if near := text.Closest(in.Format, Formats()); near != "" {
			hint = fmt.Sprintf("did you mean %s? %s", near, hint)
		}
		return nil, deem.WithHint(fmt.Errorf("unknown format %q", in.Format), "%s", hint)
	}
	if i := slices.Index(in.Names, "-"); i >= 0 && slices.Contains(in.Names[i+1:], "-") {
		return nil, errors.New("standard input can be read only once, but \"-\" is given more often")
	}
	var found []fetched
	fs := &Files{want: in.Want, whole: in.Whole, unquoted: in.Unquoted}
	for _, name := range in.Names {
		var some []fetched
		var err error
		if IsRemote(name) {
			some, err = fetchFiles(ctx, name, fetchOptions{})
			for _, f := range some {
				fs.names = append(fs.names, f.Name)
			}
		} else {
			some, err = expandLocal(name)
			fs.names = append(fs.names, name)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	for _, e := range found {
		// An input that cannot be read twice is copied to a temporary file.
		f, err := locate(ctx, e, in.Stdin)
		if err != nil {
			return nil, errors.Join(err, fs.Close())
		}
		if err := f.recognise(ctx, in); err != nil {
			return nil, errors.Join(fmt.Errorf("read %s: %w", f.name, err), closeTemp(f.spool), fs.Close())
		}
		fs.files = append(fs.files, f)
		fs.note(f.note)
	}
	return fs, nil
}

// errClosed is returned if rows are read after Close.
var errClosed = errors.New("the files are closed")

// Close removes temporary files.
func (fs *Files) Close() error {
	var err error
	for _, f := range fs.files {
		err = errors.Join(err, closeTemp(f.spool))
	}
	fs.files = nil
	return err
}

// Notes returns information about the files. It is complete once all rows have been read.
func (fs *Files) Notes() []string {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.Clone(fs.notes)
}

// Rows yields the rows of all files in order. A row is valid until the next one. An error
// that contains a [deem.Problem] concerns one row, and reading continues; any other error
// is the last value.
func (fs *Files) Rows(ctx context.Context) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		if fs.files == nil {
			yield(nil, errClosed)
			return
		}
		for i, f := range fs.files {
			stopped := false
			err := fs.rows(ctx, f, func(row *Row, err error) bool {
				if ctx.Err() != nil {
					return false
				}
				if row != nil {
					row.file = i
				}
				stopped = !yield(row, err)
				return !stopped
			})
			if stopped {
				return
			}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// Values yields the rows of all files as values that stay valid. Errors are as in
// [Files.Rows].
func (fs *Files) Values(ctx context.Context) iter.Seq2[rows.Value, error] {
	return func(yield func(rows.Value, error) bool) {
		for row, err := range fs.Rows(ctx) {
			var v rows.Value
			if err == nil {
				v = rows.Value{File: row.File, Line: row.Line, Table: row.text == nil}
				if v.Node, err = row.Node(); err != nil {
					err = deem.Problem{File: row.File, Line: row.Line, Message: err.Error()}
				}
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

// rows yields the rows of one file. It closes the file, and checks it for changes, before
// it returns.
func (fs *Files) rows(ctx context.Context, f *file, yield yield) error {
	b, err := f.open(ctx)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.name, err)
	}
	err = fs.parse(b, f, yield)
	if closeErr := b.Close(); closeErr != nil {
		// A file that changed while it was read explains every other error.
		return fmt.Errorf("read %s: %w", f.name, closeErr)
	}
	return err
}

func (fs *Files) parse(b *body, f *file, yield yield) error {
	switch f.format {
	case formatJSONL:
		return jsonlRows(newFeed(b), f.name, yield)
	case formatJSON:
		if f.shape.kind == member {
			fs.note(fmt.Sprintf("reading the rows of %s from its list %q", f.name, f.shape.member))
		}
		if f.shape.kind == nested {
			notes, err := nestedRows(b, f.name, fs.whole, yield)
			for _, note := range notes {
				fs.note(note)
			}
			return err
		}
		return jsonRows(newFeed(b), f.name, f.shape, yield)
	case formatParquet:
		// Only wanted columns are read: a file may contain conversations of megabytes next to
		// each short answer.
		p, err := openParquet(b, f.size, fs.want)
		if err != nil {
			return deem.WithHint(fmt.Errorf("read %s: %w", f.name, err), "the file may be cut off or broken; see whether another program reads it")
		}
		row := Row{File: f.name, names: p.names, values: make([]Value, len(p.names))}
		for {
			err := p.next(&row)
			if err == io.EOF {
				return nil
			}
			if err != nil && !isProblem(err) {
				return fmt.Errorf("read %s:%d: %w", f.name, row.Line, err)
			}
			if err != nil && !yield(nil, err) || err == nil && !yield(&row, nil) {
				return nil
			}
		}
	}
	comma := byte(',')
	if f.format == formatTSV {
		comma = '\t'
	}
	note, err := tableRows(newFeed(b), f.name, comma, fs.unquoted, yield)
	fs.note(note)
	return err
}

// note adds a note, once.
func (fs *Files) note(note string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if note != "" && !slices.Contains(fs.notes, note) {
		fs.notes = append(fs.notes, note)
	}
}

// isProblem reports whether err concerns one row only.
func isProblem(err error) bool {
	_, ok := errors.AsType[deem.Problem](err)
	return ok
}
