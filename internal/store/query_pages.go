package store

import "iter"

// Pages reads page after page. next returns the page behind the given element, which at
// first is the zero value; one with fewer than size elements is the last. Nothing is held
// while the caller has an element, however long that is.
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
