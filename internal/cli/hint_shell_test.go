package cli_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"deem"
	"deem/internal/test/modeltest"
	"deem/internal/test/storetest"
	"deem/internal/vendors"
)

// A shell types the lines of a case in its own folder. A line is one of
//
//	deem ...             a command; a server keeps running, and --batch-poll 1h is
//	                     interrupted once a batch is submitted
//	POST PATH BODY       a request to the last server
//	export NAME=VALUE    a variable for later commands
//	sql DATABASE TEXT    statements for a database
//
// For the variables see address.
type shell struct {
	dir       string
	env       []string
	addresses map[string]string
	cluster   *storetest.Cluster // may be nil
	server    served             // the last one
}

func newShell(t *testing.T, cluster *storetest.Cluster) *shell {
	t.Helper()
	return &shell{dir: t.TempDir(), env: []string{"OPENAI_API_KEY="}, addresses: map[string]string{}, cluster: cluster}
}

// typed types a line, and returns an exit code and what was printed on standard error.
// Commands run in separate processes, because the memory of this process counts as that of
// the processes that other tests start.
func (sh *shell) typed(t *testing.T, line string) (code int, said string) {
	t.Helper()
	line = regexp.MustCompile(`\$[A-Z]+`).ReplaceAllStringFunc(line, func(name string) string { return sh.address(t, name) })
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "POST":
		path, body, _ := strings.Cut(rest, " ")
		status, problem := sh.server.ask(t, http.MethodPost, path, body)
		if status >= http.StatusBadRequest {
			code = 1
		}
		return code, fmt.Sprintf("deem: error: %v\ndeem: hint: %v\n", problem["detail"], problem["hint"])
	case "export":
		sh.env = append(sh.env, rest)
		return 0, ""
	case "sql":
		name, text, _ := strings.Cut(rest, " ")
		sh.execute(t, name, text)
		return 0, ""
	}
	args, err := vendors.SplitCommand(line)
	if err != nil || len(args) < 2 || args[0] != "deem" {
		t.Fatalf("%q is not a command of deem: %v", line, err)
	}
	p := startWith(t, sh.dir, sh.env, args[1:]...)
	if args[1] == "serve" && !strings.Contains(line, "--new-token") {
		sh.server = served{process: p}
		if sh.server.find(t) {
			return 0, p.err.String()
		}
	}
	if strings.Contains(line, " --batch-poll 1h") {
		until(t, "it waits for a batch", func() bool {
			return strings.Contains(p.err.String(), " is submitted") || strings.Contains(p.err.String(), "deem: error:")
		})
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	code, said = p.wait(t), p.err.String()
	if args[1] == "doctor" { // It prints what it finds on standard output.
		said += strings.ReplaceAll(p.out.String(), "\n             ", "\ndeem: hint: ")
	}
	return code, said
}

// address returns the value of a variable: $SERVER is a vendor, $ADDRESS is its host and
// port, $REFUSING is a vendor that refuses batches, $OLLAMA is an Ollama whose models think,
// and $POSTGRES is a new database.
func (sh *shell) address(t *testing.T, name string) string {
	t.Helper()
	if sh.addresses[name] == "" {
		switch name {
		case "$SERVER":
			sh.addresses[name] = modeltest.NewBatchServer(t, modeltest.OpenAIBatches, vendor(), nil).URL
		case "$REFUSING":
			sh.addresses[name] = modeltest.NewBatchServer(t, modeltest.OpenAIBatches, vendor(), func(int) modeltest.BatchOutcome { return modeltest.BatchOutcome{Refuse: "model_not_found"} }).URL
		case "$ADDRESS":
			sh.addresses[name] = strings.TrimPrefix(sh.address(t, "$SERVER"), "http://")
		case "$OLLAMA":
			sh.addresses[name] = thinkingOllama(t)
		case "$POSTGRES":
			sh.addresses[name] = sh.cluster.Database(t)
		default:
			t.Fatalf("unknown variable %s", name)
		}
	}
	return sh.addresses[name]
}

// execute runs statements in a Postgres, or in a file of SQLite.
func (sh *shell) execute(t *testing.T, name, text string) {
	t.Helper()
	if strings.Contains(name, "://") {
		storetest.Execute(t, name, text)
		return
	}
	db, err := sql.Open("sqlite", filepath.Join(sh.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), text)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// vendor returns the answers of a vendor. Some of its models have troubles; the others answer like [answer].
func vendor() func(modeltest.Asked) modeltest.Answer {
	var requests atomic.Int64
	return func(a modeltest.Asked) modeltest.Answer {
		n := requests.Add(1)
		switch {
		case a.Model == "down-at-first" && n <= 20:
			return modeltest.Fail(http.StatusServiceUnavailable, `{"error": {"message": "The server is overloaded."}}`)
		case a.Model == "slow-at-first" && n == 1:
			return modeltest.Answer{Hang: true}
		case a.Model == "gpt-5" && strings.Contains(string(a.Body), `"reasoning_effort":"low"`):
			return modeltest.Fail(http.StatusBadRequest, `{"error": {"message": "Unsupported value: 'reasoning_effort' does not support 'low' with this model.", "param": "reasoning_effort", "code": "unsupported_value"}}`)
		case a.Model == "no-api":
			return modeltest.Fail(http.StatusOK, "It works!")
		case a.Model == "thinks" && a.Request.MaxTokens < 1000:
			return modeltest.Answer{Reply: deem.Reply{Stop: deem.StopLength, Usage: deem.Usage{Input: 10, Output: a.Request.MaxTokens}}}
		}
		return answer(a)
	}
}

// thinkingOllama returns the address of an Ollama whose models think.
func thinkingOllama(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/api/show") {
			fmt.Fprint(w, `{"model_info": {"general.architecture": "x", "x.context_length": 8192}, "capabilities": ["completion", "thinking"]}`)
			return
		}
		fmt.Fprint(w, `{"model": "m", "message": {"role": "assistant", "content": "CORRECT"}, "done": true, "done_reason": "stop", "prompt_eval_count": 10, "eval_count": 2}`)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}
