// Package store keeps runs: which judge was asked about which dataset, and every
// record that came of it.
//
// A [Store] is begun with a [Spec] and hands out a [Run]. Records go in through a
// [Writer], which groups them into commits, and come out of [Store.Records] in
// the order of the dataset. A record that was committed survives the death of the
// process, so a run that was interrupted goes on where it stopped:
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
// Items, their long texts and replies are kept once, by their content, however
// many runs share them; that makes the store the reply cache as well. Prompts are
// not kept: a call names the hash of its request, and the prompt can be rendered
// again.
//
// The implementations are in packages of their own, named after what they wrap,
// and all of them pass the suite of package storetest.
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

// Errors that callers tell apart. All of them come with a hint.
var (
	// ErrNotFound means that the store has no such run.
	ErrNotFound = errors.New("no such run")

	// ErrAmbiguous means that a reference fits several runs.
	ErrAmbiguous = errors.New("more than one such run")

	// ErrBusy means that the run is being judged by somebody else.
	ErrBusy = errors.New("the run is being judged already")
)

// NotFound returns the error of a store that has no run with the given id.
func NotFound(runID string) error {
	return deem.WithHint(fmt.Errorf("run %q: %w", runID, ErrNotFound), "`deem list runs` shows all runs")
}

// A Spec says what a run is: one judge over one dataset with its settings.
type Spec struct {
	Judge JudgeSpec `json:"judge"`

	// Model is the name of the judge's model, "" for a rule.
	Model string `json:"model,omitempty"`

	// Endpoint is where the model was reached. It is not part of the judge, but
	// two servers that go by one model's name may not be one model, so it is
	// part of the key. [Spec.Clean] strips what may be secret in it.
	Endpoint string `json:"endpoint,omitempty"`

	Dataset DatasetSpec `json:"dataset"`

	// Trials is how often each item goes to the judge, at least 1.
	Trials int `json:"trials"`

	// Settings are what else the command was told. They are shown, and are no
	// part of the key.
	Settings json.RawMessage `json:"settings,omitempty"`
}

// A JudgeSpec says who judges.
type JudgeSpec struct {
	Name     string          `json:"name"`
	Hash     string          `json:"hash"`               // of Identity
	Identity json.RawMessage `json:"identity,omitempty"` // canonical JSON
	Rule     bool            `json:"rule,omitempty"`     // the judge asks no model
}

// A DatasetSpec says what is judged.
type DatasetSpec struct {
	Names []string `json:"names"` // as the user typed them
	Hash  string   `json:"hash"`  // of the items
	Items int      `json:"items"`
}

// A State says how far a run is.
type State string

// The states of a run.
const (
	Open State = "open" // being judged, interrupted or killed
	Done State = "done" // every item was asked about
)

// A Run is a spec that was begun, and what is kept of it so far.
type Run struct {
	// ID is short, unique in its store, and sorts by time.
	ID string `json:"id"`
	Spec
	State   State     `json:"state"`
	Created time.Time `json:"created"`

	// Asked orders the runs of a store: the run with the highest number was begun last,
	// for the first time or again.
	Asked int64 `json:"-"`

	// Updated is when it was started, last appended to, or became done. Beginning a
	// run again that turns out to be done leaves it as it was.
	Updated time.Time `json:"updated"`

	Records  int `json:"records"`  // one for each item and trial that was asked about
	Unjudged int `json:"unjudged"` // how many of them are failures

	// CostMicros is what the run's calls cost, in millionths of a US dollar:
	// also the calls of records that were replaced, but not the replies that
	// came from the cache, which were paid for before.
	CostMicros int64 `json:"cost_micros"`

	// SetAsideMicros is what is set aside for calls of which no record says what they
	// cost: those in flight, and those that timed out or whose process was killed. It
	// counts as spent until [Money.Settle].
	SetAsideMicros int64 `json:"set_aside_micros,omitempty"`

	About About `json:"about,omitzero"`
}

// Counts reports whether "last" counts the run: it has a record, and is not over probes.
func (r Run) Counts() bool { return r.Records > 0 && !r.Probes() }

// Answered reports whether an item has a verdict.
func (r Run) Answered() bool { return r.Records > r.Unjudged }

