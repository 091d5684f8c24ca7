package deem

import (
	"context"
	"sync"
	"time"
)

// A Record is one line of a run: an item, and one judge's verdict on it or the
// reason why there is none. Exactly one of Verdict and Failure is set.
type Record struct {
	Item     Item     `json:"item"`
	Position int      `json:"position"` // place of the item in its dataset, from 0
	Judge    string   `json:"judge"`
	Trial    int      `json:"trial"` // from 0
	Verdict  *Verdict `json:"verdict,omitempty"`
	Failure  *Failure `json:"failure,omitempty"`
	Calls    []Call   `json:"calls,omitempty"`
}

// A Call is one request to a model and what came of it: exactly one of Reply and
// Error is set. The prompt is not kept; it can be rendered again from the item
// and checked against Request.
type Call struct {
	Model   string    `json:"model"`
	Request string    `json:"request"` // hash of the request
	Started time.Time `json:"started"`
	Reply   *Reply    `json:"reply,omitempty"`
	Error   string    `json:"error,omitempty"`

	// Attempts is how often a failed request was made. A reply counts its own.
	Attempts int `json:"attempts,omitempty"`
}

// A ledger collects, for one item and trial, the calls that its judge makes. It
// travels in the context so that a judge inside a panel inside a cascade need
// not hand the calls of the others around.
type ledger struct {
	trial int

	mu    sync.Mutex
	calls []Call
}

type ledgerKey struct{}

// WithLedger returns a context in which the given trial is judged, and a function
// that returns the calls noted in it so far.
func WithLedger(ctx context.Context, trial int) (context.Context, func() []Call) {
	l := &ledger{trial: trial}
	calls := func() []Call {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.calls
	}
	return context.WithValue(ctx, ledgerKey{}, l), calls
}

// NoteCall enters c in the ledger of ctx. Without a ledger it does nothing.
func NoteCall(ctx context.Context, c Call) {
	if l, ok := ctx.Value(ledgerKey{}).(*ledger); ok {
		l.mu.Lock()
		l.calls = append(l.calls, c)
		l.mu.Unlock()
	}
}

// TrialOf returns the trial that is judged in ctx, 0 without a ledger.
func TrialOf(ctx context.Context) int {
	if l, ok := ctx.Value(ledgerKey{}).(*ledger); ok {
		return l.trial
	}
	return 0
}
