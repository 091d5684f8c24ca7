//go:build unix

package wire_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"deem"
	"deem/model/anthropic"
	"deem/model/openai"
)

// benchPrompt is about as long as the prompt of a judge.
var benchPrompt = strings.Repeat("I will give you a question, a correct answer, and a response from a model. ", 20)

// TestBenchServer is not a test: it is the server of BenchmarkCall, in a separate process
// so that its work is not counted as ours.
func TestBenchServer(t *testing.T) {
	if os.Getenv("DEEM_BENCH_SERVER") == "" {
		return
	}
	const chat = `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"yes","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":400,"completion_tokens":2,"total_tokens":402,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"system_fingerprint":"fp_1"}`
	const message = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":400,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "req_1")
		if strings.HasSuffix(r.URL.Path, "/messages") {
			_, _ = io.WriteString(w, message)
			return
		}
		_, _ = io.WriteString(w, chat)
	}))
	defer s.Close()
	fmt.Println("serving " + s.URL)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark ends
}

// benchServer starts the server and returns its URL.
func benchServer(b *testing.B) string {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestBenchServer$") //nolint:gosec // It is this program.
	cmd.Env = append(os.Environ(), "DEEM_BENCH_SERVER=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = stdin.Close()
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "serving ")
	if err != nil || !ok {
		b.Fatalf("the server said %q, %v", line, err)
	}
	return url
}

// cpu returns the CPU time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCall measures the CPU time of one call, compared with a minimal loop: a prepared
// body, http.Post, and reading to the end (x-bare), and with a loop that also encodes and
// decodes, as a judge must (x-bare-json). The loops take turns, so that other load on the
// machine affects all of them.
func BenchmarkCall(b *testing.B) {
	url := benchServer(b)
	req := deem.Request{Messages: []deem.Message{{Role: "user", Content: benchPrompt}}, MaxTokens: 10}
	zero := 0.0
	req.Temperature = &zero
	for name, m := range benchModels(b, url) {
		b.Run(name, func(b *testing.B) {
			loops := []func() error{
				func() error { return barePost(url) },
				func() error { return barePostJSON(url) },
				func() error { return complete(b, m, req) },
			}
			var spent [3]time.Duration
			for b.Loop() {
				for i, call := range loops {
					spent[i] += turn(b, call)
				}
			}
			bare, bareJSON, ours := float64(spent[0]), float64(spent[1]), float64(spent[2])
			b.ReportMetric(0, "ns/op") // It would be that of all three.
			b.ReportMetric(ours/float64(b.N*perTurn), "cpu-ns/call")
			b.ReportMetric(ours/bare, "x-bare")
			b.ReportMetric(ours/bareJSON, "x-bare-json")
		})
	}
	http.DefaultClient.CloseIdleConnections()
}

// perTurn is how many calls a loop makes per turn.
const perTurn = 50

// turn makes some calls and returns their CPU time.
func turn(b *testing.B, call func() error) time.Duration {
	before := cpu(b)
	for range perTurn {
		if err := call(); err != nil {
			b.Fatal(err)
		}
	}
	return cpu(b) - before
}

// benchModels returns the models that are measured.
func benchModels(b *testing.B, url string) map[string]deem.Model {
	b.Helper()
	chat, err := openai.New(openai.Options{Model: "m", BaseURL: url, Key: "sk-0123456789"})
	if err != nil {
		b.Fatal(err)
	}
	messages, err := anthropic.New(anthropic.Options{Model: "m", BaseURL: url, Key: "sk-0123456789"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = chat.(io.Closer).Close()
		_ = messages.(io.Closer).Close()
	})
	return map[string]deem.Model{"openai": chat, "anthropic": messages}
}

func complete(b *testing.B, m deem.Model, req deem.Request) error {
	reply, err := m.Complete(b.Context(), req)
	if err == nil && reply.Text != "yes" {
		err = fmt.Errorf("reply %q", reply.Text)
	}
	return err
}

var benchBody = []byte(`{"model":"m","messages":[{"role":"user","content":"` + benchPrompt + `"}],"max_tokens":10,"temperature":0,"n":1,"stream":false}`)

// barePost is the minimal call.
func barePost(url string) error {
	_, err := post(url, benchBody)
	return err
}

// barePostJSON is the minimal call of a judge.
func barePostJSON(url string) error {
	body, err := json.Marshal(map[string]any{
		"model": "m", "messages": []map[string]string{{"role": "user", "content": benchPrompt}}, "max_tokens": 10, "temperature": 0,
	})
	if err != nil {
		return err
	}
	text, err := post(url, body)
	if err != nil {
		return err
	}
	var reply struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	return json.Unmarshal(text, &reply)
}

func post(url string, body []byte) ([]byte, error) {
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body)) //nolint:noctx,gosec // That is what is measured.
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // The data read so far is checked.
	return io.ReadAll(resp.Body)
}
