package metric

import "strings"

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

// word returns the i-th word.
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
	for lo = from; lo < hi; {
		mid := int(uint(lo+hi) / 2)
		if strings.HasPrefix(d.word(mid)[depth:], next) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return from, lo
}

// search returns the first word from lo to hi that is not less than next, compared from
// byte depth on.
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

// has reports whether s is a word.
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
