package jieba

import "strings"

// A dictionary holds the words that jieba knows, sorted, and the model that guesses
// those it does not know.
//
// Words that begin alike stand together, so all words that the text at some place
// could be are found by narrowing a range of the list character by character. That
// is as fast as a tree, and is ready as soon as it is read.
type dictionary struct {
	text  string    // all words, one after the other
	ends  []uint32  // where each word ends in text
	class []uint16  // which of the logs each word has
	logs  []float64 // the logarithms of the frequencies
	total float64   // the logarithm of their sum
	first []uint32  // by character: the first word that begins with it or a later one
	emit  [4][]float64
}

// word returns the i-th word.
func (d *dictionary) word(i int) string {
	if i == 0 {
		return d.text[:d.ends[0]]
	}
	return d.text[d.ends[i-1]:d.ends[i]]
}

// narrow returns the words from lo to hi that go on with next, of words that all
// have the same first depth bytes.
func (d *dictionary) narrow(lo, hi, depth int, next string) (from, to int) {
	from = d.search(lo, hi, depth, next)
	return from, d.endOf(from, hi, depth, next)
}

// search returns the first word from lo to hi that is not less than next, seen from
// the byte depth on.
func (d *dictionary) search(lo, hi, depth int, next string) int {
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if d.word(mid)[depth:] >= next {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// endOf returns the first word from lo to hi that does not go on with next, of
// words that are not less than it.
func (d *dictionary) endOf(lo, hi, depth int, next string) int {
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if strings.HasPrefix(d.word(mid)[depth:], next) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// has reports whether s is a word.
func (d *dictionary) has(s string) bool {
	i := d.search(0, len(d.ends), 0, s)
	return i < len(d.ends) && d.word(i) == s
}

// route returns for each character of b where the word ends that begins there on
// the most likely path. Of two equally likely words the longer counts. The sums
// are formed in the order of the original, from the end of the text, so that
// rounding decides alike.
func (d *dictionary) route(b block) []int32 {
	n := b.len()
	next := make([]int32, n)
	best := make([]float64, n+1)
	for i := n - 1; i >= 0; i-- {
		// A character that begins no word passes as one that was seen once.
		best[i], next[i] = 0-d.total+best[i+1], int32(i+1)
		found := false
		d.walk(b, i, func(end int, log float64) {
			if v := log - d.total + best[end]; !found || v >= best[i] {
				best[i], next[i] = v, int32(end)
			}
			found = true
		})
	}
	return next
}

// walk calls yield for each word that begins at the i-th character of b, the
// shortest first.
func (d *dictionary) walk(b block, i int, yield func(end int, log float64)) {
	r := decode(b.part(i, i+1))
	lo, hi := int(d.first[r]), int(d.first[r+1])
	depth := int(b.at[i+1] - b.at[i])
	for j := i + 1; lo < hi; j++ {
		if len(d.word(lo)) == depth {
			yield(j, d.logs[d.class[lo]])
			lo++ // The others are longer.
		}
		if j == b.len() {
			return
		}
		next := b.part(j, j+1)
		lo, hi = d.narrow(lo, hi, depth, next)
		depth += len(next)
	}
}
