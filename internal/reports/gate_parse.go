package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deem"
	"deem/internal/usage"
)

// ParseGates parses all gates, or returns the error of the first invalid one.
func ParseGates(texts []string) ([]Gate, error) {
	gates := make([]Gate, 0, len(texts))
	for _, t := range texts {
		g, err := parseGate(t)
		if err != nil {
			return nil, usage.Mark(err)
		}
		gates = append(gates, g)
	}
	return gates, nil
}

func parseGate(s string) (Gate, error) {
	p := gateParser{text: s}
	c, err := p.condition()
	if err != nil {
		return Gate{}, err
	}
	if p.skip(); p.at < len(s) {
		return Gate{}, p.fault(p.at, "the end: each condition is a gate of its own")
	}
	return Gate{Text: s, condition: c}, nil
}

// A gateParser reads a gate from left to right.
type gateParser struct {
	text string
	at   int
}

func (p *gateParser) skip() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// fault returns an error with what was expected at a position, and what was found.
func (p *gateParser) fault(at int, wanted string) error {
	found := "it ends"
	if rest := p.text[at:]; rest != "" {
		found = strconv.Quote(rest) + " stands there"
	}
	err := fmt.Errorf("gate %q: character %d: wanted %s, but %s", p.text, utf8.RuneCountInString(p.text[:at])+1, wanted, found)
	return deem.WithHint(err, "a gate looks like 'overall >= -1pp', 'unjudged <= 1%%', 'p < 0.05' or 'better'; several gates are --gate 'p < 0.05' --gate 'overall > 0'")
}

// gateEnds are the characters at which a name without quotes ends.
const gateEnds = " \t<>=!\"'"

// condition parses NAME OP NUMBER.
func (p *gateParser) condition() (GateCondition, error) {
	var c GateCondition
	var err error
	if c.Name, c.Part, c.Quoted, err = p.name(); err != nil {
		return c, err
	}
	p.skip()
	for _, op := range []string{">=", "<=", "==", "!=", ">", "<"} {
		if strings.HasPrefix(p.text[p.at:], op) {
			c.op = op
			break
		}
	}
	if c.op == "" && !c.Quoted && c.Part == "" && slices.Contains(gateOutcomes, c.Name) {
		c.word, c.op = true, "is"
		return c, nil
	}
	if c.op == "" {
		return c, p.fault(p.at, "one of >=, <=, >, <, == and !=")
	}
	p.at += len(c.op)
	p.skip()
	c.at = utf8.RuneCountInString(p.text[:p.at]) + 1

	start := p.at
	for p.at < len(p.text) && strings.ContainsRune("+-.0123456789eE", rune(p.text[p.at])) {
		p.at++
	}
	c.want, err = strconv.ParseFloat(p.text[start:p.at], 64)
	if err != nil || math.IsInf(c.want, 0) || math.IsNaN(c.want) {
		return c, p.fault(start, "a number")
	}
	for _, u := range []string{"pp", "%"} {
		if strings.HasPrefix(p.text[p.at:], u) {
			c.unit = u
		}
	}
	p.at += len(c.unit)
	if p.at < len(p.text) && p.text[p.at] != ' ' && p.text[p.at] != '\t' {
		return c, p.fault(p.at, `a blank, "pp" or "%"`)
	}
	return c, nil
}

// gateParts are the parts that a number may have.
var gateParts = []string{"lo", "hi", "p", "n", "wins", "losses", "ties", "strict"}

// name parses a name, with or without quotes, and its part.
func (p *gateParser) name() (name, part string, quoted bool, err error) {
	p.skip()
	start := p.at
	if p.at < len(p.text) && (p.text[p.at] == '"' || p.text[p.at] == '\'') {
		end := strings.IndexByte(p.text[p.at+1:], p.text[p.at])
		if end < 0 {
			return "", "", true, p.fault(start, "a closing quote")
		}
		name, quoted = p.text[p.at+1:p.at+1+end], true
		p.at += end + 2
	}
	tail := p.text[p.at:]
	if i := strings.IndexAny(tail, gateEnds); i >= 0 {
		tail = tail[:i]
	}
	p.at += len(tail)
	if quoted {
		part, ok := strings.CutPrefix(tail, ".")
		if tail != "" && (!ok || !slices.Contains(gateParts, part)) {
			return "", "", true, p.fault(p.at-len(tail), "."+strings.Join(gateParts, ", ."))
		}
		return name, part, true, nil
	}
	// A category may have a dot in its name, so only a known part counts.
	if i := strings.LastIndexByte(tail, '.'); i > 0 && slices.Contains(gateParts, tail[i+1:]) {
		return tail[:i], tail[i+1:], false, nil
	}
	if tail == "" {
		return "", "", false, p.fault(start, "a name")
	}
	return tail, "", false, nil
}
