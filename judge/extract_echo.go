package judge

import "strings"

// echo reports whether the i-th mention only repeats the menu: another label is next to it
// with at most "or" between them.
func (r *labelReading) echo(i int) bool {
	if !r.echoed {
		r.findEchoes()
	}
	return r.mentions[i].label&echoBit != 0
}

// findEchoes marks the mentions that repeat the menu. It goes backwards, because the "or"
// before the last label makes "A, B or C" a list.
func (r *labelReading) findEchoes() {
	r.echoed = true
	for i := len(r.mentions) - 1; i > 0; i-- {
		a, b := r.mention(i-1), r.mention(i)
		if a.label != b.label && r.enumerated(a, b, r.mentions[i].label&echoBit != 0) {
			r.mentions[i-1].label |= echoBit
			r.mentions[i].label |= echoBit
		}
	}
}

// enumerated reports whether the neighbouring mentions a and b are listed side by side. If
// listed is set, b is known to be in a list.
func (r *labelReading) enumerated(a, b mention, listed bool) bool {
	const longest = 40
	gap := r.text[a.end:b.start]
	if len(gap) > longest {
		return false
	}
	core := strings.ToLower(strings.TrimFunc(gap, func(r rune) bool {
		return isSpace(r) || isMarkup(r) || strings.ContainsRune("-•,，、.;", r)
	}))
	switch core {
	case "or", "and", "/", "and/or", "vs", "versus", "nor", "&", "或", "或者", "还是", "還是", "和", "与", "또는", "or a", "oder", "ou", "o":
		return true
	case "":
		// Side by side, or on adjacent lines. "Yes, no doubt" is not a list, and neither is
		// "Yes. No ...", where a sentence has ended.
		return !strings.ContainsAny(gap, ".;") && (listed || r.follows(b).kind != wordFollows)
	}
	return false
}
