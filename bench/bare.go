package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// bare is the role of the bare loop: the least that asks about every item of a file. It
// reads a line, fills the prompt, posts it, reads the reply and counts labels. It keeps
// nothing, tries nothing again, and gives up at the first error.
//
// With -loop it begins the file again and again until its standard input ends, to run
// beside something else; with -url self nobody is called, and the replies are made here.
func bare(ctx context.Context, args []string) error {
	var data, prompt, url string
	var at int
	var loop bool
	f := flag.NewFlagSet("bare", flag.ContinueOnError)
	f.StringVar(&data, "data", "", "the items")
	f.StringVar(&prompt, "prompt", "", "the prompt's file")
	f.StringVar(&url, "url", "", "the server, or self for none")
	f.BoolVar(&loop, "loop", false, "go on until the standard input ends")
	f.IntVar(&at, "j", 1, "calls at once")
	if err := f.Parse(args); err != nil {
		return err
	}
	text, err := os.ReadFile(prompt) //nolint:gosec // the file is ours
	if err != nil {
		return err
	}
	b := &bareLoop{prompt: string(text), url: url + "/chat/completions", labels: map[string]int{}}
	b.client.Transport = &http.Transport{MaxIdleConnsPerHost: at}
	if url == "self" {
		b.url, b.client.Transport = "http://self/", parrot{}
	}
	if loop {
		go func() { // It ends with the process, which ends when this says so.
			_, _ = io.Copy(io.Discard, os.Stdin)
			b.enough.Store(true)
		}()
	}
	for again := true; again; again = loop && !b.enough.Load() {
		if err := b.file(ctx, data, at); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(b.labels)
}

// A parrot answers in place of a server, and always the same.
type parrot struct{}

// RoundTrip takes a request and answers it.
func (parrot) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	const reply = `{"id":"1","object":"chat.completion","model":"test","choices":[{"index":0,"message":{"role":"assistant","content":"CORRECT"}}]}`
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(reply)), Request: r}, r.Body.Close()
}

type bareLoop struct {
	prompt, url string
	client      http.Client
	enough      atomic.Bool // a loop has lasted long enough

	mu     sync.Mutex
	labels map[string]int
	err    error
}

// bareItem is an item as its line has it.
type bareItem struct {
	Question  string `json:"question"`
	Reference string `json:"reference"`
	Response  string `json:"response"`
}

// file asks about every item of a file.
func (b *bareLoop) file(ctx context.Context, name string, at int) error {
	f, err := os.Open(name) //nolint:gosec // the file is ours
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return b.all(ctx, f, at)
}

// all asks about every line, with at most the given number of calls at once.
func (b *bareLoop) all(ctx context.Context, r io.Reader, at int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	places := make(chan struct{}, at)
	var wg sync.WaitGroup
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for !b.enough.Load() && lines.Scan() && ctx.Err() == nil {
		var it bareItem
		if err := json.Unmarshal(lines.Bytes(), &it); err != nil {
			return err
		}
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			label, err := b.ask(ctx, it)
			b.mu.Lock()
			defer b.mu.Unlock()
			if err != nil && b.err == nil {
				b.err = err
				cancel()
			}
			b.labels[label]++
		})
	}
	wg.Wait()
	if b.err != nil {
		return b.err
	}
	return lines.Err()
}

// ask makes one call.
func (b *bareLoop) ask(ctx context.Context, it bareItem) (string, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	prompt := strings.NewReplacer("{response}", it.Response, "{ground_truth}", it.Reference).Replace(b.prompt)
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
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	return readLabel(resp.StatusCode, text)
}

// readLabel reads what a server answered.
func readLabel(status int, text []byte) (string, error) {
	if status != http.StatusOK {
		return "", fmt.Errorf("status %d: %s", status, text)
	}
	var reply struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		return "", err
	}
	if len(reply.Choices) == 0 {
		return "", fmt.Errorf("no choices: %s", text)
	}
	return reply.Choices[0].Message.Content, nil
}
