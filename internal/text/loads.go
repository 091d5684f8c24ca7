package text

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Loads parses a JSON object like Python's json.loads. A duplicate key has its last value.
// Python also accepts NaN and the infinities; they become null here, because they cannot be
// used as a label or score.
func Loads(s string) (map[string]any, error) {
	object, err := loads(s)
	if finite := FiniteJSON(s); err != nil && finite != s {
		return loads(finite)
	}
	return object, err
}

func loads(s string) (map[string]any, error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var object map[string]any
	if err := dec.Decode(&object); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text follows the object")
	}
	return object, nil
}

// notNumbers replaces numbers that are valid in Python but not in JSON.
var notNumbers = strings.NewReplacer("-Infinity", "null", "Infinity", "null", "NaN", "null")

// FiniteJSON converts JSON as written by Python's json.dumps to standard JSON: NaN and the
// infinities outside of strings become null. They cannot be used as a score, label or text.
func FiniteJSON(s string) string {
	if !strings.Contains(s, "NaN") && !strings.Contains(s, "Infinity") {
		return s
	}
	var b strings.Builder
	for s != "" {
		open := strings.IndexByte(s, '"')
		if open < 0 {
			break
		}
		end := endOfString(s, open)
		b.WriteString(notNumbers.Replace(s[:open]))
		b.WriteString(s[open:end])
		s = s[end:]
	}
	return b.String() + notNumbers.Replace(s)
}

// endOfString returns the end of the JSON string that begins at open.
func endOfString(s string, open int) int {
	for i := open + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}
