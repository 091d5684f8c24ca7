package benchmark

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"deem"
	"deem/internal/words"
)

// Held is a set of items in memory, for benchmarks that join several files and so must read
// all of them before the first item is complete.
type Held struct {
	items []deem.Item
	names []string
	notes []string
	hash  string
}

// Hold returns a set of these items. The names are those of the files in the options, data
// first.
func Hold(items []deem.Item, names, notes []string) (Set, error) {
	h := &Held{items: items, names: names, notes: notes}
	var err error
	if h.hash, err = deem.DatasetHash(h.Items()); err != nil {
		return nil, err
	}
	return h, nil
}

// Limit returns the first limit items; 0 means all. If it drops items, it adds a note with
// their number.
func Limit(items []deem.Item, limit int, notes []string) ([]deem.Item, []string) {
	if limit > 0 && limit < len(items) {
		return items[:limit], append(notes, limited(limit, len(items)))
	}
	return items, notes
}

func limited(limit, of int) string {
	return fmt.Sprintf("the first %d of %d items; --sample %d takes a random sample", limit, of, limit)
}

// Items yields the items in order. It may be called several times, also concurrently, and
// yields no error.
func (h *Held) Items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for _, it := range h.items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// Len returns the number of items.
func (h *Held) Len() int { return len(h.items) }

// Hash returns the hash of these items as a dataset: the SHA-256 over the hashes of all
// items in order.
func (h *Held) Hash() string { return h.hash }

// Names returns the names of the files in the options, data first.
func (h *Held) Names() []string { return slices.Clone(h.names) }

// Notes returns remarks for the user about how the files were joined.
func (h *Held) Notes() []string { return slices.Clone(h.notes) }

// Close does nothing, because all files are closed already. It makes Held interchangeable
// with sets that must be closed.
func (h *Held) Close() error { return nil }

// FirstTen lists the first ten ids: enough to find a pattern, but not a whole page.
func FirstTen(ids []string) string {
	const most = 10
	list := strings.Join(ids[:min(len(ids), most)], ", ")
	if len(ids) > most {
		list += ", ..."
	}
	return list
}

// Note appends a note about ids: their number and the first ten. Without ids it adds
// nothing.
func Note(notes, ids []string, noun, what string) []string {
	if len(ids) == 0 {
		return notes
	}
	return append(notes, fmt.Sprintf("%s %s: %s", words.Count(len(ids), noun), what, FirstTen(ids)))
}
