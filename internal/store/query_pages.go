package store

import "iter"

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
