package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/faultserver"
	"deem/internal/test/modeltest"
	"deem/report"
)

// A process is a running or finished deem in its own folder.
type process struct {
	cmd      *exec.Cmd
	out, err faultserver.Output
}

// start starts the command in dir with its own key.
func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	return startWith(t, dir, []string{"OPENAI_API_KEY=sk-test-0123456789abcdef"}, args...)
}

// startWith starts the command in dir with additional variables.
func startWith(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	return startCommand(t, dir, env, exec.Command("deem", args...))
}

// startCommand starts a command that becomes deem.
func startCommand(t *testing.T, dir string, env []string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, &p.out, &p.err
	p.cmd.Env = append(os.Environ(), env...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // No process may write to the folder while it is removed.
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

// longest is the timeout for a process, or for a condition. It is for hanging tests, not
// slow ones: a machine may have ten times as much to do, and stall for seconds. A process
// that hangs is made to print its stacks.
const longest = 5 * time.Minute

// wait returns the exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	hung := time.AfterFunc(longest, func() { _ = p.cmd.Process.Signal(syscall.SIGQUIT) })
	err := p.cmd.Wait()
	if !hung.Stop() {
		t.Fatalf("the process hung:\n%s", p.err.String())
	}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// run runs the command to its end and checks the exit code.
func run(t *testing.T, dir string, want int, args ...string) *process {
	t.Helper()
	p := start(t, dir, args...)
	if got := p.wait(t); got != want {
		t.Fatalf("deem %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, want, p.out.String(), p.err.String())
	}
	return p
}

// writeItems writes n items; response returns the response to the i-th.
func writeItems(t *testing.T, dir string, n int, response func(i int) string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "items.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	enc := json.NewEncoder(f)
	for i := range n {
		it := map[string]any{"id": fmt.Sprintf("q%d", i), "question": "Which number?", "reference": fmt.Sprint(i), "response": response(i)}
		if err := enc.Encode(it); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// records returns the number of records of each item of the newest run.
func records(t *testing.T, dir string) map[string]int {
	t.Helper()
	st, err := sqlite.OpenReadOnly(t.Context(), filepath.Join(dir, ".deem", "deem.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	seen := map[string]int{}
	r, err := st.Run(t.Context(), "last")
	if errors.Is(err, store.ErrNotFound) {
		return seen // A run without a record is never the last.
	}
	if err != nil {
		t.Fatal(err)
	}
	for rec, err := range st.Records(t.Context(), r.ID, store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		seen[rec.Item.ID]++
	}
	return seen
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(longest); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// interrupt sends what Ctrl-C sends, and waits until the process has handled it: a second
// signal that comes too early merges with the first.
func (p *process) interrupt(t *testing.T) {
	t.Helper()
	p.signal(t, os.Interrupt)
}

// signal is interrupt with another signal.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	until(t, "the process to hear the interrupt", func() bool { return strings.Contains(p.err.String(), "deem: stopping: ") })
}

// holding starts a server that answers the first few requests at once and holds the others
// until release, so that a run is certain to be in progress in between.
func holding(t *testing.T, first int) (srv *modeltest.Server, release func()) {
	t.Helper()
	var n atomic.Int64
	held := make(chan struct{})
	srv = modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer {
		if n.Add(1) > int64(first) {
			<-held
		}
		return modeltest.Say("CORRECT")
	})
	release = sync.OnceFunc(func() { close(held) })
	t.Cleanup(release) // The server cannot be closed before.
	return srv, release
}

// modelArgs returns the arguments of a run against a server.
func modelArgs(srv *modeltest.Server, more ...string) []string {
	return append([]string{"run", "--data", "items.jsonl", "--judge", "universal", "--model", "openai:any", "--base-url", srv.URL}, more...)
}

// A thousand items, some of which cause failures: each ends as a verdict or as a failure of
// its kind, and with more than one in a hundred unjudged there is no headline.
func TestRunOfAThousandItems(t *testing.T) {
	t.Parallel()
	notQuick(t)
	srv := modeltest.NewServer(t, answer)
	troubles := []string{"empty", "refused", "truncated", "off-menu", "http"}
	for _, c := range []struct{ every, exit int }{{50, 3}, {200, 0}} {
		dir := t.TempDir()
		unjudged := 0
		writeItems(t, dir, 1000, func(i int) string {
			switch {
			case i%c.every == 0:
				unjudged++
				return fmt.Sprintf("TROUBLE %s %d", troubles[i/c.every%len(troubles)], i)
			case i%4 == 0:
				return fmt.Sprintf("wrong %d", i)
			default:
				return fmt.Sprintf("it is %d", i)
			}
		})
		p := run(t, dir, c.exit, modelArgs(srv, "-j", "32", "--retries", "1", "--json")...)
		var r report.Report
		if err := json.Unmarshal([]byte(p.out.String()), &r); err != nil {
			t.Fatal(err)
		}
		if r.Items != 1000 || r.Unjudged != unjudged || r.Judged != 1000-unjudged {
			t.Errorf("%d items, %d judged, %d unjudged, want 1000, %d, %d", r.Items, r.Judged, r.Unjudged, 1000-unjudged, unjudged)
		}
		kinds := map[deem.Kind]int{}
		for _, f := range r.Failures {
			kinds[f.Kind] = f.N
		}
		for _, k := range []deem.Kind{deem.Empty, deem.Refused, deem.Truncated, deem.Unparseable, deem.Provider} {
			if kinds[k] != unjudged/len(troubles) {
				t.Errorf("%d items are %s, want %d", kinds[k], k, unjudged/len(troubles))
			}
		}
		if headline := r.Metrics[0].Judged; (headline == nil) != (c.exit == 3) {
			t.Errorf("with %d of 1000 unjudged the headline is %v", unjudged, headline)
		}
	}
}

// A run that is killed ten times resumes each time: every item has exactly one record, and
// each kill repeats at most the calls in flight and one commit.
func TestKillLosesAtMostWhatWasInFlight(t *testing.T) {
	notQuick(t)
	t.Parallel()
	const n, j, kills, window = 1500, 64, 10, 2 * 128 // a commit in progress, and one being collected
	var asked, most atomic.Int64
	srv := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer {
		a := modeltest.Say("CORRECT")
		a.Delay = 10 * time.Millisecond
		a.Hang = asked.Add(1) > most.Load() // The kill may come late, but not too late.
		return a
	})
	dir := t.TempDir()
	writeItems(t, dir, n, func(i int) string { return fmt.Sprint(i) })
	args := modelArgs(srv, "-j", fmt.Sprint(j))
	for _, after := range moments(t, kills, n*8/10) {
		most.Store(int64(after + n/10))
		p := start(t, dir, args...)
		until(t, "requests", func() bool { return srv.Requests() >= after })
		kill(t, p)
	}
	most.Store(math.MaxInt64)
	p := run(t, dir, 0, args...)
	if !strings.Contains(p.err.String(), "resumes") {
		t.Errorf("the run was not continued:\n%s", p.err.String())
	}
	seen := records(t, dir)
	for id, c := range seen {
		if c != 1 {
			t.Errorf("item %s has %d records", id, c)
		}
	}
	if len(seen) != n {
		t.Errorf("%d items have a record, want %d", len(seen), n)
	}
	again := 0
	for _, c := range srv.Counts() {
		again += c - 1
	}
	t.Logf("%d of %d requests were made again after %d kills", again, n, kills)
	if again > kills*(j+window) {
		t.Errorf("%d requests were made again, want at most %d for each kill", again, j+window)
	}
}

// moments returns when to kill: after these numbers of requests, in order. They differ in
// each run of the test, which logs them.
func moments(t *testing.T, n, below int) []int {
	t.Helper()
	list := make([]int, n)
	for i := range list {
		list[i] = 1 + rand.IntN(below)
	}
	slices.Sort(list)
	t.Logf("killed after %v requests", list)
	return list
}

// The first interrupt lets calls in flight finish and keeps their results; the printed
// command that resumes the run works.
func TestInterruptKeepsWhatIsInFlight(t *testing.T) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup, which child processes inherit
		signals = append(signals, syscall.SIGHUP)
	}
	for _, s := range signals {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			interruptInFlight(t, s)
		})
	}
}

func interruptInFlight(t *testing.T, s os.Signal) {
	t.Helper()
	const n, j = 100, 8
	srv, release := holding(t, j)
	dir := t.TempDir()
	writeItems(t, dir, n, func(i int) string { return fmt.Sprint(i) })
	args := modelArgs(srv, "-j", fmt.Sprint(j))
	p := start(t, dir, args...)
	until(t, "requests", func() bool { return srv.Requests() >= 2*j })
	p.signal(t, s)
	release()
	if code := p.wait(t); code != 130 {
		t.Fatalf("exit code %d, want 130\n%s", code, p.err.String())
	}
	kept := len(records(t, dir))
	if kept != srv.Requests() || kept == n {
		t.Errorf("%d requests were answered and %d records kept, of %d items", srv.Requests(), kept, n)
	}
	if want := "resume with: deem " + strings.Join(args, " ") + "\n"; !strings.Contains(p.err.String(), want) {
		t.Errorf("no %q in:\n%s", want, p.err.String())
	}
	run(t, dir, 0, args...)
	if srv.Requests() != n || len(records(t, dir)) != n {
		t.Errorf("%d requests for %d items with %d records", srv.Requests(), n, len(records(t, dir)))
	}
}

// A run started with nohup is not stopped by the end of its terminal.
func TestHangUpIgnored(t *testing.T) {
	t.Parallel()
	const n = 20
	srv, release := holding(t, 2)
	dir := t.TempDir()
	writeItems(t, dir, n, func(i int) string { return fmt.Sprint(i) })
	args := append([]string{"-c", `trap "" HUP; exec deem "$@"`, "sh"}, modelArgs(srv, "-j", "2")...)
	p := startCommand(t, dir, []string{"OPENAI_API_KEY=sk-test-0123456789abcdef"}, exec.Command("sh", args...))
	until(t, "requests", func() bool { return srv.Requests() >= 4 })
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	release()
	if code := p.wait(t); code != 0 || len(records(t, dir)) != n {
		t.Errorf("exit code %d with %d records, want 0 with %d\n%s", code, len(records(t, dir)), n, p.err.String())
	}
}

// An interrupt ends the backoff of retries, which would otherwise last a minute: no call is
// made after it, and their items are not done.
func TestInterruptEndsRetries(t *testing.T) {
	t.Parallel()
	const n, j = 100, 8
	srv := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer {
		a := modeltest.Fail(503, `{"error":{"message":"busy"}}`)
		a.Raw.Header = map[string]string{"Retry-After": "60"}
		return a
	})
	dir := t.TempDir()
	writeItems(t, dir, n, func(i int) string { return fmt.Sprint(i) })
	p := start(t, dir, modelArgs(srv, "-j", fmt.Sprint(j))...)
	until(t, "a request", func() bool { return srv.Requests() > 0 })
	time.Sleep(200 * time.Millisecond) // Most of the first calls are over, and in backoff.
	checkReply := time.Now()
	p.interrupt(t)
	if code := p.wait(t); code != 130 {
		t.Fatalf("exit code %d, want 130\n%s", code, p.err.String())
	}
	if took := time.Since(checkReply); took > 30*time.Second { // The backoff is a minute.
		t.Errorf("it ended %v after the interrupt", took)
	}
	if kept := len(records(t, dir)); kept != 0 || srv.Requests() > j || !strings.Contains(p.err.String(), "0 of 100 judged and kept") {
		t.Errorf("%d requests, %d records\n%s", srv.Requests(), kept, p.err.String())
	}
}

