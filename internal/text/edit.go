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
