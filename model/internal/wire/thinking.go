package wire

import (
	"fmt"
	"strconv"

	"deem"
)

// A Thinking is how much a model is asked to think before it answers. The zero value
// leaves it to the vendor.
type Thinking struct {
	Level  string // "low", "medium", "high", or ""
	Tokens int    // room for thoughts; that of the level where there is one
	Off    bool   // the model shall not think
}

// The room for thoughts, in tokens. It bounds what a model may spend and is seldom used
// up. The largest fits into the limits of all models that think.
const (
	lowRoom     = 2048
	DefaultRoom = 8192 // also that of "medium"
	highRoom    = 24576
)

// ParseThinking reads "", "off", "low", "medium", "high", or a number of tokens.
func ParseThinking(text string) (Thinking, error) {
	switch text {
	case "":
		return Thinking{}, nil
	case "off", "0":
		return Thinking{Off: true}, nil
	case "low":
		return Thinking{Level: text, Tokens: lowRoom}, nil
	case "medium":
		return Thinking{Level: text, Tokens: DefaultRoom}, nil
	case "high":
		return Thinking{Level: text, Tokens: highRoom}, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return Thinking{}, deem.WithHint(fmt.Errorf("%q does not say how much to think", text), "write low, medium, high, off, or a number of tokens")
	}
	return Thinking{Tokens: n}, nil
}

// Set reports whether anything was asked for.
func (t Thinking) Set() bool { return t != Thinking{} }

// NotThinking is the error for a model that does not think and was asked to.
func NotThinking(vendor, model string) error {
	return deem.WithHint(fmt.Errorf("%s:%s is not a reasoning model", vendor, model), "leave --thinking out")
}

// AlwaysThinking is the error for a model that was asked not to think and cannot do so.
func AlwaysThinking(vendor, model string) error {
	return deem.WithHint(fmt.Errorf("%s:%s is a reasoning model and cannot be told not to think", vendor, model), "--thinking low is the least it accepts")
}
