package longmemeval

import (
	"math"
	"slices"
	"strings"
)

// Retrieval scores one ranking of a corpus at k, as evaluate_retrieval in
// eval_utils.py does. The ranking holds places in the corpus, the best first;
// correct are the ids of the documents that hold the answer. A place outside the
// corpus finds nothing.
//
// recallAny is 1 when any correct document is among the first k, and recallAll when
// all are, which is so too when there are none. ndcg is the discounted gain over
// that of an ideal ranking. As published, it discounts the i-th document by log2(i)
// from the second on, so that the first two weigh the same, where the usual
// definition divides by log2(i+1).
func Retrieval(ranking []int, correct, corpus []string, k int) (recallAny, recallAll, ndcg float64) {
	top := ranking[:min(max(k, 0), len(ranking))]
	found := idsAt(top, corpus)
	recallAll = 1
	for _, id := range correct {
		if found[id] {
			recallAny = 1
		} else {
			recallAll = 0
		}
	}
	return recallAny, recallAll, gainRatio(top, correct, corpus, k)
}

// SessionRetrieval scores a ranking of turns by the sessions that they belong to, as
// evaluate_retrieval_turn2session does. The id of a turn is that of its session, an
// underscore and a number. So many turns are looked at that k sessions are among
// them, and the score is taken at that number of turns.
func SessionRetrieval(ranking []int, correct, corpus []string, k int) (recallAny, recallAll, ndcg float64) {
	sessions := make([]string, len(corpus))
	for i, id := range corpus {
		sessions[i] = sessionOf(id)
	}
	var wanted []string
	for _, id := range correct {
		if s := sessionOf(id); !slices.Contains(wanted, s) {
			wanted = append(wanted, s)
		}
	}
	reach := k
	for reach <= len(sessions) && len(idsAt(ranking[:min(max(reach, 0), len(ranking))], sessions)) < k {
		reach++
	}
	return Retrieval(ranking, wanted, sessions, reach)
}

// sessionOf returns the id without its last part.
func sessionOf(id string) string {
	i := strings.LastIndexByte(id, '_')
	return id[:max(i, 0)]
}

// idsAt returns the ids of the documents in these places.
func idsAt(places []int, corpus []string) map[string]bool {
	ids := make(map[string]bool, len(places))
	for _, at := range places {
		if at >= 0 && at < len(corpus) {
			ids[corpus[at]] = true
		}
	}
	return ids
}

// gainRatio returns the gain of the ranking's top over the ideal one.
func gainRatio(top []int, correct, corpus []string, k int) float64 {
	relevant := make([]bool, len(corpus))
	hits := 0
	for i, id := range corpus {
		if relevant[i] = slices.Contains(correct, id); relevant[i] {
			hits++
		}
	}
	got := make([]bool, len(top))
	for i, at := range top {
		got[i] = at >= 0 && at < len(corpus) && relevant[at]
	}
	ideal := make([]bool, min(max(k, 0), len(corpus)))
	for i := range ideal {
		ideal[i] = i < hits
	}
	best := gain(ideal)
	if best == 0 {
		return 0
	}
	return gain(got) / best
}

// gain returns the discounted gain of a list of documents, relevant or not.
func gain(relevant []bool) float64 {
	if len(relevant) == 0 {
		return 0
	}
	first, rest := 0.0, make([]float64, len(relevant)-1)
	for i, r := range relevant {
		switch {
		case r && i == 0:
			first = 1
		case r:
			rest[i-1] = 1 / math.Log2(float64(i+1))
		}
	}
	return first + pairwise(rest)
}

// pairwise adds as numpy.sum does, so that the last digit is upstream's: up to 128
// numbers in eight interleaved sums, more of them by halves.
func pairwise(x []float64) float64 {
	const lanes, block = 8, 128
	switch n := len(x); {
	case n < lanes:
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum
	case n <= block:
		r := [lanes]float64(x[:lanes])
		whole := n - n%lanes
		for i := lanes; i < whole; i++ {
			r[i%lanes] += x[i]
		}
		sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		for _, v := range x[whole:] {
			sum += v
		}
		return sum
	default:
		half := n / 2
		half -= half % lanes
		return pairwise(x[:half]) + pairwise(x[half:])
	}
}
