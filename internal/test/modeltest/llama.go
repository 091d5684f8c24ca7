package modeltest

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Llama starts a real llama.cpp server on a free local port, and returns its base URL
// without a path. Its model has random weights and answers nonsense, often not even valid
// UTF-8, with a context of [LlamaContext] tokens. It requires [Key]. The server ends with
// the test.
//
// If scripts/llama-server.sh has not installed it, the test is skipped. In CI such a skip
// is a failure.
func Llama(tb testing.TB) string {
	tb.Helper()
	root := repository(tb)
	program := filepath.Join(root, ".tools", "llama", "llama-server")
	if _, err := os.Stat(program); err != nil {
		tb.Skipf("llama.cpp's server is missing: %v; scripts/llama-server.sh .tools/llama downloads it", err)
	}
	model := filepath.Join(root, "testdata", "llama", "random.gguf")
	for range 3 { // another program may take the port before the server does
		if url := startLlama(tb, program, model); url != "" {
			return url
		}
	}
	tb.Fatal("the llama.cpp server does not start")
	return ""
}

// LlamaContext is the size of the context of the [Llama] server in tokens.
const LlamaContext = 512

// repository returns the root folder of this module.
func repository(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("the test does not run inside the repository")
		}
		dir = filepath.Dir(dir)
	}
}

// startLlama starts a server and returns its URL once it answers, or "" if it ended before.
func startLlama(tb testing.TB, program, model string) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "--model", model, "--host", host, "--port", port, "--api-key", Key, //nolint:gosec // The path is our own.
		"--ctx-size", "512", "--parallel", "1", "--threads", "1", "--embeddings", "--pooling", "mean", "--no-webui", "--offline")
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		cancel()
		tb.Fatalf("start the llama.cpp server: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // It is killed, so there is always an error.
		close(ended)
	}()
	tb.Cleanup(func() {
		cancel()
		<-ended
	})
	url := "http://" + net.JoinHostPort(host, port)
	if !healthy(tb, url, ended) {
		cancel()
		<-ended
		tb.Logf("the llama.cpp server said:\n%s", output.Bytes())
		return ""
	}
	return url
}

// healthy waits until a server is ready, and returns false if it ended or takes longer than
// a minute.
func healthy(tb testing.TB, url string, ended <-chan struct{}) bool {
	tb.Helper()
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for range 600 {
		if resp, err := client.Get(url + "/health"); err == nil { //nolint:noctx // The client has a timeout.
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return true
			}
		}
		select {
		case <-ended:
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
	return false
}
