// Package dataset turns files into items.
//
// It has two layers. The lower layer knows formats but not items: [OpenFiles] opens JSONL,
// JSON, CSV, TSV and Parquet files, compressed or not, and yields their rows with file and
// line, one at a time. Readers of benchmarks build on it. The upper layer knows items:
// [Open] detects which column contains the question, the references and the response,
// checks every row before any money is spent, and yields items any number of times.
//
// Memory does not grow with the number of rows: each row is read, used and discarded, and
// large numbers of ids are checked for uniqueness through a temporary file.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/words"
)

// A Source describes where items come from.
type Source struct {
	Names  []string  // files, folders, patterns or addresses; "-" is standard input; see [OpenFiles]
	Stdin  io.Reader // what "-" reads
	Format string    // one of [Formats]; "" detects it from name and first bytes
	Map    Mapping   // see [ParseMapping]; nil detects columns by their names

	// Fields are additional columns that the judge's protocol needs. They become fields of
	// the items that have them.
	Fields []string

	Part Part // what the rows contain

	Limit int // the maximum number of items; 0 means all
}

// A Part says what the rows of a source contain. Questions and responses in two files are
// joined by their ids, so rows of both must have one.
type Part int

// The parts.
const (
	Whole     Part = iota // whole items
	Questions             // items without a response; a column "answer" contains the reference
	Responses             // ids and responses; a column "answer" contains the response
)

// A Dataset is checked files of items.
type Dataset struct {
	files   *Files
	columns *columns
	notes   []string
	limit   int
	size    int
	hash    string
}

// Open reads everything once, before any money is spent: it decides which column contains
// which part, and checks encoding, syntax, ids, responses and weights of every row. If rows
// are invalid, the error is a [*deem.Problems]. Only a few rows are in memory at a time.
func Open(ctx context.Context, src Source) (*Dataset, error) {
	return open(ctx, src, idsInMemory)
}

func open(ctx context.Context, src Source, idLimit int) (*Dataset, error) {
	m := Mapping{} // with the targets spelled as by ParseMapping
	for _, target := range src.Map.targets() {
		if err := m.add(target, src.Map[target]); err != nil {
			return nil, err
		}
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	cols := &columns{mapping: m, part: src.Part, bound: map[string]string{}}
	for target, path := range m {
		cols.bound[target] = path
		cols.missing = append(cols.missing, path)
	}
	for _, name := range src.Fields {
		name, optional := strings.CutSuffix(name, Optional)
		// The parts of an item have their own slots.
		if !slices.Contains(targets, name) && name != oneReference && m[fieldPrefix+name] == "" {
			cols.fields = append(cols.fields, name)
			if name != groundTruth && !optional {
				cols.missing = append(cols.missing, name)
			}
		}
	}
	if len(src.Names) == 0 {
		return nil, errors.New("no file to read items from")
	}
	files, err := OpenFiles(ctx, Input{
		Names: src.Names, Stdin: src.Stdin, Format: src.Format, Want: cols.want, Whole: cols.whole,
	})
	if err != nil {
		return nil, err
	}
	s := &survey{files: files, columns: cols, limit: src.Limit, ids: newRegistry(idLimit)}
	err = s.run(ctx)
	if err = errors.Join(err, closeTemp(s.ids.spill)); err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return &Dataset{
		files: files, columns: cols, notes: s.notes(),
		limit: src.Limit, size: s.items, hash: s.hash.String(),
	}, nil
}

// Items yields the items in the order of the files, reading them again. It may be called
// several times, also concurrently. An error is the last value that it yields: the files
// cannot be read any more, or they have changed since they were checked.
func (d *Dataset) Items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		var (
			ls layouts
			l  *layout
			n  int
		)
		for row, err := range d.files.Rows(context.Background()) {
			if err != nil {
				yield(deem.Item{}, changed(err))
				return
			}
			if l = ls.find(row, l); l == nil {
				l = ls.keep(d.columns.layout(row.names))
			}
			it, err := l.item(row)
			if err != nil {
				yield(deem.Item{}, changed(located(row, err)))
				return
			}
			n++
			if it.ID == "" {
				it.ID = strconv.Itoa(n)
			}
			if !yield(it, nil) || n == d.limit {
				return
			}
		}
		if n != d.size {
			yield(deem.Item{}, fmt.Errorf("read %s: %w: it had %s, now %d", Listed(d.files.names), errChanged, words.Count(d.size, "item"), n))
		}
	}
}

// changed turns the error of a row that was valid when it was checked into an error that
// the file has changed.
func changed(err error) error {
	if isProblem(err) {
		return fmt.Errorf("%w: %w", errChanged, err)
	}
	return err
}

// Len returns the number of items.
func (d *Dataset) Len() int { return d.size }

// Hash returns the SHA-256 over the hashes of all items in order. The same items in another
// format, or compressed, have the same hash.
func (d *Dataset) Hash() string { return d.hash }

// Names returns the names of the files as the source gave them; names of data on the hub
// include the commit.
func (d *Dataset) Names() []string { return slices.Clone(d.files.names) }

// Notes returns information about how the files were read: columns that were chosen by
// their names, items without references, and so on.
func (d *Dataset) Notes() []string { return slices.Clone(d.notes) }

// Close removes temporary files. Items cannot be read afterwards.
func (d *Dataset) Close() error { return d.files.Close() }
