package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem"
)

// An Order is a sort order of records.
type Order string

// The orders of records. Ties are broken by position and then by trial, both ascending even
// in a descending view, so that every record has one place. If even these are equal, as in
// merged datasets, the store uses a fixed order of its own. A descending view by position
// is the exact reverse of the ascending one.
const (
	ByPosition   Order = "position"   // as in the dataset
	ByScore      Order = "score"      // unjudged records last, in both directions
	ByConfidence Order = "confidence" // records without one last, in both directions
)

// Orders returns all orders.
func Orders() []Order { return []Order{ByPosition, ByScore, ByConfidence} }

// A View selects and orders records of a run for a person to look at. The zero value is the
// beginning of the run.
type View struct {
	// Query filters the records; After is not used. Limit is the number of records; 0 means
	// 50.
	Query

	// Pass selects records whose verdict is yes, or no; see [deem.Verdict.Yes].
	Pass *bool

	// Text selects records that contain all of its words: in the id, question, references
	// or response of the item, or in the reason or failure of the judge; different words
	// may be in different texts. Quoted words must be together in one of these texts, as
	// must the parts of a word with punctuation (well-known), and a word that ends in * is
	// a prefix. Case, accents and other punctuation are ignored, so every text is valid,
	// and a text without words selects everything.
	//
	// Scripts without spaces between words, such as Chinese, are searched by character: any
	// part of a sentence is found. A search reads the run: it takes up to a second for 100,000
	// records.
	Text string

	// Against is the id of another run. It selects the records that differ from that run's
	// record of the same item and trial: one is yes and the other no, or one has a verdict
	// and the other a failure. Items that only one of the runs has are not selected.
	Against string

	Order      Order // "" means ByPosition
	Descending bool

	// From continues after a record seen before; nil starts at the first. With Backward the
	// view continues towards the beginning: the records right before it, nearest first.
	From     *Place
	Backward bool
}

// DefaultLimit is the number of records of a view by default.
const DefaultLimit = 50

// A Place is the position of a record in an order.
type Place struct {
	Value *float64 `json:"value,omitempty"` // the value it is ordered by; nil if it has none, or by position
	Cursor
}

// PlaceOf returns the place of rec in an order.
func PlaceOf(rec deem.Record, o Order) *Place {
	p := &Place{Cursor: *CursorOf(rec)}
	if v := rec.Verdict; v != nil {
		switch o {
		case ByScore:
			p.Value = &v.Score
		case ByConfidence:
			p.Value = v.Confidence
		}
	}
	return p
}

// Check returns an error for a view that no store can show.
func (v View) Check() error {
	switch {
	case v.Order != "" && !slices.Contains(Orders(), v.Order):
		return fmt.Errorf("records are not ordered by %q", v.Order)
	case v.Backward && v.From == nil:
		return errors.New("a view that goes backward must say from where")
	case v.Limit < 0:
		return fmt.Errorf("a view of %d records", v.Limit)
	}
	return nil
}

// A Count is the number of records with a name.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Counts are the numbers of records in a view, over all pages.
type Counts struct {
	Total    int `json:"total"`
	Unjudged int `json:"unjudged"`

	// By value, the most frequent first, then by name. Items without a category are counted
	// under "". Labels are those of verdicts and kinds those of failures, so that together
	// they cover all records.
	Categories []Count `json:"categories"`
	Labels     []Count `json:"labels"`
	Kinds      []Count `json:"kinds"`
}

// Browser is a store in which a person can filter, sort, search and count records.
type Browser interface {
	// View returns the records of one page, in the order of the view (if it goes backward,
	// nearest first).
	View(ctx context.Context, runID string, v View) ([]deem.Record, error)

	// Count counts the records that a view selects, whatever its limit, order and place.
	// The database counts, so a damaged record is not noticed here: View and Records check
	// each record that they return.
	Count(ctx context.Context, runID string, v View) (Counts, error)
}

// A Tally counts records. Stores build [Counts] with it. The zero value is ready for use.
type Tally struct {
	categories, labels, kinds map[string]int
}

// Add counts n records of a category with a verdict of the given label or, if failed, a
// failure of the given kind.
func (t *Tally) Add(category, name string, failed bool, n int) {
	if t.categories == nil {
		t.categories, t.labels, t.kinds = map[string]int{}, map[string]int{}, map[string]int{}
	}
	t.categories[category] += n
	if failed {
		t.kinds[name] += n
	} else {
		t.labels[name] += n
	}
}

// Counts returns the counts.
func (t *Tally) Counts() Counts {
	c := Counts{Categories: ranked(t.categories), Labels: ranked(t.labels), Kinds: ranked(t.kinds)}
	for _, n := range t.categories {
		c.Total += n
	}
	for _, n := range t.kinds {
		c.Unjudged += n
	}
	return c
}

// ranked returns counts, the largest first. It copies the names, which may be substrings of
// a large text.
func ranked(counts map[string]int) []Count {
	list := make([]Count, 0, len(counts))
	for name, n := range counts {
		list = append(list, Count{Name: strings.Clone(name), N: n})
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name))
	})
	return list
}
