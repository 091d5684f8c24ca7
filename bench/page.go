package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A row is what was measured for one target.
type row struct {
	workload string
	target   target
	values   []float64
	notes    []string
}

// median returns the middle of the values, and which of them it is: of an even number
// the upper one, because it was measured.
func (r row) median() (number float64, note string) {
	order := make([]int, len(r.values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
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
	if r.target.least {
		return m < r.target.limit
	}
	return m > r.target.limit
}

func (r row) write(n float64) string {
	switch r.target.unit {
	case "":
		return fmt.Sprintf("%.2f", n)
	case "%":
		return fmt.Sprintf("%.1f%%", n)
	default:
		return fmt.Sprintf("%.1f %s", n, r.target.unit)
	}
}

// cells returns the row in words: workload, what, value, spread, target, whether it is
// met, and the numbers behind the median.
func (r row) cells() [7]string {
	m, note := r.median()
	sign, met := "≤ ", "yes"
	if r.target.least {
		sign = "≥ "
	}
	if r.missed() {
		met = "NO"
	}
	spread := fmt.Sprintf("%s to %s", r.write(slices.Min(r.values)), r.write(slices.Max(r.values)))
	return [7]string{r.workload, r.target.what, r.write(m), spread, sign + r.write(r.target.limit), met, note}
}

// widths are those of the columns on a terminal.
var widths = [7]int{52, 31, 9, 20, 10, 4, 0}

func line(cells [7]string) string {
	var b strings.Builder
	for i, c := range cells {
		fmt.Fprintf(&b, "%-*s ", widths[i], c)
	}
	return strings.TrimRight(b.String(), " ")
}

func (r row) String() string { return line(r.cells()) }

func heading() string {
	return line([7]string{"workload", "measure", "median", "spread", "target", "met", "behind the median"})
}

// page returns the results as Markdown.
func page(rows []row, o options, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What `make bench` measured\n\n")
	fmt.Fprintf(&b, "%s, on %s; %d runs of each workload, in %v. The median counts. README.md says what is measured and why.\n\n",
		time.Now().UTC().Format(time.DateOnly), machine(), o.runs, took)
	fmt.Fprintf(&b, "Measured: %s.%s\n\n", version(o), o.busy.warning())
	fmt.Fprintf(&b, "| workload | measure | median | spread | target | met | behind the median |\n|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		c := r.cells()
		fmt.Fprintf(&b, "| %s |\n", strings.Join(c[:], " | "))
	}
	return b.String()
}

// A load is how busy the machine was before anything was measured: how many processes
// wanted a processor, for each that there is.
type load float64

// currentLoad returns the load of the last minute, 0 where the system does not tell.
func currentLoad() load {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var average float64
	if _, err := fmt.Sscan(string(text), &average); err != nil {
		return 0
	}
	return load(average / float64(runtime.NumCPU()))
}

// warning says when the machine did not have the time to be measured on. Ratios bear
// some of that, but not time on the clock that is set beside an ideal.
func (l load) warning() string {
	if l < 0.3 {
		return ""
	}
	return fmt.Sprintf(" The machine was busy with other work: %.1f processes wanted each processor before the first measurement. Times on the clock are worth little.", float64(l))
}

// machine says on what the measurements were made.
func machine() string {
	return fmt.Sprintf("%d processors (%s), %s/%s, %s", runtime.NumCPU(), processor(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// processor returns the name of the processor where the system tells it.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unnamed"
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unnamed"
}
