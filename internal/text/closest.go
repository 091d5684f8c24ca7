package text

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
