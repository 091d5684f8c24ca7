package stat

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// DefaultLevel is the default confidence level of an interval.
const DefaultLevel = 0.95

// An Estimate is the value of a metric with its interval. Lo <= Value <= Hi holds, and all
// three are finite.
//
// If the data allow no interval, Lo and Hi are the bounds of the possible values, and null
// in JSON. Without data, the value is null, too.
type Estimate struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`

	// Level is the confidence level of [Lo, Hi], for example 0.95.
	Level float64 `json:"level"`

	// N is the number of values that the estimate is based on. If it is 0, the value is
	// meaningless, and there is a warning.
	N int `json:"n"`

	// EffectiveN is the number of independent, equally weighted values with the same
	// information (Kish 1965). It is 0 without clusters and with equal weights, where it
	// would be N.
	EffectiveN float64 `json:"effective_n,omitempty"`

	// Clusters is the number of clusters of the values, 0 for none.
	Clusters int `json:"clusters,omitempty"`

	// SE is the standard error of the value, if the method has one.
	SE float64 `json:"se,omitempty"`

	// Method names the method of the interval, for example "wilson", "t" or
	// "cluster-robust", or "none" if the data allow no interval.
	Method string `json:"method"`

	// Warnings are caveats in plain words.
	Warnings []string `json:"warnings,omitempty"`
}

// MethodNone is the method of an estimate without an interval.
const MethodNone = "none"

// The methods of an interval.
const (
	methodWilson = "wilson"
	methodT      = "t"
)

// WarnNoValues is the warning of an estimate without values.
const WarnNoValues = "there is nothing to estimate from"

// The other warnings. They contain no numbers, so that a table of twenty rows needs one
// footnote and not twenty.
const (
	warnOneValue = "one value gives no information about the spread: there is no interval"
	warnNoSpread = "all values are equal, so their spread is unknown: " +
		"the interval is the widest that values within their bounds allow"
	warnNoSpreadUnbounded = "all values are equal, so their spread is unknown: the interval has no width"
	warnSkewed            = "nearly all values are equal and a few are far off: the interval may be too narrow or too wide"
	warnWeighted          = "items carry different weights: the interval uses Kish's effective n"
	warnSkipped           = "values that are not usable numbers, or have no usable weight, were left out"
	warnRange             = "more hits than tries, or fewer than none, were given: the count was moved into range"
)

// estimateJSON is the JSON form of an estimate. Its own fields replace those with the same
// name in the embedded struct.
type estimateJSON struct {
	Value *float64 `json:"value"`
	Lo    *float64 `json:"lo"`
	Hi    *float64 `json:"hi"`
	plainEstimate
}

// plainEstimate has the fields of an estimate without its methods.
type plainEstimate Estimate

// MarshalJSON writes null for the numbers that the data do not allow. A struct that embeds
// an Estimate needs its own MarshalJSON, or its other fields are lost.
func (e Estimate) MarshalJSON() ([]byte, error) {
	w := estimateJSON{plainEstimate: plainEstimate(e)}
	if e.N > 0 || e.Method != MethodNone {
		w.Value = &e.Value
	}
	if e.Method != MethodNone {
		w.Lo, w.Hi = &e.Lo, &e.Hi
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads the output of [Estimate.MarshalJSON]. The ends of a null interval
// become the bounds of a share.
func (e *Estimate) UnmarshalJSON(text []byte) error {
	w := estimateJSON{}
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*e = Estimate(w.plainEstimate)
	if w.Value != nil {
		e.Value = *w.Value
	}
	e.Lo, e.Hi = math.Min(0, e.Value), math.Max(1, e.Value)
	if w.Lo != nil && w.Hi != nil {
		e.Lo, e.Hi = *w.Lo, *w.Hi
	} else {
		e.Method = MethodNone
	}
	return nil
}

// Warn returns a copy of the estimate with one more warning, unless it already has that
// warning.
func (e Estimate) Warn(warning string) Estimate {
	if slices.Contains(e.Warnings, warning) {
		return e
	}
	// The full slice expression makes append copy, so that two estimates never share the
	// array of their warnings.
	e.Warnings = append(e.Warnings[:len(e.Warnings):len(e.Warnings)], warning)
	return e
}

// Ends formats the interval, each end times scale, for example "[48.8, 80.8]" with the
// format "%.1f" and the scale 100; "-" if the data allow no interval.
func (e Estimate) Ends(format string, scale float64) string {
	if e.Method == MethodNone {
		return "-"
	}
	return fmt.Sprintf("["+format+", "+format+"]", scale*e.Lo, scale*e.Hi)
}

// LeavesOut reports whether x is outside the interval.
func (e Estimate) LeavesOut(x float64) bool { return x < e.Lo || x > e.Hi }

// Bounds are the smallest and the largest possible value. The zero value has no limits.
type Bounds struct{ Lo, Hi float64 }

// Unit is the range of a score.
var Unit = Bounds{0, 1}

// unlimited are the bounds of any number. Its ends are the largest floating-point numbers
// rather than infinities, which JSON does not have.
var unlimited = Bounds{-math.MaxFloat64, math.MaxFloat64}

// or returns b, or all numbers if b is zero.
func (b Bounds) or() Bounds {
	if b == (Bounds{}) {
		return unlimited
	}
	return b
}

// Clip returns x moved into b.
func (b Bounds) Clip(x float64) float64 { return math.Min(math.Max(x, b.Lo), b.Hi) }

// middle returns the centre of b, which is 0 if b is unbounded.
func (b Bounds) middle() float64 { return b.Lo/2 + b.Hi/2 }

// NoInterval returns an estimate without an interval.
func NoInterval(value float64, n int, level float64, b Bounds, warning string) Estimate {
	return Estimate{
		Value: b.Clip(value), Lo: b.Lo, Hi: b.Hi,
		Level: level, N: n, Method: MethodNone, Warnings: []string{warning},
	}
}

// checkLevel returns level, or the default and a warning if level is not a valid confidence
// level.
func checkLevel(level float64) (float64, string) {
	if level > 0 && level < 1 {
		return level, ""
	}
	return DefaultLevel, fmt.Sprintf("%v is not a confidence level between 0 and 1: %v was used", level, DefaultLevel)
}

// warnIf returns e with the warning, or e itself if the warning is empty.
func warnIf(e Estimate, warning string) Estimate {
	if warning == "" {
		return e
	}
	return e.Warn(warning)
}

// normalQuantile returns the z with a share of level of the normal distribution between -z
// and z. It uses the lower tail, because 1 - alpha/2 loses the digits of a small alpha.
func normalQuantile(level float64) float64 {
	return -mathext.NormalQuantile((1 - level) / 2)
}
