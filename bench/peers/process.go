package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// A command is what is typed for one contestant, in a folder of its own.
type command struct {
	dir     string
	program string
	args    []string
	env     []string // added to the environment
}

// String returns the command as a shell would have it, for messages.
func (c command) String() string {
	return strings.Join(append([]string{c.program}, c.args...), " ")
}

// A spent is what one process took, with all processes that it waited for.
type spent struct {
	wall time.Duration
	cpu  time.Duration // of the user and of the system
	rss  int64         // bytes, of the largest of them
	out  string
}

// process makes the process of a command, at the head of a group of its own: what it
// starts can be killed with it.
func (c command) process(ctx context.Context, out, errs *bytes.Buffer) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.program, c.args...) //nolint:gosec // the programs are those that are measured
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, out, errs
	cmd.Env = append(environment(), c.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	return cmd
}

// run runs a command to its end and measures it.
func (c command) run(ctx context.Context) (spent, error) {
	var out, errs bytes.Buffer
	cmd := c.process(ctx, &out, &errs)
	began := time.Now()
	err := cmd.Run()
	wall := time.Since(began)
	if err != nil {
		return spent{}, fmt.Errorf("%s: %w\n%s%s", c, err, tail(out.String()), tail(errs.String()))
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return spent{}, errors.New("this system does not say what a process used")
	}
	s := spentOf(usage)
	s.wall, s.out = wall, out.String()
	return s, nil
}

// spentOf reads what the system counted, which includes the children that a process has
// waited for. Linux counts memory in KiB, and macOS in bytes.
func spentOf(u *syscall.Rusage) spent {
	s := spent{cpu: time.Duration(u.Utime.Nano() + u.Stime.Nano()), rss: u.Maxrss}
	if runtime.GOOS != "darwin" {
		s.rss <<= 10
	}
	return s
}

// errNotKilled says that a command ended before it could be killed.
var errNotKilled = errors.New("it ended before half of its items were answered")

// runKilled runs a command and kills its whole group by SIGKILL as soon as the vendor has
// answered n items. It returns when the process is gone.
func (c command) runKilled(ctx context.Context, v *vendor, n int) error {
	var out, errs bytes.Buffer
	cmd := c.process(ctx, &out, &errs)
	// The answer that makes it n may be sent before Start has returned here.
	started := make(chan struct{})
	v.after(n, func() {
		<-started
		_ = killGroup(cmd.Process.Pid)
	})
	defer v.after(0, nil)
	err := cmd.Start()
	close(started)
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	_ = cmd.Wait() // It says how the process ended, and so does its state.
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !killed(cmd.ProcessState) {
		return fmt.Errorf("%s: %w (%v)\n%s%s", c, errNotKilled, cmd.ProcessState, tail(out.String()), tail(errs.String()))
	}
	return nil
}

func killed(p *os.ProcessState) bool {
	status, ok := p.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// killGroup kills a process that leads a group, and the group.
func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// environment is that of the machine without what would change where a contestant calls
// or what it keeps.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strange(v) {
			env = append(env, v)
		}
	}
	return env
}

func strange(variable string) bool {
	for _, prefix := range []string{"OPENAI_", "DEEM_", "PROMPTFOO_", "BRAINTRUST_", "NODE_", "GOMAXPROCS=", "GOGC=", "GOMEMLIMIT="} {
		if strings.HasPrefix(variable, prefix) {
			return true
		}
	}
	return false
}

// tail returns the last lines of what a program said.
func tail(text string) string {
	const most = 2000
	if len(text) > most {
		text = "..." + text[len(text)-most:]
	}
	return text
}
