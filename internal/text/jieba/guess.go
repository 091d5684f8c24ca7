package jieba

import "unicode/utf8"

// The range of characters that the model knows.
const (
	firstHan = 0x4E00
	lastHan  = 0x9FD5
)

// The states of the model: a character begins, ends, or is inside a word, or is one
// by itself. Their order is that of the letters B, E, M and S, by which upstream
// decides between two that are equally likely.
const (
	begin = iota
	end
	middle
	single
)

// impossible is the logarithm that jieba takes for the probability zero.
const impossible = -3.14e100

// start holds the log-probability of each state at the beginning.
var start = [4]float64{-0.26268660809250016, impossible, impossible, -1.4652633398537678}

// A step is a way to get into a state.
type step struct {
	from uint8
	log  float64
}

// steps lists the two ways into each state, the one that wins a tie last.
var steps = [4][2]step{
	begin:  {{end, -0.5897149736854513}, {single, -0.7211965654669841}},
	end:    {{begin, -0.510825623765990}, {middle, -0.33344856811948514}},
	middle: {{begin, -0.916290731874155}, {middle, -1.2603623820268226}},
	single: {{end, -0.8085250474669937}, {single, -0.6658631448798212}},
}

// guess adds the words that the model sees in a run of Chinese characters.
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
	return words // The last state is an end or a single, so nothing is left.
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
	return trace(back, now)
}

// trace follows the states back from the likelier of the two last ones.
func trace(back [][4]uint8, last [4]float64) []uint8 {
	states := make([]uint8, len(back))
	state := uint8(single)
	if last[end] > last[single] {
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
