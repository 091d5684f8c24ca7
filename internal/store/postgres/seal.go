package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"deem"
	"deem/internal/store"
)

// Runs, records, calls, replies and labels have a seal, which is checked when they are
// read: see [store.Seal]. Items and texts are stored under a hash of their content.

// recordRow contains the sealed columns of a record, texts packed. It excludes its number,
// which the server assigns, and what depends on an earlier record.
type recordRow struct {
	run, trial, position         int64
	item, key                    []byte
	id, category, cluster, judge string
	weight                       float64

	// The verdict or the failure.
	label, reason, parts, kind, detail *string
	score, confidence                  *float64
	pass                               *bool
}

func (c *recordRow) seal() []byte {
	return store.Seal([]any{
		c.run, c.trial, c.position, c.item, c.key, c.id, c.category, c.cluster, c.judge, c.weight,
		null(c.label), null(c.score), null(c.pass), null(c.confidence), null(c.reason), null(c.parts), null(c.kind), null(c.detail),
	})
}

// callRow contains the sealed columns of a call, texts packed, with those of its reply
// wherever that is stored.
type callRow struct {
	model, request, err string
	started             *int64
	tries               int64
	key                 *string // of the reply
	paid
	cached *bool
}

// callRowOf returns the columns of a call whose reply has the given body.
func callRowOf(c deem.Call, body string) callRow {
	row := callRow{model: pack(c.Model), request: pack(c.Request), err: pack(c.Error), started: nanos(c.Started), tries: int64(c.Attempts)}
	if r := c.Reply; r != nil {
		row.key, row.paid, row.cached = packNull(r.Key), paidFor(r, body), &r.Cached
	}
	return row
}

// seal returns the seal of a call of the record with the key and trial.
func (c *callRow) seal(key []byte, trial int64) []byte {
	return store.Seal([]any{
		key, trial, c.model, c.request, c.err, null(c.started), c.tries, null(c.key), null(c.body),
		null(c.latency), null(c.attempts), null(c.cost), null(c.unpriced), null(c.cached),
	})
}

// seal returns the seal of a reply in the cache.
func (p paid) seal(key string) []byte {
	return store.Seal([]any{key, null(p.body), null(p.latency), null(p.attempts), null(p.cost), null(p.unpriced)})
}

// null returns the value of p, or NULL.
func null[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// altered returns the error for a row that was changed since it was written.
func altered(format string, args ...any) error {
	return deem.WithHint(fmt.Errorf("the database is damaged: %s is not what was written", fmt.Sprintf(format, args...)),
		"restore a copy of it")
}

// pack returns s in the stored form. Postgres texts cannot contain NUL, so it is written as
// \x01\x01, and \x01 as \x01\x02: packed texts compare like the texts.
func pack(s string) string {
	s = store.ValidText(s)
	if strings.IndexByte(s, 0) < 0 && strings.IndexByte(s, 1) < 0 {
		return s
	}
	return packer.Replace(s)
}

var (
	packer   = strings.NewReplacer("\x00", "\x01\x01", "\x01", "\x01\x02")
	unpacker = strings.NewReplacer("\x01\x01", "\x00", "\x01\x02", "\x01")
)

// unpack reverses pack.
func unpack(s string) string {
	if strings.IndexByte(s, 1) < 0 {
		return s
	}
	return unpacker.Replace(s)
}

// packAll packs each element of a list.
func packAll[T ~string](list []T) []string {
	packed := make([]string, len(list))
	for i, s := range list {
		packed[i] = pack(string(s))
	}
	return packed
}

// packNull is pack, but NULL for "".
func packNull(s string) *string {
	if s == "" {
		return nil
	}
	return new(pack(s))
}

// unpackNull is unpack, and "" for NULL.
func unpackNull(s *string) string {
	if s == nil {
		return ""
	}
	return unpack(*s)
}

// keyOf returns the key of an item's records: the first half of the SHA-256 of the run's
// number and the id.
func keyOf(run int64, id string) []byte {
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, run) // A hash never fails.
	h.Write([]byte(pack(id)))
	return h.Sum(nil)[:16]
}

func packJSON(raw json.RawMessage) *string {
	if len(raw) == 0 {
		return nil
	}
	return new(pack(string(raw)))
}

func unpackJSON(s *string) json.RawMessage {
	if s == nil {
		return nil
	}
	return json.RawMessage(unpack(*s))
}

// nanos returns t in the stored form. The zero time does not fit into nanoseconds since
// 1970, and becomes NULL.
func nanos(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixNano())
}

// timeOf returns the stored time.
func timeOf(n *int64) time.Time {
	if n == nil {
		return time.Time{}
	}
	return time.Unix(0, *n).UTC()
}
