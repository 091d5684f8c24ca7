package postgres

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

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
	if err := s.once(ctx, "append to", a.queue); err != nil {
		return err
	}
	s.known.add(a.texts)
	return nil
}

// A row is a record, or several of the same item and trial, of which the last counts and
// all calls are kept.
type row struct {
	store.StoredRecord
	ord    int     // index in the append
	places *string // see placesOf
	key    []byte  // see keyOf
}

// A keyedReply is a reply with a key, and its body.
type keyedReply struct {
	*deem.Reply
	body string
}

// An appender contains the rows of one append, by table and in the order of their keys.
type appender struct {
	run, now int64
	rows     []*row
	known    *texts  // texts that need not be sent
	replace  string  // which existing records the new ones replace
	holder   *string // of the money that paid for the calls; nil if there is none

	texts   []store.LongText
	items   []*row // one for each item
	replies []keyedReply
	lines   []string // keys of replies that a batch brought
}

// blockRows is the maximum number of records in one append: the size of a block of numbers.
const blockRows = 1 << 20

// newAppender checks all records before anything is sent.
func (s *Store) newAppender(ctx context.Context, runID string, recs []deem.Record) (*appender, error) {
	if err := s.claims.lostRun(runID); err != nil {
		return nil, err
	}
	run, err := s.number(ctx, runID)
	if err != nil {
		return nil, err
	}
	if len(recs) >= blockRows {
		return nil, fmt.Errorf("%d records are too many for one append", len(recs))
	}
	type key struct {
		id    string
		trial int
	}
	a := &appender{run: run, now: s.opts.Now().UnixNano()}
	if holder, ok := s.holders.Load(runID); ok {
		a.holder = new(pack(holder.(string))) //nolint:forcetypeassert // Only Demand stores.
	}
	byKey, items := make(map[key]*row, len(recs)), store.ItemEncoder{}
	for i, rec := range recs {
		r := &row{ord: i, key: keyOf(run, rec.Item.ID)}
		if r.StoredRecord, err = items.Record(rec); err != nil {
			return nil, err
		}
		if r.places, err = placesOf(r.Stored); err != nil {
			return nil, fmt.Errorf("encode item %q: %w", rec.Item.ID, err)
		}
		k := key{string(r.key), rec.Trial}
		if old, ok := byKey[k]; ok {
			// One statement cannot write a row twice.
			r.ord, r.Calls, r.Replies = old.ord, slices.Concat(old.Calls, r.Calls), slices.Concat(old.Replies, r.Replies)
			*old = *r
			continue
		}
		byKey[k] = r
		a.rows = append(a.rows, r)
	}
	slices.SortFunc(a.rows, func(x, y *row) int {
		return cmp.Or(bytes.Compare(x.key, y.key), cmp.Compare(x.Trial, y.Trial))
	})
	for _, r := range a.rows {
		a.texts = append(a.texts, r.Stored.Long...)
		for i, c := range r.Calls {
			if c.Reply == nil || c.Reply.Key == "" {
				continue
			}
			a.replies = append(a.replies, keyedReply{c.Reply, r.Replies[i]})
			if c.Reply.Batch != "" && !c.Reply.Cached {
				a.lines = append(a.lines, pack(c.Reply.Key))
			}
		}
	}
	a.items = unique(slices.Clone(a.rows), func(x, y *row) int { return bytes.Compare(x.Stored.Hash[:], y.Stored.Hash[:]) })
	a.texts = unique(a.texts, func(x, y store.LongText) int { return bytes.Compare(x.Hash[:], y.Hash[:]) })
	a.replies = unique(a.replies, byReplyKey)
	a.lines = unique(a.lines, strings.Compare)
	return a, nil
}

// placesOf returns the JSON that maps the places of an item's long texts to the texts, or
// nil if there are none.
func placesOf(it store.StoredItem) (*string, error) {
	if len(it.Long) == 0 {
		return nil, nil //nolint:nilnil // NULL is stored.
	}
	places := map[string][2]any{}
	for _, t := range it.Long {
		places[t.Place] = [2]any{hex.EncodeToString(t.Hash[:]), len(t.Body)}
	}
	list, err := store.EncodeJSON(places)
	return &list, err
}

func byReplyKey(x, y keyedReply) int { return strings.Compare(pack(x.Key), pack(y.Key)) }

// unique sorts a list and keeps the first of equals.
func unique[T any](list []T, compare func(x, y T) int) []T {
	slices.SortStableFunc(list, compare)
	return slices.CompactFunc(list, func(x, y T) bool { return compare(x, y) == 0 })
}

// texts remembers long texts that are in the database, so that a conversation shared by
// many items is sent once. Texts are never removed. The zero value is ready for use.
type texts struct {
	mu         sync.Mutex
	young, old map[store.TextSum]bool
}

// rememberTexts is the minimum number of texts that are remembered, once there are that
// many.
const rememberTexts = 4096

// missing returns the elements of list that are not known to be in the database.
func (k *texts) missing(list []store.LongText) []store.LongText {
	k.mu.Lock()
	defer k.mu.Unlock()
	var missing []store.LongText
	for _, t := range list {
		if !k.young[t.Hash] && !k.old[t.Hash] {
			missing = append(missing, t)
		}
	}
	return missing
}

// add remembers committed texts. Texts that were not used for long are forgotten.
func (k *texts) add(list []store.LongText) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range list {
		if k.young == nil || len(k.young) >= rememberTexts {
			k.young, k.old = map[store.TextSum]bool{}, k.young
		}
		k.young[t.Hash] = true
	}
}
