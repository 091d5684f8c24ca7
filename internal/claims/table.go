package claims

import (
	"fmt"
	"io"
	"text/tabwriter"

	"deem/internal/words"
)

// Limits of the input. They keep every product below within 64 bits.
const (
	maxSize     = 1_000_000 // questions in a category
	maxDecimals = 6
	maxRuns     = 100 // the number of runs that are tried to find the smallest that gives a number
	maxColumns  = 64
	maxRows     = 1000
)

// MaxBytes is the maximum size of a file.
const MaxBytes = 16 << 20

// A Table is the claims of a file: one row per system, one column per category.
type Table struct {
	File      string
	Benchmark string // "" if the table gives its own sizes
	Columns   []Column
	Overall   *Column // nil if the table has no overall; its Size is that of the whole

	// The sizes of groups of questions that an overall may be a plain mean of: of categories
	// that the table does not show, and of conversations.
	Categories, Conversations []int64
	Overlap                   bool // the categories share questions, so they do not add up
	Rows                      []Row
	Notes                     []string // what was left out or assumed while reading

	sizes []int64 // the size that each row gives for its overall, 0 without one
}

// A Column is one category of questions.
type Column struct {
	Name     string // as in the table
	Category string // as in the benchmark, "" without a benchmark
	Size     int64  // the number of questions; 0 if unknown
	Faulty   int64  // the number of these with a reference known to be wrong
	Other    int64  // the number of questions of the category that some others call so; 0 if there is none
}

// A Row is the numbers of one system.
type Row struct {
	Name    string
	Cells   []Cell // one for each of the table's columns
	Overall Cell
	Size    int64 // of the overall, if the row gives its own; else 0
}

// A Cell is one number as printed: a percentage, a count such as 646/670, both or neither.
type Cell struct {
	Text    string
	Percent *Percent
	Count   *Count
}

// A Count is a printed number of right answers.
type Count struct {
	Right int64 `json:"right"`
	Of    int64 `json:"of"`
}

// A Benchmark has the sizes of a known benchmark.
type Benchmark struct {
	Categories []Category

	// Conversations are the numbers of questions about each conversation, without those of
	// optional categories; nil if each question has its own.
	Conversations []int64
}

// A Category is a category of a known benchmark.
type Category struct {
	ID, Name string
	Names    []string // other names in use
	Others   []string // names by which some call this category and most call another
	Size     int64
	Faulty   int64 // questions whose reference is known to be wrong
	Optional bool  // excluded from an overall without parts
}

// Text prints the report: a table of the numbers, and a line for each finding.
func (r *Report) Text(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "system\tcolumn\tprinted\tquestions\tright\t95% interval")
	for _, n := range r.Numbers {
		right := spell(n.Lo, n.Hi)
		switch n.Runs {
		case 0:
			right = "none"
		case 1:
		default:
			right += fmt.Sprintf(" in %d runs", n.Runs)
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%.1f%% to %.1f%%\n", words.Printable(n.System), words.Printable(n.Column), words.Printable(n.Printed),
			words.Comma(int(n.Size)), right, 100*n.Interval.Lo, 100*n.Interval.Hi)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		fmt.Fprintln(w)
	}
	for _, f := range r.Findings {
		word := "note"
		if f.Impossible {
			word = "impossible"
		}
		fmt.Fprintf(w, "%s: %s\n", word, words.Printable(f.Text))
	}
	verdict := words.Count(len(r.Numbers), "number")
	if r.Impossible > 0 {
		verdict = fmt.Sprintf("%s of something impossible in %s", words.Count(r.Impossible, "finding"), verdict)
	} else {
		verdict += ": arithmetic finds nothing impossible, which does not show that they are true"
	}
	_, err := fmt.Fprintf(w, "\n%s\n", verdict)
	return err
}
