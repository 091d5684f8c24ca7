// Command bench measures deem against a bare loop and against its targets.
//
// It starts three kinds of processes, so that the time and memory of each are its own:
// deem itself; a server that answers like a vendor (package faultserver); and a bare
// loop, which reads the same items and makes the same calls with net/http and a
// semaphore, and keeps nothing. Each measurement is a ratio of runs that took place one
// after another on the same machine, and is made several times, with all the others in
// between; the median counts, and the spread is shown.
//
//	make bench                                # the workloads, ten to twenty minutes
//	bin/bench -only 'zero|start'              # some of them
//	bin/bench -full                           # every cell, more than two hours
//	bin/bench -agree a/results.json b/results.json
package main

import (
	"context"
	"errors"
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
	full  bool
	check bool

	guard string   // the file of baselines to hold ratios against, "" for none
	learn bool     // measure the baseline for this machine
	agree []string // two files of results to set beside each other

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
	switch {
	case len(o.agree) > 0:
		err = compareFiles(o.agree)
	case o.guard != "" && o.learn:
		pin()
		err = learn(ctx, o)
	case o.guard != "":
		pin()
		err = hold(ctx, o)
	default:
		err = measureAll(ctx, o)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		return 1
	}
	return 0
}

// roles are what the command is when it starts itself.
var roles = map[string]func(ctx context.Context, args []string) error{
	"serve": serve, "bare": bare, "nothing": nothing,
}

func parse(args []string) (options, error) {
	var o options
	var only string
	var agree bool
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.deem, "deem", "bin/deem", "the `binary` to measure")
	f.StringVar(&o.repo, "repo", ".", "the `folder` of the repository")
	f.StringVar(&o.out, "out", "", "write the results to this `file`, and to results.json beside it")
	f.StringVar(&only, "only", "", "measure only the workloads whose names match this `pattern`")
	f.IntVar(&o.runs, "runs", 3, "measure each workload `n` times")
	f.BoolVar(&o.full, "full", false, "measure every cell (hours)")
	f.StringVar(&o.guard, "guard", "", "hold the sturdy ratios against the baselines in this `file`, and exit with 1 when one is worse")
	f.BoolVar(&o.learn, "learn", false, "with -guard: measure the baseline for this machine, and write it")
	f.BoolVar(&agree, "agree", false, "set the two files of results that follow beside each other")
	f.BoolVar(&o.check, "check", false, "exit with 1 when a target is missed")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if agree {
		o.agree = f.Args()
		if len(o.agree) != 2 {
			return o, fmt.Errorf("-agree takes two files of results, not %d", len(o.agree))
		}
	} else if f.NArg() > 0 {
		return o, fmt.Errorf("nobody knows what %q means", f.Arg(0))
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

// compareFiles sets two files of results beside each other.
func compareFiles(names []string) error {
	a, err := loadResults(names[0])
	if err != nil {
		return err
	}
	b, err := loadResults(names[1])
	if err != nil {
		return err
	}
	if !agree(os.Stdout, a, b) {
		return errors.New("more rows differ than chance explains")
	}
	return nil
}

// measureAll measures the workloads, prints the table, and writes the results. A target that is missed is an error if that is to be checked.
func measureAll(ctx context.Context, o options) error {
	o.busy = currentLoad()
	if w := o.busy.warning(); w != "" {
		fmt.Println(w + "\n")
	}
	l := &lab{options: o}
	if err := l.open(); err != nil {
		return err
	}
	defer l.close()
	began := time.Now()
	chosen, err := l.chosen()
	if err != nil {
		return err
	}
	rows, err := l.rounds(ctx, chosen, os.Stdout, os.Stderr)
	if err != nil {
		return err
	}
	r := newResults(rows, o, l.theft, time.Since(began).Round(time.Second))
	missed, targets := r.missed()
	fmt.Printf("\n%d of %d targets met, in %v\n\n%s", targets-missed, targets, r.Took, r.spread())
	if said := l.theft.String(); said != "" {
		fmt.Printf("\n%s\n", said)
	}
	if o.out != "" {
		if err := r.save(o.out); err != nil {
			return err
		}
	}
	if o.check && missed > 0 {
		return fmt.Errorf("%d of the targets are missed", missed)
	}
	return nil
}

// version returns what the binary says that it is.
func version(o options) string {
	s, err := start(context.Background(), ".", o.deem, "version")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(s.out)
}
