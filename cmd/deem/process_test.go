package main_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"deem/internal/test/faultserver"
)

// A process is a deem process, running or finished.
type process struct {
	cmd      *exec.Cmd
	args     []string
	out, err faultserver.Output
	over     chan struct{} // closed when it has exited
}

// key is the vendor's key. It is not checked, and must never be printed.
const key = "sk-test-0123456789abcdef"

// start starts the command in dir with additional environment variables. The caller waits
// for its end, or kills it.
func start(ctx context.Context, dir string, env []string, args ...string) (*process, error) {
	name, err := command(ctx)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(name, args...), args: args, over: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, &p.out, &p.err
	p.cmd.Env = append(os.Environ(), "OPENAI_API_KEY="+key, "GORACE=atexit_sleep_ms=10")
	p.cmd.Env = append(p.cmd.Env, env...)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { // It ends with the process.
		_ = p.cmd.Wait() // The exit is in the process state.
		close(p.over)
	}()
	return p, nil
}

// longest is a timeout for what hangs, not for what is slow.
const longest = 5 * time.Minute

// errHung is returned if something did not happen within longest.
var errHung = errors.New("waited in vain")

// wait returns the exit code. A process that hangs gets a SIGQUIT, to show where.
func (p *process) wait() (int, error) {
	select {
	case <-p.over:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-time.After(longest):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		<-p.over
		return 0, p.trouble(errHung)
	}
}

// kill kills the process.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.over
}

// stop asks the process to end, and checks that its exit code is 0.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return p.trouble(err)
	}
	code, err := p.wait()
	if err == nil && code != 0 {
		err = p.trouble(fmt.Errorf("it stopped with exit code %d, want 0", code))
	}
	return err
}

// gone reports whether the process has exited.
func (p *process) gone() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

// trouble adds the process and its output to an error.
func (p *process) trouble(err error) error {
	return fmt.Errorf("deem %s: %w\n%s%s", strings.Join(p.args, " "), err, p.out.String(), p.err.String())
}

// complaint returns the first line of output that reports a bug, or "".
func (p *process) complaint() string {
	for line := range strings.Lines(p.err.String()) {
		for _, sign := range []string{"panic", "DATA RACE", "level=ERROR", "fatal error", key} {
			if strings.Contains(line, sign) {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

// run runs the command to its end, checks that the exit code is 0, and returns its output.
func run(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	p, err := start(ctx, dir, env, args...)
	if err != nil {
		return "", err
	}
	code, err := p.wait()
	if err == nil && code != 0 {
		err = p.trouble(fmt.Errorf("exit code %d, want 0", code))
	}
	if line := p.complaint(); err == nil && line != "" {
		err = p.trouble(errors.New(line))
	}
	return p.out.String(), err
}

// until waits for a condition.
func until(ctx context.Context, what string, ok func() (bool, error)) error {
	deadline := time.Now().Add(longest)
	for {
		if done, err := ok(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: %s", errHung, what)
		}
	}
}
