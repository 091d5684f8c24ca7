package wire

// maxCount is more tokens than any call has.
const maxCount = 1 << 40

// Count returns the sum of numbers of tokens that a server counted. One below nothing
// counts as none, and none as more than a call can have: what servers miscount must
// neither take from the sums of a run nor overflow them.
func Count(parts ...int) int {
	sum := 0
	for _, n := range parts {
		sum += min(max(n, 0), maxCount)
	}
	return sum
}
