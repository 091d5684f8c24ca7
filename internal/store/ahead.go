package store

import (
	"iter"

	"deem"
)

// aheadRows is how many records are passed on at once.
const aheadRows = 64

// Ahead yields the records of seq and reads ahead while the caller processes earlier ones:
// reading a record and counting it take about the same time, and most machines can do both
// in parallel. At most three times aheadRows records are in memory.
//
// The reading goroutine has ended when the loop is over, however it ends.
func Ahead(seq iter.Seq2[deem.Record, error]) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		groups, enough := make(chan []deem.Record, 1), make(chan struct{})
		var failed error // read once groups is closed
		go func() {
			defer close(groups)
			var group []deem.Record
			for rec, err := range seq {
				if failed = err; err != nil {
					break
				}
				if group = append(group, rec); len(group) < aheadRows {
					continue
				}
				select {
				case groups <- group:
					group = make([]deem.Record, 0, aheadRows)
				case <-enough:
					return
				}
			}
			if len(group) > 0 {
				groups <- group
			}
		}()
		defer func() {
			close(enough)
			for range groups { //nolint:revive // The reader must notice the end and report it.
			}
		}()
		for group := range groups {
			for _, rec := range group {
				if !yield(rec, nil) {
					return
				}
			}
		}
		if failed != nil {
			yield(deem.Record{}, failed)
		}
	}
}
