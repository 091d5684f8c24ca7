package deem

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
)

// A Record is the result of judging one item once. Exactly one of Verdict and Failure is
// set.
type Record struct {
	Item     Item     `json:"item"`
	Position int      `json:"position"` // index of the item in its dataset
	Judge    string   `json:"judge"`
	Trial    int      `json:"trial"` // from 0
	Verdict  *Verdict `json:"verdict,omitempty"`
	Failure  *Failure `json:"failure,omitempty"`
	Calls    []Call   `json:"calls,omitempty"`

	// Answer is the answer that a reader gave in this trial, if the item came without a
	// response. The response of Item is then this answer, and was empty in the dataset.
	Answer *string `json:"answer,omitempty"`
}

// A Call is one request to a model and its result: exactly one of Reply and Error is set.
// The prompt is not stored; it can be rendered again from the item and checked against
// Request.
type Call struct {
	Model   string    `json:"model"`
	Request string    `json:"request"` // hash of the request
	Started time.Time `json:"started"`
	Reply   *Reply    `json:"reply,omitempty"`
	Error   string    `json:"error,omitempty"`

	// Attempts is the number of attempts of a failed request. A reply has its own count.
	Attempts int `json:"attempts,omitempty"`
}

// A ledger collects the calls that a judge makes for one trial of one item. It is part of the
// context, so that panels and cascades need not pass on the calls of their members.
type ledger struct {
	trial  int
	parent *ledger // the one that it was opened in, or nil

	mu     sync.Mutex
	calls  []Call
	answer *string
}

type ledgerKey struct{}

// WithLedger returns a context for judging the given trial, and a function that returns the
// calls recorded in it so far.
func WithLedger(ctx context.Context, trial int) (context.Context, func() []Call) {
	l := &ledger{trial: trial}
	l.parent, _ = ctx.Value(ledgerKey{}).(*ledger)
	calls := func() []Call {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.calls
	}
	return context.WithValue(ctx, ledgerKey{}, l), calls
}

// NoteCall records c in the ledger of ctx. Without a ledger it does nothing.
func NoteCall(ctx context.Context, c Call) {
	if l, ok := ctx.Value(ledgerKey{}).(*ledger); ok {
		l.mu.Lock()
		l.calls = append(l.calls, c)
		l.mu.Unlock()
	}
}

// NoteAnswer records the answer of a reader that is about to be judged. Without a ledger it
// does nothing.
func NoteAnswer(ctx context.Context, answer string) {
	l, _ := ctx.Value(ledgerKey{}).(*ledger)
	for ; l != nil; l = l.parent {
		l.mu.Lock()
		l.answer = &answer
		l.mu.Unlock()
	}
}

// AnswerOf returns the answer in the ledger of ctx, or nil if no reader gave one.
func AnswerOf(ctx context.Context) *string {
	l, ok := ctx.Value(ledgerKey{}).(*ledger)
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answer
}

// Ask makes one call and records it in the ledger of ctx. If the call failed for this item
// alone, the error is a [*Failure]; an error that ends the run is returned unchanged.
func Ask(ctx context.Context, m Model, req Request) (Reply, error) {
	call := Call{Model: m.Name(), Request: req.Hash(), Started: time.Now().UTC()}
	reply, err := m.Complete(ctx, req)
	if err == nil {
		call.Reply = &reply
		NoteCall(ctx, call)
		return reply, nil
	}
	me, ok := errors.AsType[*ModelError](err)
	if !ok || ctx.Err() != nil {
		return Reply{}, err
	}
	call.Error, call.Attempts = me.Error(), me.Attempts
	NoteCall(ctx, call)
	if me.Fatal {
		return Reply{}, err
	}
	return Reply{}, &Failure{Kind: cmp.Or(me.Kind, Provider), Detail: me.Error()}
}

// TrialOf returns the trial that ctx belongs to, 0 without a ledger.
func TrialOf(ctx context.Context) int {
	if l, ok := ctx.Value(ledgerKey{}).(*ledger); ok {
		return l.trial
	}
	return 0
}
