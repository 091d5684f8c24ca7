package wire

// maxCount is more tokens than any call has.
const maxCount = 1 << 40

// Count returns the sum of a server's token counts. Each is limited to the range from 0 to
// maxCount: a server's miscounts must neither reduce nor overflow the sums of a run.
func Count(parts ...int) int {
	sum := 0
	for _, n := range parts {
		sum += min(max(n, 0), maxCount)
	}
	return sum
}
