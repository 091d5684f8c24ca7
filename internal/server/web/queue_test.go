package web_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deem"
	"deem/internal/catalog"
	"deem/internal/queue"
	"deem/internal/server"
	"deem/internal/server/web"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/test/storetest"
	"deem/model/fake"
)

// A crew is a queued run with its workers, and the number of calls of their model.
type crew struct {
	store *postgres.Store
	queue *queue.Control
	run   store.Run
	calls atomic.Int64
}

// newCrew queues a run of n items, and starts two workers that judge it with a slow model.
func newCrew(t *testing.T, n int) *crew {
	t.Helper()
	url := storetest.Start(t, storetest.Options{}).URL("postgres")
	st, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	c := &crew{store: st}
	if c.queue, err = queue.Open(t.Context(), st); err != nil {
		t.Fatal(err)
	}
	j := universal(t, "fake:test", nil)
	spec := specOf(t, j, "items", n, 1)
	spec.Endpoint = ""
	if c.run, _, err = st.Begin(t.Context(), spec, false); err != nil {
		t.Fatal(err)
	}
	items := func(yield func(deem.Item, error) bool) {
		for i := range n {
			it := deem.Item{ID: fmt.Sprintf("q%04d", i), Question: "who?", References: []string{fmt.Sprint(i)}, Response: fmt.Sprint(i)}
			if !yield(it, nil) {
				return
			}
		}
	}
	work := queue.Work{Run: c.run, Items: items, Options: queue.Options{Models: []queue.Model{{Name: "fake:test"}}}}
	if _, err := c.queue.Enqueue(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	if err := st.Release(c.run.ID); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c.employ(t)
	}
	return c
}

// employ starts a worker, which runs until the end of the test.
func (c *crew) employ(t *testing.T) {
	t.Helper()
	w, err := queue.NewWorker(c.queue, queue.WorkerOptions{
		Slots: 4, Version: "test",
		Open: func(m queue.Model, _ time.Duration) (deem.Model, error) { return fake.Func(m.Name, c.ask), nil },
		Judge: func(s store.JudgeSpec, open func(name, settings string) (deem.Model, error)) (deem.Judge, error) {
			return catalog.Stored(s, catalog.Parts{Model: open})
		},
		Say: func(message string) { t.Log(message) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := w.Run(ctx); err != nil && ctx.Err() == nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(wg.Wait)
	t.Cleanup(leave)
}

func (c *crew) ask(ctx context.Context, _ deem.Request) (deem.Reply, error) {
	c.calls.Add(1)
	select {
	case <-time.After(20 * time.Millisecond):
		return deem.Reply{Text: "CORRECT", Stop: deem.StopEnd}, nil
	case <-ctx.Done():
		return deem.Reply{}, ctx.Err()
	}
}

// records returns the number of records of the run.
func (c *crew) records(t *testing.T) int {
	t.Helper()
	run, err := c.store.Run(t.Context(), c.run.ID)
	if err != nil {
		t.Fatal(err)
	}
	return run.Records
}

// waitFor waits until a condition is true.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestCancelInThePage checks that a run which is cancelled in the page stops on all
// workers, keeps all paid results, and can be resumed.
func TestCancelInThePage(t *testing.T) {
	const n = 2000
	c := newCrew(t, n)
	s := newServerWith(t, server.Options{Store: c.store}, web.Options{Queue: c.queue})
	press := func(verb string) {
		t.Helper()
		answer := do(t, s, http.MethodPost, "/runs/"+c.run.ID+"/queue", form("csrf", csrfOf(t, s), "verb", verb), "Content-Type", formType)
		if answer.Code != http.StatusSeeOther {
			t.Fatalf("%s = %d: %s", verb, answer.Code, answer.Body)
		}
	}
	state := func() queue.RunStatus {
		t.Helper()
		r, err := c.queue.Run(t.Context(), c.run.ID)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	waitFor(t, "workers judge", func() bool { return c.records(t) >= 20 })

	body := do(t, s, http.MethodGet, "/queue", nil).Body.String()
	for _, want := range []string{c.run.ID, "2 workers", "Cancel", "Pause"} {
		if !strings.Contains(body, want) {
			t.Errorf("the queue does not say %q:\n%s", want, body)
		}
	}
	if body := get(t, s, "/runs/"+c.run.ID).Body.String(); !strings.Contains(body, "Left to workers") || !strings.Contains(body, "Cancel the run") {
		t.Errorf("the page of the run does not offer to cancel it:\n%s", body)
	}

	press("cancel")
	began := time.Now()
	waitFor(t, "no worker has a chunk", func() bool { return state().Taken == 0 })
	t.Logf("stopped after %v", time.Since(began).Round(time.Millisecond))
	calls, kept := c.calls.Load(), c.records(t)
	if calls == n {
		t.Fatal("the run was done before it was cancelled")
	}
	if kept != int(calls) {
		t.Errorf("%d calls were made, and %d records kept", calls, kept)
	}
	time.Sleep(200 * time.Millisecond) // A worker that continued would make calls now.
	if later := c.calls.Load(); later != calls {
		t.Errorf("%d more calls after it was cancelled", later-calls)
	}

	press("resume")
	waitFor(t, "the run is done", func() bool { return state().State == queue.Done })
	if got := c.records(t); got != n || c.calls.Load() != n {
		t.Errorf("%d records of %d calls, want %d of each", got, c.calls.Load(), n)
	}
}

// TestQueueRefused checks the responses of a server without a queue.
func TestQueueRefused(t *testing.T) {
	st := openStore(t)
	run, _ := demoRuns(t, st)
	s := newServer(t, server.Options{Store: st})
	if answer := do(t, s, http.MethodGet, "/queue", nil); answer.Code != http.StatusNotFound {
		t.Errorf("GET /queue = %d, want 404", answer.Code)
	}
	answer := do(t, s, http.MethodPost, "/runs/"+run.ID+"/queue", form("csrf", csrfOf(t, s), "verb", "cancel"), "Content-Type", formType)
	if answer.Code != http.StatusNotFound {
		t.Errorf("cancel without a queue = %d, want 404", answer.Code)
	}
	if strings.Contains(get(t, s, "/").Body.String(), `href="/queue"`) {
		t.Error("the navigation leads to a queue that is not there")
	}
}
