package deem

import (
	"context"
	"io"
	"iter"
	"time"
)

// A Batcher is a model whose vendor also takes many requests at once, answers them
// within a day, and charges less for it. A line of a batch gets the same reply, or
// the same error, as the request would get from Complete.
//
// It has more methods than an interface of ours should, because a batch outlives the
// process that submits it: a later process must be able to find it, to ask how it
// goes, and to fetch what came of it.
type Batcher interface {
	Model

	// BatchLimits says how large a batch may be.
	BatchLimits() BatchLimits

	// BatchLine returns the line of a batch that makes a request, as JSON without a
	// newline. The id comes back with the reply. It has at most 64 letters, digits,
	// "-" and "_".
	BatchLine(id string, req Request) ([]byte, error)

	// SubmitBatch hands a batch over and returns the vendor's id of it. Its lines are
	// those of BatchLine, each with a newline behind it. An error is a [*ModelError],
	// or wraps that of ctx. Only one with a status from 400 to 499 means for sure that
	// the vendor did not take the batch; after any other, FindBatch tells.
	SubmitBatch(ctx context.Context, b Batch, lines *io.SectionReader) (id string, err error)

	// FindBatch looks for a batch of which nobody knows whether the vendor took it,
	// and returns its id, or "" when it is not there. If sure is false, nobody can
	// tell yet, and one has to ask again. Batches that the vendor refused are not
	// found, and neither are those with an id in known.
	FindBatch(ctx context.Context, b Batch, known []string) (id string, sure bool, err error)

	// BatchStatus says how far a batch is.
	BatchStatus(ctx context.Context, id string) (BatchStatus, error)

	// BatchReplies yields what came of the lines of a batch that has ended, in any
	// order. Lines that the vendor says nothing of are not among them. An error ends
	// the loop; what was yielded before holds.
	BatchReplies(ctx context.Context, id string) iter.Seq2[BatchReply, error]
}

// A Batch is many requests that are handed to a vendor together.
type Batch struct {
	// Key tells the batch from every other. The ids of its lines begin with it.
	Key     string
	Lines   int
	Planned time.Time // before which it cannot have been submitted
}

// BatchLimits say how large a vendor's batches may be.
type BatchLimits struct {
	Lines int
	Bytes int64
}

// A BatchState says how far a batch is.
type BatchState string

// The states of a batch that a vendor knows.
const (
	BatchRunning BatchState = "running" // the vendor is at it
	BatchEnded   BatchState = "ended"   // every line was answered, failed, expired or was cancelled
	BatchRefused BatchState = "refused" // the vendor looked at it and did not begin
)

// A BatchStatus is what a vendor says of a batch.
type BatchStatus struct {
	State BatchState

	// Total and Done count lines. A vendor that does not say how many are done while
	// the batch is running leaves Done at 0.
	Total, Done int

	// Err says why a batch was refused. It is a [*ModelError], which is Passing when
	// the same batch may be taken later.
	Err error
}

// A BatchReply is what came of one line of a batch: a reply, or why there is none.
type BatchReply struct {
	ID    string // of the line
	Reply Reply
	Err   error // a [*ModelError], Passing when the request may be made again
}
