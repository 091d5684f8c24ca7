package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"deem"
)

// WriterOptions say how a [Writer] groups records. The zero value of each field
// means the default.
type WriterOptions struct {
	MaxRows  int           // records in a commit at most; 128
	MaxBytes int           // bytes of text in a commit at most, roughly; 4 MiB
	MaxWait  time.Duration // how long a record waits for others at most; 10 ms

	// Waiting is how many records may wait at most while a commit is on its way;
	// three quarters of MaxRows. Whoever makes many calls at once wants more: where
	// nothing can be handed over, no call is made, and the processor has nothing to
	// do beside the commit.
	Waiting int

	// Committed, if set, is called after each commit with the records that are
	// safe now, one call at a time. It must not keep the slice or call the
	// writer.
	Committed func(recs []deem.Record)
}

func (o WriterOptions) withDefaults() WriterOptions {
	if o.MaxRows <= 0 {
		o.MaxRows = 128
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 4 << 20
	}
	if o.MaxWait <= 0 {
		o.MaxWait = 10 * time.Millisecond
	}
	if o.Waiting <= 0 {
		o.Waiting = max(1, o.MaxRows*3/4)
	}
	return o
}

// A Writer groups the records of a run into commits, because a commit costs far
// more than a record: a commit happens as soon as MaxRows records wait, or
// MaxWait after the first of them came. So a kill loses at most MaxRows and Waiting
// records, however slow the disk: 224, and with the 32 that [deem.Run] may hold ready 256.
//
// Its methods may be called from several goroutines. It owns a goroutine, which
// [Writer.Close] ends.
type Writer struct {
	store Store
	runID string
	opts  WriterOptions

	// closing is held for reading while a record is handed over, and for
	// writing to close the queue: nothing is sent on a closed queue.
	closing sync.RWMutex
	closed  bool
	queue   chan waiting

	failed  chan struct{} // closed once err is set
	err     error         // the first error of a commit
	dropped int           // records that came too late to be refused
	done    chan struct{} // closed when the goroutine is over
}

// waiting is a record with the time it came.
type waiting struct {
	rec deem.Record
	at  time.Time
}

// errClosed is what Put returns once Close was called.
var errClosed = errors.New("the writer is closed")

// NewWriter returns a writer that appends to a run of s.
func NewWriter(s Store, runID string, o WriterOptions) *Writer {
	o = o.withDefaults()
	w := &Writer{
		store: s, runID: runID, opts: o,
		queue:  make(chan waiting, o.Waiting),
		failed: make(chan struct{}),
		done:   make(chan struct{}),
	}
	go w.loop()
	return w
}

// Put hands a record over. It returns before the record is committed, and blocks
// only while the queue is full or until ctx is done. Once a commit has failed, Put
// returns that error for every record.
func (w *Writer) Put(ctx context.Context, rec deem.Record) error {
	w.closing.RLock()
	defer w.closing.RUnlock()
	if w.closed {
		return errClosed
	}
	select {
	case <-w.failed:
		return w.err
	default:
	}
	select {
	case w.queue <- waiting{rec, time.Now()}:
		return nil
	case <-w.failed:
		return w.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close commits what still waits, ends the writer, and returns the first error of
// any commit. Calling it again returns the same.
func (w *Writer) Close() error {
	w.closing.Lock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.closing.Unlock()
	<-w.done
	if w.err != nil {
		return fmt.Errorf("%d records of run %s were not kept: %w", w.dropped, w.runID, w.err)
	}
	return nil
}

// loop commits group after group until the queue is closed. After an error it
// only counts what it takes from the queue.
func (w *Writer) loop() {
	defer close(w.done)
	group := make([]deem.Record, 0, w.opts.MaxRows)
	for first := range w.queue {
		if w.err != nil {
			w.dropped++
			continue
		}
		group = w.gather(group, first)
		w.commit(group)
		clear(group) // Lets go of the texts.
	}
}

// gather returns first and the records that join it, in the memory of group.
func (w *Writer) gather(group []deem.Record, first waiting) []deem.Record {
	group = append(group[:0], first.rec)
	size := textSize(first.rec)
	timer := time.NewTimer(time.Until(first.at.Add(w.opts.MaxWait)))
	defer timer.Stop()
	for len(group) < w.opts.MaxRows && size < w.opts.MaxBytes {
		rec, ok := w.next(timer.C)
		if !ok {
			break
		}
		group, size = append(group, rec), size+textSize(rec)
	}
	return group
}

// next returns the next record of the group, unless the time is up or the queue is
// closed. What is in the queue already is taken even when the time is up.
func (w *Writer) next(timeUp <-chan time.Time) (deem.Record, bool) {
	select {
	case next, ok := <-w.queue:
		return next.rec, ok
	default:
	}
	select {
	case next, ok := <-w.queue:
		return next.rec, ok
	case <-timeUp:
		return deem.Record{}, false
	}
}

// commit appends a group. It has no context of its own: the calls in these
// records were paid for, and an interruption is no reason to lose them.
func (w *Writer) commit(group []deem.Record) {
	if err := w.store.Append(context.Background(), w.runID, group); err != nil {
		w.err, w.dropped = err, len(group)
		close(w.failed)
		return
	}
	if w.opts.Committed != nil {
		w.opts.Committed(group)
	}
}

// textSize returns about how many bytes of text a record holds.
func textSize(rec deem.Record) int {
	n := len(rec.Item.Question) + len(rec.Item.Response)
	for _, ref := range rec.Item.References {
		n += len(ref)
	}
	for _, text := range rec.Item.Fields {
		n += len(text)
	}
	for _, c := range rec.Calls {
		if c.Reply != nil {
			n += len(c.Reply.Text)
		}
	}
	return n
}
