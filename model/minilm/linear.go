package minilm

import "math"

// A linear is a matrix and what is added: row by row y = weight*x + bias.
type linear struct {
	weight  []float32 // out rows of in numbers
	bias    []float32
	in, out int
}

// apply writes weight*x + bias for each row of x into y.
//
// Nearly all time is spent here. Two rows of x and three of the weights are
// multiplied at once: those six sums, their five factors and a product stay in the
// registers that a compiler without vectors has, and of the shapes tried this one
// was the fastest. The weights are in the outer loop, so that they come from
// memory once; the rows of x fit the cache.
//
// Each sum is made in the order of the numbers, whichever loop it is made in.
// So a vector is the same to the bit however texts are put together.
func (l *linear) apply(y, x []float32) {
	j := 0
	for ; j+3 <= l.out; j += 3 {
		l.three(y, x, j)
	}
	for ; j < l.out; j++ {
		w := l.weight[j*l.in:][:l.in]
		for i, o := 0, j; i < len(x); i, o = i+l.in, o+l.out {
			y[o] = dot(x[i:][:l.in], w) + l.bias[j]
		}
	}
}

// three does the work of apply for three rows of weights from row j on.
func (l *linear) three(y, x []float32, j int) {
	w0, w1, w2 := l.weight[j*l.in:][:l.in], l.weight[(j+1)*l.in:][:l.in], l.weight[(j+2)*l.in:][:l.in]
	b0, b1, b2 := l.bias[j], l.bias[j+1], l.bias[j+2]
	i, o := 0, j
	for ; i+2*l.in <= len(x); i, o = i+2*l.in, o+2*l.out {
		s0, s1, s2, t0, t1, t2 := dots(x[i:][:l.in], x[i+l.in:][:l.in], w0, w1, w2)
		s, t := y[o:][:3], y[o+l.out:][:3]
		s[0], s[1], s[2] = s0+b0, s1+b1, s2+b2
		t[0], t[1], t[2] = t0+b0, t1+b1, t2+b2
	}
	if i < len(x) {
		last := x[i:][:l.in]
		y[o], y[o+1], y[o+2] = dot(last, w0)+b0, dot(last, w1)+b1, dot(last, w2)+b2
	}
}

// dots returns the products of u and v with each of three rows.
//
// The race detector leaves it alone, as it does dot: they only read what their
// caller reads anyway, and would be ten times slower in every test.
//
//go:norace
func dots(u, v, w0, w1, w2 []float32) (s0, s1, s2, t0, t1, t2 float32) {
	// The compiler then knows that no index is out of range.
	v, w0, w1, w2 = v[:len(u)], w0[:len(u)], w1[:len(u)], w2[:len(u)]
	for p, a := range u {
		b := v[p]
		w := w0[p]
		s0 += a * w
		t0 += b * w
		w = w1[p]
		s1 += a * w
		t1 += b * w
		w = w2[p]
		s2 += a * w
		t2 += b * w
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

// The table of gelu reaches from -geluEnd to geluEnd, beyond which the normal
// distribution is 0 or 1 to a float.
const (
	geluEnd   = 6
	geluSteps = 256 // for each unit
)

// geluTable has the normal distribution and its density at each step.
var geluTable = func() (table [2*geluEnd*geluSteps + 1]struct{ distribution, density float32 }) {
	for i := range table {
		x := float64(i)/geluSteps - geluEnd
		table[i].distribution = float32(0.5 * math.Erfc(-x/math.Sqrt2))
		table[i].density = float32(math.Exp(-x*x/2) / math.Sqrt(2*math.Pi))
	}
	return table
}()

// gelu replaces each x by x times the normal distribution at x. That is the exact
// function and not the usual shortcut by tanh. The distribution comes from the
// nearest step by Taylor's formula: its third term is below 1e-9, and float32
// has no such digit. To call math.Erf would take as long as a matrix.
func gelu(list []float32) {
	for i, x := range list {
		switch {
		case x >= geluEnd: // x itself
		case x > -geluEnd:
			step := int((x+geluEnd)*geluSteps + 0.5)
			at := &geluTable[step]
			from := float32(step)/geluSteps - geluEnd
			d := x - from
			list[i] = x * (at.distribution + at.density*d*(1-from*d/2))
		default:
			list[i] = 0
		}
	}
}
