// Command bench measures deem against a bare loop and against its targets.
//
// It starts three kinds of processes, so that each has its own time and memory: deem; a
// server that answers like a vendor (package faultserver); and a bare loop, which reads
// the same items and makes the same calls with net/http and stores nothing. Workloads
// run in rounds, so that a slow minute of the machine does not fall on one of them alone.
//
// The output is Go's benchmark format. To compare two builds, compare two outputs:
//
//	bin/bench -deem old/deem >old.txt
//	bin/bench -deem new/deem >new.txt
//	benchstat old.txt new.txt
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] { // the roles in which bench starts itself
		case "serve":
			return serve(ctx, args[1:])
		case "select":
			return selectLoop(ctx, args[1:])
		case "bare":
			return bare(ctx, args[1:])
		}
	}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	binary := flags.String("deem", "bin/deem", "the `binary` to measure")
	prompt := flags.String("prompt", "judge/prompts/universal.txt", "the prompt `file` that the bare loop sends")
	only := flags.String("only", "", "measure only workloads whose names match this `pattern`")
	rounds := flags.Int("count", 3, "measure each workload `n` times")
	check := flags.Bool("check", false, "exit with 1 when the median of a measure misses its target")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	l := &lab{}
	if l.deem, err = filepath.Abs(*binary); err != nil {
		return err
	}
	if l.prompt, err = filepath.Abs(*prompt); err != nil {
		return err
	}
	if l.dir, err = os.MkdirTemp("", "deem-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(l.dir) }()

	fmt.Printf("goos: %s\ngoarch: %s\ncpu: %s\npkg: deem/tools/bench\n", runtime.GOOS, runtime.GOARCH, processor())
	measured := map[string]map[string][]float64{} // by workload and unit
	for range *rounds {
		for _, w := range workloads() {
			if !pattern.MatchString(w.name) {
				continue
			}
			before := stolen()
			values, err := w.once(ctx, l)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			values = append(values, value{"stolen-s", stolen() - before})
			line := fmt.Sprintf("Benchmark%s 1", w.name)
			for _, v := range values {
				line += fmt.Sprintf(" %.4g %s", v.number, v.unit)
				if measured[w.name] == nil {
					measured[w.name] = map[string][]float64{}
				}
				measured[w.name][v.unit] = append(measured[w.name][v.unit], v.number)
			}
			fmt.Println(line)
		}
	}
	if missed := targets(measured); missed > 0 && *check {
		return fmt.Errorf("%d targets missed", missed)
	}
	return nil
}

// targets prints the median of each measure that has a target, as a table on standard
// error, and returns how many miss it.
func targets(measured map[string]map[string][]float64) (missed int) {
	table := tabwriter.NewWriter(os.Stderr, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "workload\tmeasure\tmedian\ttarget\tmet")
	for _, w := range workloads() {
		for _, t := range w.targets {
			values := slices.Sorted(slices.Values(measured[w.name][t.unit]))
			if len(values) == 0 {
				continue
			}
			median, sign, met := values[len(values)/2], "<=", "yes"
			if t.atLeast {
				sign = ">="
			}
			if t.atLeast && median < t.limit || !t.atLeast && median > t.limit {
				met = "NO"
				missed++
			}
			fmt.Fprintf(table, "%s\t%s\t%.4g\t%s %g\t%s\n", w.name, t.unit, median, sign, t.limit, met)
		}
	}
	_ = table.Flush()
	return missed
}

// processor returns the name of the processor where Linux tells it.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	_, after, _ := strings.Cut(string(text), "model name")
	name, _, _ := strings.Cut(strings.TrimLeft(after, "\t :"), "\n")
	return name
}

// stolen returns the processor seconds that the host of this virtual machine has given to
// other guests since the start. A workload that lost many of them says little.
func stolen() float64 {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	sc := bufio.NewScanner(f)
	sc.Scan()
	fields := strings.Fields(sc.Text())
	if len(fields) < 9 {
		return 0
	}
	ticks, _ := strconv.ParseFloat(fields[8], 64)
	return ticks / 100
}
