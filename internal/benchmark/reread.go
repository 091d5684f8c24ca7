package benchmark

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"deem"
	"deem/internal/dataset"
)

// A Reader reads files that a [Reread] set is made of.
type Reader struct {
	files *Files
	names []string
	notes []string
	limit int
}

// NewReader opens the inputs. The names are those that the options gave, which may be
// folders; of the items only the first so many count, or all with a limit of 0.
func NewReader(ctx context.Context, in Input, names []string, limit int) (*Reader, error) {
	files, err := dataset.OpenFiles(ctx, in)
	if err != nil {
		return nil, err
	}
	return &Reader{files: files, names: slices.Clone(names), limit: limit}, nil
}

// Rows yields the rows of the files.
func (r *Reader) Rows(ctx context.Context) iter.Seq2[*Row, error] { return r.files.Rows(ctx) }

// FileNotes returns what is to be said about the files. It is complete once all rows
// have been read.
func (r *Reader) FileNotes() []string { return r.files.Notes() }

// Note adds to what the user should know.
func (r *Reader) Note(notes ...string) { r.notes = append(r.notes, notes...) }

// String returns the names for a message.
func (r *Reader) String() string { return strings.Join(r.names, ", ") }

// Close removes temporary files. Nothing can be read after it.
func (r *Reader) Close() error { return r.files.Close() }

// Settle counts the items and takes the hash of those up to the limit. It returns the set
// of the items that read yields each time.
func (r *Reader) Settle(items iter.Seq2[deem.Item, error], read func(context.Context) iter.Seq2[deem.Item, error]) (Reread, error) {
	s, beyond := Reread{reader: r, read: read}, 0
	var err error
	s.hash, err = dataset.HashItems(func(yield func(deem.Item, error) bool) {
		for it, err := range items {
			if r.limit > 0 && s.size == r.limit { // The rest is only counted.
				if err != nil {
					return
				}
				beyond++
				continue
			}
			s.size++
			if !yield(it, err) {
				return
			}
		}
	})
	if beyond > 0 {
		r.Note(limited(r.limit, r.limit+beyond))
	}
	return s, err
}

// Reread is a set of items that are read again from their files whenever they are
// asked for, so that one row is in memory at a time.
type Reread struct {
	reader *Reader
	read   func(context.Context) iter.Seq2[deem.Item, error]
	size   int
	hash   string
}

// Items yields the items in the order of the files, reading them again. It may be
// called several times, also at once by several goroutines. An error is the last
// thing that it yields.
func (s *Reread) Items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		n := 0
		for it, err := range s.read(context.Background()) {
			if n++; !yield(it, err) || err != nil || n == s.reader.limit {
				return
			}
		}
		if n != s.size {
			yield(deem.Item{}, fmt.Errorf("read %s: it had %d items, now it has %d", s.reader, s.size, n))
		}
	}
}

// Made yields the item that build makes of each row, and after an error nothing more.
// A row that was right when it was checked, and now is wrong, is told as such.
func Made(rows iter.Seq2[*Row, error], build func(*Row) (deem.Item, error)) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for row, err := range rows {
			var it deem.Item
			if err == nil {
				it, err = build(row)
			}
			if err != nil {
				yield(deem.Item{}, changed(err))
				return
			}
			if !yield(it, nil) {
				return
			}
		}
	}
}

// changed says of a row that was right when it was checked, and now is wrong, that
// the file has changed.
func changed(err error) error {
	if _, ok := errors.AsType[deem.Problem](err); ok {
		return Changed(err)
	}
	return err
}

// Changed says that files are no more what they were when they were checked.
func Changed(err error) error { return fmt.Errorf("the data are not what was checked: %w", err) }

// Len returns the number of items.
func (s *Reread) Len() int { return s.size }

// Hash returns the SHA-256 over the hashes of all items in order.
func (s *Reread) Hash() string { return s.hash }

// Names returns the names of the files or folders as the options gave them.
func (s *Reread) Names() []string { return slices.Clone(s.reader.names) }

// Notes returns what the user should know about the files.
func (s *Reread) Notes() []string { return slices.Clone(s.reader.notes) }

// Close removes temporary files. No items can be read after it.
func (s *Reread) Close() error { return s.reader.Close() }
