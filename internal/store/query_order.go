package store

// PlaceColumns are the columns that settle the order among records of equal value. Records of
// different items may claim one position, so the number of the record comes last.
const PlaceColumns = "(r.position, r.trial, r.n)"

// A ViewOrder is the order in which a view is read: that of its records, or with Backward
// the opposite.
type ViewOrder struct {
	Value    string // the column that comes first; "" for none
	Down     bool   // the value descends; without a value, the position does
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

// placeDown reports whether the places of records of one value are read downwards.
func (o ViewOrder) placeDown() bool { return o.Backward != (o.Value == "" && o.Down) }

// valueDown reports whether values are read downwards.
func (o ViewOrder) valueDown() bool { return o.Down != o.Backward }

// ByPlace is the ORDER BY clause for records of one value.
func (o ViewOrder) ByPlace() string {
	d := Direction(o.placeDown())
	return "r.position" + d + ", r.trial" + d + ", r.n" + d
}

// ByValue is the ORDER BY clause for records that have a value.
func (o ViewOrder) ByValue() string { return o.Value + Direction(o.valueDown()) + ", " + o.ByPlace() }

// BeyondPlace returns the operator that is true of a place that is read later.
func (o ViewOrder) BeyondPlace() string { return beyondSign(o.placeDown()) }

// BeyondValue returns the operator that is true of a value that is read later.
func (o ViewOrder) BeyondValue() string { return beyondSign(o.valueDown()) }

func beyondSign(down bool) string {
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
