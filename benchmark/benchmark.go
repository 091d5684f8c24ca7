// Package benchmark is the table of benchmarks. A benchmark is a reader for its
// files, a protocol for its judge, and its metrics, all as published; each lives in
// a folder of its own, and this package names them and does nothing else.
package benchmark

import (
	"context"
	"io"
	"iter"

	"deem"
	"deem/judge"
)

// Options say what to read.
type Options struct {
	Data       []string  // the benchmark's own files
	Responses  []string  // what the system under test gave, where that is in files of its own
	Stdin      io.Reader // what "-" stands for
	RequireAll bool      // a question without a response is an error
	Limit      int       // only so many items; 0 means all
	Reading    string    // the routing of items may depend on it; "" means upstream
}

// A Set is the items of a benchmark, read and checked.
type Set interface {
	Items() iter.Seq2[deem.Item, error]
	Len() int
	Hash() string    // of the items
	Names() []string // of the files
	Notes() []string // what the user should know
	Close() error
}

// Metrics are a benchmark's own numbers. They take records in the order of the
// items, trial 0 only.
type Metrics interface {
	Add(rec deem.Record)
	Text(w io.Writer) error
	JSON() any
}

// A Finished run is what a result file is made of.
type Finished struct {
	Options Options
	Model   string // as deem calls it, "openai:gpt-4o"
	Records iter.Seq2[deem.Record, error]
}

// A Benchmark is one row of the table.
type Benchmark struct {
	Name    string
	About   string // one line
	Where   string // where its files are had
	Licence string

	// Note is what a report of its judge must say at the top, if anything.
	Note string

	// Readings are the names of the readings, the default first.
	Readings []string

	Open     func(ctx context.Context, o Options) (Set, error)
	Protocol func(reading string) (judge.Readable, error)
	Restore  func(judgeIdentity []byte) (judge.Readable, error)
	Metrics  func(reading string) Metrics

	// ResultsName returns the name of the result file as upstream calls it.
	ResultsName func(f Finished) string

	// WriteResults writes that file as upstream does, and returns how many items
	// have no place in it because they have no verdict.
	WriteResults func(ctx context.Context, w io.Writer, f Finished) (left int, err error)
}

// All returns the benchmarks that deem knows, written out by hand.
func All() []Benchmark {
	return []Benchmark{longMemEval(), haluMem()}
}

// Named returns the benchmark of that name.
func Named(name string) (Benchmark, bool) {
	for _, b := range All() {
		if b.Name == name {
			return b, true
		}
	}
	return Benchmark{}, false
}
