// Package store stores runs: a judge, a dataset, and every resulting record.
//
// [Store.Begin] takes a [Spec] and returns a [Run]. Records go in through a [Writer], which
// groups them into commits, and come out of [Store.Records] in the order of the dataset. A
// committed record survives a crash of the process, so an interrupted run can be resumed:
//
//	run, resumed, err := st.Begin(ctx, spec, false)
//	w := store.NewWriter(st, run.ID, store.WriterOptions{})
//	...
//	if status, err := st.Status(ctx, run.ID, it.ID, trial); status == store.Missing {
//		err = w.Put(ctx, rec)
//	}
//	...
//	err = w.Close()
//	err = st.Finish(ctx, run.ID)
//
// Items, their long texts and replies are stored once, by their content, however many runs
// share them; so the store is also the reply cache. Prompts are not stored: a call has the
// hash of its request, and the prompt can be rendered again.
//
// The implementations are in separate packages, named after what they wrap, and all of them
// pass the suite of package storetest. What they share is here: the stored form of items and
// replies ([ItemEncoder]), the order of a view ([ViewOrder]), and which words a record has
// ([Search]).
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"deem"
)

// Errors that callers distinguish.
var (
	// ErrNotFound means that the store has no such run.
	ErrNotFound = errors.New("no such run")

	// ErrAmbiguous means that a reference matches several runs.
	ErrAmbiguous = errors.New("more than one such run")

	// ErrBusy means that the run is being judged by another process or store.
	ErrBusy = errors.New("the run is being judged already")

	// ErrReadOnly is returned for a write to a store that was opened for reading.
	ErrReadOnly = errors.New("it was opened for reading only")
)

// NotFound returns the error for a run id that the store does not have.
func NotFound(runID string) error {
	return fmt.Errorf("run %q: %w", runID, ErrNotFound)
}

// A Database is a [Store] with everything that SQLite and Postgres can do. A run file is
// not a database.
type Database interface {
	Store
	Browser
	Editor
	Labels
	Money
	Batches

	// Import adds a run of another database unchanged, with its id, times and state, but
	// without records. If there is already a run with that id, it changes nothing, and added
	// is false.
	Import(ctx context.Context, run Run) (added bool, err error)

	// PutReplies adds replies to the reply cache with their original cost, each under its
	// key. The first reply of a key stays.
	PutReplies(ctx context.Context, list []deem.Reply) error

	// Imported sets the state and the update time of a run to those in the other database.
	// It is called last, because appending records changes both.
	Imported(ctx context.Context, run Run) error

	// BatchLines returns the lines of a batch by key.
	BatchLines(ctx context.Context, runID, batch string) iter.Seq2[BatchLine, error]
}

// A Spec describes a run: one judge over one dataset with its settings.
type Spec struct {
	Judge JudgeSpec `json:"judge"`

	// Model is the name of the judge's model, or "" for a rule.
	Model string `json:"model,omitempty"`

	// Endpoint is the address of the model. It is not part of the judge, but two servers
	// with the same model name may have different models, so it is part of the key.
	// [Spec.Clean] removes secrets from it.
	Endpoint string `json:"endpoint,omitempty"`

	Dataset DatasetSpec `json:"dataset"`

	// Trials is how many times each item goes to the judge, at least 1.
	Trials int `json:"trials"`

	// Settings are the other options of the command. They are shown, and are not part of
	// the key.
	Settings json.RawMessage `json:"settings,omitempty"`
}

// A JudgeSpec identifies the judge.
type JudgeSpec struct {
	Name     string          `json:"name"`
	Hash     string          `json:"hash"`               // of Identity
	Identity json.RawMessage `json:"identity,omitempty"` // canonical JSON
	Rule     bool            `json:"rule,omitempty"`     // the judge uses no model
}

