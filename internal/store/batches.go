package store

import (
	"context"
	"errors"
	"time"

	"deem"
)

// A BatchState says how far a batch of a run is.
type BatchState string

// The states of a batch.
const (
	// BatchPlanned means that the batch is about to be submitted, or was: a process that
	// finds it in this state does not know whether the vendor has it.
	BatchPlanned BatchState = "planned"

	// BatchSubmitted means that the vendor has it, under its ID.
	BatchSubmitted BatchState = "submitted"

	// BatchCollected means that all that came of it is kept.
	BatchCollected BatchState = "collected"
)

// A Batch is a part of a run's requests that goes to the vendor together.
type Batch struct {
	// Key tells the batch from every other, also at the vendor.
	Key   string     `json:"key"`
	ID    string     `json:"id,omitempty"` // the vendor's, "" while it is planned
	State BatchState `json:"state"`
	Lines int        `json:"lines"` // how many requests it has

	// MostMicros is the most that it can cost, in millionths of a US dollar; 0 when
	// nobody asked.
	MostMicros int64     `json:"most_micros,omitempty"`
	Planned    time.Time `json:"planned"`

	// The rest is counted by the store, and is not put.

	Replies int `json:"replies"` // lines with a reply
	Failed  int `json:"failed"`  // lines with a failure

	// OwedMicros is what those replies cost that no record has yet.
	OwedMicros int64 `json:"owed_micros,omitempty"`
}

// A BatchLine is one request of a batch and what came of it: a reply, a failure, or,
// until the batch is collected, neither. A line of a collected batch that has neither
// was not answered.
type BatchLine struct {
	Key     string        // of its reply in the reply cache
	Reply   *deem.Reply   // as paid for
	Failure *deem.Failure // why there is no reply

	// Passing means that the same request may be answered if it is made again.
	Passing bool

	// The rest is known by the store, and is not put.

	Batch string     // the key of its batch
	State BatchState // of its batch

	// Taken means that a record of the run has the reply, and with it its cost.
	Taken bool
}

// ErrLineTaken means that a request is in another batch of the run already.
var ErrLineTaken = errors.New("the request is in another batch of the run")

// Batches is a store that also keeps the batches of its runs, so that a process that
// was killed leaves nothing behind that the next one does not know of.
//
// A reply of a batch waits in its line until a record has it: [Store.Append] of a
// record with a reply that says which batch brought it, and that is not cached, marks
// the line as taken in the same commit. So its cost is counted once, however often
// the process is killed.
type Batches interface {
	// PutBatch adds a batch to a run, or takes the place of what is known of it, and
	// adds its lines or takes the place of what is known of them: all or nothing.
	// Lines that are not given stay as they are. A line that another batch of the run
	// has is refused with [ErrLineTaken].
	PutBatch(ctx context.Context, runID string, b Batch, lines []BatchLine) error

	// Batches returns the batches of a run in the order in which they were added.
	Batches(ctx context.Context, runID string) ([]Batch, error)

	// BatchLine returns the line of a run with the given key, and whether there is
	// one.
	BatchLine(ctx context.Context, runID, key string) (BatchLine, bool, error)

	// DropBatch forgets a batch and its lines. It does nothing when there is none.
	DropBatch(ctx context.Context, runID, key string) error
}

// CheckBatchLine refuses a line that cannot be kept.
func CheckBatchLine(l BatchLine) error {
	switch {
	case l.Key == "":
		return errors.New("a line of a batch has no key")
	case l.Reply != nil && l.Failure != nil:
		return errors.New("a line of a batch has both a reply and a failure")
	}
	return nil
}
