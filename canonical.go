package deem

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Canonical returns the JSON of v that is used for hashes: keys sorted, no white space, no
// unnecessary escapes, numbers as encoding/json writes them.
func Canonical(v any) ([]byte, error) {
	raw, err := marshal(v)
	if err != nil {
		return nil, err
	}
	if s := (sorter{in: raw}); s.plain() {
		s.out = make([]byte, 0, len(raw))
		if s.value(); !s.odd {
			return s.out, nil
		}
	}
	var tree any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	return marshal(tree)
}

// A sorter sorts the keys of JSON that marshal wrote, without decoding its texts.
type sorter struct {
	in, out []byte
	odd     bool // an object has a key twice, or one with an escape
}

// plain reports whether each text is already written as marshal would write it. Only a
// [json.RawMessage], or bytes that are not UTF-8, can be written in another way.
func (s *sorter) plain() bool {
	if !utf8.Valid(s.in) || bytes.Contains(s.in, []byte("\u2028")) || bytes.Contains(s.in, []byte("\u2029")) {
		return false
	}
	for rest := s.in; ; {
		at := bytes.IndexByte(rest, '\\')
		if at < 0 {
			return true
		}
		if rest[at+1] == '/' || rest[at+1] == 'u' {
			return false
		}
		rest = rest[at+2:]
	}
}

// value copies the value at the beginning of the input.
func (s *sorter) value() {
	switch s.in[0] {
	case '{':
		s.object()
	case '[':
		s.copy(1)
		for s.in[0] != ']' {
			if s.value(); s.in[0] == ',' {
				s.copy(1)
			}
		}
		s.copy(1)
	case '"':
		s.copy(endOfText(s.in))
	default:
		end := bytes.IndexAny(s.in, ",]}")
		if end < 0 {
			end = len(s.in)
		}
		s.copy(end)
	}
}

// object copies the members of an object in the order of their keys.
func (s *sorter) object() {
	type member struct {
		key      []byte
		at, ends int // in the output
	}
	var members []member
	s.copy(1)
	began := len(s.out)
	for s.in[0] != '}' {
		m := member{at: len(s.out)}
		end := endOfText(s.in)
		m.key = s.in[1 : end-1]
		s.odd = s.odd || bytes.IndexByte(m.key, '\\') >= 0 // It sorts otherwise than it is written.
		s.copy(end + 1)
		s.value()
		m.ends = len(s.out)
		if members = append(members, m); s.in[0] == ',' {
			s.copy(1)
		}
	}
	order := func(a, b member) int { return bytes.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(members, order) {
		was := bytes.Clone(s.out[began:])
		s.out = s.out[:began]
		slices.SortFunc(members, order)
		for i, m := range members {
			if i > 0 {
				s.out = append(s.out, ',')
			}
			s.out = append(s.out, was[m.at-began:m.ends-began]...)
		}
	}
	for i := 1; i < len(members); i++ {
		s.odd = s.odd || bytes.Equal(members[i-1].key, members[i].key)
	}
	s.copy(1)
}

// copy copies the first n bytes of the input.
func (s *sorter) copy(n int) {
	s.out = append(s.out, s.in[:n]...)
	s.in = s.in[n:]
}

// endOfText returns the length of the text that in begins with, with its quotes.
func endOfText(in []byte) int {
	for at := 1; ; at++ {
		at += bytes.IndexByte(in[at:], '"')
		escapes := 0
		for in[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}
