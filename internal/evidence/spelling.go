package evidence

import (
	"slices"
	"strings"
)

// misspelt reports whether the response has a word that is key but for one letter,
// or two in a long word. It is a hint that a name is spelled otherwise, as Rau and
// Rao, and no proof: Austria is not Australia.
func (r *reading) misspelt(key string) bool {
	most := 1
	switch {
	case len(key) < 5 || key[0] == '#':
		return false
	case len(key) >= 9:
		most = 2
	}
	for _, e := range r.elems {
		if d := len(e.key) - len(key); d >= -most && d <= most && e.key[0] == key[0] && distance(e.key, key, most) <= most {
			return true
		}
	}
	return false
}

// distance is the Levenshtein distance of two short words, or more than most.
func distance(a, b string, most int) int {
	if len(a) > 40 || len(b) > 40 {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
			least = min(least, row[j+1])
		}
		if least > most {
			return most + 1
		}
	}
	return row[len(b)]
}

// byInitials decides where one text has the other in first letters: NASA for National
// Aeronautics and Space Administration.
func (c *comparison) byInitials(_ string, a *reading) (finding, bool) {
	abbreviates := false
	if len(a.toks) == 1 && a.toks[0].caps && len(a.toks[0].text) >= 2 {
		abbreviates = c.response.spellsOut(a.toks[0].text)
	} else if len(a.elems) <= longest && a.isName() {
		short := ""
		for _, t := range a.toks {
			if t.upper {
				short += t.text[:1]
			}
		}
		abbreviates = len(short) >= 3 && slices.ContainsFunc(c.response.toks, func(t token) bool { return t.caps && t.text == short })
	}
	return finding{call: right, conf: .9, why: "one text has the other in first letters"}, abbreviates
}

// spellsOut reports whether words with capitals, small words between them left
// out, begin with the letters of short.
func (r *reading) spellsOut(short string) bool {
	var initials []byte
	for _, t := range r.toks {
		switch {
		case t.kind == word && t.upper && t.text != "":
			initials = append(initials, t.text[0])
		case stopWords[t.text] && t.brk == none:
		default:
			initials = initials[:0]
		}
		if len(initials) >= len(short) && string(initials[len(initials)-len(short):]) == short {
			return true
		}
	}
	return false
}

// peoples pairs the names of countries with their adjectives, stemmed. The two
// are not the same answer, but near enough to keep a judge from saying "wrong".
var peoples = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(`
		england english
		scotland scottish
		wales welsh
		ireland irish
		britain british
		france french
		germany german
		spain spanish
		portugal portuguese
		italy italian
		greece greek
		netherlands dutch
		holland dutch
		belgium belgian
		switzerland swiss
		austria austrian
		denmark danish
		norway norwegian
		sweden swedish
		finland finnish
		poland polish
		russia russian
		ukraine ukrainian
		turkey turkish
		china chinese
		japan japanese
		korea korean
		vietnam vietnamese
		thailand thai
		india indian
		pakistan pakistani
		iran persian
		iraq iraqi
		israel israeli
		egypt egyptian
		morocco moroccan
		america american
		canada canadian
		mexico mexican
		brazil brazilian
		argentina argentine
		cuba cuban
		australia australian
		europe european
		africa african
		asia asian
		rome roman
	`) {
		if pair := strings.Fields(line); len(pair) == 2 {
			m[stem(pair[0])], m[stem(pair[1])] = stem(pair[1]), stem(pair[0])
		}
	}
	return m
}()

// umlauts folds the usual transliterations: Mueller is Müller.
var umlauts = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// transliterates reports whether the response has key with its umlauts written out, or without.
func (r *reading) transliterates(key string) bool {
	plain := umlauts.Replace(key)
	return len(key) > 4 && slices.ContainsFunc(r.elems, func(e elem) bool {
		return e.key == plain || plain == key && e.key != key && umlauts.Replace(e.key) == key
	})
}

// akin reports whether the response has a word that is close to key without being
// it: another spelling, or the adjective of a country.
func (r *reading) akin(key string) bool {
	if other, ok := peoples[key]; ok && r.has(other) {
		return true
	}
	return r.misspelt(key)
}
