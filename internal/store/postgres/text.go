package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"

	"deem/internal/store"
)

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
