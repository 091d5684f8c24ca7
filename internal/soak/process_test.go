package soak_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"deem/internal/proctest"
)

// A process is a deem that runs, or ran.
type process struct {
	cmd      *exec.Cmd
	args     []string
	out, err proctest.Stream
	over     chan struct{} // closed when it has ended
}

// key is what the vendor is told. Nobody checks it, and nobody may print it.
const key = "sk-test-0123456789abcdef"

// start starts the command in dir with further variables. The caller waits for
// its end, or kills it.
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
		_ = p.cmd.Wait() // How it ended is in its state.
		close(p.over)
	}()
	return p, nil
}

// longest bounds what hangs and not what is slow.
const longest = 5 * time.Minute

// errHung means that something did not happen in a quarter of an hour.
var errHung = errors.New("waited in vain")

// wait returns the exit code. A process that hangs is asked where.
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

// kill ends the process as nothing can prevent.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.over
}

// stop asks the process to end, and holds it to the exit code 0.
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

// gone reports whether the process has ended.
func (p *process) gone() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

// trouble adds to an error what the process is and what it said.
func (p *process) trouble(err error) error {
	return fmt.Errorf("deem %s: %w\n%s%s", strings.Join(p.args, " "), err, p.out.String(), p.err.String())
}

// complaint returns the first line in which the process says that it has a bug, "" for
// none.
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

// run runs the command to its end, holds it to the exit code 0, and returns what it
// wrote.
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
