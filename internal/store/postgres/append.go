package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/store"
	"deem/internal/store/internal/body"
)

// Append implements [store.Store].
//
// All that belongs to it goes to the server at once and is one commit, and a server that
// restarts meanwhile is waited for. Any number of processes append to a run at the same
// time: every statement writes its rows in the order of their keys, and the tables come
// in one order, so that no two appends wait for each other.
func (s *Store) Append(ctx context.Context, runID string, recs []deem.Record) error {
	return s.append(ctx, runID, recs, replaceAll)
}

// AppendMissing is [Store.Append] for one of several processes that may judge the same
// items at the same time. An item keeps the record that it has, and the calls in the one
// that is dropped are not counted, unless its record is unfinished or, with failures, it
// is a failure. A run that is done stays so.
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

// newAppender finds everything that can be wrong with the records before anything is
// sent.
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

// A row is a record, or several of one item and trial, of which the last counts and
// all calls are kept.
type row struct {
	ord   int // place in the append
	rec   deem.Record
	item  encodedItem
	key   []byte // see keyOf
	calls []call

	parts *string // JSON
}

// A call is one with the body of its reply.
type call struct {
	deem.Call
	body string
}

// An appender holds the rows of one append, by table and in the order of their keys.
type appender struct {
	run, now int64
	rows     []*row
	known    *texts // that need not be sent
	replace  string // which records of the same items the new ones replace

	texts   []body.Text
	items   []encodedItem
	replies []call
	lines   []string // keys of replies that a batch brought
}

// blockRows is how many records one append can have: that many numbers are in a block.
const blockRows = 1 << 20

// add takes records in.
func (a *appender) add(recs []deem.Record) error {
	if len(recs) >= blockRows {
		return fmt.Errorf("%d records are too many for one append", len(recs))
	}
	type key struct {
		id    string
		trial int
	}
	byKey, items := make(map[key]*row, len(recs)), body.Encoder{}
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

func newRow(run int64, rec deem.Record, items *body.Encoder) (*row, error) {
	if err := store.CheckRecord(rec); err != nil {
		return nil, err
	}
	r := &row{rec: rec, key: keyOf(run, rec.Item.ID), calls: make([]call, len(rec.Calls))}
	var err error
	if r.item, err = encodeItem(rec.Item, items); err != nil {
		return nil, fmt.Errorf("encode item %q: %w", rec.Item.ID, err)
	}
	if r.parts, err = body.EncodeParts(rec); err != nil {
		return nil, fmt.Errorf("encode verdict on item %q: %w", rec.Item.ID, err)
	}
	for i, c := range rec.Calls {
		r.calls[i].Call = c
		if c.Reply == nil {
			continue
		}
		if r.calls[i].body, err = body.EncodeReply(*c.Reply); err != nil {
			return nil, fmt.Errorf("encode reply about item %q: %w", rec.Item.ID, err)
		}
	}
	return r, nil
}

// gather collects what the rows have in common, each once and sorted: texts, items and
// replies.
func (a *appender) gather() {
	for _, r := range a.rows {
		a.items = append(a.items, r.item)
		a.texts = append(a.texts, r.item.Long...)
		for _, c := range r.calls {
			a.gatherReply(c)
		}
	}
	a.items = unique(a.items, func(x, y encodedItem) int { return bytes.Compare(x.Hash[:], y.Hash[:]) })
	a.texts = unique(a.texts, func(x, y body.Text) int { return bytes.Compare(x.Hash[:], y.Hash[:]) })
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
