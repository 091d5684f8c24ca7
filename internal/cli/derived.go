package cli

import (
	"iter"
	"maps"

	"deem"
	"deem/internal/dataset"
)

// A derived set is made from other items by filtering, changing or reordering.
type derived struct {
	items
	seq   iter.Seq2[deem.Item, error]
	names []string
	n     int
	hash  string
}

func (d *derived) Items() iter.Seq2[deem.Item, error] { return d.seq }
func (d *derived) Names() []string                    { return d.names }
func (d *derived) Len() int                           { return d.n }
func (d *derived) Hash() string                       { return d.hash }

// derive returns a different dataset with its own hash: its runs never resume runs of data.
// It reads the items once.
func derive(data items, seq iter.Seq2[deem.Item, error]) (*derived, error) {
	d := &derived{items: data, seq: seq, names: data.Names()}
	var err error
	d.hash, err = dataset.HashItems(func(yield func(deem.Item, error) bool) {
		for it, err := range seq {
			if d.n++; !yield(it, err) {
				return
			}
		}
	})
	return d, err
}

// view returns data with different items that count as the same dataset.
func view(data items, seq iter.Seq2[deem.Item, error]) items {
	return &derived{items: data, seq: seq, names: data.Names(), n: data.Len(), hash: data.Hash()}
}

// changed yields the items that change keeps, as returned by change. It passes their
// positions to change.
func changed(data items, change func(at int, it deem.Item) (deem.Item, bool)) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		at := 0
		for it, err := range data.Items() {
			keep := true
			if err == nil {
				it, keep = change(at, it)
				at++
			}
			if keep && !yield(it, err) {
				return
			}
		}
	}
}

// withField returns an item with an additional field.
func withField(it deem.Item, name, value string) deem.Item {
	fields := maps.Clone(it.Fields)
	if fields == nil {
		fields = map[string]string{}
	}
	fields[name] = value
	it.Fields = fields
	return it
}
