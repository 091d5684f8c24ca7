package main

import (
	"bytes"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestRow(t *testing.T) {
	atMost := measure{what: "x", limit: 2}
	atLeast := measure{what: "x", unit: "%", limit: 90, least: true}
	free := measure{what: "x", unit: "MB"}
	for _, tt := range []struct {
		row    row
		median float64
		note   string
		missed bool
	}{
		{row{measure: atMost, values: []float64{3, 1, 2}, notes: []string{"a", "b", "c"}}, 2, "c", false},
		{row{measure: atMost, values: []float64{3, 1, 2.1}, notes: []string{"a", "b", "c"}}, 2.1, "c", true},
		{row{measure: atMost, values: []float64{1, 3}, notes: []string{"a", "b"}}, 3, "b", true},
		{row{measure: atLeast, values: []float64{89.9}, notes: []string{"a"}}, 89.9, "a", true},
		{row{measure: atLeast, values: []float64{90}, notes: []string{"a"}}, 90, "a", false},
		{row{measure: free, values: []float64{1e9}, notes: []string{"a"}}, 1e9, "a", false},
	} {
		if m, note := tt.row.median(); m != tt.median || note != tt.note {
			t.Errorf("median of %v = %v, %s, want %v, %s", tt.row.values, m, note, tt.median, tt.note)
		}
		if got := tt.row.missed(); got != tt.missed {
			t.Errorf("%v misses %+v: %v, want %v", tt.row.values, tt.row.measure, got, tt.missed)
		}
	}
}

func TestRowString(t *testing.T) {
	atLeast := measure{what: "x", unit: "%", limit: 90, least: true}
	for _, tt := range []struct {
		row  row
		want string
	}{
		{row{measure: atLeast, workload: "w", values: []float64{80, 90, 85}, notes: []string{"", "", "n"}}, "w x 85.0% 80.0% 90.0% ≥ 90.0% NO n"},
		{row{measure: measure{what: "y", limit: 2}, workload: "w", values: []float64{1.5}, notes: []string{"n"}}, "w y 1.50 1.50 1.50 ≤ 2.00 yes n"},
		{row{measure: measure{what: "z", unit: "ms"}, workload: "w", values: []float64{1, 2, 3}, notes: []string{"", "", ""}}, "w z 2.0 ms 1.0 ms 3.0 ms - -"},
	} {
		if got := strings.Join(strings.Fields(tt.row.String()), " "); got != tt.want {
			t.Errorf("row = %q, want %q", got, tt.want)
		}
	}
}

// rowsOf returns rows of one kind, with the given values.
func rowsOf(k kind, values ...[]float64) []row {
	var rows []row
	for i, v := range values {
		rows = append(rows, row{
			measure: measure{what: string(rune('a' + i)), kind: k}, workload: string(k), values: v, notes: make([]string, len(v)),
		})
	}
	return rows
}

// TestExpect holds that a row whose runs were alike by chance gets the spread of its
// family, that one that is wilder keeps its own, and that neither kinds nor workloads mix.
func TestExpect(t *testing.T) {
	rows := append(rowsOf(clock, []float64{100, 100, 100}, []float64{90, 100, 110}, []float64{100}), rowsOf(count, []float64{1, 1, 1})...)
	rows = append(rows, rowsOf(clock, []float64{7, 7, 7})...)
	rows[0].workload, rows[1].workload, rows[2].workload = "x, 1", "x, 2", "x, 3"
	rows[4].workload = "y"
	expect(rows)
	pooled := math.Sqrt(0.1 * 0.1 / 2)
	factor := func(n int) float64 { return 2.6 * 1.25 * math.Sqrt2 / math.Sqrt(float64(n)) }
	for i, want := range []float64{pooled * factor(3), 0.1 * factor(3), pooled * factor(1), 0, 0} {
		if got := rows[i].within; math.Abs(got-want) > 1e-12 {
			t.Errorf("within of %v = %v, want %v", rows[i].values, got, want)
		}
	}
}

func TestAgree(t *testing.T) {
	of := func(median, within float64) result {
		return result{Workload: "w", Measure: "m", Median: median, Within: within}
	}
	for _, tt := range []struct {
		a, b result
		says string
	}{
		{of(2, 0.1), of(2, 0.1), "1 of 1 rows agree"},
		{of(2, 0.1), of(2.19, 0.05), "1 of 1 rows agree"},
		{of(2, 0.1), of(2.21, 0.05), "differs by 10.5%, expected within 10.0%: w, m: 2.00 and 2.21"},
		{of(2.21, 0.05), of(2, 0.1), "differs by 10.5%"},
		{of(1, 0), of(1.005, 0), "1 of 1 rows agree"},
		{of(1, 0), of(1.02, 0), "0 of 1 rows agree"},
		{of(0, 0.1), of(1, 0.1), "0 of 1 rows agree"},
		{of(1, 0.1), result{Workload: "w", Measure: "new", Median: 1}, "only in the second: w, new\nonly in the first: w, m\n0 of 0"},
	} {
		var b bytes.Buffer
		agree(&b, results{Rows: []result{tt.a}}, results{Rows: []result{tt.b}})
		if !strings.Contains(b.String(), tt.says) {
			t.Errorf("agree(%+v, %+v) says %q, want %q", tt.a, tt.b, b.String(), tt.says)
		}
	}
	var b bytes.Buffer
	agree(&b, results{Machine: machine{Processors: 2}}, results{Machine: machine{Processors: 4}})
	if !strings.Contains(b.String(), "two kinds of machine") {
		t.Errorf("two machines: %q", b.String())
	}
}

// TestAgreeByChance holds that as many rows may differ as were foretold, and no more.
func TestAgreeByChance(t *testing.T) {
	for _, tt := range []struct {
		rows, apart int
		want        bool
	}{
		{0, 0, true}, {1, 0, true}, {99, 1, true}, {99, 2, false}, {100, 1, true}, {100, 2, false}, {101, 2, true}, {101, 3, false},
	} {
		var a, b results
		for i := range tt.rows {
			r := result{Workload: "w", Measure: strconv.Itoa(i), Median: 1, Within: 0.1}
			a.Rows = append(a.Rows, r)
			if i < tt.apart {
				r.Median = 1.2
			}
			b.Rows = append(b.Rows, r)
		}
		if got := agree(io.Discard, a, b); got != tt.want {
			t.Errorf("%d of %d rows differ: agree = %v, want %v", tt.apart, tt.rows, got, tt.want)
		}
	}
}

// TestSave holds that what is written can be read back and agrees with itself, and that
// the page shows every row once, and the spread in words.
func TestSave(t *testing.T) {
	rows := append(rowsOf(processor, []float64{1, 2, 3}), rowsOf(memory, []float64{70, 71, 72})...)
	rows[0].limit = 1.5
	r := newResults(rows, options{deem: "no-such-program", runs: 3, busy: 0.9}, theft{Most: 0.031, Repeated: 5}, time.Minute)
	page := filepath.Join(t.TempDir(), "RESULTS.md")
	if err := r.save(page); err != nil {
		t.Fatal(err)
	}
	got, err := loadResults(filepath.Join(filepath.Dir(page), "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if !agree(&b, got, r) || !strings.Contains(b.String(), "2 of 2 rows agree") {
		t.Errorf("saved and read again: %s", b.String())
	}
	if missed, targets := r.missed(); missed != 1 || targets != 1 {
		t.Errorf("missed = %d of %d, want 1 of 1", missed, targets)
	}
	text := r.page()
	for _, want := range []string{
		"| processor | a | 2.00 | 1.00 | 3.00 | ≤ 1.50 | NO |", "| memory | a | 71.00 | 70.00 | 72.00 | - | - |",
		"busy with other work", "- Peak memory: 4% for most", "more than 0.2% of them, 5 times in all", "least: 3.1% at most",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("the page has %q %d times, want once:\n%s", want, strings.Count(text, want), text)
		}
	}
	if _, err := loadResults(page); err == nil {
		t.Error("a page was read as results")
	}
}

func TestMinor(t *testing.T) {
	for version, want := range map[string]string{"go1.26.8": "go1.26", "go1.26": "go1.26", "devel +abc": "devel +abc"} {
		if got := minor(version); got != want {
			t.Errorf("minor(%s) = %s, want %s", version, got, want)
		}
	}
}
