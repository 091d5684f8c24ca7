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

// A Reader reads the files of a [Reread] set.
type Reader struct {
	*dataset.Files
	names []string
	notes []string
	limit int
}

// NewReader opens the inputs. The names are those in the options, which may be folders. At
// most limit items count; 0 means all.
func NewReader(ctx context.Context, in Input, names []string, limit int) (*Reader, error) {
	files, err := dataset.OpenFiles(ctx, in)
	if err != nil {
		return nil, err
	}
	return &Reader{Files: files, names: slices.Clone(names), limit: limit}, nil
}

// Note adds remarks for the user to those of the files.
func (r *Reader) Note(notes ...string) { r.notes = append(r.notes, notes...) }

// String returns the names, for messages.
func (r *Reader) String() string { return strings.Join(r.names, ", ") }

// Settle counts the items and computes the hash of those up to the limit. It returns the
// set of the items that read yields each time.
func (r *Reader) Settle(items iter.Seq2[deem.Item, error], read func(context.Context) iter.Seq2[deem.Item, error]) (Reread, error) {
	s, beyond := Reread{reader: r, read: read}, 0
	var err error
	s.hash, err = deem.DatasetHash(func(yield func(deem.Item, error) bool) {
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

// Reread is a set of items that are read from their files again on each iteration, so that
// only one row is in memory at a time.
type Reread struct {
	reader *Reader
	read   func(context.Context) iter.Seq2[deem.Item, error]
	size   int
	hash   string
}

// Items reads the files again and yields the items in file order. It may be called several
// times, also concurrently. Iteration ends after an error.
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

// Made yields the item that build makes of each row, and stops after an error. If a row was
// valid when checked and is now invalid, the error says that the file has changed.
func Made(rows iter.Seq2[*Row, error], build func(*Row) (deem.Item, error)) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for row, err := range rows {
			var it deem.Item
			if err == nil {
				it, err = build(row)
			}
			if err != nil {
				if _, ok := errors.AsType[deem.Problem](err); ok {
					err = Changed(err)
				}
				yield(deem.Item{}, err)
				return
			}
			if !yield(it, nil) {
				return
			}
		}
	}
}

// Changed returns the error that files have changed since they were checked.
func Changed(err error) error { return fmt.Errorf("the data are not what was checked: %w", err) }

// Len returns the number of items.
func (s *Reread) Len() int { return s.size }

// Hash returns the SHA-256 over the hashes of all items in order.
func (s *Reread) Hash() string { return s.hash }

// Names returns the names of the files or folders in the options.
func (s *Reread) Names() []string { return slices.Clone(s.reader.names) }

// Notes returns remarks about the files for the user.
func (s *Reread) Notes() []string { return slices.Clone(s.reader.notes) }

// Close removes temporary files. No items can be read after it.
func (s *Reread) Close() error { return s.reader.Close() }
