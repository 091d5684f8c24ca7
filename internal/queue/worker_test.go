package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deem"
	"deem/internal/queue"
	conductor "deem/internal/run"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/test/storetest"
	"deem/judge"
	"deem/model/fake"
)

// fakeModel is the name of the model that the runs of these tests use.
const fakeModel = "fake:test"

// begin begins a run of n items and queues it.
func begin(t testing.TB, st *postgres.Store, c *queue.Control, name string, n int, o queue.Options) store.Run {
	t.Helper()
	d, ok := judge.Builtin("universal")
	if !ok {
		t.Fatal("no judge universal")
	}
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	j := judge.New(p, fake.Func(fakeModel, nil))
	who, err := conductor.Describe(j, false)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := st.Begin(t.Context(), store.Spec{
		Judge: who, Model: fakeModel, Trials: 1, Dataset: store.DatasetSpec{Names: []string{name}, Hash: name, Items: n},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	o.Models = []queue.Model{{Name: fakeModel}}
	items := func(yield func(deem.Item, error) bool) {
		for i := range n {
			it := deem.Item{ID: fmt.Sprintf("q%d", i), Question: name, References: []string{fmt.Sprint(i)}, Response: fmt.Sprintf("%s %d", name, i)}
			if !yield(it, nil) {
				return
			}
		}
	}
	if _, err := c.Enqueue(t.Context(), queue.Work{Run: r, Items: items, Options: o}); err != nil {
		t.Fatal(err)
	}
	if err := st.Release(r.ID); err != nil {
		t.Fatal(err)
	}
	return r
}

// stored builds the judge of a run, which asks a model.
func stored(s store.JudgeSpec, open func(name, settings string) (deem.Model, error)) (deem.Judge, error) {
	spec, err := judge.ParseSpec(s.Identity)
	if err != nil {
		return nil, err
	}
	p, err := spec.Protocol()
	if err != nil {
		return nil, err
	}
	m, err := open(spec.Model, spec.Settings)
	if err != nil {
		return nil, err
	}
	return judge.New(p, m), nil
}

// employ runs a worker in this process until the test ends or the worker is drained.
func employ(t testing.TB, c *queue.Control, o queue.WorkerOptions, ask func(ctx context.Context, req deem.Request) (deem.Reply, error)) (w *queue.Worker, leave func()) {
	t.Helper()
	o.Open = func(m queue.Model, _ time.Duration) (deem.Model, error) { return fake.Func(m.Name, ask), nil }
	o.Judge = stored
	if o.Say == nil {
		o.Say = func(message string) { t.Log(message) }
	}
	w, err := queue.NewWorker(c, o)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := w.Run(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	leave = func() {
		w.Drain()
		wg.Wait()
	}
	t.Cleanup(leave)
	return w, leave
}

func yes(context.Context, deem.Request) (deem.Reply, error) {
	return deem.Reply{Text: "CORRECT", Stop: deem.StopEnd}, nil
}

// connect returns a function that queries the tables directly.
func connect(t testing.TB, st *postgres.Store) func(sql string, args ...any) int {
	t.Helper()
	return func(sql string, args ...any) int {
		t.Helper()
		var n int
		if err := st.Pool().QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return n
	}
}

// A worker that finds the budget spent does not stop the run if the budget was raised
// meanwhile.
func TestStopOfAnotherTime(t *testing.T) {
	t.Parallel()
	st, c := open(t, storetest.Database(t))
	little, much := int64(1000), int64(10_000_000)
	r := begin(t, st, c, "budget", 24, queue.Options{MaxMicros: &little})
	asked, resumed := make(chan struct{}), make(chan struct{})
	var first sync.Once
	employ(t, c, queue.WorkerOptions{Slots: 1}, func(ctx context.Context, req deem.Request) (deem.Reply, error) {
		spent := false
		first.Do(func() {
			close(asked)
			select {
			case <-resumed:
				spent = true
			case <-t.Context().Done(): // the test is over
			}
		})
		if spent {
			return deem.Reply{}, &deem.ModelError{Kind: deem.Budget, Fatal: true, Err: errors.New("the budget is used up")}
		}
		return yes(ctx, req)
	})
	<-asked
	if err := c.Resume(t.Context(), r.ID, queue.Change{MaxMicros: &much}); err != nil {
		t.Fatal(err)
	}
	close(resumed)
	if got := finished(t, st, r.ID); got.Records != 24 {
		t.Errorf("%d records, want 24", got.Records)
	}
}

// Runs of the same priority share a worker evenly, regardless of order and size. A run with
// a higher priority goes first.
func TestRunsTakeTurns(t *testing.T) {
	t.Parallel()
	st, c := open(t, storetest.Database(t))
	begin(t, st, c, "huge", 2400, queue.Options{})
	small := begin(t, st, c, "small", 240, queue.Options{})
	urgent := begin(t, st, c, "urgent", 240, queue.Options{Priority: queue.High})
	var mu sync.Mutex
	var asked []string
	employ(t, c, queue.WorkerOptions{Slots: 2}, func(ctx context.Context, req deem.Request) (deem.Reply, error) {
		mu.Lock()
		for _, name := range []string{"huge", "small", "urgent"} {
			if strings.Contains(req.Messages[len(req.Messages)-1].Content, name+" ") {
				asked = append(asked, name)
			}
		}
		mu.Unlock()
		time.Sleep(10 * time.Millisecond)
		return yes(ctx, req)
	})
	finished(t, st, urgent.ID)
	finished(t, st, small.ID)
	mu.Lock()
	defer mu.Unlock()
	others, share, left := 0, 0, map[string]int{"small": 240, "urgent": 240}
	for _, name := range asked {
		left[name]--
		switch {
		case left["urgent"] > 0 && name != "urgent":
			others++
		case left["urgent"] <= 0 && left["small"] > 0 && name == "huge":
			share++
		}
	}
	t.Logf("%d items of others while 240 urgent ones were asked, and %d of the huge run while 240 of the small one were", others, share)
	// Between two chunks of the urgent run, others get a turn or two.
	if others > 120 {
		t.Errorf("%d items of others were asked before the last of 240 urgent ones, want few", others)
	}
	if share < 60 || share > 960 {
		t.Errorf("%d items of the huge run were asked while 240 of the small one were, want about as many", share)
	}
}

// If two workers judge a chunk at the same time, because one of them was declared dead,
// only the first record of each item is kept.
func TestFence(t *testing.T) {
	t.Parallel()
	st, c := open(t, storetest.Database(t))
	r := begin(t, st, c, "fenced", 1, queue.Options{})
	held, asked := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(asked) })
	_, leave := employ(t, c, queue.WorkerOptions{Slots: 1}, func(context.Context, deem.Request) (deem.Reply, error) {
		once()
		<-held
		return deem.Reply{Text: "INCORRECT", Stop: deem.StopEnd, CostMicros: 5}, nil
	})
	<-asked
	ask := connect(t, st)
	if n := ask(`WITH lost AS (UPDATE river_job SET state = 'available' WHERE state = 'running' RETURNING id) SELECT count(*) FROM lost`); n != 1 {
		t.Fatalf("%d chunks were under way, want 1", n)
	}
	employ(t, c, queue.WorkerOptions{Slots: 1}, func(ctx context.Context, req deem.Request) (deem.Reply, error) {
		reply, err := yes(ctx, req)
		reply.CostMicros = 7
		return reply, err
	})
	finished(t, st, r.ID)
	close(held)
	leave()
	checkRecords(t, st, r.ID, 1, 1)
	for rec, err := range st.Records(t.Context(), r.ID, store.Query{}) {
		if err != nil || rec.Verdict == nil || rec.Verdict.Score != 1 {
			t.Errorf("the record is %+v, %v, want the first one", rec.Verdict, err)
		}
	}
	if got, err := st.Run(t.Context(), r.ID); err != nil || got.State != store.Done || got.Records != 1 || got.CostMicros > 7 {
		t.Errorf("the run is %s with %d records for %d micros, %v, want done with 1 for 7 at most", got.State, got.Records, got.CostMicros, err)
	}
}

// A call that takes longer than the dead-worker timeout is made once, because its worker
// renews the lease.
func TestSlowCall(t *testing.T) {
	t.Parallel()
	st, c := open(t, storetest.Database(t))
	r := begin(t, st, c, "slow", 2, queue.Options{})
	var calls atomic.Int64
	ask := func(ctx context.Context, req deem.Request) (deem.Reply, error) {
		calls.Add(1)
		time.Sleep(35 * time.Second) // River looks for jobs to rescue every 30 s.
		return yes(ctx, req)
	}
	for range 2 {
		employ(t, c, queue.WorkerOptions{Slots: 2, Dead: 2 * time.Second}, ask)
	}
	finished(t, st, r.ID)
	checkRecords(t, st, r.ID, 2, 1)
	if n := calls.Load(); n != 2 {
		t.Errorf("%d calls for 2 items", n)
	}
}

// A chunk that failed for good stops its run, with the reason, and is tried again when the
// run is resumed.
func TestBrokenChunk(t *testing.T) {
	t.Parallel()
	st, c := open(t, storetest.Database(t))
	r := begin(t, st, c, "broken", 3, queue.Options{})
	ask := connect(t, st)
	ask(`WITH lost AS (UPDATE river_job SET state = 'discarded', finalized_at = now(), attempt = max_attempts,
		errors = ARRAY['{"error": "it never ends"}'::jsonb] WHERE id = (SELECT min(id) FROM river_job) RETURNING id) SELECT count(*) FROM lost`)
	employ(t, c, queue.WorkerOptions{}, yes)
	until(t, "the run to be stopped", func() bool {
		s, err := c.Run(t.Context(), r.ID)
		return err == nil && s.State == queue.Stopped && strings.Contains(s.Reason, "it never ends")
	})
	ask(`WITH lost AS (UPDATE river_job SET state = 'cancelled', finalized_at = now() WHERE state <> 'completed' RETURNING id) SELECT count(*) FROM lost`)
	if err := c.Resume(t.Context(), r.ID, queue.Change{}); err != nil {
		t.Fatal(err)
	}
	finished(t, st, r.ID)
	checkRecords(t, st, r.ID, 3, 1)
}

// Jobs are taken whatever the clocks of the clients say: those that were queued before the
// database's clock was set back, and those that a worker whose clock is ahead gave back.
func TestClocksDisagree(t *testing.T) {
	t.Parallel()
	st, c := open(t, storetest.Database(t))
	r := begin(t, st, c, "clocks", 30, queue.Options{})
	ask := connect(t, st)
	if n := ask(`SELECT count(*) FROM river_job WHERE scheduled_at > now() - interval '5 hours'`); n != 0 {
		t.Errorf("%d jobs wait for the clock of the client", n)
	}
	ask(`WITH back AS (UPDATE river_job SET scheduled_at = now() + interval '5 hours' WHERE id = (SELECT min(id) FROM river_job) RETURNING id)
		SELECT count(*) FROM back`)
	employ(t, c, queue.WorkerOptions{}, yes)
	finished(t, st, r.ID)
	checkRecords(t, st, r.ID, 30, 1)
}

// A paused run is not judged until it is resumed, with the priority given then.
func TestPause(t *testing.T) {
	t.Parallel()
	st, c := open(t, storetest.Database(t))
	r := begin(t, st, c, "paused", 50, queue.Options{})
	if err := c.Pause(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	if err := c.Busy(t.Context(), r.ID); err == nil {
		t.Error("a run that is paused can be judged by others")
	}
	var calls atomic.Int64
	other := begin(t, st, c, "other", 20, queue.Options{})
	employ(t, c, queue.WorkerOptions{Slots: 4}, func(ctx context.Context, req deem.Request) (deem.Reply, error) {
		calls.Add(1)
		return yes(ctx, req)
	})
	finished(t, st, other.ID)
	if n := calls.Load(); n != 20 {
		t.Errorf("%d calls while a run of 50 items was paused, want the 20 of the other", n)
	}
	high := queue.High
	if err := c.Resume(t.Context(), r.ID, queue.Change{Priority: &high}); err != nil {
		t.Fatal(err)
	}
	finished(t, st, r.ID)
	checkRecords(t, st, r.ID, 50, 1)
	s, err := c.Run(t.Context(), r.ID)
	if err != nil || s.Priority != queue.High || s.Records != 50 || s.Chunks != 0 {
		t.Errorf("Run = %+v, %v", s, err)
	}
	if err := c.Resume(t.Context(), r.ID, queue.Change{}); err == nil {
		t.Error("a run that is done can be resumed")
	}
}

// All workers together never have more calls in flight than the run allows.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	st, c := open(t, storetest.Database(t))
	const bound = 3
	r := begin(t, st, c, "bounded", 120, queue.Options{Concurrency: bound})
	var now, most atomic.Int64
	ask := func(ctx context.Context, req deem.Request) (deem.Reply, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() { //nolint:revive // It is all in the head.
		}
		time.Sleep(10 * time.Millisecond)
		return yes(ctx, req)
	}
	for range 2 {
		employ(t, c, queue.WorkerOptions{Slots: 8}, ask)
	}
	finished(t, st, r.ID)
	checkRecords(t, st, r.ID, 120, 1)
	if n := most.Load(); n > bound || n < 2 {
		t.Errorf("%d calls were in flight, want more than one and at most %d", n, bound)
	}
}

// If a vendor occasionally refuses calls, no record is lost or made twice.
func TestRefusals(t *testing.T) {
	t.Parallel()
	st, c := open(t, storetest.Database(t))
	r := begin(t, st, c, "refused", 600, queue.Options{Retries: 5})
	var asked atomic.Int64
	ask := func(ctx context.Context, req deem.Request) (deem.Reply, error) {
		if asked.Add(1)%100 == 0 {
			return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Status: 429, Passing: true, RetryAfter: 100 * time.Millisecond}
		}
		time.Sleep(10 * time.Millisecond)
		return yes(ctx, req)
	}
	for range 2 {
		employ(t, c, queue.WorkerOptions{Slots: 2}, ask)
	}
	finished(t, st, r.ID)
	checkRecords(t, st, r.ID, 600, 1)
	if n := asked.Load(); n != 606 {
		t.Errorf("%d calls for 600 items and 6 refusals", n)
	}
	s, err := c.Status(t.Context())
	if err != nil || len(s.Workers) != 2 {
		t.Errorf("%d workers, %v, want 2", len(s.Workers), err)
	}
}

