package anthropic

import (
	"strconv"
	"strings"
)

// A family is the generation of a model, derived from its name.
type family struct {
	claude       bool // it is one of Anthropic's
	major, minor int  // 0, 0 for a name without a number, such as "claude-mythos-preview"
}

// familyOf parses a name as Anthropic and resellers write it: "claude-3-5-haiku-20241022",
// "claude-opus-4-1", "anthropic/claude-sonnet-4.5". A number of more than two digits is a
// date.
func familyOf(name string) family {
	_, rest, ok := strings.Cut(name, "claude-")
	if !ok {
		return family{}
	}
	f := family{claude: true}
	words := strings.FieldsFunc(rest, func(c rune) bool { return c == '-' || c == '.' || c == '@' || c == ':' })
	for i, w := range words {
		n, ok := small(w)
		if !ok {
			continue
		}
		f.major = n
		if i+1 < len(words) {
			f.minor, _ = small(words[i+1])
		}
		break
	}
	return f
}

// small returns the value of a number of at most two digits.
func small(word string) (int, bool) {
	if len(word) == 0 || len(word) > 2 {
		return 0, false
	}
	n, err := strconv.Atoi(word)
	return n, err == nil && n >= 0
}

// atLeast reports whether the model is of this generation or later. A model without a
// number counts as the latest.
func (f family) atLeast(major, minor int) bool {
	return f.major == 0 || f.major > major || f.major == major && f.minor >= minor
}

// takesSampling reports whether the model accepts temperature and top_p. Other vendors'
// models behind the same API do.
func (f family) takesSampling() bool { return !f.claude || !f.atLeast(4, 7) }

// takesFormat reports whether the server enforces a schema for the model. Other vendors'
// servers may ignore the format, so they get the schema as a tool.
func (f family) takesFormat() bool { return f.claude && f.atLeast(4, 5) }

// thinksByEffort reports whether the model decides how long it thinks, given an effort.
// Earlier models are given a budget.
func (f family) thinksByEffort() bool { return f.claude && f.atLeast(4, 6) }

// thinksUnasked reports whether the model thinks by default.
func (f family) thinksUnasked() bool { return f.claude && f.atLeast(5, 0) }
