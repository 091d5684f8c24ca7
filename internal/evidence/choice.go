package evidence

import "strings"

// choiceLetter returns the option that a reference names: "B", "(B)", "B.", "B)
// Paris". It is "" where the reference is not an option.
func choiceLetter(ref string) string {
	ref = strings.TrimSpace(ref)
	bare := strings.Trim(ref, "()[].: ")
	if len(bare) == 1 && isOption(bare[0]) {
		return strings.ToLower(bare)
	}
	if len(ref) > 2 && ref[0] == '(' && isOption(ref[1]) && ref[2] == ')' {
		return strings.ToLower(ref[1:2])
	}
	if len(ref) > 2 && isOption(ref[0]) && (ref[1] == ')' || ref[1] == '.' || ref[1] == ':') && ref[2] == ' ' {
		return strings.ToLower(ref[:1])
	}
	return ""
}

func isOption(b byte) bool { return b >= 'A' && b <= 'J' }

// chosen returns the option that a response settles on, or "". The last "answer is
// X" counts; without one, a letter that begins the response; without that, the
// only letter that stands alone.
func (r *reading) chosen() string {
	last, only, several := "", "", false
	for i, t := range r.toks {
		if !r.isOptionToken(i) {
			continue
		}
		if r.announced(i) {
			last = t.text
		}
		if only != "" && only != t.text {
			several = true
		}
		only = t.text
	}
	switch {
	case last != "":
		return last
	case len(r.toks) > 0 && r.isOptionToken(0) && (len(r.toks) == 1 || r.toks[0].post != 0):
		return r.toks[0].text
	case !several:
		return only
	}
	return ""
}

// isOptionToken reports whether token i is a capital from A to J by itself, or a
// small one that is the whole text or in parentheses. The article A and the
// pronoun I are told apart by what follows.
func (r *reading) isOptionToken(i int) bool {
	t := r.toks[i]
	if t.kind != word || len(t.text) != 1 || t.text > "j" {
		return false
	}
	if !t.upper {
		return len(r.toks) == 1 || t.pre == '('
	}
	ends := i+1 == len(r.toks) || t.post != 0 || r.toks[i+1].brk != none
	return ends || t.text != "a" && t.text != "i"
}

// announced reports whether token i follows "answer is", "option" or "choose".
func (r *reading) announced(i int) bool {
	for back := 1; back <= 3 && i-back >= 0; back++ {
		switch r.toks[i-back].text {
		case "answer", "option", "choice", "choose", "select", "pick", "选", "案":
			return true
		}
	}
	return false
}
