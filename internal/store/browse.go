package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"deem"
)

// An Order is what records are sorted by.
type Order string

// The orders of records. Records that are equal in one are ordered by position and then
// by trial, both upwards whether the view descends or not. So every record has one place.
// Where even these are equal, as in datasets that were put together, a store has an
// order of its own and keeps to it. A view by position that descends is the one that
// ascends, from its end.
const (
	ByPosition   Order = "position"   // as in the dataset
	ByScore      Order = "score"      // unjudged records last, in both directions
	ByConfidence Order = "confidence" // records without one last, in both directions
)

// Orders returns all orders.
func Orders() []Order { return []Order{ByPosition, ByScore, ByConfidence} }

// A View selects records of a run, as a person who looks at them does, and says in
// which order they come. The zero value is the beginning of the run.
type View struct {
	// Query selects by what records say; After is not used. Limit is how many records
	// are wanted; 0 means 50.
	Query

	// Pass selects records whose verdict says yes, or no. [deem.Verdict.Yes] says what
	// that means.
	Pass *bool

	// Text selects records in which all of its words occur: in the id, question,
	// references or response of the item, or in the reason or failure of the judge,
	// one word here and the other there. Words in quotes must occur together in one
	// of these texts, as must the parts of a word with signs in it (well-known), and a
	// word that ends in * is the beginning of one. Case, accents and other signs do
	// not matter, so no text is wrong, and one without any word selects everything.
	//
	// Scripts that put no spaces between words, as Chinese does, are searched by
	// character: any part of a sentence is found. Very long texts may be searched in
	// their beginning only.
	Text string

	// Against is the id of another run. It selects the records to which that run's
	// record of the same item and trial says something else: one says yes and the
	// other no, or one has a verdict and the other a failure. Items that only one of
	// the runs has are not selected.
	Against string

	Order      Order // "" means ByPosition
	Descending bool

	// From continues behind a record that was seen before; nil starts at the first.
	// With Backward the view goes towards the beginning from there: the records that
	// come right before it, nearest first.
	From     *Place
	Backward bool
}

// DefaultLimit is how many records a view has unless it says otherwise.
const DefaultLimit = 50

// A Place is where a record stands in an order.
type Place struct {
	Value *float64 `json:"value,omitempty"` // what it is ordered by; nil where it has none, or by position
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

// Check refuses a view that no store can show.
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

// A Count is how many records have something.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Counts are how many records a view has, of all pages together.
type Counts struct {
	Total    int `json:"total"`
	Unjudged int `json:"unjudged"`

	// By what the records say, the most frequent first, then by name. Items without
	// a category are counted under "". Labels are those of verdicts and kinds those of
	// failures, so that together they are all records.
	Categories []Count `json:"categories"`
	Labels     []Count `json:"labels"`
	Kinds      []Count `json:"kinds"`
}

// A Searched says how much of a run the index of words knows.
type Searched struct {
	// Done is how many records are in the index. While records that were in it may have
	// been replaced since, it stays below Total.
	Done  int `json:"done"`
	Total int `json:"total"` // the records of the run
}

// Complete reports whether a search finds everything there is.
func (s Searched) Complete() bool { return s.Done >= s.Total }

// Browser is a store that can be looked through by a person: filtered, sorted, searched
// and counted. A caller that needs it asks a [Store] whether it is one.
type Browser interface {
	// View returns the records of one page, in the order of the view (also when it
	// goes backward: then the nearest comes first).
	View(ctx context.Context, runID string, v View) ([]deem.Record, error)

	// Count counts what a view selects, whatever its limit, order and place. The database
	// counts, so a record that was damaged is not noticed here: View and Records check each
	// record that they return.
	Count(ctx context.Context, runID string, v View) (Counts, error)

	// Index brings the index of words up to date with the records of a run, for a
	// bounded time, and says how far it has come. It is called again until it is
	// complete. A search that finds the index incomplete looks at what is there.
	//
	// The index is kept apart from the records: making it never holds up a run that
	// is being judged, and it can be made again from them.
	Index(ctx context.Context, runID string) (Searched, error)
}
