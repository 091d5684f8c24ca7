// Package benchmark defines the parts of a benchmark and the code that all benchmarks
// share. Each benchmark is a package below this one, independent of the others. A benchmark
// reads items ([Visit], [Held], [Reread]), names its judges, and summarises its records in
// a table ([Tally], [Table]); [Rule] and [ByTask] are for benchmarks that have one rule per
// task.
package benchmark

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"deem"
	"deem/judge"
)

// Options says what to read and how.
type Options struct {
	Data       []string  // the benchmark's own files
	Responses  []string  // the answers of the system under test, if they are in separate files
	Stdin      io.Reader // the input for "-"
	RequireAll bool      // a question without a response is an error
	Unanswered bool      // every question is an item without a response, for a reader to answer
	Arm        string    // with Unanswered: items have the contexts of this arm, "full" or "oracle"
	Limit      int       // maximum number of items; 0 means all

	Reading string            // of the benchmark's own judge; "" means upstream
	With    map[string]string // the values of [Benchmark.Params]

	// Judges are the names of the judges of the items, if known. The set of items may
	// depend on them.
	Judges []string

	// Prompts are the prompts stored with a run, by name, for a judge that otherwise
	// reads them from the user's clone of a repository.
	Prompts map[string]string

	// MaxUnjudged is the share of unjudged items above which a score is withheld.
	MaxUnjudged float64
}

// A Set contains the items of a benchmark, read and checked.
type Set interface {
	Items() iter.Seq2[deem.Item, error]
	Len() int
	Hash() string    // of the items
	Names() []string // of the files
	Notes() []string // for the user
	Close() error
}

// Metrics are a benchmark's own metrics. They take records in the order of the items, trial
// 0 only.
type Metrics interface {
	Add(rec deem.Record)
	Text(w io.Writer) error
	JSON() any
}

// A Judge is one of the judges of a benchmark: a rule, or a protocol for a model.
type Judge struct {
	Rule     deem.Judge
	Protocol judge.Readable
	Votes    int // number of calls per item, whose mean is taken; 0 means one
}

// An Origin says who published a judge.
type Origin struct {
	About   string `json:"-"` // one-line description of the judge
	Vendor  string `json:"vendor,omitempty"`
	Date    string `json:"date,omitempty"`
	Source  string `json:"source,omitempty"`
	Licence string `json:"licence,omitempty"`
}

// String describes the judge and who published it.
func (o Origin) String() string {
	who := o.Vendor
	if o.Date != "" {
		who += ", " + o.Date
	}
	return fmt.Sprintf("%s: %s (%s; %s)", who, o.About, o.Source, o.Licence)
}

// A Param is an option specific to one benchmark.
type Param struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// A Category is a published category of a benchmark's questions.
type Category struct {
	ID       string   // as in the items
	Name     string   // as in upstream's paper
	Names    []string // other names in use
	Others   []string // names by which some publications call it and upstream calls another
	Items    int
	Faulty   int  // items whose reference is known to be wrong
	Optional bool // most published scores exclude it
}

// A Finished run is the input of a result file.
type Finished struct {
	Options Options
	Judge   string
	Model   string // deem's name, such as "openai:gpt-4o"; "" for a rule
	Records iter.Seq2[deem.Record, error]
}

// A Benchmark is one entry of the list of benchmarks.
type Benchmark struct {
	Name    string
	About   string // one line
	Where   string // where to get its files
	Licence string
	Kind    string // what it measures, one of [Kinds]

	// Note is shown at the top of every report of its judges, unless it is "".
	Note string

	// Categories are those of the published files, for benchmarks with right and wrong
	// items whose published tables show percentages by category.
	Categories []Category

	// Conversations are the numbers of questions about each conversation of the published
	// files, without the optional categories; nil if each question has its own.
	Conversations []int

	// Readings are the names of the readings, the default first.
	Readings []string

	Params []Param

	// Histories means that its files have what was said before the questions, and which of
	// it contains the answers, for [Options.Arm].
	Histories bool

	// Policy says how its options treat questions that publications treat differently; nil
	// if there are none.
	Policy func(with map[string]string) string

	// Judges are the names of its judges, the default first.
	Judges []string

	Judge   func(name string, o Options) (Judge, error)
	Origin  func(name string) Origin // of a judge published by a third party; may be nil
	Open    func(ctx context.Context, o Options) (Set, error)
	Metrics func(ctx context.Context, o Options) (Metrics, error)

	// ItemID normalises an item's id so that it is the same in all files about the
	// benchmark; nil if the ids are always spelled the same.
	ItemID func(id string) string

	// ResultsName returns upstream's name of the result file; nil if upstream does not
	// write one.
	ResultsName func(f Finished) string

	// WriteResults writes that file in upstream's format, and returns the number of
	// items that are not in it because they have no verdict.
	WriteResults func(ctx context.Context, w io.Writer, f Finished) (left int, err error)

	// ReadResults makes records from a file with upstream's verdicts, if only the benchmark
	// knows what its rows mean; name is used in messages. It may be nil.
	ReadResults func(ctx context.Context, r io.Reader, name, reading string) iter.Seq2[deem.Record, error]
}

