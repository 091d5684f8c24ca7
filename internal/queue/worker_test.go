package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/conduct"
	"deem/internal/queue"
	"deem/internal/store"
	"deem/internal/store/pgtest"
	"deem/internal/store/postgres"
	"deem/judge"
	"deem/model/fake"
)

// fakeModel is the name of the model that runs of these tests ask.
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
	who, err := conduct.Describe(j, false)
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
			it := deem.Item{ID: fmt.Sprintf("q%d", i), Question: name, References: []string{fmt.Sprint(i)}, Response: fmt.Sprint(i)}
			if !yield(it, nil) {
				return
			}
		}
	}
	if _, err := c.Enqueue(t.Context(), queue.Work{Run: r, Items: items, Calls: 1, Options: o}); err != nil {
		t.Fatal(err)
	}
	if err := st.Release(r.ID); err != nil {
		t.Fatal(err)
	}
	return r
}

// employ lets a worker work in this process until the test is over, or it is drained.
func employ(t testing.TB, c *queue.Control, o queue.WorkerOptions, ask func(ctx context.Context, req deem.Request) (deem.Reply, error)) (w *queue.Worker, leave func()) {
	t.Helper()
	o.Open = func(m queue.Model, _ time.Duration) (deem.Model, error) { return fake.Func(m.Name, ask), nil }
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

// connect returns a connection to look into the tables with.
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

// A worker that finds the money spent after somebody gave the run more does not stop it:
// what it found is of before.
func TestStopOfAnotherTime(t *testing.T) {
	t.Parallel()
	st, c := open(t, pgtest.Database(t))
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

// A run that comes later takes turns with one that was there: neither waits for the other
// to end. One with a higher priority goes first.
func TestRunsTakeTurns(t *testing.T) {
	t.Parallel()
	st, c := open(t, pgtest.Database(t))
	huge := begin(t, st, c, "huge", 2400, queue.Options{}) // 24 chunks of 100 items
	// A third of it is done when the other comes.
	if _, err := st.Pool().Exec(t.Context(), `UPDATE river_job SET state = 'completed', finalized_at = now() WHERE id IN
		(SELECT id FROM river_job ORDER BY priority, scheduled_at, id LIMIT 8)`); err != nil {
		t.Fatal(err)
	}
	small := begin(t, st, c, "small", 240, queue.Options{}) // 24 chunks of 10 items
	urgent := begin(t, st, c, "urgent", 24, queue.Options{Priority: queue.High})
	rows, err := st.Pool().Query(t.Context(), `SELECT args->>'run' FROM river_job WHERE state = 'available' AND kind = 'deem_chunk' ORDER BY priority, scheduled_at, id`)
	if err != nil {
		t.Fatal(err)
	}
	order, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for i, run := range order[:24] {
		if run != urgent.ID {
			t.Fatalf("ticket %d is of run %s, want of the urgent one", i, run)
		}
	}
	// A chunk of the small run is a tenth of the work of one of the huge run, so while all
	// of the small one is served, the huge one gets as much: two to three chunks.
	count, last := 0, 0
	for i, run := range order[24:] {
		if run == small.ID {
			last = i
		}
	}
	for _, run := range order[24 : 24+last] {
		if run == huge.ID {
			count++
		}
	}
	if count < 2 || count > 4 {
		t.Errorf("%d chunks of the huge run are served before the last of the small one, want 2 to 4", count)
	}
}

// A worker that lost its chunk, because it was thought dead, commits nothing any more.
func TestFence(t *testing.T) {
	t.Parallel()
	st, c := open(t, pgtest.Database(t))
	r := begin(t, st, c, "fenced", 1, queue.Options{})
	held, asked := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(asked) })
	_, leave := employ(t, c, queue.WorkerOptions{Slots: 1, Dead: time.Hour}, func(context.Context, deem.Request) (deem.Reply, error) {
		once()
		<-held
		return deem.Reply{Text: "INCORRECT", Stop: deem.StopEnd}, nil
	})
	<-asked
	ask := connect(t, st)
	ask(`WITH lost AS (UPDATE queue_chunks SET token = token + 1, worker = 'another' RETURNING n) SELECT count(*) FROM lost`)
	close(held)
	leave()
	if got, err := st.Run(t.Context(), r.ID); err != nil || got.Records != 0 {
		t.Fatalf("%d records, %v, want none of a worker that lost its chunk", got.Records, err)
	}
	if n := ask(`SELECT count(*) FROM queue_chunks WHERE worker = 'another'`); n != 1 {
		t.Errorf("%d chunks belong to the other worker, want 1", n)
	}
	// The other one is dead, too, and a third takes over.
	employ(t, c, queue.WorkerOptions{Slots: 1, Dead: time.Second}, yes)
	finished(t, st, r.ID)
	checkRecords(t, st, r.ID, 1, 1)
}

// A run that is paused is not touched, until it is resumed, with the priority it is given.
func TestPause(t *testing.T) {
	t.Parallel()
	st, c := open(t, pgtest.Database(t))
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

// All workers together have no more calls in flight than the run allows.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	st, c := open(t, pgtest.Database(t))
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

// A vendor that refuses slows all workers down, also those that it has not refused.
func TestRefusalsSlowAllDown(t *testing.T) {
	t.Parallel()
	st, c := open(t, pgtest.Database(t))
	r := begin(t, st, c, "refused", 600, queue.Options{Retries: 5})
	var asked atomic.Int64
	ask := func(ctx context.Context, req deem.Request) (deem.Reply, error) {
		if asked.Add(1) == 500 { // By now it is known how fast they are.
			return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Status: 429, Passing: true, RetryAfter: time.Second}
		}
		time.Sleep(10 * time.Millisecond)
		return yes(ctx, req)
	}
	for range 2 {
		employ(t, c, queue.WorkerOptions{Slots: 2}, ask)
	}
	finished(t, st, r.ID)
	checkRecords(t, st, r.ID, 600, 1)
	s, err := c.Status(t.Context())
	if err != nil || len(s.Models) != 1 || s.Models[0].Rate == 0 {
		t.Errorf("Status.Models = %+v, %v, want one whose rate was cut", s.Models, err)
	}
	if len(s.Workers) != 2 {
		t.Errorf("%d workers, want 2", len(s.Workers))
	}
}

// A worker whose key is no good leaves the run to others, and says why.
func TestBadKey(t *testing.T) {
	t.Parallel()
	st, c := open(t, pgtest.Database(t))
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

// A small run that comes later is done long before a huge one that was there, and the
// huge one goes on meanwhile.
func TestSmallRunIsNotStarved(t *testing.T) {
	t.Parallel()
	st, c := open(t, pgtest.Database(t))
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
