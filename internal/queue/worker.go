package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
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
	"deem/internal/telemetry"
)

// WorkerOptions say how a worker goes about its work. The zero value of each field but
// Open means the default.
type WorkerOptions struct {
	Slots int // items that are judged at once; 16

	// Open opens a model with the keys and addresses of this process. Its error is why
	// the worker does not judge runs that ask the model.
	Open func(m Model, timeout time.Duration) (deem.Model, error)

	Telemetry *telemetry.Telemetry // nil tells nobody

	// Say is told what a person may want to know; nil means nobody is.
	Say func(message string)

	Version string        // of deem
	Grace   time.Duration // calls in flight have it to finish once the worker stops or the run is halted; 30 s
	Dead    time.Duration // a worker that was not heard of for so long is dead; 30 s
	Log     *slog.Logger  // of River; nil means none
}

// beatEvery is how often a worker says that it is alive, and looks which runs there are.
func (o WorkerOptions) beatEvery() time.Duration { return min(time.Second, o.Dead/5) }

func (o WorkerOptions) withDefaults() WorkerOptions {
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
	return o
}

// A Worker judges for a shared database. [NewWorker] makes one, and [Worker.Run] lets it
// work.
type Worker struct {
	c      *Control
	o      WorkerOptions
	id     string
	client *river.Client[pgx.Tx]
	turns  turns
	known  *known

	draining context.Context // done once no further item is taken
	drain    context.CancelFunc
	hard     context.Context // done once calls in flight are cancelled
	cancel   context.CancelFunc

	inFlight, records, accounts atomic.Int64

	mu       sync.Mutex
	jobs     map[int64]bool         // that are under way
	engaged  map[string]*engagement // by run; the worker listens to their queues
	refused  map[string]refusal     // by run
	beaten   time.Time              // the last beat that succeeded
	steady   time.Time              // since when beats succeed
	lastSaid map[string]string

	// Only the goroutine that beats has these.
	counted int64   // records at the last beat
	rate    float64 // records a second, lately
}

// NewWorker returns a worker that does nothing yet.
func NewWorker(c *Control, o WorkerOptions) (*Worker, error) {
	w := &Worker{
		c: c, o: o.withDefaults(), id: newWorkerID(), known: newKnown(c), jobs: map[int64]bool{},
		engaged: map[string]*engagement{}, refused: map[string]refusal{}, lastSaid: map[string]string{},
	}
	w.turns.free = w.o.Slots
	w.draining, w.drain = context.WithCancel(context.Background())
	w.hard, w.cancel = context.WithCancel(context.Background())
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &chunkWorker{w: w}); err != nil {
		return nil, err
	}
	var err error
	w.client, err = river.NewClient(riverpgxv5.New(c.pool), &river.Config{
		ID: w.id, Workers: workers, Logger: w.o.Log,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 1}}, // It must have one. Those of runs come and go.
		// A job takes no further items when its time is over, and is rescued when its worker
		// was not heard of for longer.
		JobTimeout: w.o.Dead * 2 / 3, RescueStuckJobsAfter: w.o.Dead, JobStuckThreshold: time.Hour,
		FetchCooldown: 20 * time.Millisecond, FetchPollInterval: time.Second,
		CompletedJobRetentionPeriod: 10 * time.Minute, CancelledJobRetentionPeriod: -1, DiscardedJobRetentionPeriod: -1,
	})
	return w, err
}

// newWorkerID returns a name that no other process has, now or later.
func newWorkerID() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%.50s-%d-%s", host, os.Getpid(), strings.ToLower(rand.Text()[:6]))
}

// ID returns the name of the worker, which no other process has.
func (w *Worker) ID() string { return w.id }

// Drain ends the work gently: no new item is taken, calls in flight finish and are kept,
// and what is left of the chunks goes to others at once. [Worker.Run] then returns.
func (w *Worker) Drain() { w.drain() }

// Run works until [Worker.Drain] is called or ctx is done, which cancels the calls in
// flight. It returns when nothing of the worker is left, neither here nor in the
// database. A Postgres that restarts meanwhile is waited for.
func (w *Worker) Run(ctx context.Context) error {
	defer w.cancel()
	if err := w.beat(ctx); err != nil {
		return err
	}
	w.mu.Lock()
	w.beaten = time.Now()
	w.steady = w.beaten
	w.mu.Unlock()
	// The client ends when it is told to, and not when ctx does: jobs have to be given
	// back first.
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

// leave removes what the worker has in the database.
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

// list returns the engagements.
func (w *Worker) list() []*engagement {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.engaged))
}

// say says something once, until something else is to be said about the same.
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
