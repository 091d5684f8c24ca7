package store

import (
	"context"
	"errors"
	"time"

	"deem"
)

// A BatchState is the state of a batch of a run.
type BatchState string

// The states of a batch.
const (
	// BatchPlanned means that the batch is about to be submitted, or was: a process that
	// finds it in this state does not know whether the vendor has it.
	BatchPlanned BatchState = "planned"

	// BatchSubmitted means that the vendor has it, under its ID.
	BatchSubmitted BatchState = "submitted"

	// BatchCollected means that all of its results are stored.
	BatchCollected BatchState = "collected"
)

// A Batch is a part of a run's requests that is submitted to the vendor together.
type Batch struct {
	// Key identifies the batch, also at the vendor.
	Key   string     `json:"key"`
	ID    string     `json:"id,omitempty"` // the vendor's; "" while it is planned
	State BatchState `json:"state"`
	Lines int        `json:"lines"` // number of requests

	// MostMicros is its maximum cost, in millionths of a US dollar; 0 if it was not
	// computed.
	MostMicros int64     `json:"most_micros,omitempty"`
	Planned    time.Time `json:"planned"`

	// The remaining fields are computed by the store, and ignored when a batch is put.

	Replies int `json:"replies"` // lines with a reply
	Failed  int `json:"failed"`  // lines with a failure

	// OwedMicros is the cost of the replies that no record has yet.
	OwedMicros int64 `json:"owed_micros,omitempty"`
}

// A BatchLine is one request of a batch with its result: a reply, a failure, or, until the
// batch is collected, neither. A line of a collected batch with neither was not answered.
type BatchLine struct {
	Key     string        // of its reply in the reply cache
	Reply   *deem.Reply   // as paid for
	Failure *deem.Failure // why there is no reply

	// Passing means that the same request may be answered if it is repeated.
	Passing bool

	// The remaining fields are set by the store, and ignored when a line is put.

	Batch string     // the key of its batch
	State BatchState // of its batch

	// Taken means that a record of the run has the reply, and with it its cost.
	Taken bool
}

// ErrLineTaken means that a request is already in another batch of the run.
var ErrLineTaken = errors.New("the request is in another batch of the run")

// Batches is a store that also keeps the batches of its runs, so that a process knows
// everything that a killed one left behind.
//
// A reply of a batch stays in its line until a record has it: if [Store.Append] gets a
// record with a reply that names its batch and is not cached, it marks the line as taken in
// the same commit. So its cost is counted once, however often the process is killed.
type Batches interface {
	// PutBatch adds or replaces a batch of a run, and adds or replaces the given lines, all
	// or nothing. Other lines are unchanged. If another batch of the run has one of the
	// lines, the error is [ErrLineTaken].
	PutBatch(ctx context.Context, runID string, b Batch, lines []BatchLine) error

	// Batches returns the batches of a run in the order in which they were added.
	Batches(ctx context.Context, runID string) ([]Batch, error)

	// BatchLine returns the line of a run with the given key, and whether there is
	// one.
	BatchLine(ctx context.Context, runID, key string) (BatchLine, bool, error)

	// DropBatch removes a batch and its lines. It does nothing if there is none.
	DropBatch(ctx context.Context, runID, key string) error
}

// CheckBatchLine returns an error for a line that cannot be stored.
func CheckBatchLine(l BatchLine) error {
	switch {
	case l.Key == "":
		return errors.New("a line of a batch has no key")
	case l.Reply != nil && l.Failure != nil:
		return errors.New("a line of a batch has both a reply and a failure")
	}
	return nil
}
