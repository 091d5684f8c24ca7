package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A row is what was measured of one measure.
type row struct {
	measure

	workload string
	values   []float64
	notes    []string

	// within is how far the median of a second measurement may lie from this one, as a
	// share of it; see expect.
	within float64
}

// addValues adds one measurement of a workload to its rows, of which there are none before the
// first. Every measurement gives the same measures in the same order.
func addValues(rows []row, name string, values []value) []row {
	if rows == nil {
		rows = make([]row, len(values))
		for i, v := range values {
			rows[i] = row{workload: name, measure: v.measure}
		}
	}
	for i, v := range values {
		if rows[i].measure != v.measure {
			panic(fmt.Sprintf("bench: %s measures %q where it measured %q", name, v.what, rows[i].what))
		}
		rows[i].values = append(rows[i].values, v.number)
		rows[i].notes = append(rows[i].notes, v.note)
	}
	return rows
}

// median returns the middle of the values, and the note beside it: of an even number
// the upper one, because it was measured.
func (r row) median() (number float64, note string) {
	order := make([]int, len(r.values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case r.values[a] < r.values[b]:
			return -1
		case r.values[a] > r.values[b]:
			return 1
		}
		return 0
	})
	i := order[len(order)/2]
	return r.values[i], r.notes[i]
}

// missed reports whether the median misses the target.
func (r row) missed() bool {
	m, _ := r.median()
	switch {
	case r.limit == 0:
		return false
	case r.least:
		return m < r.limit
	default:
		return m > r.limit
	}
}

func (m measure) write(n float64) string {
	switch m.unit {
	case "":
		return fmt.Sprintf("%.2f", n)
	case "%":
		return fmt.Sprintf("%.1f%%", n)
	case "s":
		return fmt.Sprintf("%.2f s", n)
	default:
		return fmt.Sprintf("%.1f %s", n, m.unit)
	}
}

// goal returns the target in words, "-" for none.
func (m measure) goal() string {
	switch {
	case m.limit == 0:
		return "-"
	case m.least:
		return "≥ " + m.write(m.limit)
	default:
		return "≤ " + m.write(m.limit)
	}
}

// cells returns the row in words: workload, what, median, lowest, highest, target,
// whether it is met, and the numbers behind the median.
func (r row) cells() [8]string {
	m, note := r.median()
	met := "yes"
	switch {
	case r.limit == 0:
		met = "-"
	case r.missed():
		met = "NO"
	}
	return [8]string{r.workload, r.what, r.write(m), r.write(slices.Min(r.values)), r.write(slices.Max(r.values)), r.goal(), met, note}
}

// headings are those of the cells.
var headings = [8]string{"workload", "measure", "median", "lowest", "highest", "target", "met", "behind the median"}

// widths are those of the columns on a terminal.
var widths = [8]int{58, 52, 9, 9, 9, 10, 4, 0}

func line(cells [8]string) string {
	var b strings.Builder
	for i, c := range cells {
		fmt.Fprintf(&b, "%-*s ", widths[i], c)
	}
	return strings.TrimRight(b.String(), " ")
}

func (r row) String() string { return line(r.cells()) }

// deviation returns the standard deviation of the values as a share of their mean, and
// whether there is one.
func (r row) deviation() (float64, bool) {
	if len(r.values) < 2 {
		return 0, false
	}
	var sum, squares float64
	for _, v := range r.values {
		sum += v
	}
	mean := sum / float64(len(r.values))
	if mean == 0 {
		return 0, true
	}
	for _, v := range r.values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares/float64(len(r.values)-1)) / math.Abs(mean), true
}

// A family is rows whose runs may be expected to differ alike.
type family struct {
	kind kind
	name string
}

// family returns that of a row: workloads of one name up to the numbers in it, and of
// those what is made of the same.
func (r row) family() family {
	name, _, _ := strings.Cut(r.workload, ",")
	return family{r.kind, name}
}

// expect sets how far a second measurement may differ. Three runs say little about
// their own spread, so that of the whole family is pooled, and the larger one counts:
// that of the row or that of the family. The median of n values that are spread
// normally has about 1.25/√n of their deviation, and two of them differ by √2 of that;
// 2.6 of those are exceeded in one of a hundred cases.
func expect(rows []row) {
	pooled := map[family]float64{}
	counted := map[family]int{}
	for _, r := range rows {
		if d, ok := r.deviation(); ok {
			pooled[r.family()] += d * d
			counted[r.family()]++
		}
	}
	for i, r := range rows {
		d, _ := r.deviation()
		if n := counted[r.family()]; n > 0 {
			d = max(d, math.Sqrt(pooled[r.family()]/float64(n)))
		}
		rows[i].within = 2.6 * math.Sqrt2 * 1.25 * d / math.Sqrt(float64(len(r.values)))
	}
}
