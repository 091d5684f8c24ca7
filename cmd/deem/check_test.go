package main_test

import (
	"context"
	"errors"
	"fmt"

	"deem"
	"deem/internal/store"
)

// perCall is the price of an answer, in millionths of a dollar: a hundred tokens of a
// prompt and two of a reply, at the prices below.
const perCall = 102

// prices are a dollar per million tokens.
const prices = `{"version": "test", "date": "2026-11-15", "prices": [{"model": "openai:soak", "input": 1, "output": 1}]}`

// check compares the stored run with what its vendor saw: every item has exactly one
// record, a verdict or a failure with a kind; hardly any request was repeated; and the
// recorded cost is what was charged.
func (l *lane) check(ctx context.Context, st store.Store, id string) (tally, error) {
	if err := until(ctx, "the vendor of "+l.name+" to have nothing to do", func() (bool, error) {
		return l.srv.Stats().InFlight == 0, nil
	}); err != nil {
		return tally{}, err
	}
	r, err := st.Run(ctx, id)
	if err != nil {
		return tally{}, err
	}
	got, paid, err := l.count(ctx, st, id)
	if err == nil {
		err = errors.Join(l.checkRun(r, got), l.checkBill(r, paid))
	}
	if err != nil {
		err = fmt.Errorf("lane %s, run %s, %d kills: %w", l.name, id, l.kills, err)
	}
	got.Runs = 1
	return got, err
}

// count reads all records, checks that each belongs to a different item, and adds up their
// calls.
func (l *lane) count(ctx context.Context, st store.Store, id string) (got tally, paid int64, err error) {
	for rec, err := range st.Records(ctx, id, store.Query{WithCalls: true}) {
		if err != nil {
			return got, paid, err
		}
		at := got.Verdicts + got.Failures
		if rec.Item.ID != itemID(at) || rec.Position != at || rec.Trial != 0 {
			return got, paid, fmt.Errorf("record %d is trial %d of item %s at %d", at, rec.Trial, rec.Item.ID, rec.Position)
		}
		switch {
		case (rec.Verdict == nil) == (rec.Failure == nil):
			return got, paid, fmt.Errorf("the record of item %s has verdict %v and failure %v", rec.Item.ID, rec.Verdict, rec.Failure)
		case rec.Failure != nil && rec.Failure.Kind == "":
			return got, paid, fmt.Errorf("the failure of item %s has no kind", rec.Item.ID)
		case rec.Failure != nil:
			got.Failures++
		default:
			got.Verdicts++
		}
		paid += costOf(rec)
	}
	return got, paid, nil
}

// costOf adds up the calls of a record.
func costOf(rec deem.Record) (micros int64) {
	for _, c := range rec.Calls {
		if c.Reply != nil && !c.Reply.Cached {
			micros += c.Reply.CostMicros
		}
	}
	return micros
}

// checkRun checks that nothing is lost or duplicated.
func (l *lane) checkRun(r store.Run, got tally) error {
	var errs []error
	if n := got.Verdicts + got.Failures; n != l.n || r.Records != l.n || r.Unjudged != got.Failures || r.State != store.Done {
		errs = append(errs, fmt.Errorf("%d records and %d failures, and the run says %d and %d and is %s, want %d records of a run that is done",
			n, got.Failures, r.Records, r.Unjudged, r.State, l.n))
	}
	s := l.srv.Stats()
	if s.Distinct != l.n*l.asks {
		errs = append(errs, fmt.Errorf("the vendor was asked %d different questions, want %d", s.Distinct, l.n*l.asks))
	}
	if allowed := l.again(); s.Duplicates > allowed {
		errs = append(errs, fmt.Errorf("the vendor was asked %d times what it had answered, want at most %d", s.Duplicates, allowed))
	}
	return errors.Join(errs...)
}

// again returns how many requests may be repeated: those that killed processes had in
// flight.
func (l *lane) again() int { return l.kills * l.slack * l.asks }

// checkBill checks that the recorded cost is what was charged. A killed process also paid
// for answers that it could not store.
func (l *lane) checkBill(r store.Run, paid int64) error {
	charged := int64(l.srv.Stats().Answered) * perCall
	lost := int64(l.again()) * perCall
	if r.CostMicros != paid || paid > charged || paid < charged-lost {
		return fmt.Errorf("the vendor charges %d micros, of which %d may be lost; the run says %d and its calls %d", charged, lost, r.CostMicros, paid)
	}
	return nil
}
