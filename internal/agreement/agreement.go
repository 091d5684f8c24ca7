// Package agreement computes how far a judge agrees with people, and corrects its scores by
// labels. Like package stat it knows nothing about judges or files: numbers go in, and a
// [stat.Estimate] comes out. Confidence levels must be between 0 and 1.
package agreement

import (
	"encoding/json"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mathext"

	"deem/stat"
)

// The warnings about counts that are not possible.
const (
	warnRange    = "more hits than tries, or fewer than none, were given: the count was moved into range"
	warnNegative = "a negative count was given: it was taken for 0"
)

// maxSize is the largest usable number: sums of squares of larger ones may overflow.
const maxSize = 1e100

// plusMinusOne is the range of a coefficient, and of the difference of two shares.
var plusMinusOne = stat.Bounds{Lo: -1, Hi: 1}

// An exact is a sum without rounding, so that the order of the values changes no digit.
type exact struct{ sum big.Float }

// add adds x, which must be finite.
func (e *exact) add(x float64) { e.addProduct(x, 1) }

// addProduct adds x*y.
func (e *exact) addProduct(x, y float64) {
	product := new(big.Float).SetPrec(106).Mul(big.NewFloat(x), big.NewFloat(y))
	e.sum.SetPrec(4400).Add(&e.sum, product)
}

// float returns the sum, rounded once.
func (e *exact) float() float64 {
	x, _ := e.sum.Float64()
	return x
}

// normalQuantile returns the z with a share of level of the normal distribution between -z
// and z.
func normalQuantile(level float64) float64 { return -mathext.NormalQuantile((1 - level) / 2) }

// Number returns 1 for yes and 0 for no.
func Number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// withEstimate returns the JSON object with the fields of the estimate and of more.
func withEstimate(e stat.Estimate, more any) ([]byte, error) {
	first, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	second, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}
	return append(append(first[:len(first)-1], ','), second[1:]...), nil
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
