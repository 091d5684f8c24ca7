package text

import "strings"

// notNumbers are what Python takes for numbers and JSON does not.
var notNumbers = strings.NewReplacer("-Infinity", "null", "Infinity", "null", "NaN", "null")

// FiniteJSON returns JSON as Python's json.dumps may write it, and its json.loads reads
// it, as JSON that everybody reads: NaN and the infinities outside of strings become
// null. No score, label or text can be made of those.
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

// endOfString returns where the JSON string that opens at a place ends.
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
