// Testlog runs go test and shows what it said, as go test itself would, and
// counts what go test does not: the tests that skipped themselves.
//
//	testlog [-strict] [-skips FILE] -- [go test flags and packages]
//
// A skipped test looks like a passed one in the output of go test, so a test
// that skips on every machine guards nothing and nobody notices. With -strict
// a skip that the file does not list is a failure. Each line of the file names
// a package, a test, and why it may skip:
//
//	deem/internal/store TestFull needs a disk that can be filled
//
// A listed test that did not skip is mentioned, so that the list gets shorter
// again. Blank lines and lines that begin with # are left out.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run does what the package comment says and returns the exit code: 0 if all
// went well, 1 if a test failed or skipped without leave, 2 for a wrong call.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("testlog", flag.ContinueOnError)
	flags.SetOutput(stderr)
	strict := flags.Bool("strict", false, "fail if a test skips that the file does not list")
	skips := flags.String("skips", "", "`file` of tests that may skip")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	allowed, err := readAllowed(*skips)
	if err != nil {
		fmt.Fprintln(stderr, "testlog: error:", err)
		return 2
	}
	log := newTally(stdout)
	err = goTest(ctx, flags.Args(), log, stderr)
	ok := log.summarize(allowed, *strict)
	if err != nil {
		fmt.Fprintln(stderr, "testlog: error:", err)
		return 1
	}
	if !ok {
		return 1
	}
	return 0
}

// goTest runs go test and passes its events to log. An exit status of go test
// is an error even if every event was good: it may have died.
func goTest(ctx context.Context, args []string, log *tally, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...) //nolint:gosec // Running what it is told to is its work.
	cmd.Stderr = stderr
	// An interrupt lets go test stop its children, which a kill would not.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := log.read(out)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go test: %w", err)
	}
	return readErr
}
