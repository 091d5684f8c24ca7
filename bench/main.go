// Command bench measures deem against a bare loop and against its targets.
//
// It starts three kinds of processes, so that the time and memory of each are its own:
// deem itself; a server that answers like a vendor (package faultserver); and a bare
// loop, which reads the same items and makes the same calls with net/http and a
// semaphore, and keeps nothing. Each measurement is a ratio of runs that took place one
// after another on the same machine, and is made several times; the median counts, and
// the spread is shown.
//
//	go run ./bench -check            # all workloads, a few minutes
//	go run ./bench -only 'zero|rss'  # some of them
//	go run ./bench -long             # a million items too
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// options are what the command was told.
type options struct {
	deem  string // the binary that is measured
	repo  string
	out   string // where the results are written, "" for nowhere
	only  *regexp.Regexp
	runs  int
	long  bool
	check bool

	busy load // the machine, before anything was measured
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run is main with an exit code: 0 for all well, 1 for a target that was missed or an
// error, 2 for wrong usage.
func run(ctx context.Context, args []string) int {
	if len(args) > 0 && roles[args[0]] != nil {
		if err := roles[args[0]](ctx, args[1:]); err != nil {
			fmt.Fprintf(os.Stderr, "bench %s: %v\n", args[0], err)
			return 1
		}
		return 0
	}
	o, err := parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		return 2
	}
	missed, err := measureAll(ctx, o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		return 1
	}
	if o.check && missed > 0 {
		fmt.Fprintf(os.Stderr, "bench: %d of the targets are missed\n", missed)
		return 1
	}
	return 0
}

// roles are what the command is when it starts itself.
var roles = map[string]func(ctx context.Context, args []string) error{"serve": serve, "bare": bare}

func parse(args []string) (options, error) {
	var o options
	var only string
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.deem, "deem", "bin/deem", "the `binary` to measure")
	f.StringVar(&o.repo, "repo", ".", "the `folder` of the repository")
	f.StringVar(&o.out, "out", "", "write the results to this `file`")
	f.StringVar(&only, "only", "", "measure only the workloads whose names match this `pattern`")
	f.IntVar(&o.runs, "runs", 3, "measure each workload `n` times")
	f.BoolVar(&o.long, "long", false, "measure a million items too (some minutes more)")
	f.BoolVar(&o.check, "check", false, "exit with 1 when a target is missed")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.only, err = regexp.Compile(only); err != nil {
		return o, err
	}
	if o.runs < 1 {
		return o, fmt.Errorf("-runs is %d; measure at least once", o.runs)
	}
	if o.deem, err = filepath.Abs(o.deem); err != nil {
		return o, err
	}
	o.repo, err = filepath.Abs(o.repo)
	return o, err
}

// measureAll measures the workloads, prints a line as soon as each is done, and writes
// the results. It returns how many targets were missed.
func measureAll(ctx context.Context, o options) (missed int, err error) {
	dir, err := os.MkdirTemp("", "deem-bench-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	o.busy = currentLoad()
	if w := o.busy.warning(); w != "" {
		fmt.Println(strings.TrimSpace(w) + "\n")
	}
	l := &lab{options: o, dir: dir}
	began := time.Now()
	var rows []row
	fmt.Println(heading())
	for _, w := range workloads() {
		if !o.only.MatchString(w.name) || w.long && !o.long {
			continue
		}
		measured, err := l.measure(ctx, w)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", w.name, err)
		}
		for _, r := range measured {
			fmt.Println(r)
			if r.missed() {
				missed++
			}
		}
		rows = append(rows, measured...)
	}
	took := time.Since(began).Round(time.Second)
	fmt.Printf("\n%d of %d targets met, in %v\n", len(rows)-missed, len(rows), took)
	if o.out == "" {
		return missed, nil
	}
	return missed, os.WriteFile(o.out, []byte(page(rows, o, took)), 0o644) //nolint:gosec // it is meant to be read
}

// version returns what the binary says that it is.
func version(o options) string {
	s, err := start(context.Background(), ".", o.deem, "version")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(s.out)
}