// A DatasetSpec identifies the dataset.
type DatasetSpec struct {
	Names []string `json:"names"` // as the user typed them
	Hash  string   `json:"hash"`  // of the items
	Items int      `json:"items"`
}

// A State is the state of a run.
type State string

// The states of a run.
const (
	Open State = "open" // being judged, interrupted or killed
	Done State = "done" // every item was judged or failed
)

// A Run is a spec that was begun, and its stored state.
type Run struct {
	// ID is short, unique in its store, and sorts by time.
	ID string `json:"id"`
	Spec
	State   State     `json:"state"`
	Created time.Time `json:"created"`

	// Asked orders the runs of a store: the run with the highest number was begun or
	// resumed last.
	Asked int64 `json:"-"`

	// Updated is when it was started, last appended to, or became done. Resuming a run that
	// turns out to be done does not change it.
	Updated time.Time `json:"updated"`

	Records  int `json:"records"`  // one for each item and trial so far
	Unjudged int `json:"unjudged"` // how many of them are failures

	// CostMicros is the cost of the run's calls, in millionths of a US dollar. It includes
	// the calls of replaced records, but not replies from the cache, which were paid for
	// before.
	CostMicros int64 `json:"cost_micros"`

	// SetAsideMicros is the money reserved for calls without a recorded cost: those in
	// flight, and those that timed out or whose process was killed. It counts as spent
	// until [Money.Settle].
	SetAsideMicros int64 `json:"set_aside_micros,omitempty"`

	// MaxMicros is the budget of the last part of the run; nil if it had none. Factor is how
	// many times what their requests allow calls have cost at most; it is 0 or 1 if no reply cost
	// more than was reserved for it.
	MaxMicros *int64 `json:"max_micros,omitempty"`
	Factor    int64  `json:"-"`

	About About `json:"about,omitzero"`
}

// Counts reports whether "last" counts the run. A run over probes does not count, nor does
// one without a record, nor one that stopped before any item had a verdict.
func (r Run) Counts() bool {
	return !r.Probes() && (r.Answered() || r.State == Done && r.Records > 0)
}

// Answered reports whether at least one item has a verdict.
func (r Run) Answered() bool { return r.Records > r.Unjudged }

// Wanted returns the number of records of the run when it is done.
func (r Run) Wanted() int { return r.Dataset.Items * max(r.Trials, 1) }

// Same reports whether the run has the same state and records as it had at another time.
func (r Run) Same(then Run) bool {
	return r.Records == then.Records && r.State == then.State && r.Updated.Equal(then.Updated)
}

// A Status is the status of one item and trial in a run.
type Status int

// The statuses of an item and trial.
const (
	Missing  Status = iota // there is no record
	Judged                 // the record has a verdict
	Unjudged               // the record has a failure
)

// String returns the status in lower case.
func (s Status) String() string {
	switch s {
	case Judged:
		return "judged"
	case Unjudged:
		return "unjudged"
	default:
		return "missing"
	}
}

// A Query selects records of a run. The zero value selects all of them. Within a field any
// one of the values is enough; all fields must match.
type Query struct {
	Labels     []string
	Categories []string
	Kinds      []deem.Kind // records whose failure is of one of these kinds
	IDs        []string    // records of these items
	Unjudged   bool        // only records without a verdict
	Trial      *int        // only this trial

	// WithCalls includes the calls and their replies. Otherwise the calls of every record
	// are nil.
	WithCalls bool

	// Brief omits the texts of the items (their question, references, response and fields) and
	// those of the replies (their text, refusal and tokens). What counting needs remains, at
	// less than half of the cost.
	Brief bool

	// After continues after a record seen before; nil starts at the first.
	After *Cursor

	// Limit is the maximum number of records; 0 means all.
	Limit int
}

// Whole reports whether q selects all records of a run with that many trials.
func (q Query) Whole(trials int) bool {
	return len(q.Labels)+len(q.Categories)+len(q.Kinds)+len(q.IDs) == 0 && !q.Unjudged && q.After == nil && q.Limit == 0 &&
		(q.Trial == nil || *q.Trial == 0 && trials <= 1)
}

