package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"deem/internal/test/faultserver"
)

// A spent is what a process used.
type spent struct {
	wall, cpu time.Duration // cpu is user and system time
	rss       int64         // peak bytes
	out       string
}

// start runs a program to its end and measures it.
func start(ctx context.Context, dir, program string, args ...string) (spent, error) {
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // deem starts its own program
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = dir, &out, &errs, environment()
	began := time.Now()
	err := cmd.Run()
	s := spent{wall: time.Since(began), out: out.String()}
	if err != nil {
		return s, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, errs.String())
	}
	u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return s, errors.New("this system does not report what a process used")
	}
	s.cpu, s.rss = time.Duration(u.Utime.Nano()+u.Stime.Nano()), u.Maxrss<<10
	return s, nil
}

// environment returns the environment without variables that change what deem calls.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OPENAI_") && !strings.HasPrefix(v, "DEEM_") && !strings.HasPrefix(v, "GOMAXPROCS=") {
			env = append(env, v)
		}
	}
	return env
}

// A vendor is a fault server in its own process.
type vendor struct {
	url string
	cmd *exec.Cmd
	in  io.WriteCloser
}

// vendorOptions say how a vendor behaves.
type vendorOptions struct {
	faultserver.Options

	// RejectAfter is how many requests are answered before the server rejects the key, until
	// /open is requested; 0 means no limit. It stops a run at a known place.
	RejectAfter int64
}

// startVendor starts a server. Closing it, or the end of this process, stops it.
func startVendor(ctx context.Context, o vendorOptions) (*vendor, error) {
	o.Exact = true // deem must not be charged for a late timer of the server
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self(), "serve", string(text)) //nolint:gosec // the running program itself
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
func (v *vendor) stats(ctx context.Context) (st faultserver.Stats, err error) {
	text, err := fetch(ctx, strings.TrimSuffix(v.url, "/v1")+"/stats")
	if err != nil {
		return st, err
	}
	return st, json.Unmarshal(text, &st)
}

// fetch returns the body at an address.
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
		err = fmt.Errorf("%s answers with %s", url, resp.Status)
	}
	return text, err
}

// serve is the role of the server: it prints its URL and serves until its standard input
// ends.
func serve(ctx context.Context, args []string) error {
	var o vendorOptions
	if err := json.Unmarshal([]byte(strings.Join(args, " ")), &o); err != nil {
		return err
	}
	s := faultserver.New(o.Options)
	if o.RejectAfter == 0 {
		url, err := s.Start(ctx)
		if err != nil {
			return err
		}
		fmt.Println(url)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return s.Close()
	}
	var left atomic.Int64
	left.Store(o.RejectAfter)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/open":
			left.Store(math.MaxInt64)
		case r.Method == http.MethodPost && left.Add(-1) < 0:
			http.Error(w, `{"error":{"message":"this key is not accepted","code":"invalid_api_key"}}`, http.StatusUnauthorized)
		default:
			s.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	fmt.Println(server.URL + "/v1")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}

// bare is the role of the bare loop, the least that asks about every item of a file: it
// reads a line, fills the prompt, posts it, reads the reply and counts labels. It stores
// nothing, retries nothing, and stops at the first error.
func bare(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bare", flag.ContinueOnError)
	data := flags.String("data", "", "the items")
	prompt := flags.String("prompt", "", "the prompt's file")
	url := flags.String("url", "", "the server")
	at := flags.Int("j", 1, "concurrent calls")
	if err := flags.Parse(args); err != nil {
		return err
	}
	text, err := os.ReadFile(*prompt) //nolint:gosec // deem wrote the file
	if err != nil {
		return err
	}
	f, err := os.Open(*data) //nolint:gosec // deem wrote the file
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *at}}
	labels := map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	places := make(chan struct{}, *at)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && ctx.Err() == nil {
		var it benchItem
		if err := json.Unmarshal(lines.Bytes(), &it); err != nil {
			return err
		}
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			label, err := ask(ctx, client, *url+"/chat/completions", string(text), it)
			if err != nil {
				cancel(err)
				return
			}
			mu.Lock()
			labels[label]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if err := errors.Join(context.Cause(ctx), lines.Err()); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(labels)
}

// ask makes one call of the bare loop.
func ask(ctx context.Context, client *http.Client, url, prompt string, it benchItem) (string, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	prompt = strings.NewReplacer("{response}", it.Response, "{ground_truth}", it.Reference).Replace(prompt)
	body, err := json.Marshal(struct {
		Model       string    `json:"model"`
		Messages    []message `json:"messages"`
		Temperature float64   `json:"temperature"`
	}{"test", []message{{"user", prompt}}, 0})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return "", errors.Join(err, fmt.Errorf("status %d: %s", resp.StatusCode, text))
	}
	var reply struct {
		Choices []struct{ Message message }
	}
	if err := json.Unmarshal(text, &reply); err != nil || len(reply.Choices) == 0 {
		return "", errors.Join(err, fmt.Errorf("no choices: %s", text))
	}
	return reply.Choices[0].Message.Content, nil
}

// self returns the path of this program, which starts itself in other folders.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
