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
	for _, rung := range []func(*declaredProtocol, Reader, string) (found, bool){wholeRung, bracesRung, proseRung} {
		if f, ok := rung(p, r, s.raw); ok {
			for _, a := range p.decl.Aspects {
				f.numbers[a.Name] = min(max(f.numbers[a.Name], a.Min), a.Max)
			}
			return f, nil
		}
	}
	return found{}, deem.Failf(deem.Unparseable, "the reply holds no numbers for %s: %s", aspectNames(p), clip(s.raw))
}

func aspectNames(p *declaredProtocol) string {
	names := make([]string, len(p.decl.Aspects))
	for i, a := range p.decl.Aspects {
		names[i] = a.Name
	}
	return strings.Join(names, ", ")
}

// wholeRung reads the whole reply as a JSON object.
func wholeRung(p *declaredProtocol, r Reader, reply string) (found, bool) {
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

// bracesRung reads from the first { to the last }, greedily.
func bracesRung(p *declaredProtocol, r Reader, reply string) (found, bool) {
	from, to := strings.IndexByte(reply, '{'), strings.LastIndexByte(reply, '}')
	if from < 0 || to < from {
		return found{}, false
	}
	return wholeRung(p, r, reply[from:to+1])
}

// proseRung reads the first number after each name. The published pattern is
// "?correctness"?\s*[:=]\s*(\d+) with Python's definition of white space and digits.
func proseRung(p *declaredProtocol, _ Reader, reply string) (found, bool) {
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
