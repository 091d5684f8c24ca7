package store

import "math"

// A Walk is a position among the records of a run that are read page by page. Each page
// begins after the last record of the previous page, which the index finds directly.
type Walk struct {
	left int // number of records still wanted

	// The next page begins after this place. Different items may have the same position, so
	// the number of the record decides.
	position, trial, n int64
}

// NewWalk returns a walk over the first records of a run, or over all of them unless the
// number is positive.
func NewWalk(wanted int) Walk {
	if wanted <= 0 {
		wanted = math.MaxInt
	}
	return Walk{left: wanted, position: -1}
}

// Behind moves the walk to the place after a record with this number.
func (w *Walk) Behind(position, trial int, n int64) {
	w.position, w.trial, w.n = int64(position), int64(trial), n
}

// Rows returns the number of rows to request, at most the given number.
func (w *Walk) Rows(most int) int { return min(most, w.left) }

// Args returns the query arguments of the next page: the values of [PlaceColumns], and the
// number of rows.
func (w *Walk) Args(rows int) []any { return []any{w.position, w.trial, w.n, rows} }

// Passed records how many records were read, and reports whether no more are wanted.
func (w *Walk) Passed(records int) bool {
	w.left -= records
	return w.left == 0
}
