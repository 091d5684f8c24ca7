package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

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
		store.Null(c.label), store.Null(c.score), store.Null(c.pass), store.Null(c.confidence), store.Null(c.reason), store.Null(c.parts), store.Null(c.kind), store.Null(c.detail),
	})
}

// callRow contains the sealed columns of a call, texts packed, with those of its reply
// wherever that is stored.
type callRow struct {
	model, request, err string
	started             *int64
	tries               int64
	key                 *string // of the reply
	store.ReplyColumns
	cached *bool
}

// seal returns the seal of a call of the record with the key and trial.
func (c *callRow) seal(key []byte, trial int64) []byte {
	return store.Seal([]any{
		key, trial, c.model, c.request, c.err, store.Null(c.started), c.tries, store.Null(c.key), store.Null(c.Body),
		store.Null(c.Latency), store.Null(c.Attempts), store.Null(c.Cost), store.Null(c.Unpriced), store.Null(c.cached),
	})
}

// sealReply returns the seal of a reply in the cache.
func sealReply(key string, c store.ReplyColumns) []byte {
	return store.Seal([]any{key, store.Null(c.Body), store.Null(c.Latency), store.Null(c.Attempts), store.Null(c.Cost), store.Null(c.Unpriced)})
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

func unpackJSON(s *string) json.RawMessage {
	if s == nil {
		return nil
	}
	return json.RawMessage(unpack(*s))
}
