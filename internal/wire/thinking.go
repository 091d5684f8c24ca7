package wire

import (
	"fmt"
	"strconv"

	"deem"
)

// A Thinking is how much a model is requested to think before it answers. The zero value
// means the vendor's default.
type Thinking struct {
	Level  string // "low", "medium", "high", or ""
	Tokens int    // room for thinking; that of the level if there is one
	Off    bool   // the model must not think
}

// The room for thinking, in tokens. It limits what a model may spend and is seldom used up.
// The largest fits the limits of all models that think.
const (
	lowRoom     = 2048
	DefaultRoom = 8192 // also that of "medium"
	highRoom    = 24576
)

// ParseThinking parses "", "off", "low", "medium", "high", or a number of tokens.
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

// Set reports whether anything is requested.
func (t Thinking) Set() bool { return t != Thinking{} }

// NotThinking returns the error for a model that does not think and was requested to.
func NotThinking(vendor, model string) error {
	return deem.WithHint(fmt.Errorf("%s:%s is not a reasoning model", vendor, model), "leave --thinking out")
}

// AlwaysThinking returns the error for a model that cannot stop thinking and was requested
// to.
func AlwaysThinking(vendor, model string) error {
	return deem.WithHint(fmt.Errorf("%s:%s is a reasoning model and cannot be told not to think", vendor, model), "--thinking low is the least it accepts")
}
