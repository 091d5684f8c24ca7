package store

import "iter"

// PlaceColumns are the columns that order records with the same value. Different items may
// have the same position, so the number of the record comes last.
const PlaceColumns = "(r.position, r.trial, r.n)"

// A ViewOrder is the order in which a view is read: the order of its records, or with
// Backward the reverse.
type ViewOrder struct {
	Value    string // the column to sort by first; "" for none
	Down     bool   // the value, or the position without a value, descends
	Backward bool
}

// ViewOrderOf returns the order of a view.
func ViewOrderOf(v View) ViewOrder {
	o := ViewOrder{Down: v.Descending, Backward: v.Backward}
	switch v.Order {
	case ByScore:
		o.Value = "r.score"
	case ByConfidence:
		o.Value = "r.confidence"
	}
	return o
}

// placeDown reports whether places descend among records with the same value.
func (o ViewOrder) placeDown() bool { return o.Backward != (o.Value == "" && o.Down) }

// valueDown reports whether values descend.
func (o ViewOrder) valueDown() bool { return o.Down != o.Backward }

// ByPlace returns the ORDER BY clause for records with the same value.
func (o ViewOrder) ByPlace() string {
	d := Direction(o.placeDown())
	return "r.position" + d + ", r.trial" + d + ", r.n" + d
}

// ByValue returns the ORDER BY clause for records with a value.
func (o ViewOrder) ByValue() string { return o.Value + Direction(o.valueDown()) + ", " + o.ByPlace() }

// BeyondPlace returns the comparison operator that selects later places.
func (o ViewOrder) BeyondPlace() string { return beyondSign(o.placeDown()) }

// BeyondValue returns the comparison operator that selects later values.
func (o ViewOrder) BeyondValue() string { return beyondSign(o.valueDown()) }

func beyondSign(down bool) string {
	if down {
		return "<"
	}
	return ">"
}

// Direction returns the suffix of a column in an ORDER BY clause.
func Direction(down bool) string {
	if down {
		return " DESC"
	}
	return ""
}

// Pages yields the elements of all pages. next returns the page after the given element, or
// the first page for the zero value; a page with fewer than size elements is the last.
// Nothing is locked while the caller handles an element.
func Pages[T any](size int, next func(last T) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none, last T
		for {
			page, err := next(last)
			if err != nil {
				yield(none, err)
				return
			}
			for _, element := range page {
				if !yield(element, nil) {
					return
				}
			}
			if len(page) < size {
				return
			}
			last = page[len(page)-1]
		}
	}
}
