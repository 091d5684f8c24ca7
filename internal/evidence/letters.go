package evidence

import "unicode/utf8"

// A letterSet remembers which trigrams of letters a text has, as bits chosen by a
// hash. It is wrong about one trigram in fifty of a page of text, and needs no
// allocation.
type letterSet [1 << 9]uint64

func (s *letterSet) add(h uint32) { s[h>>6&(1<<9-1)] |= 1 << (h & 63) }

func (s *letterSet) has(h uint32) bool { return s[h>>6&(1<<9-1)]&(1<<(h&63)) != 0 }

// trigrams calls do with a hash of every three letters of each word, its borders
// included, and of every two characters of an unspaced script.
func (r *reading) trigrams(do func(h uint32)) {
	before := uint32(0)
	for i, t := range r.toks {
		if t.kind == han {
			c, _ := utf8.DecodeRuneInString(t.text)
			if before > 0 && t.brk == none {
				do(mix(before<<16 ^ uint32(c)))
			} else if i+1 == len(r.toks) || r.toks[i+1].kind != han || r.toks[i+1].brk != none {
				do(mix(uint32(c))) // a character that stands alone
			}
			before = uint32(c)
			continue
		}
		before = 0
		if stopWords[t.text] {
			continue
		}
		a, b := uint32(0), uint32(' ')
		for k := range len(t.text) {
			c := uint32(t.text[k])
			do(mix(a<<16 ^ b<<8 ^ c))
			a, b = b, c
		}
		do(mix(a<<16 ^ b<<8 ^ ' '))
	}
}

// mix spreads the bits of h.
func mix(h uint32) uint32 {
	h *= 0x9e3779b1
	return h ^ h>>15
}

// fromLetters compares letters, for names in another spelling and words in
// another form.
func (w *weighing) fromLetters() {
	var response, question letterSet
	w.response.trigrams(response.add)
	w.question.trigrams(question.add)
	have, total, haveNew, totalNew := 0.0, 0.0, 0.0, 0.0
	w.against.trigrams(func(h uint32) {
		total++
		found := response.has(h)
		if found {
			have++
		}
		if question.has(h) {
			return
		}
		totalNew++
		if found {
			haveNew++
		}
	})
	w.x[eTrigrams] = ratio(have, total, 0)
	w.x[eTrigramsX] = ratio(haveNew, totalNew, w.x[eTrigrams])
}
