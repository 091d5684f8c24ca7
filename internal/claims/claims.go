// Package claims checks published tables of percentages by arithmetic alone. It needs no
// rows, no model and no network, only the printed numbers and the sizes of their
// categories.
//
// Its pieces meet like this. [Read] turns a Markdown, CSV, YAML or JSON table into a
// [Table]. [Table.Audit] asks of every number whether a whole number of questions gives it,
// and of every row whether its parts give its overall, and returns a [Report], which
// [Report.Text] prints.
//
// A number is called impossible only if no rounding (to the nearest, ties either way, or
// cut off) and no mean over a few runs gives it. The arithmetic is exact: where a search
// would take too long, the number counts as possible.
package claims

// Limits of what is read. They keep every product below within 64 bits.
const (
	maxSize     = 10_000_000 // questions in a category
	maxDecimals = 6
	maxRuns     = 100 // how many runs are tried to find the fewest that give a number
	maxColumns  = 64
	maxRows     = 1000
)

// MaxBytes is how large a file may be.
const MaxBytes = 16 << 20

// A Table holds the claims of a file: one row per system, one column per category.
type Table struct {
	File      string
	Benchmark string // "" when the table names its own sizes
	Columns   []Column
	Overall   *Column // nil when the table has no overall; its Size is that of the whole
	Overlap   bool    // the categories share questions, so that they do not add up
	Rows      []Row
	Notes     []string // what was left out or assumed while reading
}

// A Column is one category of questions.
type Column struct {
	Name     string // as the table calls it
	Category string // as the benchmark calls it, "" without a benchmark
	Size     int64  // how many questions it has; 0 when unknown
	Faulty   int64  // of these, how many have a reference that is known to be wrong
}

// A Row holds the numbers of one system.
type Row struct {
	Name    string
	Line    int
	Cells   []Cell // one for each of the table's columns
	Overall Cell
}

// A Cell is one number as printed: a percentage, a count such as 646/670, both or neither.
type Cell struct {
	Text    string
	Line    int
	Percent *Percent
	Count   *Count
}

// A Count is a printed number of right answers.
type Count struct {
	Right int64 `json:"right"`
	Of    int64 `json:"of"`
}

// A Category is what a benchmark knows of one of its categories.
type Category struct {
	ID, Name string
	Names    []string // other names in use
	Size     int64
	Faulty   int64 // questions whose reference is known to be wrong
	Optional bool  // left out of an overall that stands alone
}
