package text

// JaroWinkler returns the similarity of a and b from 0 to 1 by Jaro and Winkler, as
// rapidfuzz computes it: characters that are equal and not far apart count, those that
// changed places count less, and up to four that both begin with count more, by a tenth
// each, once the similarity is above 0.7. Two empty texts are the same.
func JaroWinkler(a, b string) float64 {
	x, y := Characters(a, b)
	s := jaro(x, y)
	if s > 0.7 {
		front := float64(min(commonFront(x, y), 4))
		s += float64(front * 0.1 * (1 - s)) // The conversion keeps machines from fusing the two steps.
	}
	return s
}

// jaro returns the similarity of Jaro: the mean of three shares, of a and of b that
// match, and of the matches that stand in the same order in both.
func jaro(a, b []int32) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 1
	}
	inA, inB := jaroMatches(a, b)
	if len(inA) == 0 {
		return 0
	}
	moved := 0
	for i := range inA {
		if inA[i] != inB[i] {
			moved++
		}
	}
	n := float64(len(inA))
	return (n/float64(len(a)) + n/float64(len(b)) + (n-float64(moved/2))/n) / 3
}

// jaroMatches returns the elements of a and those of b that match, both in order. An
// element of a takes the first in b that is equal, not taken, and at most half the longer
// length away. Later elements of a reach no further back, so the places of each element
// in b are gone through once.
func jaroMatches(a, b []int32) (inA, inB []int32) {
	reach := max(len(a), len(b))/2 - 1
	if len(a) == 1 && len(b) == 1 {
		reach = 0
	}
	places := map[int32][]int{}
	for j, x := range b {
		places[x] = append(places[x], j)
	}
	taken := make([]bool, len(b))
	for i, x := range a {
		list := places[x]
		for len(list) > 0 && list[0] < i-reach {
			list = list[1:]
		}
		if len(list) > 0 && list[0] <= i+reach {
			taken[list[0]] = true
			inA = append(inA, x)
			list = list[1:]
		}
		places[x] = list
	}
	for j, x := range b {
		if taken[j] {
			inB = append(inB, x)
		}
	}
	return inA, inB
}
