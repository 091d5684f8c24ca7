package metric

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// A dictionary contains the words of jieba, sorted, and the model that guesses unknown
// words.
//
// Words with a common prefix are adjacent, so all words at some position of a text are
// found by narrowing a range of the list character by character. That is as fast as a tree,
// and needs no construction.
type dictionary struct {
	text  string    // all words, concatenated
	ends  []uint32  // end of each word in text
	class []uint16  // index into logs of each word
	logs  []float64 // the logarithms of the frequencies
	total float64   // the logarithm of their sum
	first []uint32  // by character: the first word that begins with it or a later one
	emit  [4][]float64
}

func (d *dictionary) word(i int) string {
	if i == 0 {
		return d.text[:d.ends[0]]
	}
	return d.text[d.ends[i-1]:d.ends[i]]
}

// narrow returns the range of words from lo to hi that continue with next. The words must
// have the same first depth bytes.
func (d *dictionary) narrow(lo, hi, depth int, next string) (from, to int) {
	from = d.search(lo, hi, depth, next)
	return from, from + sort.Search(hi-from, func(i int) bool { return !strings.HasPrefix(d.word(from + i)[depth:], next) })
}

// search returns the first word from lo to hi that is not less than next, compared from
// byte depth on.
func (d *dictionary) search(lo, hi, depth int, next string) int {
	return lo + sort.Search(hi-lo, func(i int) bool { return d.word(lo + i)[depth:] >= next })
}

func (d *dictionary) has(s string) bool {
	i := d.search(0, len(d.ends), 0, s)
	return i < len(d.ends) && d.word(i) == s
}

// route returns, for each character of b, the end of the word that begins there on the most
// likely path. Of two equally likely words the longer counts. The sums are computed in the
// order of the original, from the end of the text, so that rounding is the same.
func (d *dictionary) route(b block) []int32 {
	n := b.len()
	next := make([]int32, n)
	best := make([]float64, n+1)
	for i := n - 1; i >= 0; i-- {
		// A character that begins no word counts as seen once.
		best[i], next[i] = 0-d.total+best[i+1], int32(i+1)
		found := false
		r := decode(b.part(i, i+1))
		lo, hi := int(d.first[r]), int(d.first[r+1])
		depth := int(b.at[i+1] - b.at[i])
		for end := i + 1; lo < hi; end++ {
			if len(d.word(lo)) == depth {
				if v := d.logs[d.class[lo]] - d.total + best[end]; !found || v >= best[i] {
					best[i], next[i] = v, int32(end)
				}
				found = true
				lo++ // The others are longer.
			}
			if end == n {
				break
			}
			char := b.part(end, end+1)
			lo, hi = d.narrow(lo, hi, depth, char)
			depth += len(char)
		}
	}
	return next
}

// The range of characters of the model.
const (
	firstHan = 0x4E00
	lastHan  = 0x9FD5
)

// The states of the model: a character begins or ends a word, is inside one, or is one by
// itself. Their order is that of the letters B, E, M and S, by which upstream decides ties.
const (
	begin = iota
	end
	middle
	single
)

// impossible is jieba's logarithm of the probability zero.
const impossible = -3.14e100

// start is the log-probability of each state at the beginning.
var start = [4]float64{-0.26268660809250016, impossible, impossible, -1.4652633398537678}

// A step is a transition into a state.
type step struct {
	from uint8
	log  float64
}

// steps lists the two transitions into each state; the last one wins a tie.
var steps = [4][2]step{
	begin:  {{end, -0.5897149736854513}, {single, -0.7211965654669841}},
	end:    {{begin, -0.510825623765990}, {middle, -0.33344856811948514}},
	middle: {{begin, -0.916290731874155}, {middle, -1.2603623820268226}},
	single: {{end, -0.8085250474669937}, {single, -0.6658631448798212}},
}

// guess appends the words that the model finds in a run of Chinese characters.
func (d *dictionary) guess(words []string, s string) []string {
	b := newBlock(s)
	from := 0
	for i, state := range d.viterbi(b) {
		switch state {
		case begin:
			from = i
		case end:
			words = append(words, b.part(from, i+1))
			from = i + 1
		case single:
			words = append(words, b.part(i, i+1))
			from = i + 1
		}
	}
	return words // The last state is end or single, so nothing is left.
}

// viterbi returns the most likely state of each character of b.
func (d *dictionary) viterbi(b block) []uint8 {
	var now [4]float64
	r := decode(b.part(0, 1))
	for y := range now {
		now[y] = start[y] + d.emit[y][r-firstHan]
	}
	back := make([][4]uint8, b.len())
	for t := 1; t < b.len(); t++ {
		var then [4]float64
		r := decode(b.part(t, t+1))
		for y := range then {
			a, z := steps[y][0], steps[y][1]
			emit := d.emit[y][r-firstHan]
			pa, pz := now[a.from]+a.log+emit, now[z.from]+z.log+emit
			if pz >= pa {
				then[y], back[t][y] = pz, z.from
			} else {
				then[y], back[t][y] = pa, a.from
			}
		}
		now = then
	}
	// Follow the states back from the more likely of the two final ones.
	states := make([]uint8, len(back))
	state := uint8(single)
	if now[end] > now[single] {
		state = end
	}
	for t := len(back) - 1; t >= 0; t-- {
		states[t] = state
		state = back[t][state]
	}
	return states
}

func decode(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
