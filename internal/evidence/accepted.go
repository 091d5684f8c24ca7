package evidence

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// accepted returns the answers that a reference accepts: itself, and what it
// names as equal in parentheses, after a slash or an "or", or in a sentence that
// calls another answer acceptable too. The first is the reference as a whole.
func accepted(ref string) []string {
	list := []string{ref}
	add := func(s string) {
		s = strings.Trim(s, " \t\n.,;:\"“”'")
		if s != "" && s != ref {
			list = append(list, s)
		}
	}
	if len(ref) > 2000 {
		return list // an essay has no aliases
	}
	rest := ref
	if head, also := splitAcceptable(ref); len(also) > 0 {
		list = list[:0] // the sentence about the answer is not the answer
		rest = head
		add(head)
		for _, s := range also {
			add(s)
		}
	}
	add(beforeReason(rest))
	if found := parens().FindAllStringSubmatch(rest, 4); found != nil {
		outside := strings.TrimSpace(parens().ReplaceAllString(rest, ""))
		add(outside)
		for _, m := range found {
			if name, ok := alias(m[1], outside); ok {
				add(name)
			}
		}
	}
	if parts := alternatives(rest); len(parts) > 0 {
		list = slices.DeleteFunc(list, func(s string) bool { return s == ref || s == rest })
		for _, s := range parts {
			add(s)
		}
	}
	if len(list) == 0 {
		return []string{ref}
	}
	return list
}

// beforeReason returns the short answer that a reference goes on to explain:
// "Paris, because she likes art". It is "" if there is none.
func beforeReason(ref string) string {
	for _, sep := range []string{" because ", ", since ", "; ", " as she ", " as he ", " as they "} {
		head, tail, ok := strings.Cut(ref, sep)
		// A tail as short as the head is the next entry of a list.
		if !ok || len(strings.Fields(head)) > 6 || len(strings.Fields(tail)) < 4 {
			continue
		}
		// In "Possibly because he likes beer" the reason is the answer.
		if slices.ContainsFunc(tokenize(head), func(t token) bool { return !softening[t.text] && !stopWords[t.text] }) {
			return head
		}
	}
	return ""
}

var acceptable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(.*?)\s*(?:\([^)]*\)\s*)?(?:(?:is|are|would be|will be)\s+(?:also\s+)?(?:acceptable|accepted|correct|fine|okay|ok|valid))\b`)
})

// splitAcceptable splits "6 nights. 7 nights (with the one on the train) is also
// acceptable." into the first answer and the others.
func splitAcceptable(ref string) (head string, also []string) {
	var plain, list []string
	from := 0
	for i := range len(ref) {
		if (ref[i] == '.' || ref[i] == ';') && (i+1 == len(ref) || ref[i+1] == ' ') {
			list = append(list, ref[from:i])
			from = i + 1
		}
	}
	for _, s := range append(list, ref[from:]) {
		m := acceptable().FindStringSubmatch(s)
		if m == nil || m[1] == "" {
			plain = append(plain, s)
			continue
		}
		for part := range strings.SplitSeq(m[1], " or ") {
			also = append(also, part)
		}
	}
	return strings.Join(plain, ". "), also
}

var parens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\s*[(（]([^()（）]*)[)）]`)
})

// alias returns what stands in parentheses, and whether it is another name for what stands
// outside: an abbreviation, or announced as one. What merely narrows the answer, as in
// "Paris (France)", is not an answer by itself.
func alias(inner, outside string) (string, bool) {
	low := strings.ToLower(inner)
	for _, lead := range []string{"aka ", "a.k.a. ", "also known as ", "also ", "or ", "also called ", "i.e. ", "即", "又名", "或"} {
		if strings.HasPrefix(low, lead) {
			return inner[len(lead):], true
		}
	}
	var initials strings.Builder
	for _, w := range strings.Fields(outside) {
		if w[0] >= 'A' && w[0] <= 'Z' {
			initials.WriteByte(w[0])
		}
	}
	return inner, isShortName(strings.Trim(inner, ".")) || len(inner) >= 2 && initials.String() == inner
}

// isShortName reports whether s looks like an abbreviation: capitals, or a capital
// and one or two letters, as Cu. The short names of days and months do too.
func isShortName(s string) bool {
	if len(s) < 2 || len(s) > 6 || s[0] < 'A' || s[0] > 'Z' || monthNames[strings.ToLower(s)] > 0 || weekdays[strings.ToLower(s)] {
		return false
	}
	return strings.ToUpper(s) == s || len(s) <= 3 && !strings.ContainsFunc(s, func(r rune) bool { return r < 'A' || r > 'z' })
}

var weekdays = set("mon tue wed thu fri sat sun")

// alternatives splits "A or B" and "A / B" where both sides are short. A slash
// between digits is a date or a fraction.
func alternatives(s string) []string {
	for _, sep := range []string{" or ", " / ", "/", "或者", "或"} {
		parts := strings.Split(s, sep)
		if len(parts) < 2 || len(parts) > 6 || sep == "/" && betweenDigits(s) {
			continue
		}
		unfit := func(p string) bool {
			n := len(strings.Fields(p))
			abbreviated := sep == "/" && len(p) < 3 // km/h, n/a
			return abbreviated || n == 0 || n > 5 || len(p) > 60 || strings.ContainsAny(p, ".;")
		}
		if !slices.ContainsFunc(parts, unfit) {
			return parts
		}
	}
	return nil
}

func betweenDigits(s string) bool {
	for i := range len(s) {
		if s[i] == '/' && i > 0 && digitAt(s, i-1) && digitAt(s, i+1) {
			return true
		}
	}
	return false
}
