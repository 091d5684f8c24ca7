package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/store"
)

// Append implements [store.Store].
//
// All statements are sent to the server at once and are one commit; if the server restarts
// meanwhile, Append waits for it. Any number of processes can append to a run concurrently:
// every statement writes its rows in the order of their keys, and the order of tables is
// fixed, so that appends cannot deadlock.
func (s *Store) Append(ctx context.Context, runID string, recs []deem.Record) error {
	return s.append(ctx, runID, recs, replaceAll)
}

// AppendMissing is [Store.Append] for one of several processes that may judge the same
// items concurrently. An item that has a record keeps it, and the calls of the dropped
// record are not counted. The record is replaced only if it is unfinished or, with
// failures, if it is a failure. A run that is done stays done.
func (s *Store) AppendMissing(ctx context.Context, runID string, recs []deem.Record, failures bool) error {
	if failures {
		return s.append(ctx, runID, recs, replaceFailures)
	}
	return s.append(ctx, runID, recs, replaceUnfinished)
}

func (s *Store) append(ctx context.Context, runID string, recs []deem.Record, replace string) error {
	a, err := s.newAppender(ctx, runID, recs)
	if err != nil {
		return s.explain("append to", err)
	}
	if len(recs) == 0 {
		return nil
	}
	a.known, a.replace = &s.known, replace
	if err := s.once(ctx, a.queue); err != nil {
		return s.explain("append to", err)
	}
	s.known.add(a.texts)
	return nil
}

// newAppender checks all records before anything is sent.
func (s *Store) newAppender(ctx context.Context, runID string, recs []deem.Record) (*appender, error) {
	if s.readOnly {
		return nil, errReadOnly
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.claims.lostRun(runID); err != nil {
		return nil, err
	}
	run, err := s.number(ctx, runID)
	if err != nil {
		return nil, err
	}
	a := &appender{run: run, now: s.opts.Now().UnixNano()}
	return a, a.add(recs)
}

// A row is a record, or several of the same item and trial, of which the last counts and
// all calls are kept.
type row struct {
	ord   int // index in the append
	rec   deem.Record
	item  encodedItem
	key   []byte // see keyOf
	calls []call

	parts *string // JSON
}

// A call is a call with the body of its reply.
type call struct {
	deem.Call
	body string
}

// An appender contains the rows of one append, by table and in the order of their keys.
type appender struct {
	run, now int64
	rows     []*row
	known    *texts // texts that need not be sent
	replace  string // which existing records the new ones replace

	texts   []store.LongText
	items   []encodedItem
	replies []call
	lines   []string // keys of replies that a batch brought
}

// blockRows is the maximum number of records in one append: the size of a block of numbers.
const blockRows = 1 << 20

// add adds records.
func (a *appender) add(recs []deem.Record) error {
	if len(recs) >= blockRows {
		return fmt.Errorf("%d records are too many for one append", len(recs))
	}
	type key struct {
		id    string
		trial int
	}
	byKey, items := make(map[key]*row, len(recs)), store.ItemEncoder{}
	for i, rec := range recs {
		r, err := newRow(a.run, rec, &items)
		if err != nil {
			return err
		}
		r.ord = i
		k := key{string(r.key), rec.Trial}
		if old, ok := byKey[k]; ok {
			// One statement cannot write a row twice.
			r.ord, r.calls = old.ord, append(old.calls, r.calls...)
			*old = *r
			continue
		}
		byKey[k] = r
		a.rows = append(a.rows, r)
	}
	slices.SortFunc(a.rows, func(x, y *row) int {
		if c := bytes.Compare(x.key, y.key); c != 0 {
			return c
		}
		return x.rec.Trial - y.rec.Trial
	})
	a.gather()
	return nil
}

func newRow(run int64, rec deem.Record, items *store.ItemEncoder) (*row, error) {
	if err := store.CheckRecord(rec); err != nil {
		return nil, err
	}
	r := &row{rec: rec, key: keyOf(run, rec.Item.ID), calls: make([]call, len(rec.Calls))}
	var err error
	if r.item, err = encodeItem(rec.Item, items); err != nil {
		return nil, fmt.Errorf("encode item %q: %w", rec.Item.ID, err)
	}
	if r.parts, err = store.EncodeParts(rec); err != nil {
		return nil, fmt.Errorf("encode verdict on item %q: %w", rec.Item.ID, err)
	}
	for i, c := range rec.Calls {
		r.calls[i].Call = c
		if c.Reply == nil {
			continue
		}
		if r.calls[i].body, err = store.EncodeReply(*c.Reply); err != nil {
			return nil, fmt.Errorf("encode reply about item %q: %w", rec.Item.ID, err)
		}
	}
	return r, nil
}

// gather collects the shared data of the rows, sorted and without duplicates: texts, items
// and replies.
func (a *appender) gather() {
	for _, r := range a.rows {
		a.items = append(a.items, r.item)
		a.texts = append(a.texts, r.item.Long...)
		for _, c := range r.calls {
			a.gatherReply(c)
		}
	}
	a.items = unique(a.items, func(x, y encodedItem) int { return bytes.Compare(x.Hash[:], y.Hash[:]) })
	a.texts = unique(a.texts, func(x, y store.LongText) int { return bytes.Compare(x.Hash[:], y.Hash[:]) })
	a.replies = unique(a.replies, func(x, y call) int { return strings.Compare(pack(x.Reply.Key), pack(y.Reply.Key)) })
	a.lines = unique(a.lines, strings.Compare)
}

func (a *appender) gatherReply(c call) {
	r := c.Reply
	if r == nil {
		return
	}
	if r.Key == "" {
		return
	}
	a.replies = append(a.replies, c)
	if r.Batch != "" && !r.Cached {
		a.lines = append(a.lines, pack(r.Key))
	}
}

// unique sorts a list and keeps the first of equals.
func unique[T any](list []T, compare func(x, y T) int) []T {
	slices.SortStableFunc(list, compare)
	return slices.CompactFunc(list, func(x, y T) bool { return compare(x, y) == 0 })
}
