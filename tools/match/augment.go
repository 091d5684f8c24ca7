package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nearMisses returns items that are wrong by one word: right responses in which a
// word of the reference has been replaced by one of another reference, or a number
// by another. Systems that answer questions rarely err so, and people's labels of
// their answers hardly teach that "signed football" is not "signed basketball";
// memory systems err so all the time.
func nearMisses(rows []Row) []Row {
	donors := words(rows)
	var made []Row
	for i, r := range rows {
		if !r.Right {
			continue
		}
		if miss, ok := nearMiss(r, i, donors); ok {
			made = append(made, miss)
		}
	}
	return made
}

// A kindOfWord is what a word may be replaced by.
type kindOfWord int

const (
	smallWord kindOfWord = iota
	nameWord
)

func kindOf(w string) kindOfWord {
	if r, _ := utf8.DecodeRuneInString(w); unicode.IsUpper(r) {
		return nameWord
	}
	return smallWord
}

// words returns the words of all references by kind, in order. Short words say
// little and are left out.
func words(rows []Row) map[kindOfWord][]string {
	seen := map[string]bool{}
	list := map[kindOfWord][]string{}
	for _, r := range rows {
		for _, ref := range r.Item.References {
			for _, w := range strings.Fields(ref) {
				w = strings.Trim(w, ".,;:()\"'")
				if len(w) > 3 && !seen[w] && isPlainWord(w) {
					seen[w] = true
					list[kindOf(w)] = append(list[kindOf(w)], w)
				}
			}
		}
	}
	return list
}

func isPlainWord(w string) bool {
	return !strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
}

// nearMiss replaces one word of the first reference of several words that the
// response has as a whole.
func nearMiss(r Row, i int, donors map[kindOfWord][]string) (Row, bool) {
	for _, ref := range r.Item.References {
		at := strings.Index(strings.ToLower(r.Item.Response), strings.ToLower(ref))
		parts := strings.Fields(ref)
		if at < 0 || len(parts) < 2 || at+len(ref) > len(r.Item.Response) {
			continue
		}
		k := i % len(parts)
		for range parts {
			if other := replacement(strings.Trim(parts[k], ",.()"), i, donors); other != "" {
				parts[k] = other
				miss := r
				miss.Right = false
				// Half of the time the false answer stands alone.
				miss.Item.Response = strings.Join(parts, " ")
				if i%2 == 0 {
					miss.Item.Response = r.Item.Response[:at] + miss.Item.Response + r.Item.Response[at+len(ref):]
				}
				// The other references would still be met.
				miss.Item.References = []string{ref}
				return miss, true
			}
			k = (k + 1) % len(parts)
		}
	}
	return Row{}, false
}

// replacement returns what stands in for w, "" if w says too little.
func replacement(w string, i int, donors map[kindOfWord][]string) string {
	if n, err := strconv.Atoi(w); err == nil {
		return strconv.Itoa(n + 1 + i%7)
	}
	if len(w) <= 3 || !isPlainWord(w) {
		return ""
	}
	list := donors[kindOf(w)]
	if len(list) < 2 {
		return ""
	}
	k := i * 7919 % len(list)
	if strings.EqualFold(list[k], w) {
		k = (k + 1) % len(list)
	}
	return list[k]
}
