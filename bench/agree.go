package main

import (
	"fmt"
	"io"
	"math"
)

// agree sets two measurements of everything beside each other, names the rows that differ by
// more than their spread, and reports whether these are no more than expected: one of a
// hundred, and one where there are fewer.
func agree(w io.Writer, a, b results) bool {
	if a.Machine != b.Machine {
		fmt.Fprintf(w, "these are two kinds of machine, %s and %s; the spread of one says nothing about the other\n", a.Machine, b.Machine)
	}
	before := map[[2]string]result{}
	for _, r := range a.Rows {
		before[[2]string{r.Workload, r.Measure}] = r
	}
	both, apart := 0, 0
	for _, r := range b.Rows {
		was, ok := before[[2]string{r.Workload, r.Measure}]
		if !ok {
			fmt.Fprintf(w, "only in the second: %s, %s\n", r.Workload, r.Measure)
			continue
		}
		delete(before, [2]string{r.Workload, r.Measure})
		both++
		by, within := difference(was, r)
		if by > within {
			apart++
			m := measure{unit: r.Unit}
			fmt.Fprintf(w, "differs by %.1f%%, expected within %.1f%%: %s, %s: %s and %s\n",
				100*by, 100*within, r.Workload, r.Measure, m.write(was.Median), m.write(r.Median))
		}
	}
	for _, r := range a.Rows {
		if _, left := before[[2]string{r.Workload, r.Measure}]; left {
			fmt.Fprintf(w, "only in the first: %s, %s\n", r.Workload, r.Measure)
		}
	}
	expected := (both + 99) / 100
	fmt.Fprintf(w, "%d of %d rows agree within their spread; %d may differ by chance\n", both-apart, both, expected)
	return apart <= expected
}

// difference returns by how much two results differ, as a share of the smaller, and how
// much the wider of their spreads allows. A hundredth is allowed always, for rows whose
// runs were all the same by chance.
func difference(a, b result) (by, within float64) {
	within = max(a.Within, b.Within, 0.01)
	least := min(math.Abs(a.Median), math.Abs(b.Median))
	switch {
	case a.Median == b.Median:
		return 0, within
	case least == 0:
		return math.Inf(1), within
	}
	return math.Abs(a.Median-b.Median) / least, within
}
