package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
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

	stored, read int64 // bytes in the store afterwards, and in the dataset

	times int // how many processes it is the sum of, 0 for one
}

// add adds what another process took. Memory is the most of them.
func (s *spent) add(o spent) {
	s.wall, s.cpu, s.rss, s.times = s.wall+o.wall, s.cpu+o.cpu, max(s.rss, o.rss), s.times+1
}

// mean returns what one of the processes took.
func (s spent) mean() spent {
	n := time.Duration(max(1, s.times))
	return spent{wall: s.wall / n, cpu: s.cpu / n, rss: s.rss}
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
	used, err := usage(cmd.ProcessState)
	s.cpu, s.rss = used.cpu, used.rss
	return s, err
}

// usage returns what the system says that a process used.
func usage(state *os.ProcessState) (spent, error) {
	u, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return spent{}, fmt.Errorf("this system does not say what a process used")
	}
	return spent{cpu: time.Duration(u.Utime.Nano() + u.Stime.Nano()), rss: u.Maxrss << 10}, nil
}

// self returns this program, for its other roles.
func self() string {
	name, err := os.Executable()
	if err != nil {
		return os.Args[0] // A system that does not know is one that searches the path.
	}
	return name
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

// vendorOptions say how a vendor behaves.
type vendorOptions struct {
	faultserver.Options

	// Door is how many requests are let in before the rest is told that the key is not
	// accepted, until somebody opens; 0 means that it is always open. It stops a run at
	// a known place.
	Door int64
}

// A vendor is a fault server in a process of its own.
type vendor struct {
	url string // the base URL
	cmd *exec.Cmd
	in  io.WriteCloser
}

// startVendor starts a server. Closing it, or the end of this process, ends it.
func startVendor(ctx context.Context, o vendorOptions) (*vendor, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self(), "serve", string(text)) //nolint:gosec // it is this program
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
	text, err := v.get(ctx, "/stats")
	if err != nil {
		return st, err
	}
	return st, json.Unmarshal(text, &st)
}

// open lets everybody in from now on.
func (v *vendor) open(ctx context.Context) error {
	_, err := v.get(ctx, opening)
	return err
}

func (v *vendor) get(ctx context.Context, path string) ([]byte, error) {
	return fetch(ctx, strings.TrimSuffix(v.url, "/v1")+path)
}

// fetch returns what is at an address.
func fetch(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers with %s: %s", url, resp.Status, tail(string(text)))
	}
	return text, err
}

// serve is the role of the server: it prints its URL and serves until its standard
// input ends.
func serve(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("serve takes the options of the server as JSON")
	}
	var o vendorOptions
	if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
		return err
	}
	s := faultserver.New(o.Options)
	if o.Door > 0 {
		server := httptest.NewServer(&door{next: s, left: o.Door})
		fmt.Println(server.URL + "/v1")
		_, _ = io.Copy(io.Discard, os.Stdin)
		server.Close()
		return nil
	}
	url, err := s.Start(ctx)
	if err != nil {
		return err
	}
	fmt.Println(url)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return s.Close()
}

// opening is the path that opens a door.
const opening = "/open"

// A door lets so many calls in, and accepts nobody's key then until it is opened.
type door struct {
	next http.Handler

	mu   sync.Mutex
	left int64
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == opening {
		d.mu.Lock()
		d.left = math.MaxInt64
		d.mu.Unlock()
		return
	}
	if r.Method == http.MethodPost && !d.pass() {
		http.Error(w, `{"error":{"message":"this key is not accepted","code":"invalid_api_key"}}`, http.StatusUnauthorized)
		return
	}
	d.next.ServeHTTP(w, r)
}

// pass reports whether one more is let in.
func (d *door) pass() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left--
	return d.left >= 0
}

// nothing is the role of a program that does nothing, which shows what a start costs.
func nothing(context.Context, []string) error { return nil }
