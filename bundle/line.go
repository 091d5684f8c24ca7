package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"deem"
)

// The kinds of line, in order. Items and records alternate: each item is followed by its
// records, one for each trial.
const (
	kindHeader    = "header"
	kindRun       = "run"
	kindJudge     = "judge"
	kindPrices    = "prices" // optional
	kindItem      = "item"
	kindRecord    = "record"
	kindManifest  = "manifest"
	kindSignature = "signature" // optional
)

// hexLen is the length of a SHA-256 in hexadecimal.
const hexLen = 2 * sha256.Size

// first is the previous hash of the first line.
var first = string(bytes.Repeat([]byte("0"), hexLen))

// A line is one line of a bundle. Its form is fixed to the byte:
//
//	{"body":BODY,"hash":"HASH","kind":"KIND","prev":"PREV"}
//
// where BODY is canonical JSON, PREV the hash of the previous line, and HASH that of this
// one.
type line struct {
	n    int // from 1
	kind string
	hash string
	prev string
	body []byte
}

// chainHash returns the hash of a line: the SHA-256 of three lines of text, which are the
// previous hash, the kind, and the SHA-256 of the sealed body.
func chainHash(prev, kind string, sealed []byte) string {
	sum := sha256.Sum256(sealed)
	text := make([]byte, 0, 2*hexLen+len(kind)+3)
	text = append(append(text, prev...), '\n')
	text = append(append(text, kind...), '\n')
	text = append(hex.AppendEncode(text, sum[:]), '\n')
	sum = sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// The constant parts of a line.
const (
	beforeBody = `{"body":`
	beforeHash = `,"hash":"`
	beforeKind = `","kind":"`
	beforePrev = `","prev":"`
	afterPrev  = `"}`
)

// appendTo appends the line with its newline.
func (l line) appendTo(to []byte) []byte {
	to = append(append(to, beforeBody...), l.body...)
	to = append(append(to, beforeHash...), l.hash...)
	to = append(append(to, beforeKind...), l.kind...)
	to = append(append(to, beforePrev...), l.prev...)
	return append(append(to, afterPrev...), '\n')
}

// parseLine splits a line, from its end, because the body may contain anything. It checks
// every byte that is not part of the body.
func parseLine(n int, text []byte) (line, bool) {
	l := line{n: n}
	rest, ok := bytes.CutSuffix(text, []byte(afterPrev))
	if !ok {
		return l, false
	}
	if rest, l.prev, ok = cutHash(rest, beforePrev); !ok {
		return l, false
	}
	end := len(rest)
	for end > 0 && rest[end-1] >= 'a' && rest[end-1] <= 'z' {
		end--
	}
	l.kind = string(rest[end:])
	if rest, ok = bytes.CutSuffix(rest[:end], []byte(beforeKind)); !ok {
		return l, false
	}
	if rest, l.hash, ok = cutHash(rest, beforeHash); !ok {
		return l, false
	}
	l.body, ok = bytes.CutPrefix(rest, []byte(beforeBody))
	return l, ok
}

// cutHash removes a hash, and the text that must precede it, from the end of text.
func cutHash(text []byte, before string) (rest []byte, hash string, ok bool) {
	at := len(text) - hexLen
	if at < 0 || !isHash(text[at:]) {
		return nil, "", false
	}
	rest, ok = bytes.CutSuffix(text[:at], []byte(before))
	return rest, string(text[at:]), ok
}

// isHash reports whether text is a SHA-256 in lower-case hexadecimal.
func isHash[T string | []byte](text T) bool {
	if len(text) != hexLen {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// decode decodes a body strictly: encoding the result must give the same bytes. So each
// value has only one form, there are no duplicate keys, and no unknown key can hide data.
func decode[T any](body []byte) (T, error) {
	var v T
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	again, err := deem.Canonical(v)
	if err != nil {
		return v, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return v, sameForm(body, again)
}

// sameForm rejects a body that is not in the form that deem writes.
func sameForm(body, again []byte) error {
	if bytes.Equal(body, again) {
		return nil
	}
	at := 0
	for at < len(body) && at < len(again) && body[at] == again[at] {
		at++
	}
	return fmt.Errorf("%w: from byte %d on the line is not written as this deem would write what it says: %q, and not %q",
		ErrDamaged, at+len(beforeBody)+1, excerpt(body, at), excerpt(again, at))
}

// excerpt returns a few bytes starting at a position.
func excerpt(text []byte, at int) []byte { return text[at:min(at+24, len(text))] }
