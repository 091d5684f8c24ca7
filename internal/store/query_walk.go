package store

import "math"

// A Walk is how far the records of a run were read. It goes page by page, and each page
// begins behind the last record of the page before, which the index finds at once.
type Walk struct {
	left int // how many records are wanted still

	// The place behind which the next page begins. Records of different items may claim
	// one position, so the number of the record settles the order.
	position, trial, n int64
}

// NewWalk returns a walk from the first record through as many as are wanted, all of them
// unless the number is positive.
func NewWalk(wanted int) Walk {
	if wanted <= 0 {
		wanted = math.MaxInt
	}
	return Walk{left: wanted, position: -1}
}

// Behind moves the walk behind a record with this number.
func (w *Walk) Behind(position, trial int, n int64) {
	w.position, w.trial, w.n = int64(position), int64(trial), n
}

// Rows returns how many rows to ask for, at most so many.
func (w *Walk) Rows(most int) int { return min(most, w.left) }

// Args returns the arguments of the next page: those of [PlaceColumns], and the number of rows.
func (w *Walk) Args(rows int) []any { return []any{w.position, w.trial, w.n, rows} }

// Passed counts records that were read, and reports whether no more are wanted.
func (w *Walk) Passed(records int) bool {
	w.left -= records
	return w.left == 0
}
