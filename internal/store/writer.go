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

// WriterOptions say how a [Writer] groups records. The zero value of each field
// means the default.
type WriterOptions struct {
	MaxRows  int           // records in a commit at most; 128
	MaxBytes int           // bytes of text in a commit at most, roughly; 4 MiB
	MaxWait  time.Duration // how long a record waits for others at most; 10 ms

	// Waiting is how many records may wait at most while a commit is on its way;
	// three quarters of MaxRows. Many calls at once want more: where
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
// [Writer.Close] ends. That one sleeps until a commit is due: to be woken for each record
// would take the processor from calls that are about to be made.
type Writer struct {
	store Store
	runID string
	opts  WriterOptions

	due  *time.Timer   // fires when the first of those who wait has waited long enough
	now  chan struct{} // says that a commit is due before that
	done chan struct{} // closed when the goroutine is over

	mu         sync.Mutex
	waiting    []waiting
	size       int           // of the texts that wait
	committing bool          // a group is on its way
	room       chan struct{} // closed when some of those who wait were taken; nil if nobody wants to know
	closed     bool
	err        error // the first error of a commit
	dropped    int   // records that came too late to be refused
}

// waiting is a record with the time it came and the size of its texts.
type waiting struct {
	rec  deem.Record
	at   time.Time
	size int
}

// errClosed is what Put returns once Close was called.
var errClosed = errors.New("the writer is closed")

// NewWriter returns a writer that appends to a run of s.
func NewWriter(s Store, runID string, o WriterOptions) *Writer {
	o = o.withDefaults()
	w := &Writer{
		store: s, runID: runID, opts: o,
		due:  time.NewTimer(o.MaxWait),
		now:  make(chan struct{}, 1),
		done: make(chan struct{}),
	}
	go w.loop()
	return w
}

// Put hands a record over. It returns before the record is committed, and blocks
// only while too many others wait or until ctx is done. Once a commit has failed, Put
// returns that error for every record.
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

// join puts a record to those who wait. Where there is no room for it, it returns what is
// closed when there may be.
func (w *Writer) join(next waiting) (room <-chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return nil, w.err
	case w.closed:
		return nil, errClosed
	case len(w.waiting) >= w.most():
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
		w.hurry()
	}
	return nil, nil
}

// most returns how many records may wait. The caller holds the lock.
func (w *Writer) most() int {
	if w.committing {
		return w.opts.Waiting
	}
	return max(w.opts.Waiting, w.opts.MaxRows)
}

// enough reports whether those who wait fill a commit. The caller holds the lock.
func (w *Writer) enough() bool {
	return len(w.waiting) >= w.opts.MaxRows || w.size >= w.opts.MaxBytes
}

// hurry has the goroutine look now whether a commit is due.
func (w *Writer) hurry() {
	select {
	case w.now <- struct{}{}:
	default: // It was told already.
	}
}

// Close commits what still waits, ends the writer, and returns the first error of
// any commit. Calling it again returns the same.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.hurry()
	<-w.done
	if w.err != nil {
		return fmt.Errorf("%d records of run %s were not kept: %w", w.dropped, w.runID, w.err)
	}
	return nil
}

// loop commits group after group until the writer is closed or a commit fails.
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
			w.commit(group)
			clear(group) // Lets go of the texts.
		}
	}
}

// take moves those who wait longest to group if a commit is due. It reports whether none
// will ever be due again.
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

// makeRoom tells those whose records found no room that there may be some. The caller
// holds the lock.
func (w *Writer) makeRoom() {
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
}

// commit appends a group. It has no context of its own: the calls in these
// records were paid for, and an interruption is no reason to lose them.
func (w *Writer) commit(group []deem.Record) {
	if err := w.store.Append(context.Background(), w.runID, group); err != nil {
		w.fail(err, len(group))
		return
	}
	if w.opts.Committed != nil {
		w.opts.Committed(group)
	}
}

// fail refuses all further records. Those of the group and those who wait are lost.
func (w *Writer) fail(err error, group int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err, w.dropped = err, group+len(w.waiting)
	w.waiting, w.size = nil, 0
	w.makeRoom()
}

// textSize returns about how many bytes of text a record holds.
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