// The kinds of benchmarks.
const (
	KindMemory        = "memory"
	KindLongContext   = "long context"
	KindHallucination = "hallucination"
)

// Kinds returns the kinds of benchmarks in the order of the list.
func Kinds() []string { return []string{KindMemory, KindLongContext, KindHallucination} }

// A List is a list of benchmarks.
type List []Benchmark

// Named returns the benchmark with the given name.
func (l List) Named(name string) (Benchmark, bool) {
	return l.find(func(b Benchmark) bool { return b.Name == name })
}

// OfJudge returns the benchmark that has a judge with the given name.
func (l List) OfJudge(name string) (Benchmark, bool) {
	return l.find(func(b Benchmark) bool { return slices.Contains(b.Judges, name) })
}

func (l List) find(is func(Benchmark) bool) (Benchmark, bool) {
	if i := slices.IndexFunc(l, is); i >= 0 {
		return l[i], true
	}
	return Benchmark{}, false
}

// all makes the list on its first use.
var all = func() List { return nil }

// Use sets the list that [All] returns. The public package benchmark, which imports every
// benchmark, calls it when it is initialised.
func Use(list func() List) { all = sync.OnceValue(list) }

// All returns all benchmarks. It is empty in a program or test that does not import the
// public package benchmark.
func All() List { return all() }

// Check rejects params that the benchmark does not have.
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

// Vendored returns the judge for a declaration published by a vendor.
func Vendored(d *judge.Declaration, reading string) (Judge, error) {
	j, err := Asked(d.Protocol(reading))
	j.Votes = d.Votes
	return j, err
}

// OriginOf returns the origin stated in a declaration.
func OriginOf(d *judge.Declaration) Origin {
	if d == nil {
		return Origin{}
	}
	return Origin{d.About, d.Vendor, d.Date, d.Source, d.Licence}
}

// Asked returns the judge for a protocol, or the error.
func Asked[P judge.Readable](p P, err error) (Judge, error) {
	if err != nil {
		return Judge{}, err
	}
	return Judge{Protocol: p}, nil
}

// Ruled returns the judge for a rule, or the error.
func Ruled[R deem.Judge](r R, err error) (Judge, error) {
	if err != nil {
		return Judge{}, err
	}
	return Judge{Rule: r}, nil
}

// CheckReading returns the reading of a judge for a name; "" means the first one.
func CheckReading(judge, name string, readings []string) (string, error) {
	switch {
	case name == "":
		return readings[0], nil
	case slices.Contains(readings, name):
		return name, nil
	}
	return "", fmt.Errorf("judge %s has no reading %q; it has %s", judge, name, strings.Join(readings, ", "))
}

// Cloned returns a judge with the prompts stored in a run or, if there are none, those in
// the user's clone.
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

// Fed adds the records of a run to metrics, and counts those without a verdict.
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

// Protocol returns the protocol of a judge that uses a model: that of the judge's
// benchmark, or the declared one.
func Protocol(s judge.Spec) (judge.Readable, error) {
	b, ok := All().OfJudge(s.Name)
	if !ok || s.External() {
		return s.Protocol()
	}
	j, err := b.Judge(s.Name, Options{Reading: s.Reading, With: s.Options, Prompts: s.Prompts})
	switch {
	case err != nil:
		return nil, err
	case j.Protocol == nil:
		return nil, fmt.Errorf("judge %s asks no model", s.Name)
	}
	s.Model, s.Settings = "", ""
	return j.Protocol, SameJudge(j.Protocol.Spec(), s)
}

// SameJudge returns an error if a judge differs from the one that a spec describes, for example
// one of another version of deem.
func SameJudge(made, wanted judge.Spec) error {
	d := judge.Diff(wanted, made)
	if len(d) == 0 {
		return nil
	}
	return fmt.Errorf("this deem has another judge %s: they differ in %s (%s)", wanted.Name, d[0].Name, d[0].Path)
}
