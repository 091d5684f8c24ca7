package text

import "unicode/utf8"

// chars returns the characters of s. A byte that is not UTF-8 is a separate character, the
// negative of the byte, so that [join] can restore it.
func chars(s string) []rune {
	list := make([]rune, 0, len(s))
	for i, r := range s {
		if r == utf8.RuneError && len(invalid(s, i)) == 1 {
			r = -rune(s[i])
		}
		list = append(list, r)
	}
	return list
}

// Characters returns the characters of a and b as numbers, equal numbers for equal
// characters. ASCII characters keep their codes; others get consecutive numbers after
// those, so that the numbers are small.
func Characters(a, b string) (x, y []int32) {
	others := Number[rune]{}
	number := func(s string) []int32 {
		list := chars(s)
		for i, r := range list {
			if r < 0 || r >= utf8.RuneSelf {
				list[i] = utf8.RuneSelf + others.Add(r)
			}
		}
		return list
	}
	return number(a), number(b)
}

// InDelRatio returns the similarity of a and b from 0 to 1, by the number of insertions and
// deletions: the share of characters that stay. It is the ratio of python-Levenshtein. Two
// empty texts are equal.
func InDelRatio(a, b string) float64 {
	x, y := Characters(a, b)
	sum := len(x) + len(y)
	if sum == 0 {
		return 1
	}
	return float64(2*NewSubsequence(y).Len(x)) / float64(sum)
}

// Closest returns the candidate that is most similar to a mistyped word, or "" if none is
// similar: at most one typo per three characters, where a typo is a missing, added, wrong,
// or transposed character.
func Closest(word string, candidates []string) string {
	best, least := "", len([]rune(word))/3+1
	for _, c := range candidates {
		if d := distance([]rune(Lower(word)), []rune(Lower(c))); d < least || d == least && best == "" {
			best, least = c, d
		}
	}
	return best
}

// distance returns the optimal string alignment distance of a and b.
func distance(a, b []rune) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
