package agreement_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The coverage tests measure how often the intervals that deem prints hold the truth, and how
// often its tests raise a false alarm, on made-up data whose truth is known.
//
// Each row of the table is a [cell]: it draws data, hands them to the code that makes the
// printed number, and says whether the number held. "go test" runs a few draws of each
// cell, and "make coverage" runs thousands and prints the table.
//
// To add rows, write a function that returns cells and add it to [tables].

// tables are the rows, by theme.
var tables = []struct {
	theme string
	cells func() []cell
}{
	{"scores, corrected scores and kappa in clusters", scoreCells},
	{"differences in clusters, and systems that are worse by the margin", differenceCells},
	{"mean score of items that are nearly all equal", meanCells},
	{"items that are judged several times", trialCells},
	{"kappa and AC1 of a judge and people", kappaCells},
	{"a judge and people, with clusters", agreeCells},
	{"how labels were drawn", selectionCells},
	{"labels that a plan drew", planCells},
	{"cascade fit: promises that are broken", cascadeCells},
	{"categories that do not differ, marked by a report", markCells},
	{"test that all runs are equally good", allCells},
	{"categories that do not differ from a saved report", savedCells},
	{"systems that differ by the margin, called equivalent", marginCells},
	{"differences corrected by labels of both systems", correctedCells},
	{"runs that are looked at after every item, stopped falsely", untilCells},
}

// A cell is one row of the table.
type cell struct {
	name string

	// row and column are the place in a table with several numbers in a row; empty in one
	// that has a row for each number.
	row, column string

	// draw makes one set of data and says what became of the printed number.
	draw func(*rand.Rand) outcome

	// want is the range in which the share of hits must lie: of intervals that hold
	// the truth, or of false alarms.
	want span

	// cost is how many times as long a draw takes as usual; 0 means 1. Below manyDraws
	// there are as many fewer.
	cost int
}

// An outcome says what became of one printed number.
type outcome struct {
	hit    bool // the interval holds the truth, or the test raised an alarm
	warned bool // the number carried a warning that its interval, or test, may be off
	none   bool // no interval was printed; such draws are counted apart
}

// A span is a range of shares.
type span struct{ lo, hi float64 }

// nominal is where the coverage of an interval at 95% must lie, and alarms is where the
// share of false alarms of a test at 5% must lie. Some intervals cannot promise less than
// they do, and are atLeast right.
var (
	nominal = span{0.93, 0.975}
	atLeast = span{0.93, 1}
	alarms  = span{0, 0.06}
)

// A result is what was measured of a cell.
type result struct{ Draws, None, Hits, Warned int }

// share returns the share of hits among the printed numbers.
func (r result) share() float64 { return float64(r.Hits) / float64(max(r.printed(), 1)) }

func (r result) printed() int { return r.Draws - r.None }

// kept reports whether the share of hits is in the range, as far as it is known to z standard
// errors of the simulation, or nearly all of the numbers carry a warning.
func (r result) kept(want span, z float64) bool {
	n := float64(max(r.printed(), 1))
	slack := func(x float64) float64 { return z * math.Sqrt(math.Max(x*(1-x), 0.01)/n) }
	x, warned := r.share(), float64(r.Warned)/n
	return x >= want.lo-slack(x) && x <= want.hi+slack(x) || warned >= nearlyAll-slack(warned)
}

// nearlyAll is the share of numbers that carry a warning where intervals do not keep their
// level.
const nearlyAll = 0.95

// fewDraws is the number of draws below which a share says nothing, and manyDraws that from
// which on a cell has all of them, however long it takes.
const (
	fewDraws  = 30
	manyDraws = 1000
)

// measure draws n times. The seed is the cell's name, so that new rows leave the others
// as they are.
func (c cell) measure(n int) result {
	name := fnv.New64a()
	_, _ = name.Write([]byte(c.name))
	rng := rand.New(rand.NewPCG(name.Sum64(), 21))
	if n < manyDraws {
		n = max(n/max(c.cost, 1), 1)
	}
	r := result{Draws: n}
	for range r.Draws {
		o := c.draw(rng)
		switch {
		case o.none:
			r.None++
			continue
		case o.hit:
			r.Hits++
		}
		if o.warned {
			r.Warned++
		}
	}
	return r
}

// shared returns a cell for each of several numbers that are made from the same data, so
// that data are drawn once for all of them.
func shared(names []string, want span, cost int, draw func(*rand.Rand) []outcome) []cell {
	first := fnv.New64a()
	_, _ = first.Write([]byte(names[0]))
	rng := rand.New(rand.NewPCG(first.Sum64(), 21))
	var lock sync.Mutex
	var drawn [][]outcome
	cells := make([]cell, len(names))
	for i, name := range names {
		next := 0
		cells[i] = cell{name: name, want: want, cost: cost, draw: func(*rand.Rand) outcome {
			lock.Lock()
			defer lock.Unlock()
			if next == len(drawn) {
				drawn = append(drawn, draw(rng))
			}
			next++
			return drawn[next-1][i]
		}}
	}
	return cells
}

// pageOf returns docs/design/coverage.md.
func pageOf(draws int, measured map[string]result) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# How often intervals hold and tests err

`+"`make coverage`"+` writes this page: made-up data with a known truth, through the code that prints the numbers. Each number has a fixed seed, and its row says how many draws it has at
least. The standard error of a share near 95%% is %.1f points with %d draws.

