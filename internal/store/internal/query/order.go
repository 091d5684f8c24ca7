// Package query has what the questions to SQLite and to Postgres have in common: the
// order of a view, and reading page by page with the place that was reached. Everything else about them differs, because
// the two find things in different ways.
//
// Records are r in all queries, with the columns position, trial, score and confidence,
// and n for their number.
package query

import "deem/internal/store"

// Place are the columns that settle the order among records of equal value. Records of
// different items may claim one position, so the number of the record comes last.
const Place = "(r.position, r.trial, r.n)"

// An Order is the order in which a view is read: that of its records, or with Backward
// the opposite.
type Order struct {
	Value    string // the column that comes first; "" for none
	Down     bool   // the value descends; without a value, the position does
	Backward bool
}

// OrderOf returns the order of a view.
func OrderOf(v store.View) Order {
	o := Order{Down: v.Descending, Backward: v.Backward}
	switch v.Order {
	case store.ByScore:
		o.Value = "r.score"
	case store.ByConfidence:
		o.Value = "r.confidence"
	}
	return o
}

// placeDown reports whether the places of records of one value are read downwards.
func (o Order) placeDown() bool { return o.Backward != (o.Value == "" && o.Down) }

// valueDown reports whether values are read downwards.
func (o Order) valueDown() bool { return o.Down != o.Backward }

// ByPlace is the ORDER BY clause for records of one value.
func (o Order) ByPlace() string {
	d := Direction(o.placeDown())
	return "r.position" + d + ", r.trial" + d + ", r.n" + d
}

// ByValue is the ORDER BY clause for records that have a value.
func (o Order) ByValue() string { return o.Value + Direction(o.valueDown()) + ", " + o.ByPlace() }

// BeyondPlace returns the operator that is true of a place that is read later.
func (o Order) BeyondPlace() string { return beyond(o.placeDown()) }

// BeyondValue returns the operator that is true of a value that is read later.
func (o Order) BeyondValue() string { return beyond(o.valueDown()) }

func beyond(down bool) string {
	if down {
		return "<"
	}
	return ">"
}

// Direction returns what makes a column of an ORDER BY clause descend, or not.
func Direction(down bool) string {
	if down {
		return " DESC"
	}
	return ""
}
