// Package data reads items from files, as the command does.
//
// [Open] takes CSV, TSV, JSONL, JSON and Parquet, and yields items for [deem.Run]. It finds
// columns by the usual names. Items of a program's own need no file: they are any
// iter.Seq2[deem.Item, error].
package data

import (
	"context"
	"iter"

	"deem"
	"deem/internal/dataset"
)

// Open yields the items of files, folders or patterns such as "answers/*.jsonl": CSV, TSV,
// JSONL, JSON and Parquet, also compressed. Columns are found by the usual names
// (docs/data.md). Addresses beginning with https:// or hf:// are fetched.
//
// Everything is read once before the first item, so that a bad row is found before a model
// is paid. Bad rows are one *[deem.Problems] with file and line. An error is the last value.
// Each use of the sequence reads the files again, one row at a time.
func Open(files ...string) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		set, err := dataset.Open(context.Background(), dataset.Source{Names: files})
		if err != nil {
			yield(deem.Item{}, err)
			return
		}
		defer func() { _ = set.Close() }()
		for it, err := range set.Items() {
			if !yield(it, err) {
				return
			}
		}
	}
}