Numbers are the share of intervals at 95%% that hold the truth, or of false alarms at 5%%, in percent. *No interval* is how often the data allow none. *Warned*, or a number in brackets, is the
share of draws in which the text that a command prints by default warns that the number may be off. The test fails where a share is outside its range by more than the error of the simulation
allows, and fewer than 95%% of the draws have a warning.
`, 100*math.Sqrt(0.95*0.05/float64(draws)), draws)
	for _, table := range tables {
		fmt.Fprintf(&b, "\n## %s%s\n\n", strings.ToUpper(table.theme[:1]), table.theme[1:])
		if cells := table.cells(); cells[0].row != "" {
			writeGrid(&b, cells, measured)
		} else {
			writeList(&b, cells, measured)
		}
	}
	return b.String()
}

// writeList writes a table with a row for each cell that was measured.
func writeList(b *strings.Builder, cells []cell, measured map[string]result) {
	b.WriteString("| setting | draws | no interval | warned | share | range |\n|---|--:|--:|--:|--:|--:|\n")
	for _, c := range cells {
		if r, ok := measured[c.name]; ok {
			b.WriteString(c.line(r))
		}
	}
}

// line returns the row of a cell.
func (c cell) line(r result) string {
	return fmt.Sprintf("| %s | %d | %s | %s | %.1f | %s |\n", c.name, r.Draws, percent(r.None, r.Draws), percent(r.Warned, r.printed()), 100*r.share(), c.want)
}

// writeGrid writes a table with several numbers in a row.
func writeGrid(b *strings.Builder, cells []cell, measured map[string]result) {
	var rows, columns []string
	found, draws := map[string]string{}, map[string]int{}
	ranges := map[string]span{}
	for _, c := range cells {
		r, ok := measured[c.name]
		if !ok {
			continue
		}
		if !slices.Contains(rows, c.row) {
			rows = append(rows, c.row)
			draws[c.row] = r.Draws
		}
		draws[c.row] = min(draws[c.row], r.Draws)
		if ranges[c.column] = c.want; !slices.Contains(columns, c.column) {
			columns = append(columns, c.column)
		}
		text := fmt.Sprintf("%.1f", 100*r.share())
		if r.Warned > 0 {
			text += fmt.Sprintf(" (%s)", strings.TrimSuffix(percent(r.Warned, r.printed()), "%"))
		}
		found[c.row+c.column] = text
	}
	b.WriteString("| setting | draws |")
	for _, column := range columns {
		fmt.Fprintf(b, " %s: %s |", column, ranges[column])
	}
	fmt.Fprintf(b, "\n|---|--:|%s\n", strings.Repeat("--:|", len(columns)))
	for _, row := range rows {
		fmt.Fprintf(b, "| %s | %d |", row, draws[row])
		for _, column := range columns {
			fmt.Fprintf(b, " %s |", found[row+column])
		}
		b.WriteString("\n")
	}
}

// TestCoverage measures every cell, or those with ROWS in their name. With COVERAGE=N it
// draws N times and prints the page, and with COVERAGE_PAGE it writes the page. The file
// COVERAGE_KEEP keeps what was measured; a cell that is not measured again stays as it is there.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	draws, z := 40/slower, 3.5
	text := os.Getenv("COVERAGE")
	if text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("COVERAGE=%q: want a number of draws, as 4000", text)
		}
		draws = n
	}
	if draws >= manyDraws {
		z = 2
	}
	var lock sync.Mutex
	measured := map[string]result{}
	keep := os.Getenv("COVERAGE_KEEP")
	if old, err := os.ReadFile(keep); err == nil {
		if err := json.Unmarshal(old, &measured); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0)) // in order, so that what is done is kept
	for _, table := range tables {
		for _, c := range table.cells() {
			if !strings.Contains(c.name, os.Getenv("ROWS")) {
				continue
			}
			free <- struct{}{}
			wait.Go(func() {
				defer func() { <-free }()
				r := c.measure(draws)
				lock.Lock()
				defer lock.Unlock()
				measured[c.name] = r
				if text != "" {
					fmt.Fprint(os.Stderr, c.line(r)) // It takes minutes, and this is how far it is.
				}
				if keep != "" {
					save(t, keep, measured)
				}
				// The race detector leaves time to see that it runs, and for no more.
				if r.Draws >= fewDraws && !r.kept(c.want, z) {
					t.Errorf("%s, %s: %.1f%% of %d, want %s (%s have a warning)",
						table.theme, c.name, 100*r.share(), r.printed(), c.want, percent(r.Warned, r.printed()))
				}
			})
		}
	}
	wait.Wait()
	if text == "" {
		return
	}
	page := pageOf(draws, measured)
	fmt.Print(page)
	if name := os.Getenv("COVERAGE_PAGE"); name != "" {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// save writes what was measured so far.
func save(t *testing.T, name string, measured map[string]result) {
	text, err := json.Marshal(measured)
	if err == nil {
		err = os.WriteFile(name, text, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

func (s span) String() string {
	switch {
	case s.lo == 0:
		return fmt.Sprintf("at most %g%%", math.Round(1000*s.hi)/10)
	case s.hi == 1:
		return fmt.Sprintf("at least %g%%", math.Round(1000*s.lo)/10)
	}
	return fmt.Sprintf("%g to %g%%", math.Round(1000*s.lo)/10, math.Round(1000*s.hi)/10)
}

func percent(k, n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(k)/float64(n))
}
