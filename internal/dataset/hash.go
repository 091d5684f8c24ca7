package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"unicode/utf8"

	"deem"
)

// A chain hashes items in order: each link is the hash of the one before and of
// the item. Only items count, not the files they come from, so that the same items
// in another format are the same dataset. [deem.DatasetHash] gives the same for items
// that are there already.
type chain struct{ link [sha256.Size]byte }

// add appends an item.
func (c *chain) add(it deem.Item) {
	c.link = sha256.Sum256(append(c.link[:], it.Hash()...))
}

// String returns the hash of all items so far in hexadecimal.
func (c *chain) String() string { return hex.EncodeToString(c.link[:]) }

// HashItems returns the hash that a [Dataset] of these items has. Readers of
// benchmarks make their items themselves, and the hash of a dataset must not depend
// on who read it.
func HashItems(items iter.Seq2[deem.Item, error]) (string, error) { return deem.DatasetHash(items) }

// appendString appends s as encoding/json writes a string when it does not escape
// for web pages.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	begin := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf && plain[c] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if escape := escapeOf(r, size); escape != "" {
			b = append(append(b, s[begin:i]...), escape...)
			begin = i + size
		}
		i += size
	}
	return append(append(b, s[begin:]...), '"')
}

// escapeOf returns how encoding/json writes a character that it does not write as
// it is, or "".
func escapeOf(r rune, size int) string {
	switch {
	case r == '"':
		return `\"`
	case r == '\\':
		return `\\`
	case r == '\b':
		return `\b`
	case r == '\f':
		return `\f`
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x20 || r == 0x2028 || r == 0x2029:
		return fmt.Sprintf(`\u%04x`, r)
	case r == utf8.RuneError && size == 1:
		return `\ufffd`
	}
	return ""
}