// A Cursor is a place between two records of a run.
type Cursor struct {
	Position int    `json:"position"`
	Trial    int    `json:"trial"`
	ID       string `json:"id"` // of the item
}

// CursorOf returns the place right after rec.
func CursorOf(rec deem.Record) *Cursor {
	return &Cursor{Position: rec.Position, Trial: rec.Trial, ID: rec.Item.ID}
}

// A Store stores runs. It is safe for concurrent use, and other processes may read and
// write the same runs.
type Store interface {
	// Begin resumes the newest run with the key of spec, or starts one if there is none or
	// fresh is set. It claims the run: until [Store.Finish], [Store.Release] or
	// [Store.Close], another Begin with that key, in this process or another, returns
	// [ErrBusy]. The claim ends with the process.
	//
	// A resumed run takes over the settings, which are not part of the key. It takes over
	// the names of the dataset only while it has no record: later, other files with the
	// same items do not rename the run. A run that was done stays done until a record is
	// appended.
	Begin(ctx context.Context, spec Spec, fresh bool) (run Run, resumed bool, err error)

	// Finish marks a run as done and releases the claim on it.
	Finish(ctx context.Context, runID string) error

	// Release releases the claim on a run that is not done. It does nothing if this store
	// has not claimed the run.
	Release(runID string) error

	// Run returns the run, not a deleted one, that ref means: its full id, a unique prefix
	// of it, "last" for the run that was begun or resumed last, or "last~1" for the one
	// before. "last" counts only runs for which [Run.Counts] is true. The error is
	// [ErrNotFound] or [ErrAmbiguous] with a hint that names the nearest runs.
	Run(ctx context.Context, ref string) (Run, error)

	// Runs returns all runs that are not deleted, newest first, which is the order of their
	// ids.
	Runs(ctx context.Context) iter.Seq2[Run, error]

	// Status returns the status of an item and trial. It is fast, because it is called for
	// each item when a run is resumed.
	Status(ctx context.Context, runID, itemID string, trial int) (Status, error)

	// Append adds records to a run, all or none. A record replaces an earlier one of the
	// same item and trial, but the earlier calls are kept before the new ones: nothing that
	// was paid for is lost. Replies with a key go to the reply cache.
	//
	// Records that cannot be encoded as JSON are refused, for example with a score that is
	// not a number, and so are records with both a verdict and a failure, or with neither.
	// Bytes that are not UTF-8 become U+FFFD.
	Append(ctx context.Context, runID string, recs []deem.Record) error

	// Records returns the records that q selects, by position, then by trial. It reads them
	// in pages: it sees records that are appended meanwhile after the current place, and no
	// others. However long the caller takes, no writer waits for it. If q selects the whole
	// run and there are fewer records than were counted, the last error says so.
	Records(ctx context.Context, runID string, q Query) iter.Seq2[deem.Record, error]

	// Reply returns the first reply that was appended under the given key, and whether
	// there is one. It is returned as it was paid for: Cached is false, and latency,
	// attempts and cost are those of the original call.
	Reply(ctx context.Context, key string) (deem.Reply, bool, error)

	// Close releases all claims and closes the store.
	Close() error
}

// Unfinished is the kind of a record that keeps the calls of an item that is not done: its
// judge makes several calls, and a fatal error, such as a wrong key or an exhausted budget,
// came after a call that was paid for. Such an item is judged when the run resumes, and its
// record then replaces this one; as always, the old calls are kept. It is not a kind of
// package deem, since no judge returns it.
const Unfinished deem.Kind = "unfinished"

// IsUnfinished reports whether a record only keeps the calls of an item that is not done.
func IsUnfinished(rec deem.Record) bool {
	return rec.Failure != nil && rec.Failure.Kind == Unfinished
}
