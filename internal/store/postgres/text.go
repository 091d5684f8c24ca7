package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// pack returns s as a column keeps it. Bytes that are no UTF-8 become U+FFFD, as in every
// store. The character NUL, which no text of Postgres can hold, is written as \x01\x01,
// and \x01 as \x01\x02: packed texts compare as the texts do.
func pack(s string) string {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	if strings.IndexByte(s, 0) < 0 && strings.IndexByte(s, 1) < 0 {
		return s
	}
	return packer.Replace(s)
}

var (
	packer   = strings.NewReplacer("\x00", "\x01\x01", "\x01", "\x01\x02")
	unpacker = strings.NewReplacer("\x01\x01", "\x00", "\x01\x02", "\x01")
)

// unpack returns the text that was packed.
func unpack(s string) string {
	if strings.IndexByte(s, 1) < 0 {
		return s
	}
	return unpacker.Replace(s)
}

// packAll packs each of a list.
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

// longID is from how many bytes on an id is too long for an index.
const longID = 512

// packID returns the id of an item as it is looked up. A long one is its beginning and
// its hash, behind a mark that no packed text has; the whole of it is returned besides.
func packID(id string) (short string, whole *string) {
	packed := pack(id)
	if len(packed) < longID {
		return packed, nil
	}
	sum := sha256.Sum256([]byte(packed))
	return strings.ToValidUTF8(packed[:128], "") + "\x01\x03" + hex.EncodeToString(sum[:]), &packed
}

// packIDs is packID for each of a list.
func packIDs(ids []string) []string {
	packed := make([]string, len(ids))
	for i, id := range ids {
		packed[i], _ = packID(id)
	}
	return packed
}

// unpackID returns the id that was packed.
func unpackID(short string, whole *string) string {
	if whole != nil {
		return unpack(*whole)
	}
	return unpack(short)
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

// nanos returns t as the database keeps it. The zero time has no nanoseconds since 1970
// that an integer could hold, and becomes NULL.
func nanos(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixNano())
}

// timeOf returns the time that was kept.
func timeOf(n *int64) time.Time {
	if n == nil {
		return time.Time{}
	}
	return time.Unix(0, *n).UTC()
}
