package text

import (
	"strconv"
	"strings"
)

// ParseList reads a list of texts as Python writes it, and reports whether s is one. It is
// the inverse of [Repr] for such a list.
func ParseList(s string) ([]string, bool) {
	s, ok := strings.CutPrefix(Strip(s), "[")
	if !ok {
		return nil, false
	}
	list := []string{}
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		if s == "]" {
			return list, true
		}
		if len(list) > 0 {
			if s, ok = strings.CutPrefix(s, ","); !ok {
				return nil, false
			}
			s = strings.TrimLeft(s, " \t\r\n")
		}
		one, rest, ok := quoted(s)
		if !ok {
			return nil, false
		}
		list, s = append(list, one), rest
	}
}

// quoted reads the Python string literal at the beginning of s, and returns what follows.
func quoted(s string) (value, rest string, ok bool) {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return "", "", false
	}
	quote := s[0]
	var b strings.Builder
	for s = s[1:]; s != ""; {
		if s[0] == quote {
			return b.String(), s[1:], true
		}
		if strings.HasPrefix(s, `\'`) || strings.HasPrefix(s, `\"`) {
			b.WriteByte(s[1]) // Python escapes either quote in either kind of literal, Go does not.
			s = s[2:]
			continue
		}
		r, multibyte, tail, err := strconv.UnquoteChar(s, 0)
		if err != nil {
			return "", "", false
		}
		if multibyte || r < 0x80 || s[0] == '\\' {
			b.WriteRune(r)
		} else {
			b.WriteByte(byte(r))
		}
		s = tail
	}
	return "", "", false
}
