// Command peers measures deem beside other tools that judge with a model.
//
// It installs them from npm into a folder that it removes, gives all the same items, and
// lets each ask the same server on the loopback address, so that no vendor and no network
// is part of what is measured. Two things are measured: what a verdict costs in time of
// the processor, and how many items are asked about again after the process was killed
// when half of them had been answered. Each contestant must make one request and one
// verdict for each item, or there is no number.
//
//	go run ./bench/peers -check                  # a few minutes, and what npm takes
//	go run ./bench/peers -keep /tmp/peers        # keep what npm installed, and use it again
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

// options are what the command was told.
type options struct {
	deem    string // the binary that is measured
	out     string // where the page is written, "" for nowhere
	keep    string
	n       int // items
	calls   int // at once
	runs    int
	kills   int
	latency time.Duration // of the server when a process is killed
	check   bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run is main with an exit code: 0 for all well, 1 for a promise that does not hold or an
// error, 2 for wrong usage.
func run(ctx context.Context, args []string) int {
	o, err := parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "peers: %v\n", err)
		return 2
	}
	f, err := measure(ctx, o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "peers: %v\n", err)
		return 1
	}
	code := 0
	for _, p := range promises(f) {
		fmt.Println(p)
		if !p.kept && o.check {
			code = 1
		}
	}
	return code
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.StringVar(&o.deem, "deem", "bin/deem", "the `binary` to measure")
	f.StringVar(&o.out, "out", "", "write the results to this `file`")
	f.StringVar(&o.keep, "keep", "", "install into this `folder`, keep it, and use what is in it")
	f.IntVar(&o.n, "n", 1000, "how many `items`")
	f.IntVar(&o.calls, "j", 32, "how many `calls` at once")
	f.IntVar(&o.runs, "runs", 3, "measure each contestant `n` times")
	f.IntVar(&o.kills, "kills", 5, "kill deem `n` times, and count the worst; the others are killed once")
	f.DurationVar(&o.latency, "latency", 50*time.Millisecond, "how long the server takes to answer those who are killed")
	f.BoolVar(&o.check, "check", false, "exit with 1 when a promise does not hold")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.n < 2 || o.n > mostItems || o.calls < 1 || o.runs < 1 || o.kills < 1 {
		return o, fmt.Errorf("-n is from 2 to %d, and -j, -runs and -kills are at least 1", mostItems)
	}
	var err error
	if o.deem, err = filepath.Abs(o.deem); err != nil {
		return o, err
	}
	if o.keep != "" {
		o.keep, err = filepath.Abs(o.keep)
	}
	return o, err
}

// measure installs the peers, measures everybody, and writes the page.
func measure(ctx context.Context, o options) (findings, error) {
	f := findings{options: o, began: time.Now()}
	dir, err := os.MkdirTemp("", "deem-peers-lab-")
	if err != nil {
		return f, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	l := &lab{options: o, dir: dir}
	if err := writeFiles(dir, makeItems(o.n)); err != nil {
		return f, err
	}
	if l.peers, err = install(ctx, o.keep); err != nil {
		return f, err
	}
	defer l.peers.remove()
	if f.version, err = versionOf(ctx, o.deem, "version"); err != nil {
		return f, err
	}
	if f.node, err = versionOf(ctx, l.peers.node(), "--version"); err != nil {
		return f, err
	}
	if f.start, err = promptfooStart(l).run(ctx); err != nil {
		return f, err
	}
	if f.costs, err = l.costs(ctx); err != nil {
		return f, err
	}
	if f.reruns, err = l.reruns(ctx); err != nil {
		return f, err
	}
	if o.out == "" {
		return f, nil
	}
	return f, os.WriteFile(o.out, []byte(page(f)), 0o644) //nolint:gosec // it is meant to be read
}
