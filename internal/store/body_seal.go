package store

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

// SealBytes is the number of bytes of a SHA-256 in a seal.
const SealBytes = 16

// Seal returns a hash over the columns of a row, with the type and length of each. Stores
// keep it with each row that a printed number depends on. A column is an int64, bool,
// float64, string or []byte, or nil for NULL.
//
// A database notices if its pages do not fit together, but not if a byte within a value
// changed. So stores check the seal of a row when they read it. A seal detects accidents, not
// forgery, because a person who edits the database can compute seals too. A signature
// detects forgery.
func Seal[T any](columns []T) []byte {
	h := sha256.New()
	w := bufio.NewWriterSize(h, 512) // It copies a long text in pieces.
	for _, c := range columns {
		head := w.AvailableBuffer()
		var text string
		var bytes []byte
		switch v := any(c).(type) {
		case nil:
			head = append(head, 0)
		case int64:
			head = binary.AppendVarint(append(head, 1), v)
		case bool: // SQLite stores it as a number.
			var n int64
			if v {
				n = 1
			}
			head = binary.AppendVarint(append(head, 1), n)
		case float64: // SQLite stores -0 as 0, and -0 + 0 is 0.
			head = binary.BigEndian.AppendUint64(append(head, 2), math.Float64bits(v+0))
		case string:
			head, text = binary.AppendUvarint(append(head, 3), uint64(len(v))), v
		case []byte:
			head, bytes = binary.AppendUvarint(append(head, 3), uint64(len(v))), v
		default:
			panic(fmt.Sprintf("body: a column is a %T", c))
		}
		_, _ = w.Write(head) // Writing to a hash never fails.
		_, _ = w.WriteString(text)
		_, _ = w.Write(bytes)
	}
	_ = w.Flush()
	return h.Sum(nil)[:SealBytes]
}
