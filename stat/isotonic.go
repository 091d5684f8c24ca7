package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Direction says whether y rises or falls with x.
type Direction string

// The directions. The zero value rises.
const (
	Rising  Direction = ""
	Falling Direction = "falling"

	// EitherWay takes the sign of Spearman's correlation. Without a correlation,
	// y falls.
	EitherWay Direction = "auto"
)

// IsotonicOptions say what curve is fitted. The zero value is a rising curve
// without bounds.
type IsotonicOptions struct {
	Direction Direction

	// Bounds are the smallest and the largest y of the curve. The zero value
	// means none.
	Bounds Bounds
}

// An IsotonicFit is a curve that only rises, or only falls: the points between
// which it runs straight.
type IsotonicFit struct {
	X       []float64 `json:"x"`
	Y       []float64 `json:"y"`
	Falling bool      `json:"falling"`
}

// sameX is how near two x count as one.
const sameX = 1e-15

// Isotonic fits the curve that only rises (or falls) with the least weighted
// squared error. Points with the same x are one point with their mean y. Weights
// may be nil, and a point of weight 0 does not count. It is an error if the lists
// differ in length or leave no point, or if a number is not usable.
//
// Source: M. Ayer, H. D. Brunk, G. M. Ewing, W. T. Reid and E. Silverman, Annals of
// Mathematical Statistics 26 (1955), 641-647, whose pooling of neighbours that are
// in the wrong order finds the best fit. As a calibration (Zadrozny and Elkan 2002)
// it needs some hundreds of points: with fewer it follows the noise.
func Isotonic(x, y, w []float64, o IsotonicOptions) (*IsotonicFit, error) {
	points, err := isotonicPoints(x, y, w)
	if err != nil {
		return nil, err
	}
	fit := &IsotonicFit{Falling: o.Direction == Falling}
	if o.Direction == EitherWay {
		c, err := Spearman(x, y)
		fit.Falling = err != nil || c.Value < 0
	}
	points = mergePoints(points)
	fitted := pool(points, fit.Falling)
	for i := range fitted {
		if o.Bounds != (Bounds{}) {
			fitted[i] = o.Bounds.clip(fitted[i])
		}
	}
	for i, p := range points {
		// A point between two of the same height bends nothing.
		inner := i > 0 && i < len(points)-1 && fitted[i] == fitted[i-1] && fitted[i] == fitted[i+1]
		if !inner {
			fit.X, fit.Y = append(fit.X, p.x), append(fit.Y, fitted[i])
		}
	}
	return fit, nil
}

// In reports whether t lies where there were points.
func (f *IsotonicFit) In(t float64) bool {
	return len(f.X) > 0 && t >= f.X[0] && t <= f.X[len(f.X)-1]
}

// Predict returns the height of the curve at t. Left of the first point and right
// of the last it is level; use In to know. It is 0 for a NaN or an empty curve.
func (f *IsotonicFit) Predict(t float64) float64 {
	if len(f.X) == 0 || math.IsNaN(t) {
		return 0
	}
	i, exactly := slices.BinarySearch(f.X, t)
	switch {
	case exactly:
		return f.Y[i]
	case i == 0:
		return f.Y[0]
	case i == len(f.X):
		return f.Y[i-1]
	}
	slope := (f.Y[i] - f.Y[i-1]) / (f.X[i] - f.X[i-1])
	return f.Y[i-1] + float64(slope*(t-f.X[i-1]))
}

type isotonicPoint struct{ x, y, w float64 }

func isotonicPoints(x, y, w []float64) ([]isotonicPoint, error) {
	if len(x) != len(y) || w != nil && len(w) != len(x) {
		return nil, fmt.Errorf("%d x, %d y and %d weights do not match", len(x), len(y), len(w))
	}
	var points []isotonicPoint
	for i := range x {
		p := isotonicPoint{x[i], y[i], 1}
		if w != nil {
			p.w = w[i]
		}
		if !(math.Abs(p.x) <= maxSize && math.Abs(p.y) <= maxSize && p.w >= 0 && p.w <= maxSize) {
			return nil, fmt.Errorf("point %d is (%v, %v) with weight %v, which is not usable", i+1, p.x, p.y, p.w)
		}
		if p.w > 0 {
			points = append(points, p)
		}
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("there is no point to fit a curve to")
	}
	slices.SortFunc(points, func(a, b isotonicPoint) int {
		return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y), cmp.Compare(a.w, b.w))
	})
	return points, nil
}

// mergePoints makes one point of all that share their x.
func mergePoints(points []isotonicPoint) []isotonicPoint {
	var merged []isotonicPoint
	for i := 0; i < len(points); {
		var wy, w float64
		j := i
		for ; j < len(points) && (j == i || points[j].x-points[i].x < sameX); j++ {
			wy += float64(points[j].w * points[j].y)
			w += points[j].w
		}
		merged = append(merged, isotonicPoint{points[i].x, wy / w, w})
		i = j
	}
	return merged
}

// pool returns the fitted height of each point. Blocks of neighbours in the wrong
// order become one block with their mean height.
func pool(points []isotonicPoint, falling bool) []float64 {
	type block struct {
		wy, w float64
		n     int
	}
	points = slices.Clone(points)
	if falling {
		slices.Reverse(points)
	}
	var blocks []block
	for _, p := range points {
		blocks = append(blocks, block{p.w * p.y, p.w, 1})
		for len(blocks) > 1 {
			a, b := blocks[len(blocks)-2], blocks[len(blocks)-1]
			if a.wy/a.w < b.wy/b.w {
				break
			}
			blocks = append(blocks[:len(blocks)-2], block{a.wy + b.wy, a.w + b.w, a.n + b.n})
		}
	}
	fitted := make([]float64, 0, len(points))
	for _, b := range blocks {
		for range b.n {
			fitted = append(fitted, b.wy/b.w)
		}
	}
	if falling {
		slices.Reverse(fitted)
	}
	return fitted
}
