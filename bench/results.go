package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// results are what one measurement of everything gave, as results.json keeps them.
type results struct {
	Machine machine       `json:"machine"`
	Deem    string        `json:"deem"` // what the binary says that it is
	Date    string        `json:"date"`
	Took    time.Duration `json:"took_ns"`
	Load    load          `json:"load"`
	Theft   theft         `json:"theft"`
	Runs    int           `json:"runs"`
	Rows    []result      `json:"rows"`

	rows []row
}

// A result is a row, as results.json keeps it.
type result struct {
	Workload string    `json:"workload"`
	Measure  string    `json:"measure"`
	Kind     kind      `json:"kind"`
	Unit     string    `json:"unit,omitempty"`
	Median   float64   `json:"median"`
	Values   []float64 `json:"values"`
	Within   float64   `json:"within"` // how far a second median may lie, as a share
	Target   float64   `json:"target,omitempty"`
	Least    bool      `json:"least,omitempty"` // the target is a lower limit
}

// newResults puts together what was measured.
func newResults(rows []row, o options, t theft, took time.Duration) results {
	expect(rows)
	r := results{
		Machine: thisMachine(), Deem: version(o), Date: time.Now().UTC().Format(time.DateOnly),
		Took: took, Load: o.busy, Theft: t, Runs: o.runs, rows: rows,
	}
	for _, w := range rows {
		m, _ := w.median()
		r.Rows = append(r.Rows, result{
			Workload: w.workload, Measure: w.what, Kind: w.kind, Unit: w.unit,
			Median: m, Values: w.values, Within: w.within, Target: w.limit, Least: w.least,
		})
	}
	return r
}

// missed returns how many targets were missed, of how many.
func (r results) missed() (missed, targets int) {
	for _, w := range r.rows {
		if w.limit != 0 {
			targets++
		}
		if w.missed() {
			missed++
		}
	}
	return missed, targets
}

// save writes the results as a page, and beside it the same for programs.
func (r results) save(page string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(page, []byte(r.page()), 0o644); err != nil { //nolint:gosec // it is meant to be read
		return err
	}
	beside := filepath.Join(filepath.Dir(page), "results.json")
	return os.WriteFile(beside, append(text, '\n'), 0o644) //nolint:gosec // it is meant to be read
}

// loadResults reads results that were saved.
func loadResults(name string) (results, error) {
	var r results
	text, err := os.ReadFile(name) //nolint:gosec // whoever starts it names the file
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read %s: %w", name, err)
	}
	if len(r.Rows) == 0 {
		return r, fmt.Errorf("read %s: there are no results in it", name)
	}
	return r, nil
}

// page returns the results as Markdown: what has a target, what has none, and how far a
// second measurement may differ.
func (r results) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What `make bench` measured\n\n")
	fmt.Fprintf(&b, "%s, on %s; each workload in %d rounds, in %v. The median counts. README.md says what is measured and why.\n\n",
		r.Date, r.Machine, r.Runs, r.Took)
	fmt.Fprintf(&b, "Measured: %s.\n\n", r.Deem)
	for _, warning := range []string{r.Load.warning(), r.Theft.String()} {
		if warning != "" {
			fmt.Fprintf(&b, "%s\n\n", warning)
		}
	}
	with := slices.Collect(filter(r.rows, func(w row) bool { return w.limit != 0 }))
	without := slices.Collect(filter(r.rows, func(w row) bool { return w.limit == 0 }))
	if len(with) > 0 {
		fmt.Fprintf(&b, "## Targets\n\n%s\n", table(with))
	}
	if len(without) > 0 {
		fmt.Fprintf(&b, "## Without a target\n\n%s\n", table(without))
	}
	fmt.Fprintf(&b, "## How far a second measurement may differ\n\n%s", r.spread())
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func filter(rows []row, keep func(row) bool) func(yield func(row) bool) {
	return func(yield func(row) bool) {
		for _, r := range rows {
			if keep(r) && !yield(r) {
				return
			}
		}
	}
}

// table returns rows as a table.
func table(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(headings[:], " | "), strings.Repeat("---|", len(headings)))
	for _, r := range rows {
		c := r.cells()
		fmt.Fprintf(&b, "| %s |\n", strings.Join(c[:], " | "))
	}
	return b.String()
}

// kindWords say what each kind of number is.
var kindWords = []struct {
	kind  kind
	words string
}{
	{processor, "Ratios of processor time"},
	{clock, "Times on the clock, and rates"},
	{memory, "Peak memory"},
	{count, "Requests and bytes"},
}

// spread says in words how far apart two measurements may be expected to lie.
func (r results) spread() string {
	if r.Runs < 2 {
		return "Each workload was measured once, which says nothing about that.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "On the same machine, as busy as this one was, the median of a second measurement lies within this of the first in 99 of 100 rows:\n\n")
	for _, k := range kindWords {
		var within []float64
		for _, w := range r.rows {
			if w.kind == k.kind {
				within = append(within, w.within)
			}
		}
		if len(within) == 0 {
			continue
		}
		slices.Sort(within)
		worst := slices.MaxFunc(slices.Collect(filter(r.rows, func(w row) bool { return w.kind == k.kind })),
			func(a, b row) int { return int(1e6 * (a.within - b.within)) })
		fmt.Fprintf(&b, "- %s: %.0f%% for most, and %.0f%% for %q of %q.\n", k.words, 100*within[len(within)/2], 100*worst.within, worst.what, worst.workload)
	}
	fmt.Fprintf(&b, "\n`bin/bench -agree a.json b.json` sets two measurements beside each other and names the rows that differ by more.\n")
	return b.String()
}
