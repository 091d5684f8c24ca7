package store_test

import (
	"errors"
	"iter"
	"testing"
	"testing/synctest"

	"deem"
	"deem/internal/store"
)

// numbered yields n records, followed by an error if end is not nil. It counts the records
// taken.
func numbered(n int, end error, taken *int) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		for i := range n {
			*taken++
			if !yield(deem.Record{Position: i}, nil) {
				return
			}
		}
		if end != nil {
			yield(deem.Record{}, end)
		}
	}
}

// TestAhead checks that all records arrive in order, followed by the error.
func TestAhead(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{0, 1, 63, 64, 65, 500} {
		for _, end := range []error{nil, broken} {
			synctest.Test(t, func(t *testing.T) { // It also detects leaked goroutines.
				got, taken := 0, 0
				var last error
				for rec, err := range store.Ahead(numbered(n, end, &taken)) {
					if err != nil {
						last = err
						continue
					}
					if rec.Position != got || last != nil {
						t.Fatalf("record %d came as number %d, after the error %v", rec.Position, got, last)
					}
					got++
				}
				if got != n || !errors.Is(last, end) {
					t.Errorf("%d records and %v, want %d and %v", got, last, n, end)
				}
			})
		}
	}
}

// TestAheadStops checks that a loop that ends early leaks nothing, and that the reader does
// not run far ahead of a slow caller.
func TestAheadStops(t *testing.T) {
	for _, at := range []int{0, 1, 64, 200} {
		synctest.Test(t, func(t *testing.T) {
			taken := 0
			for rec := range store.Ahead(numbered(1000, nil, &taken)) {
				synctest.Wait()
				if most := rec.Position + 4*64; taken > most {
					t.Fatalf("at record %d the reader has taken %d, want at most %d", rec.Position, taken, most)
				}
				if rec.Position == at {
					break
				}
			}
		})
	}
}
