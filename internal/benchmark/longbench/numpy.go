package longbench

// numpySum adds in numpy's order, so that the last digit is numpy's: in pairs of blocks of
// up to 128 numbers, each in eight sums. It follows pairwise_sum in numpy's
// loops_utils.h.src.
func numpySum(list []float64) float64 {
	const block = 128
	n := len(list)
	if n > block {
		half := n / 2
		half -= half % 8
		return numpySum(list[:half]) + numpySum(list[half:])
	}
	sum, i := 0.0, 0
	if n >= 8 {
		// Every eighth number, then the sums in pairs.
		var r [8]float64
		copy(r[:], list)
		for i = 8; i+8 <= n; i += 8 {
			for k := range r {
				r[k] += list[i+k]
			}
		}
		sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	}
	for _, x := range list[i:] {
		sum += x
	}
	return sum
}
