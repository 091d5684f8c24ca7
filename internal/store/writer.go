package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"deem"
)

// WriterOptions configure how a [Writer] groups records. The zero value of each field means
// the default.
type WriterOptions struct {
	MaxRows  int           // maximum records per commit; 128
	MaxBytes int           // approximate maximum bytes of text per commit; 4 MiB
	MaxWait  time.Duration // maximum time that a record waits for others; 10 ms

	// Waiting is the maximum number of records that may wait during a commit; three
	// quarters of MaxRows. With many concurrent calls it should be higher: while no record
	// can be handed over, no call is made, and the processor is idle during the commit.
	Waiting int

	// Committed, if set, is called after each commit with the committed records, one call
	// at a time. It must not keep the slice or call the writer.
	Committed func(recs []deem.Record)
}

// A Writer groups the records of a run into commits, because a commit costs far more than a
// record: it commits as soon as MaxRows records wait, or MaxWait after the first of them
// arrived. So a kill loses at most MaxRows and Waiting records, however slow the disk: 224,
// or 256 with the 32 that [deem.Run] may buffer.
//
// Its methods may be called from several goroutines. It owns a goroutine, which
// [Writer.Close] ends. The goroutine sleeps until a commit is due: waking it for each
// record would delay calls that are about to be made.
type Writer struct {
	store Store
	runID string
	opts  WriterOptions

	due  *time.Timer   // fires when the oldest record has waited long enough
	now  chan struct{} // signals that a commit is due earlier
	done chan struct{} // closed when the goroutine has ended

	mu         sync.Mutex
	waiting    []waiting
	size       int           // of the waiting texts
	committing bool          // a commit is in progress
	room       chan struct{} // closed when records were taken from the queue; nil if nobody waits for it
	closed     bool
	err        error // the first error of a commit
	dropped    int   // records that were accepted but not committed
}

// waiting is a record with its arrival time and the size of its texts.
type waiting struct {
	rec  deem.Record
	at   time.Time
	size int
}

// errClosed is returned by Put after Close.
var errClosed = errors.New("the writer is closed")

// NewWriter returns a writer that appends to a run of s.
func NewWriter(s Store, runID string, o WriterOptions) *Writer {
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
	w := &Writer{
		store: s, runID: runID, opts: o,
		due:  time.NewTimer(o.MaxWait),
		now:  make(chan struct{}, 1),
		done: make(chan struct{}),
	}
	go w.loop()
	return w
}

// Put queues a record. It returns before the record is committed, and blocks only while the
// queue is full or until ctx is done. After a failed commit, Put returns its error for
// every record.
func (w *Writer) Put(ctx context.Context, rec deem.Record) error {
	next := waiting{rec: rec, size: textSize(rec)}
	for {
		room, err := w.join(next)
		if room == nil {
			return err
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// join queues a record. If the queue is full, it returns a channel that is closed when
// there may be room.
func (w *Writer) join(next waiting) (room <-chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	most := w.opts.Waiting
	if !w.committing {
		most = max(most, w.opts.MaxRows)
	}
	switch {
	case w.err != nil:
		return nil, w.err
	case w.closed:
		return nil, errClosed
	case len(w.waiting) >= most:
		if w.room == nil {
			w.room = make(chan struct{})
		}
		return w.room, nil
	}
	next.at = time.Now()
	if len(w.waiting) == 0 {
		w.due.Reset(w.opts.MaxWait)
	}
	w.waiting = append(w.waiting, next)
	w.size += next.size
	if w.enough() {
		w.wake()
	}
	return nil, nil
}

// enough reports whether the waiting records fill a commit. The caller holds the lock.
func (w *Writer) enough() bool {
	return len(w.waiting) >= w.opts.MaxRows || w.size >= w.opts.MaxBytes
}

// wake makes the goroutine check now whether a commit is due.
func (w *Writer) wake() {
	select {
	case w.now <- struct{}{}:
	default: // It was already signalled.
	}
}

// Close commits the waiting records, ends the writer, and returns the first error of any
// commit. Calling it again returns the same.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wake()
	<-w.done
	if w.err != nil {
		return fmt.Errorf("%d records of run %s were not kept: %w", w.dropped, w.runID, w.err)
	}
	return nil
}

// loop commits one group after the other until the writer is closed or a commit fails.
func (w *Writer) loop() {
	defer close(w.done)
	defer w.due.Stop()
	group := make([]deem.Record, 0, w.opts.MaxRows)
	for over := false; !over; {
		select {
		case <-w.now:
		case <-w.due.C:
		}
		for {
			if group, over = w.take(group[:0]); len(group) == 0 {
				break
			}
			// It uses no caller's context: the calls in these records were paid for, and an
			// interruption is not a reason to lose them.
			err := w.store.Append(context.Background(), w.runID, group)
			if err != nil { // All further records are refused. Those of the group and the waiting ones are lost.
				w.mu.Lock()
				w.err, w.dropped = err, len(group)+len(w.waiting)
				w.waiting, w.size = nil, 0
				w.makeRoom()
				w.mu.Unlock()
			} else if w.opts.Committed != nil {
				w.opts.Committed(group)
			}
			clear(group) // release the texts
		}
	}
}

// take moves the records that waited longest to group if a commit is due. over reports that
// there will be no further commit.
func (w *Writer) take(group []deem.Record) (_ []deem.Record, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.committing = false
	w.makeRoom()
	if len(w.waiting) == 0 {
		return group, w.closed || w.err != nil
	}
	if wait := w.opts.MaxWait - time.Since(w.waiting[0].at); wait > 0 && !w.enough() && !w.closed {
		w.due.Reset(wait)
		return group, false
	}
	size := 0
	for _, next := range w.waiting {
		if len(group) == w.opts.MaxRows || size >= w.opts.MaxBytes {
			break
		}
		group, size = append(group, next.rec), size+next.size
	}
	w.waiting = slices.Delete(w.waiting, 0, len(group))
	w.size -= size
	w.committing = true
	return group, false
}

// makeRoom wakes callers that found the queue full. The caller holds the lock.
func (w *Writer) makeRoom() {
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
}

// textSize returns the approximate number of bytes of text in a record.
func textSize(rec deem.Record) int {
	n := len(rec.Item.Question) + len(rec.Item.Response) + rec.Item.Messages.Size()
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
