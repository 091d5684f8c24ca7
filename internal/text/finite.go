package text

import "strings"

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
