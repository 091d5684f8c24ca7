package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"deem"
	"deem/internal/store"
	"deem/internal/telemetry"
)

// WorkerOptions configure a worker. The zero value of each field except Open and Judge
// means the default.
type WorkerOptions struct {
	Slots int // items judged at once; default 16

	// Open opens a model with the keys and addresses of this process. If it fails, the
	// worker does not judge runs that use the model.
	Open func(m Model, timeout time.Duration) (deem.Model, error)

	// Judge builds the judge of a run from its spec, with models that open returns. It
	// returns an error if the result is a different judge.
	Judge func(s store.JudgeSpec, open func(name, settings string) (deem.Model, error)) (deem.Judge, error)

	Telemetry *telemetry.Telemetry // nil means none

	// Say receives messages for the user; nil discards them.
	Say func(message string)

	Version string        // of deem
	Grace   time.Duration // time for calls in flight to finish after the worker stops or the run is halted; default 30 s
	Dead    time.Duration // a worker without a heartbeat for this long is dead; default 30 s
	Log     *slog.Logger  // for River; nil means none
}

// beatEvery returns the interval between heartbeats. With each heartbeat a worker also
// looks for runs.
func (o WorkerOptions) beatEvery() time.Duration { return min(time.Second, o.Dead/5) }

// A Worker judges runs of a shared database. [NewWorker] creates one, and [Worker.Run] runs
// it.
type Worker struct {
	c      *Control
	o      WorkerOptions
	id     string
	client *river.Client[pgx.Tx]
	turns  turns
	known  *known

	draining context.Context // done when no further item may be taken
	drain    context.CancelFunc
	hard     context.Context // done when calls in flight are cancelled
	cancel   context.CancelFunc

	inFlight, records, engagements atomic.Int64

	mu       sync.Mutex
	jobs     map[int64]bool         // in progress
	engaged  map[string]*engagement // by run; the worker listens to their queues
	refused  map[string]refusal     // by run
	beaten   time.Time              // last successful heartbeat
	steady   time.Time              // start of the current series of successful heartbeats; zero after a failure
	lastSaid map[string]string

	// Only the heartbeat goroutine uses these.
	counted int64   // records at the last heartbeat
	rate    float64 // recent records per second
}

// NewWorker returns a worker that has not started.
func NewWorker(c *Control, o WorkerOptions) (*Worker, error) {
	if o.Slots <= 0 {
		o.Slots = 16
	}
	if o.Grace <= 0 {
		o.Grace = 30 * time.Second
	}
	if o.Dead <= 0 {
		o.Dead = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = quiet
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	w := &Worker{
		c: c, o: o, id: fmt.Sprintf("%.50s-%d-%s", host, os.Getpid(), strings.ToLower(rand.Text()[:6])), known: &known{c: c}, jobs: map[int64]bool{},
		engaged: map[string]*engagement{}, refused: map[string]refusal{}, lastSaid: map[string]string{},
	}
	w.known.lookup.ask = w.known.ask
	w.turns.free = w.o.Slots
	w.draining, w.drain = context.WithCancel(context.Background())
	w.hard, w.cancel = context.WithCancel(context.Background())
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &chunkWorker{w: w}); err != nil {
		return nil, err
	}
	w.client, err = river.NewClient(riverpgxv5.New(c.pool), &river.Config{
		ID: w.id, Workers: workers, Logger: w.o.Log,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 1}}, // River requires one. The queues of runs are added and removed later.
		// A job takes no further items after its timeout, and is rescued if its worker sent
		// no heartbeat for longer.
		JobTimeout: w.o.Dead * 2 / 3, RescueStuckJobsAfter: w.o.Dead, JobStuckThreshold: time.Hour,
		FetchCooldown: 20 * time.Millisecond, FetchPollInterval: time.Second,
		CompletedJobRetentionPeriod: 10 * time.Minute, CancelledJobRetentionPeriod: -1, DiscardedJobRetentionPeriod: -1,
	})
	return w, err
}

// ID returns the globally unique name of the worker.
func (w *Worker) ID() string { return w.id }

// Drain stops the worker gracefully: it takes no new items, finishes calls in flight and
// keeps their results, and returns the rest of its chunks to the queue at once.
// [Worker.Run] then returns.
func (w *Worker) Drain() { w.drain() }

// Run works until [Worker.Drain] is called or ctx is done, which cancels the calls in
// flight. When it returns, nothing of the worker is left in this process or in the
// database. Run waits for a Postgres that restarts.
func (w *Worker) Run(ctx context.Context) error {
	defer w.cancel()
	if err := w.beat(ctx); err != nil {
		return err
	}
	w.mu.Lock()
	w.beaten = time.Now()
	w.steady = w.beaten
	w.mu.Unlock()
	// The client ends when it is stopped, not when ctx is done: jobs must be returned
	// first.
	if err := w.client.Start(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(err, w.leave(ctx))
	}
	var wg sync.WaitGroup
	over := make(chan struct{})
	wg.Go(func() { w.beatUntil(over) })
	select {
	case <-w.draining.Done():
	case <-ctx.Done():
		w.drain()
	}
	stop := context.AfterFunc(ctx, w.cancel)
	err := w.client.Stop(context.WithoutCancel(ctx))
	stop()
	close(over)
	wg.Wait()
	return errors.Join(err, w.leave(context.WithoutCancel(ctx)))
}

// leave removes the worker's rows from the database.
func (w *Worker) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.o.Dead)
	defer cancel()
	var errs []error
	for _, e := range w.list() {
		errs = append(errs, e.end(ctx))
	}
	_, err := w.c.pool.Exec(ctx, `WITH s AS (DELETE FROM queue_shares WHERE worker = $1) DELETE FROM queue_workers WHERE id = $1`, w.id)
	return errors.Join(append(errs, err)...)
}

func (w *Worker) list() []*engagement {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.engaged))
}

// say passes on a message unless it is the same as the last one about the same subject.
func (w *Worker) say(about, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	w.mu.Lock()
	again := w.lastSaid[about] == message
	w.lastSaid[about] = message
	w.mu.Unlock()
	if !again {
		w.o.Say(message)
	}
}

// WriteMetrics writes the metrics of the worker in the Prometheus text format.
func (w *Worker) WriteMetrics(to io.Writer) {
	w.mu.Lock()
	refused, runs := len(w.refused), len(w.engaged)
	w.mu.Unlock()
	ready := 0
	if w.Ready() {
		ready = 1
	}
	var b strings.Builder
	for _, m := range []struct {
		name, kind, help string
		value            int64
	}{
		{"deem_worker_ready", "gauge", "Whether the worker takes work.", int64(ready)},
		{"deem_worker_slots", "gauge", "Items that the worker judges at once at most.", int64(w.o.Slots)},
		{"deem_worker_in_flight", "gauge", "Items that the worker judges now.", w.inFlight.Load()},
		{"deem_worker_records_total", "counter", "Records that the worker committed.", w.records.Load()},
		{"deem_worker_runs", "gauge", "Runs whose chunks the worker takes.", int64(runs)},
		{"deem_worker_refused_runs", "gauge", "Runs that the worker cannot judge.", int64(refused)},
	} {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", m.name, m.help, m.name, m.kind, m.name, m.value)
	}
	_, _ = io.WriteString(to, b.String()) // The client may have disconnected.
}