// A Status says what a run knows about one item and trial.
type Status int

// What a run may know about an item and trial.
const (
	Missing  Status = iota // there is no record
	Judged                 // the record holds a verdict
	Unjudged               // the record holds a failure
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

// A Query selects records of a run. The zero value selects all of them. Within a
// field any one of the values suffices; what several fields ask for must all
// hold.
type Query struct {
	Labels     []string
	Categories []string
	Kinds      []deem.Kind // records whose failure is of one of these kinds
	IDs        []string    // records of these items
	Unjudged   bool        // only records without a verdict
	Trial      *int        // only this trial

	// WithCalls brings the calls and their replies along. Without it the calls
	// of every record are nil.
	WithCalls bool

	// Brief leaves the texts of the items out: their question, references,
	// response and fields. What counting needs remains, at less than half of the cost.
	Brief bool

	// After continues behind a record that was seen before; nil starts at the
	// first.
	After *Cursor

	// Limit is the largest number of records wanted; 0 means all.
	Limit int
}

// A Cursor is a place between two records of a run.
type Cursor struct {
	Position int    `json:"position"`
	Trial    int    `json:"trial"`
	ID       string `json:"id"` // of the item
}

// CursorOf returns the place right behind rec.
func CursorOf(rec deem.Record) *Cursor {
	return &Cursor{Position: rec.Position, Trial: rec.Trial, ID: rec.Item.ID}
}

// A Store keeps runs. Its methods may be called from several goroutines at once,
// and while other processes read and write the same runs.
type Store interface {
	// Begin continues the newest run with the key of spec, or starts one if
	// there is none or fresh is set. It claims the run: until [Store.Finish],
	// [Store.Release] or [Store.Close], another Begin with that key, in this
	// process or another, gets [ErrBusy]. The claim dies with the process.
	//
	// A run that is continued takes over the settings, which are not part of the
	// key. It takes over the names of the dataset only while it has no record:
	// afterwards other files with the same items are no reason to call the run
	// otherwise. A run that was done stays so until a record is appended.
	Begin(ctx context.Context, spec Spec, fresh bool) (run Run, resumed bool, err error)

	// Finish marks a run as done and gives up the claim on it.
	Finish(ctx context.Context, runID string) error

	// Release gives up the claim on a run that is not done. It does nothing if
	// this store has not claimed the run.
	Release(runID string) error

	// Run returns the run, not a deleted one, that ref means: its whole id, a beginning of it that
	// no other id has, "last" for the run that was begun last, also when it was begun again,
	// or "last~1" for the one before. "last" counts only runs that [Run.Counts] holds for.
	// The error is [ErrNotFound] or [ErrAmbiguous] with a hint that names the nearest runs.
	Run(ctx context.Context, ref string) (Run, error)

	// Runs returns all runs that are not deleted, newest first, which is the order of their ids.
	Runs(ctx context.Context) iter.Seq2[Run, error]

	// Status says what is known about an item and trial. It is meant to be
	// asked for each item when a run is continued, and is fast.
	Status(ctx context.Context, runID, itemID string, trial int) (Status, error)

	// Append adds records to a run: all of them, or none and an error. A record
	// of an item and trial that is there already takes the old one's place, but
	// the calls of the old one stay in front of the new calls: nothing that was
	// paid for is lost. Replies with a key go to the reply cache.
	//
	// What has no text in JSON is refused: a score that is not a number, a record
	// with both a verdict and a failure, or with neither. Bytes that are not
	// UTF-8 become U+FFFD.
	Append(ctx context.Context, runID string, recs []deem.Record) error

	// Records returns the records that q selects, by position, then by trial.
	// It reads them in pages: records that are appended meanwhile behind the
	// place it has reached are seen, others are not, and however long the
	// caller takes, no writer waits for it.
	Records(ctx context.Context, runID string, q Query) iter.Seq2[deem.Record, error]

	// Reply returns the first reply that was appended under the given key, and
	// whether there is one. The caller says what being cached means for it:
	// Cached is false, and latency, attempts and cost are those of the call
	// that was paid for.
	Reply(ctx context.Context, key string) (deem.Reply, bool, error)

	// Close gives up all claims and closes the store.
	Close() error
}
