package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"deem"
	"deem/internal/cli"
	"deem/internal/test/modeltest"
)

// The test binary is also the command: testscript, and the tests that kill it, start it
// under the name deem.
func TestMain(m *testing.M) {
	// A program with the race detector sleeps for a second before it ends, in case another
	// goroutine has something to report. The tests start hundreds of them.
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", raceOptions)
	}
	testscript.Main(m, map[string]func(){
		"deem": func() {
			code := cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
			if name := os.Getenv(peakVariable); name != "" {
				status, _ := os.ReadFile("/proc/self/status")
				_ = os.WriteFile(name, status, 0o600)
			}
			os.Exit(code)
		},
	})
}

// peakVariable names a file to which a process writes its status, with its highest memory,
// before it ends. The system's own count for a process begins with the memory of the process
// that started it.
const peakVariable = "DEEM_TEST_PEAK"

// raceOptions are the options of the race detector in processes started by tests.
const raceOptions = "atexit_sleep_ms=10"

func TestScripts(t *testing.T) {
	srv := modeltest.NewServer(t, answer)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE") != "", // rewrites the files that scripts compare
		Setup: func(env *testscript.Env) error {
			env.Setenv("SERVER", srv.URL)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("GOGC", "400") // as in cmd/deem for small heaps
			root, err := filepath.Abs(filepath.Join("..", ".."))
			env.Setenv("ROOT", root)
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}

// notQuick skips a test that takes seconds in make quick.
func notQuick(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
}

// exits runs a command and checks its exit code: "exits 3 deem run ...". testscript's own
// "!" only checks that it is not zero.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if ee, ok := errors.AsType[*exec.ExitError](err); ok {
		got = ee.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if err := checkEstimates(ts.ReadFile("stdout")); err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// answer is a judge that depends on the response: with "wrong" in it the label is
// INCORRECT, and TROUBLE causes a failure.
func answer(a modeltest.Asked) modeltest.Answer {
	_, response, _ := strings.Cut(a.Prompt(), "Now evaluate:\nResponse: ")
	if response == "" {
		response = a.Prompt()
	}
	trouble := func(kind string) bool { return strings.Contains(response, "TROUBLE "+kind) }
	switch {
	case trouble("empty"):
		return modeltest.Say("")
	case trouble("refused"):
		return modeltest.Answer{Reply: deem.Reply{Refusal: "I cannot help with that.", Stop: deem.StopEnd}}
	case trouble("apology"):
		return modeltest.Say("I'm sorry, but I can't assist with that.")
	case trouble("filter"):
		return modeltest.Answer{Reply: deem.Reply{Text: "", Stop: deem.StopFilter}}
	case trouble("truncated"):
		return modeltest.Answer{Reply: deem.Reply{Text: "The response says that", Stop: deem.StopLength}}
	case trouble("off-menu"):
		return modeltest.Say("PARTIALLY CORRECT, I would say maybe")
	case trouble("http"):
		return modeltest.Fail(500, `{"error":{"message":"the server is on fire"}}`)
	case trouble("bad-request"):
		return modeltest.Fail(400, `{"error":{"message":"this prompt is odd","type":"invalid_request_error"}}`)
	case trouble("key"):
		return modeltest.Fail(401, `{"error":{"message":"Incorrect API key provided: `+strings.TrimPrefix(a.Header.Get("Authorization"), "Bearer ")+`","code":"invalid_api_key"}}`)
	case trouble("quota"):
		return modeltest.Fail(429, `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}`)
	case trouble("page"):
		return modeltest.Fail(200, "<html><title>Welcome</title></html>")
	case trouble("slow"):
		return modeltest.Answer{Delay: 20 * time.Second}
	case trouble("rubric"):
		return modeltest.Say(`{"reasoning": "short and right", "correctness": 9, "relevance": 8}`)
	case strings.Contains(response, "wrong"):
		return modeltest.Say("INCORRECT")
	default:
		return modeltest.Say("CORRECT")
	}
}
