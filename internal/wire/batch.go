package wire

import (
	"context"
	"io"
	"iter"
	"time"

	"deem"
)

// A Batcher is a model whose vendor has a batch API: many requests are submitted together,
// answered within a day, and cost less. A line of a batch gets the same reply or error as
// the request would get from Complete.
//
// The interface is large because a batch outlives the process that submits it: a later
// process must be able to find it, to ask for its status, and to fetch its results.
type Batcher interface {
	deem.Model

	// BatchLimits says how large a batch may be.
	BatchLimits() BatchLimits

	// BatchLine returns the line of a batch for a request, as JSON without a newline.
	// The id comes back with the reply. It has at most 64 letters, digits, "-" and "_".
	BatchLine(id string, req deem.Request) ([]byte, error)

	// SubmitBatch submits a batch and returns the vendor's id. The lines come from
	// BatchLine, each followed by a newline. The error is a [*deem.ModelError], or wraps that
	// of ctx. Only a status from 400 to 499 means that the vendor did not accept the
	// batch; after any other error, use FindBatch.
	SubmitBatch(ctx context.Context, b Batch, lines *io.SectionReader) (id string, err error)

	// FindBatch looks for a batch that the vendor may or may not have accepted, and
	// returns its id, or "" if it does not exist. If sure is false, the vendor cannot
	// tell yet; ask again later. Batches that the vendor refused and batches with an id
	// in known are not found.
	FindBatch(ctx context.Context, b Batch, known []string) (id string, sure bool, err error)

	// BatchStatus returns the progress of a batch.
	BatchStatus(ctx context.Context, id string) (BatchStatus, error)

	// BatchReplies yields the results of a batch that has ended, in any order. Lines
	// without a result are not included. An error ends the loop; earlier results are
	// valid.
	BatchReplies(ctx context.Context, id string) iter.Seq2[BatchReply, error]
}

// A Batch is a set of requests that are submitted together.
type Batch struct {
	// Key identifies the batch. The ids of its lines begin with it.
	Key     string
	Lines   int
	Planned time.Time // it was submitted after this time, if at all
}

// BatchLimits are the maximum sizes of a vendor's batches.
type BatchLimits struct {
	Lines int
	Bytes int64
}

// A BatchState is the state of a batch.
type BatchState string

// The states of a batch.
const (
	BatchRunning BatchState = "running" // in progress
	BatchEnded   BatchState = "ended"   // every line was answered, failed, expired or was cancelled
	BatchRefused BatchState = "refused" // the vendor rejected it as a whole
)

// A BatchStatus is the progress of a batch.
type BatchStatus struct {
	State BatchState

	// Total and Done count lines. Done stays 0 if the vendor does not report progress
	// while the batch is running.
	Total, Done int

	// Err says why a batch was refused. It is a [*deem.ModelError], and Passing if the same
	// batch may be accepted later.
	Err error
}

// A BatchReply is the result of one line of a batch: a reply or an error.
type BatchReply struct {
	ID    string // of the line
	Reply deem.Reply
	Err   error // a [*deem.ModelError], Passing if the request may be repeated
}
