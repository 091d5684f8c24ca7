package judge

import (
	"fmt"
	"regexp"
	"strings"

	"deem"
	"deem/internal/text"
)

// readLadder reads numbers as in the published rubric judge. It tries the whole reply as
// JSON, then the text from the first { to the last }, then the first number after each
// name. Numbers are converted as Python's int does, and clamped to their scale.
func readLadder(p *declaredProtocol, r Reader, s said) (found, error) {
	f, ok := ladderJSON(p, r, s.raw)
	if from, to := strings.IndexByte(s.raw, '{'), strings.LastIndexByte(s.raw, '}'); !ok && from >= 0 && to > from {
		f, ok = ladderJSON(p, r, s.raw[from:to+1])
	}
	if !ok {
		f, ok = ladderProse(p, s.raw)
	}
	if !ok {
		names := make([]string, len(p.decl.Aspects))
		for i, a := range p.decl.Aspects {
			names[i] = a.Name
		}
		return found{}, deem.Failf(deem.Unparseable, "the reply holds no numbers for %s: %s", strings.Join(names, ", "), clip(s.raw))
	}
	for _, a := range p.decl.Aspects {
		f.numbers[a.Name] = min(max(f.numbers[a.Name], a.Min), a.Max)
	}
	return f, nil
}

// ladderJSON reads a text that is a JSON object.
func ladderJSON(p *declaredProtocol, r Reader, reply string) (found, bool) {
	fields, err := text.Loads(reply)
	if err != nil {
		return found{}, false
	}
	f := found{numbers: map[string]float64{}, whole: true}
	for _, a := range p.decl.Aspects {
		n, ok := text.Int(fields[a.Name])
		if !ok {
			return found{}, false
		}
		f.numbers[a.Name] = float64(n)
	}
	if v, ok := fields[r.Reason]; ok {
		f.reason = text.Str(v)
	}
	return f, true
}

// ladderProse reads the first number after each name. The published pattern is
// "?correctness"?\s*[:=]\s*(\d+) with Python's definition of white space and digits.
func ladderProse(p *declaredProtocol, reply string) (found, bool) {
	const space = `[\s\x{0b}\x{1c}-\x{1f}\x{85}\p{Z}]*`
	f := found{numbers: map[string]float64{}}
	for _, a := range p.decl.Aspects {
		re := regexp.MustCompile(fmt.Sprintf(`(?i)"?%s"?%s[:=]%s(\p{Nd}+)`, regexp.QuoteMeta(a.Name), space, space))
		m := re.FindStringSubmatch(reply)
		if m == nil {
			return found{}, false
		}
		n, ok := text.Int(m[1])
		if !ok {
			n = int64(a.Max) // too many digits for int64, so beyond any scale
		}
		f.numbers[a.Name] = float64(n)
	}
	return f, true
}
