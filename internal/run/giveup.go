package run

import (
	"fmt"
	"slices"

	"deem"
	"deem/internal/words"
)

// giveUpAfter is the number of consecutive items without a verdict after which a run stops.
// It is that of the breaker in package model, which counts calls that a vendor did not
// answer; here calls were answered, and most were paid for.
const giveUpAfter = 20

const giveUpHint = "finished items are kept, and the same command resumes with the next ones; choose another --model or --judge, " +
	"or judge all items with --max-unjudged 100%"

// unreadable are the kinds of failure of a reply that gives no verdict.
var unreadable = []deem.Kind{
	deem.Unparseable, deem.Refused, deem.Truncated, deem.Empty, deem.OutOfRange, deem.Contradictory, deem.Quote,
}

// A failureRow counts items in a row that have no verdict for the same reason.
type failureRow struct {
	most  int // 0 means no limit
	count int
	last  *deem.Failure
	over  error // set once the row is as long as allowed
}

// add counts an item, with its failure or nil. A verdict begins the row again, and so does a
// failure of another type. An item that was not asked about, because it lacks something or
// the budget is spent, says nothing about the model.
func (r *failureRow) add(id string, f *deem.Failure, calls []deem.Call) {
	switch {
	case f == nil || f.Kind == deem.Unsure:
		r.count = 0
		return
	case f.Kind == deem.Input || f.Kind == deem.Budget:
		return
	case r.count > 0 && !sameType(f, r.last):
		r.count = 0
	}
	r.count++
	r.last = f
	if r.count == r.most && r.over == nil {
		r.over = tooManyFailures(r.count, id, f, calls)
	}
}

// sameType reports whether both failures are unreadable replies, or the same error.
func sameType(a, b *deem.Failure) bool {
	if slices.Contains(unreadable, a.Kind) {
		return slices.Contains(unreadable, b.Kind)
	}
	return a.Kind == b.Kind
}

// tooManyFailures returns the error that ends the run. The detail of a failure names the form
// that the prompt demands.
func tooManyFailures(n int, id string, f *deem.Failure, calls []deem.Call) error {
	// The failure is not wrapped: it is of one item, and this error is of the run.
	err := fmt.Errorf("stopped: the last %d items have no verdict; the last one, %q: %s", n, id, f.Error())
	if last := len(calls) - 1; last >= 0 && calls[last].Reply != nil && slices.Contains(unreadable, f.Kind) {
		err = fmt.Errorf("%w\nthe whole reply: %s", err, wholeReply(*calls[last].Reply))
	}
	return deem.WithHint(err, "%s", giveUpHint)
}

// wholeReply returns the text of a reply on one line, unless it is very long.
func wholeReply(reply deem.Reply) string {
	if text := words.Fold(reply.Text); text != "" {
		return words.Clip(text, 1000)
	}
	return "(no text)"
}
