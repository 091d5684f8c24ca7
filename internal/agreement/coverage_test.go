package agreement_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
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
	{"score of a run whose items come in clusters", clusterCells},
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

	// draw makes one set of data and says what became of the printed number.
	draw func(*rand.Rand) outcome

	// want is the range in which the share of hits must lie: of intervals that hold
	// the truth, or of false alarms.
	want span

	// cost is how many times as long a draw takes as usual; 0 means 1. There are as
	// many fewer draws.
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
	alarms  = span{0, 0.05}
)

// A result is what was measured of a cell.
type result struct{ draws, none, hits, warned int }

// share returns the share of hits among the printed numbers.
func (r result) share() float64 { return float64(r.hits) / float64(max(r.printed(), 1)) }

func (r result) printed() int { return r.draws - r.none }

// kept reports whether the share of hits is in the range, as far as it is known to z standard
// errors of the simulation, or nearly all of the numbers carry a warning.
func (r result) kept(want span, z float64) bool {
	n := float64(max(r.printed(), 1))
	slack := func(x float64) float64 { return z * math.Sqrt(math.Max(x*(1-x), 0.01)/n) }
	x, warned := r.share(), float64(r.warned)/n
	return x >= want.lo-slack(x) && x <= want.hi+slack(x) || warned >= nearlyAll-slack(warned)
}

// nearlyAll is the share of numbers that carry a warning where intervals do not keep their
// level.
const nearlyAll = 0.95

// fewDraws is the number of draws below which a share says nothing.
const fewDraws = 30

// measure draws n times. The seed is the cell's name, so that new rows leave the others
// as they are.
func (c cell) measure(n int) result {
	name := fnv.New64a()
	_, _ = name.Write([]byte(c.name))
	rng := rand.New(rand.NewPCG(name.Sum64(), 21))
	r := result{draws: max(n/max(c.cost, 1), 1)}
	for range r.draws {
		o := c.draw(rng)
		switch {
		case o.none:
			r.none++
			continue
		case o.hit:
			r.hits++
		}
		if o.warned {
			r.warned++
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
func pageOf(draws int, lines [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# How often intervals hold and tests err

`+"`make coverage`"+` writes this page: made-up data with a known truth, through the code that prints the numbers. Each row has a fixed seed. A row that takes long has fewer draws
than the %d of the others. The standard error of a share near 95%% is %.1f points with %d draws.

*Share* is the share of intervals at 95%% that hold the truth, or of false alarms at 5%%. *No interval* is how often the data allow none. *Warned* is the share of numbers that carry a warning
that they may be off. The test fails where a share is outside its range by more than the error of the simulation allows, and fewer than 95%% of the numbers carry a warning.
`, draws, 100*math.Sqrt(0.95*0.05/float64(draws)), draws)
	for i, table := range tables {
		fmt.Fprintf(&b, "\n## %s%s\n\n%s\n", strings.ToUpper(table.theme[:1]), table.theme[1:], strings.Join(lines[i], "\n"))
	}
	return b.String()
}

// TestCoverage measures every cell, or those with ROWS in their name. With COVERAGE=N it
// draws N times and prints the table, and with COVERAGE_PAGE it writes the page too.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	draws, z := 40/slower, 3.5
	if text := os.Getenv("COVERAGE"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("COVERAGE=%q: want a number of draws, as 4000", text)
		}
		draws = n
	}
	if draws >= 1000 {
		z = 2
	}
	lines := make([][]string, len(tables))
	var wait sync.WaitGroup
	defer func() {
		wait.Wait()
		if os.Getenv("COVERAGE") == "" {
			return
		}
		page := pageOf(draws, lines)
		fmt.Print(page)
		if name := os.Getenv("COVERAGE_PAGE"); name != "" && os.Getenv("ROWS") == "" {
			if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
				t.Error(err)
			}
		}
	}()
	for i, table := range tables {
		cells := slices.DeleteFunc(table.cells(), func(c cell) bool { return !strings.Contains(c.name, os.Getenv("ROWS")) })
		lines[i] = make([]string, len(cells)+2)
		lines[i][0] = "| setting | draws | no interval | warned | share | range |"
		lines[i][1] = "|---|--:|--:|--:|--:|--:|"
		for j, c := range cells {
			wait.Go(func() {
				r := c.measure(draws)
				lines[i][j+2] = fmt.Sprintf("| %s | %d | %s | %s | %.1f%% | %s |", c.name, r.draws,
					percent(r.none, r.draws), percent(r.warned, r.printed()), 100*r.share(), c.want)
				if os.Getenv("COVERAGE") != "" {
					fmt.Fprintln(os.Stderr, lines[i][j+2]) // It takes minutes, and this is how far it is.
				}
				// The race detector leaves time to see that it runs, and for no more.
				if r.draws >= fewDraws && !r.kept(c.want, z) {
					t.Errorf("%s, %s: %.1f%% of %d, want %s (%s carry a warning)",
						table.theme, c.name, 100*r.share(), r.printed(), c.want, percent(r.warned, r.printed()))
				}
			})
		}
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
