package halumem

import (
	"strings"

	"deem/internal/text"
)

const (
	fence     = "```"
	jsonFence = "```json"
)

// fencedJSON finds what llms.py searches for: the first ```json, then white space as
// defined by Python, and then the shortest text that begins with { and ends with }, white
// space and ```. It is not a regular expression, because Go's \s matches only ASCII.
func fencedJSON(reply string) (string, bool) {
	for {
		i := strings.Index(reply, jsonFence)
		if i < 0 {
			return "", false
		}
		reply = reply[i+len(jsonFence):]
		rest := strings.TrimLeftFunc(reply, text.IsSpace)
		if strings.HasPrefix(rest, "{") {
			// A later fence cannot end where this one does not.
			return fencedObject(rest)
		}
	}
}

// fencedObject returns the shortest prefix of s that ends with } and is followed by white
// space and a fence.
func fencedObject(s string) (string, bool) {
	for from := 1; ; {
		i := strings.Index(s[from:], fence)
		if i < 0 {
			return "", false
		}
		end := strings.TrimRightFunc(s[:from+i], text.IsSpace)
		if len(end) > 1 && end[len(end)-1] == '}' {
			return end, true
		}
		from += i + 1
	}
}