// The second interrupt cancels calls that would never end.
func TestSecondInterruptCancels(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	srv := modeltest.NewServer(t, func(a modeltest.Asked) modeltest.Answer {
		if asked.Add(1) == 1 { // The first request to an unknown model is made alone.
			return answer(a)
		}
		return modeltest.Answer{Hang: true}
	})
	dir := t.TempDir()
	writeItems(t, dir, 20, func(i int) string { return fmt.Sprint(i) })
	p := start(t, dir, modelArgs(srv, "-j", "4", "--timeout", "24h")...)
	until(t, "requests", func() bool { return srv.Requests() >= 5 })
	p.interrupt(t)
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != 130 { // Without the second it would not end.
		t.Errorf("exit code %d, want 130\n%s", code, p.err.String())
	}
	if kept := len(records(t, dir)); kept != 1 {
		t.Errorf("%d records, want the one of the call that ended", kept)
	}
}

// The plan of a resumed run counts what is missing, although the items that were judged are
// the first and the plan looks at some items only.
func TestPlanOfTheRest(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	srv := modeltest.NewServer(t, func(a modeltest.Asked) modeltest.Answer {
		if asked.Add(1) == 151 {
			return modeltest.Fail(401, `{"error":{"message":"invalid key"}}`)
		}
		return answer(a)
	})
	dir := t.TempDir()
	writeItems(t, dir, 401, func(i int) string { return fmt.Sprint(i) })
	run(t, dir, 1, modelArgs(srv, "-j", "1")...)
	rest := run(t, dir, 0, modelArgs(srv, "-j", "8")...).err.String()
	_, plan, _ := strings.Cut(rest, "plan: ")
	var calls int
	if _, err := fmt.Sscanf(plan, "%d calls", &calls); err != nil || calls < 245 || calls > 255 {
		t.Errorf("the plan says %d calls (%v), want about 251\n%s", calls, err, rest)
	}
}

