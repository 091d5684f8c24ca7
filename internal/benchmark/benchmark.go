// Package benchmark is what a benchmark is made of, and what all of them share. Each
// benchmark has a folder below this one, and none knows another. A benchmark reads items
// ([Visit], [Held], [Reread]), names its judges, and sums its records up in a table
// ([Tally], [Table]); [Rule] and [ByTask] are for benchmarks whose tasks have a rule each.
package benchmark

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/judge"
)

// Options say what to read and how.
type Options struct {
	Data       []string  // the benchmark's own files
	Responses  []string  // what the system under test gave, where that is in files of its own
	Stdin      io.Reader // what "-" stands for
	RequireAll bool      // a question without a response is an error
	Limit      int       // only so many items; 0 means all

	Reading string            // of the benchmark's own judge; "" means upstream
	With    map[string]string // the values of [Benchmark.Params]

	// Judges are the names of the judges that will judge the items, where that is known.
	// Which items there are may depend on them.
	Judges []string

	// Prompts are the prompts of a judge that a run keeps, by name, for a judge that
	// otherwise reads them from the user's clone of a repository.
	Prompts map[string]string

	// MaxUnjudged is the share of unjudged items above which a number is withheld.
	MaxUnjudged float64
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

// A Judge is one of the judges of a benchmark: a rule, or a protocol for a model.
type Judge struct {
	Rule     deem.Judge
	Protocol judge.Readable
	Votes    int // how often the protocol is asked about an item, and the mean taken; 0 is once
}

// An Origin says who published a judge.
type Origin struct {
	About   string `json:"-"` // what the judge does, in one line
	Vendor  string `json:"vendor,omitempty"`
	Date    string `json:"date,omitempty"`
	Source  string `json:"source,omitempty"`
	Licence string `json:"licence,omitempty"`
}

// String says what the judge does and who published it.
func (o Origin) String() string {
	who := o.Vendor
	if o.Date != "" {
		who += ", " + o.Date
	}
	return fmt.Sprintf("%s: %s (%s; %s)", who, o.About, o.Source, o.Licence)
}

// A Param is an option that one benchmark has and others do not.
type Param struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// A Category is a part of a benchmark's questions, as published.
type Category struct {
	ID       string   // as items have it
	Name     string   // as upstream's paper calls it
	Names    []string // other names in use
	Items    int
	Faulty   int  // items whose reference is known to be wrong
	Optional bool // most published scores leave it out
}

// A Finished run is what a result file is made of.
type Finished struct {
	Options Options
	Judge   string
	Model   string // as deem calls it, "openai:gpt-4o"; "" for a rule
	Records iter.Seq2[deem.Record, error]
}

// A Benchmark is one row of the table.
type Benchmark struct {
	Name    string
	About   string // one line
	Where   string // where its files are had
	Licence string

	// Note is what a report of its judges must say at the top, if anything.
	Note string

	// Categories are those of the published files, where an item is right or wrong and
	// published tables show percentages by category.
	Categories []Category

	// Readings are the names of the readings, the default first.
	Readings []string

	Params []Param

	// Judges are the names of its judges, the default first.
	Judges []string

	Judge   func(name string, o Options) (Judge, error)
	Origin  func(name string) Origin // of a judge that somebody else published; nil when there is none
	Open    func(ctx context.Context, o Options) (Set, error)
	Metrics func(ctx context.Context, o Options) (Metrics, error)

	// ItemID returns the form of an item's id that is the same in all files about the
	// benchmark; nil when everybody writes them alike.
	ItemID func(id string) string

	// ResultsName returns the name of the result file as upstream calls it; nil
	// when upstream writes none.
	ResultsName func(f Finished) string

	// WriteResults writes that file as upstream does, and returns how many items
	// have no place in it because they have no verdict.
	WriteResults func(ctx context.Context, w io.Writer, f Finished) (left int, err error)
}

// Check refuses params that the benchmark does not have.
func (b Benchmark) Check(with map[string]string) error {
	var names []string
	for _, p := range b.Params {
		names = append(names, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(with)) {
		switch {
		case len(names) == 0:
			return fmt.Errorf("%s has no options of its own, so there is no %q", b.Name, name)
		case !slices.Contains(names, name):
			return fmt.Errorf("%s has no option %q; it has %s", b.Name, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// Vendored makes a judge of a declaration that a vendor published.
func Vendored(d *judge.Declaration, reading string) (Judge, error) {
	j, err := Asked(d.Protocol(reading))
	j.Votes = d.Votes
	return j, err
}

// OriginOf returns what a declaration says of its prompt.
func OriginOf(d *judge.Declaration) Origin {
	if d == nil {
		return Origin{}
	}
	return Origin{d.About, d.Vendor, d.Date, d.Source, d.Licence}
}

// Asked makes a judge of a protocol, unless there is an error.
func Asked[P judge.Readable](p P, err error) (Judge, error) {
	if err != nil {
		return Judge{}, err
	}
	return Judge{Protocol: p}, nil
}

// Ruled makes a judge of a rule, unless there is an error.
func Ruled[R deem.Judge](r R, err error) (Judge, error) {
	if err != nil {
		return Judge{}, err
	}
	return Judge{Rule: r}, nil
}

// Opened makes a set of what a benchmark opened, unless there is an error.
func Opened[S Set](s S, err error) (Set, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Cloned makes a judge of the prompts that a run keeps or, without any, of those in the
// user's clone.
func Cloned[P judge.Readable](o Options, read func(repo string) (map[string]string, error), protocol func(reading string, prompts map[string]string) (P, error)) (Judge, error) {
	prompts := o.Prompts
	if len(prompts) == 0 {
		var err error
		if prompts, err = read(o.With["repo"]); err != nil {
			return Judge{}, err
		}
	}
	return Asked(protocol(o.Reading, prompts))
}

// Fed gives the records of a run to metrics, and counts those without a verdict.
func Fed(f Finished, m Metrics) (left int, err error) {
	for rec, err := range f.Records {
		if err != nil {
			return 0, err
		}
		if rec.Verdict == nil {
			left++
		}
		m.Add(rec)
	}
	return left, nil
}
