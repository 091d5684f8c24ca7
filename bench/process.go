package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"deem/internal/faultserver"
)

// A spent is what one process took.
type spent struct {
	wall time.Duration
	cpu  time.Duration // of the user and of the system
	rss  int64         // bytes at most
	out  string
}

// start runs a program to its end and measures it.
func start(ctx context.Context, dir, program string, args ...string) (spent, error) {
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // the program is ours
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = dir, &out, &errs, environment()
	began := time.Now()
	err := cmd.Run()
	s := spent{wall: time.Since(began), out: out.String()}
	if err != nil {
		return s, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, tail(errs.String()))
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return s, fmt.Errorf("this system does not say what a process used")
	}
	s.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	s.rss = usage.Maxrss << 10
	return s, nil
}

// environment is that of the machine without what would change where deem calls.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OPENAI_") && !strings.HasPrefix(v, "DEEM_") && !strings.HasPrefix(v, "GOMAXPROCS=") {
			env = append(env, v)
		}
	}
	return env
}

// tail returns the last lines of what a program said.
func tail(text string) string {
	const most = 600
	if len(text) > most {
		text = "..." + text[len(text)-most:]
	}
	return text
}

// A vendor is a fault server in a process of its own.
type vendor struct {
	url string // the base URL
	cmd *exec.Cmd
	in  io.WriteCloser
}

// startVendor starts a server. Closing it, or the end of this process, ends it.
func startVendor(ctx context.Context, o faultserver.Options) (*vendor, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "serve", string(text)) //nolint:gosec // it is this program
	cmd.Stderr, cmd.Env = os.Stderr, environment()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	v := &vendor{cmd: cmd, in: in}
	if _, err := fmt.Fscanln(out, &v.url); err != nil {
		v.close()
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	return v, nil
}

func (v *vendor) close() {
	_ = v.in.Close()
	_ = v.cmd.Wait()
}

// stats asks the server what it has seen.
func (v *vendor) stats(ctx context.Context) (faultserver.Stats, error) {
	var st faultserver.Stats
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(v.url, "/v1")+"/stats", http.NoBody)
	if err != nil {
		return st, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return st, err
	}
	defer func() { _ = resp.Body.Close() }()
	return st, json.NewDecoder(resp.Body).Decode(&st)
}

// serve is the role of the server: it prints its URL and serves until its standard
// input ends.
func serve(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("serve takes the options of the server as JSON")
	}
	var o faultserver.Options
	if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
		return err
	}
	s := faultserver.New(o)
	url, err := s.Start(ctx)
	if err != nil {
		return err
	}
	fmt.Println(url)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return s.Close()
}
