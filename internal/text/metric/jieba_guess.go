package metric

import "unicode/utf8"

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
