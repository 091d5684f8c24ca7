package longbench

// numpyMean returns numpy.mean of a list. It adds in numpy's order, in pairs of blocks of
// up to 128 numbers, each in eight sums, so that the last digit is numpy's.
func numpyMean(list []float64) float64 { return numpySum(list) / float64(len(list)) }

// numpySum follows pairwise_sum in numpy's loops_utils.h.src.
func numpySum(list []float64) float64 {
	const block = 128
	n := len(list)
	switch {
	case n < 8:
		sum := 0.0
		for _, x := range list {
			sum += x
		}
		return sum
	case n <= block:
		return eightSums(list)
	}
	half := n / 2
	half -= half % 8
	return numpySum(list[:half]) + numpySum(list[half:])
}

// eightSums adds every eighth number, then the sums in pairs, then the rest.
func eightSums(list []float64) float64 {
	var r [8]float64
	copy(r[:], list)
	i := 8
	for ; i+8 <= len(list); i += 8 {
		for k := range r {
			r[k] += list[i+k]
		}
	}
	sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for ; i < len(list); i++ {
		sum += list[i]
	}
	return sum
}
