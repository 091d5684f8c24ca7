package minilm

import (
	"math"
	"sync"
)

// A linear is an affine map: row by row y = weight*x + bias.
type linear struct {
	in, out int
	bias    []float32

	// The rows of the matrix are interleaved in threes: the first numbers of three rows,
	// then their second numbers, and so on. The remaining rows follow whole.
	threes [][3]float32
	rest   []float32
}

// newLinear returns a linear for a row-major matrix.
func newLinear(weight, bias []float32, in, out int) linear {
	l := linear{in: in, out: out, bias: bias, threes: make([][3]float32, 0, out/3*in)}
	for len(weight) >= 3*in && in > 0 {
		for p := range in {
			l.threes = append(l.threes, [3]float32{weight[p], weight[in+p], weight[2*in+p]})
		}
		weight = weight[3*in:]
	}
	l.rest = weight
	return l
}

// apply writes weight*x + bias for each row of x into y.
//
// Nearly all time is spent here. Two rows of x and three of the weights are multiplied at
// once: the six sums, their factors and the products fit into the registers without vector
// instructions, and this was the fastest of the shapes tried. The weights are in the outer
// loop, so that they are read from memory once, sequentially; the rows of x fit the cache.
//
// Each sum is computed in the same order, whichever loop computes it. So a vector is the
// same to the bit however texts are batched.
func (l *linear) apply(y, x []float32) {
	j := 0
	for ; j+3 <= l.out; j += 3 {
		l.three(y, x, j)
	}
	for rest := l.rest; j < l.out; j, rest = j+1, rest[l.in:] {
		for i, o := 0, j; i < len(x); i, o = i+l.in, o+l.out {
			y[o] = dot(x[i:][:l.in], rest[:l.in]) + l.bias[j]
		}
	}
}

// three is apply for three rows of weights from row j on. If the number of rows of x is
// odd, the last of them is multiplied twice.
func (l *linear) three(y, x []float32, j int) {
	w := l.threes[j/3*l.in:][:l.in]
	b := l.bias[j:][:3]
	for i, o := 0, j; i < len(x); i, o = i+2*l.in, o+2*l.out {
		u, s := x[i:][:l.in], y[o:][:3]
		v, t := u, s
		if i+l.in < len(x) {
			v, t = x[i+l.in:][:l.in], y[o+l.out:][:3]
		}
		s0, s1, s2, t0, t1, t2 := dots(u, v, w)
		s[0], s[1], s[2] = s0+b[0], s1+b[1], s2+b[2]
		t[0], t[1], t[2] = t0+b[0], t1+b[1], t2+b[2]
	}
}

// dots returns the products of u and v with each of three rows.
//
// It is excluded from the race detector, like dot: they only read what their caller reads
// anyway, and would be ten times slower in every test.
//
//go:norace
func dots(u, v []float32, w [][3]float32) (s0, s1, s2, t0, t1, t2 float32) {
	v, w = v[:len(u)], w[:len(u)] // This eliminates bounds checks.
	for p, a := range u {
		b, row := v[p], &w[p]
		c := row[0]
		s0 += a * c
		t0 += b * c
		c = row[1]
		s1 += a * c
		t1 += b * c
		c = row[2]
		s2 += a * c
		t2 += b * c
	}
	return s0, s1, s2, t0, t1, t2
}

// dot returns the product of u and v.
//
//go:norace
func dot(u, v []float32) float32 {
	v = v[:len(u)]
	var s float32
	for p, a := range u {
		s += a * v[p]
	}
	return s
}

// The table of gelu covers -geluEnd to geluEnd, beyond which the normal distribution is 0
// or 1 in float32.
const (
	geluEnd   = 6
	geluSteps = 256 // per unit
)

// geluTable contains the normal distribution and its density at each step.
var geluTable = sync.OnceValue(func() *[2*geluEnd*geluSteps + 1]struct{ distribution, density float32 } {
	var table [2*geluEnd*geluSteps + 1]struct{ distribution, density float32 }
	for i := range table {
		x := float64(i)/geluSteps - geluEnd
		table[i].distribution = float32(0.5 * math.Erfc(-x/math.Sqrt2))
		table[i].density = float32(math.Exp(-x*x/2) / math.Sqrt(2*math.Pi))
	}
	return &table
})

// gelu replaces each x by x times the normal distribution at x. That is the exact function
// and not the usual approximation by tanh. The distribution is computed from the nearest
// step by a Taylor expansion: its third term is below 1e-9, beyond the precision of
// float32. Calling math.Erf would take as long as a matrix.
func gelu(list []float32) {
	table := geluTable()
	for i, x := range list {
		switch {
		case x >= geluEnd: // x itself
		case x > -geluEnd:
			step := int((x+geluEnd)*geluSteps + 0.5)
			at := &table[step]
			from := float32(step)/geluSteps - geluEnd
			d := x - from
			list[i] = x * (at.distribution + at.density*d*(1-from*d/2))
		default:
			list[i] = 0
		}
	}
}
