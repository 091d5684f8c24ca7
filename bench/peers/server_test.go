package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The variables by which this test starts itself as a contestant: one that asks about
// every item, one that lets a child do it, and one that asks nothing.
const (
	roleVariable = "PEERS_TEST_ROLE"
	urlVariable  = "PEERS_TEST_URL"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "asker":
		for i := range items {
			if _, err := post(context.Background(), os.Getenv(urlVariable), i); err != nil {
				os.Exit(1)
			}
		}
	case "parent":
		cmd := exec.CommandContext(context.Background(), os.Args[0]) //nolint:gosec // it is this program
		cmd.Env = append(os.Environ(), roleVariable+"=asker")
		cmd.Stdout = os.Stdout
		if cmd.Run() != nil {
			os.Exit(1)
		}
	case "idler":
	default:
		os.Exit(m.Run())
	}
}

// items is how many the vendors of these tests know.
const items = 40

// post asks about an item and returns the reply.
func post(ctx context.Context, url string, i int) (string, error) {
	body := fmt.Sprintf(`{"model":"test","messages":[{"role":"user","content":%q}]}`, markOf(i))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, text)
	}
	return string(text), err
}

func vendorFor(t *testing.T, latency time.Duration) *vendor {
	t.Helper()
	v, err := startVendor(t.Context(), items, `{"role":"assistant","content":"CORRECT"}`, latency)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.close)
	return v
}

// TestVendor counts requests by item, whatever else they say.
func TestVendor(t *testing.T) {
	v := vendorFor(t, 0)
	for _, i := range []int{3, 5, 3} {
		text, err := post(t.Context(), v.url, i)
		if err != nil || !strings.Contains(text, `"content":"CORRECT"`) {
			t.Errorf("reply = %s, %v, want the message", text, err)
		}
	}
	for _, i := range []int{items, 70_000} {
		if _, err := post(t.Context(), v.url, i); err == nil {
			t.Errorf("item %d is none of ours, and there is an answer", i)
		}
	}
	got := v.next()
	if got.asked[3] != 2 || got.asked[5] != 1 || got.requests() != 3 || got.items() != 2 || got.strange != 2 || got.peak != 1 {
		t.Errorf("tally = %+v, want item 3 twice, item 5 once, two strange, one at a time", got)
	}
	if d := cmp.Diff(newTally(items), v.next(), cmp.AllowUnexported(tally{})); d != "" {
		t.Errorf("the second tally is not empty (-want +got):\n%s", d)
	}
}

// TestVendorGone holds that a caller who went away got no answer.
func TestVendorGone(t *testing.T) {
	v := vendorFor(t, time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := post(ctx, v.url, 7)
		gone <- err
	}()
	for asked := false; !asked; {
		v.mu.Lock()
		asked = v.tally.asked[7] > 0
		v.mu.Unlock()
		runtime.Gosched()
	}
	cancel()
	if err := <-gone; err == nil {
		t.Error("the caller got an answer an hour early")
	}
	if got := v.next(); got.items() != 0 || got.open() != 1 || got.inFlight != 0 {
		t.Errorf("%d items answered, %d open and %d in flight, want 0, 1 and 0", got.items(), got.open(), got.inFlight)
	}
}

// TestAfter holds that the call comes once, with the answer to the n-th item and not with
// the n-th answer.
func TestAfter(t *testing.T) {
	v := vendorFor(t, 0)
	calls := make(chan struct{}, items)
	v.after(2, func() { calls <- struct{}{} })
	ask := func(i int) {
		t.Helper()
		if _, err := post(t.Context(), v.url, i); err != nil {
			t.Fatal(err)
		}
		v.busy.Wait()
	}
	ask(1)
	ask(1)
	if len(calls) != 0 {
		t.Error("it was called for one item with two answers")
	}
	ask(2)
	ask(3)
	if len(calls) != 1 {
		t.Errorf("it was called %d times, want once", len(calls))
	}
}

func TestPaidTwice(t *testing.T) {
	first := tally{asked: []int{1, 1, 1, 0, 0}, answered: []int{1, 1, 0, 0, 0}}
	second := tally{asked: []int{1, 0, 1, 1, 0}, answered: []int{1, 0, 1, 1, 0}}
	if got := paidTwice(first, second); got != 1 {
		t.Errorf("paidTwice = %d, want 1: the second was kept, and the third had no answer", got)
	}
	if got := never(first, second); got != 1 {
		t.Errorf("never = %d, want 1: the last", got)
	}
	if got := first.open(); got != 1 {
		t.Errorf("open = %d, want 1: the third", got)
	}
}

// self is a command that runs this test in another role.
func self(t *testing.T, role, url string) command {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return command{dir: t.TempDir(), program: program, env: []string{roleVariable + "=" + role, urlVariable + "=" + url}}
}

// TestKill holds that a contestant is killed at half with everything that it started, and
// that what it asks again is counted. This one keeps nothing and so asks all again. Were
// the child of the second left alive, this test would wait for it without end.
func TestKill(t *testing.T) {
	for _, role := range []string{"asker", "parent"} {
		v := vendorFor(t, 0)
		cmd := self(t, role, v.url)
		if err := cmd.runKilled(t.Context(), v, items/2); err != nil {
			t.Fatalf("%s: %v", role, err)
		}
		first := v.next()
		if n := first.items(); n < items/2 || n == items {
			t.Errorf("%s: %d of %d items were answered before the kill, want about half", role, n, items)
		}
		s, err := cmd.run(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", role, err)
		}
		if s.cpu <= 0 || s.rss <= 0 || s.wall <= 0 {
			t.Errorf("%s: spent = %+v, want something of everything", role, s)
		}
		second := v.next()
		if got := paidTwice(first, second); got != first.items() || never(first, second) != 0 {
			t.Errorf("%s: %d asked again and %d never, want %d and 0", role, got, never(first, second), first.items())
		}
	}
}

// TestNotKilled holds that a contestant that ends too early is no measurement.
func TestNotKilled(t *testing.T) {
	v := vendorFor(t, 0)
	if err := self(t, "idler", v.url).runKilled(t.Context(), v, 1); !errors.Is(err, errNotKilled) {
		t.Errorf("runKilled = %v, want %v", err, errNotKilled)
	}
}

// TestRunFails holds that a contestant's own words are in the error.
func TestRunFails(t *testing.T) {
	cmd := self(t, "asker", "http://127.0.0.1:0")
	if _, err := cmd.run(t.Context()); err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("run = %v, want the exit status", err)
	}
	if got := tail(strings.Repeat("a", 5000) + "the end"); len(got) > 2100 || !bytes.HasSuffix([]byte(got), []byte("the end")) {
		t.Errorf("tail has %s bytes, want few, and the end", strconv.Itoa(len(got)))
	}
}