// A worker with an invalid key leaves the run to others, and says why.
func TestBadKey(t *testing.T) {
	t.Parallel()
	st, c := open(t, storetest.Database(t))
	r := begin(t, st, c, "keys", 200, queue.Options{})
	var tried atomic.Int64
	employ(t, c, queue.WorkerOptions{Slots: 1}, func(context.Context, deem.Request) (deem.Reply, error) {
		tried.Add(1)
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Status: 401, Fatal: true, Err: errors.New("the key is no good")}
	})
	until(t, "the refusal", func() bool {
		s, err := c.Run(t.Context(), r.ID)
		return err == nil && len(s.Refused) == 1
	})
	employ(t, c, queue.WorkerOptions{Slots: 4}, yes)
	finished(t, st, r.ID)
	checkRecords(t, st, r.ID, 200, 1)
	if n := tried.Load(); n > 10 {
		t.Errorf("the worker with the bad key made %d calls, want a few", n)
	}
}

// A small run that comes later finishes long before a huge one that came first, and the
// huge one continues meanwhile.
func TestSmallRunIsNotStarved(t *testing.T) {
	t.Parallel()
	st, c := open(t, storetest.Database(t))
	const n = 2400
	huge := begin(t, st, c, "huge", n, queue.Options{})
	employ(t, c, queue.WorkerOptions{Slots: 4}, func(ctx context.Context, req deem.Request) (deem.Reply, error) {
		time.Sleep(4 * time.Millisecond)
		return yes(ctx, req)
	})
	records := func(id string) int {
		r, err := st.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return r.Records
	}
	until(t, "the huge run to be under way", func() bool { return records(huge.ID) > 0 })
	before := records(huge.ID)
	small := begin(t, st, c, "small", 240, queue.Options{})
	finished(t, st, small.ID)
	after := records(huge.ID)
	t.Logf("the huge run had %d records when the small one came, and %d when it was done", before, after)
	if after > n*3/4 || after == before {
		t.Errorf("the huge run has %d of %d records, and had %d: want more, and not nearly all", after, n, before)
	}
	finished(t, st, huge.ID)
	checkRecords(t, st, huge.ID, n, 1)
	checkRecords(t, st, small.ID, 240, 1)
}
