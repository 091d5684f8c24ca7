package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"deem/internal/cli"
	"deem/internal/queue"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/test/faultserver"
	"deem/internal/test/storetest"
)

// commandEnv makes this test binary run the deem command.
const commandEnv = "DEEM_TEST_QUEUE_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(storetest.Main(m, storetest.Options{Template: makeTables}))
}

// makeTables creates the tables that every test database starts with.
func makeTables(ctx context.Context, url string) error {
	st, err := postgres.Open(ctx, url, postgres.Options{})
	if err != nil {
		return err
	}
	_, err = queue.Open(ctx, st)
	return errors.Join(err, st.Close())
}

// open opens the store and the queue of a database.
func open(t testing.TB, url string) (*postgres.Store, *queue.Control) {
	t.Helper()
	st, err := postgres.Open(t.Context(), url, postgres.Options{Conns: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	c, err := queue.Open(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	return st, c
}

// A process is a running or finished deem.
type process struct {
	cmd      *exec.Cmd
	out, err faultserver.Output
	over     chan struct{}
}

// start starts the command in dir for a database.
func start(t testing.TB, dir, url string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], args...), over: make(chan struct{})} //nolint:gosec // This very test.
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, &p.out, &p.err
	p.cmd.Env = append(os.Environ(), commandEnv+"=1", "DEEM_DB="+url, "OPENAI_API_KEY=sk-test-0123456789abcdef", "GORACE=atexit_sleep_ms=10")
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // The process state has the result.
		close(p.over)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.over
		if t.Failed() {
			t.Logf("deem %s:\n%s%s", strings.Join(args, " "), p.out.String(), p.err.String())
		}
	})
	return p
}

// longest is a timeout for hanging tests, not for slow ones.
const longest = 5 * time.Minute

// wait returns the exit code.
func (p *process) wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.over:
	case <-time.After(longest):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		<-p.over
		t.Fatalf("the process hung:\n%s", p.err.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// kill kills the process with SIGKILL.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.over
}

// run runs the command to its end and checks the exit code.
func run(t testing.TB, dir, url string, want int, args ...string) *process {
	t.Helper()
	p := start(t, dir, url, args...)
	if got := p.wait(t); got != want {
		t.Fatalf("deem %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, want, p.out.String(), p.err.String())
	}
	return p
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(longest); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// writeItems writes n items.
func writeItems(t testing.TB, dir string, n int) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "items.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	enc := json.NewEncoder(f)
	for i := range n {
		it := map[string]any{"id": fmt.Sprintf("q%d", i), "question": "Which number?", "reference": fmt.Sprint(i), "response": fmt.Sprintf("It is %d.", i)}
		if err := enc.Encode(it); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// detach queues a run and returns its id.
func detach(t testing.TB, dir, url string, args ...string) string {
	t.Helper()
	p := run(t, dir, url, 0, append([]string{"run", "--data", "items.jsonl", "--detach"}, args...)...)
	return strings.TrimSpace(p.out.String())
}

// finished waits until a run is done.
func finished(t testing.TB, st store.Store, id string) store.Run {
	t.Helper()
	var r store.Run
	until(t, "run "+id+" to be done", func() bool {
		var err error
		if r, err = st.Run(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return r.State == store.Done
	})
	return r
}

// checkRecords checks that every item has one record, at its position, made with one paid
// call or, with a rule, none.
func checkRecords(t testing.TB, st store.Store, id string, n, calls int) {
	t.Helper()
	position := 0
	for rec, err := range st.Records(t.Context(), id, store.Query{WithCalls: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("q%d", position); rec.Item.ID != want || rec.Position != position {
			t.Fatalf("record %d is of item %s at position %d, want %s", position, rec.Item.ID, rec.Position, want)
		}
		if len(rec.Calls) != calls {
			t.Fatalf("item %s has %d calls, want %d", rec.Item.ID, len(rec.Calls), calls)
		}
		position++
	}
	if position != n {
		t.Errorf("run %s has %d records, want %d", id, position, n)
	}
}

// pgURL returns a separate database for the test.
func pgURL(t testing.TB) string {
	t.Helper()
	return storetest.Database(t)
}