// Two processes do not pay for the same run.
func TestTwoProcessesDoNotShareARun(t *testing.T) {
	t.Parallel()
	srv, release := holding(t, 2)
	dir := t.TempDir()
	writeItems(t, dir, 60, func(i int) string { return fmt.Sprint(i) })
	first := start(t, dir, modelArgs(srv, "-j", "2")...)
	until(t, "requests", func() bool { return srv.Requests() >= 4 })
	second := run(t, dir, 1, modelArgs(srv, "-j", "2")...)
	if !strings.Contains(second.err.String(), "judged already") {
		t.Errorf("the second process says:\n%s", second.err.String())
	}
	// Reading is possible meanwhile, once a record is stored.
	until(t, "records", func() bool { return len(records(t, dir)) > 0 })
	run(t, dir, 0, "report")
	release()
	if code := first.wait(t); code != 0 || srv.Requests() != 60 {
		t.Errorf("exit code %d, %d requests\n%s", code, srv.Requests(), first.err.String())
	}
}

// A response of 10 MB goes through a rule, a prompt and the store.
func TestHugeResponse(t *testing.T) {
	notQuick(t)
	t.Parallel()
	srv := modeltest.NewServer(t, answer)
	dir := t.TempDir()
	huge := strings.Repeat("a long story without an end ", 10<<20/28)
	writeItems(t, dir, 1, func(i int) string { return huge + fmt.Sprintf(" the number is %d", i) })
	run(t, dir, 0, modelArgs(srv)...)
	p := run(t, dir, 0, "show", "q0", "--json")
	if n := len(p.out.String()); n < 10<<20 {
		t.Errorf("deem show wrote %d bytes", n)
	}
	run(t, dir, 0, "run", "--data", "items.jsonl", "--max-unjudged", "100%")
}

// A run whose calls fail says what the server said.
func TestServerMessage(t *testing.T) {
	t.Parallel()
	srv := modeltest.NewServer(t, answer)
	dir := t.TempDir()
	writeItems(t, dir, 2, func(int) string { return "TROUBLE http" })
	p := run(t, dir, 3, "run", "--data", "items.jsonl", "--judge", "universal", "--model", "openai:gpt-4o-mini", "--base-url", srv.URL, "--retries", "0")
	if want := "2 of 2, and more than 1% withholds the score; item q0: HTTP 500: the server is on fire"; !strings.Contains(p.err.String(), want) {
		t.Errorf("standard error has no %q:\n%s", want, p.err.String())
	}
}
