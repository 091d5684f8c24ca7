package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deem"
	"deem/internal/catalog"
	"deem/internal/text"
	"deem/internal/words"
)

// flagError rewords an error of the flag parser, and suggests the flag that was meant.
func flagError(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		what, ofValue := wrongValue(e)
		if ofValue {
			what = "it " + what
		}
		head, _, _ := strings.Cut(err.Error(), " flag: ")
		return &said{head + " flag: " + what, err}
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		near := text.Closest(e.GetSpecifiedName(), names)
		if other := otherFlags[e.GetSpecifiedName()]; slices.Contains(names, other) {
			near = other
		}
		if near != "" && e.GetSpecifiedShortnames() == "" {
			return deem.WithHint(err, "did you mean --%s?", near)
		}
		return deem.WithHint(err, "%s --help lists its flags", cmd.CommandPath())
	}
	return err
}

// otherFlags maps flags of other programs to those of deem.
var otherFlags = map[string]string{
	"file": "data", "input": "data", "dataset": "data", "columns": "map", "out": "output", "workers": "concurrency", "budget": "max-cost",
}

// A said is an error in our own words.
type said struct {
	words string
	err   error
}

func (s *said) Error() string { return s.words }

func (s *said) Unwrap() error { return s.err }

// wrongValue says what is wrong with the value of a flag: a phrase about the value, such as
// "is not a whole number", or the flag's own message.
func wrongValue(e *pflag.InvalidValueError) (what string, ofValue bool) {
	switch kind := e.GetFlag().Value.Type(); {
	case errors.Is(e, errNegative):
		return errNegative.Error(), true
	case errors.Is(e, errFields):
		return errFields.Error(), true
	case errors.Is(e, strconv.ErrRange):
		return "is too large", true
	case kind == "int":
		return "is not a whole number", true
	case kind == "uint64":
		return "is not a whole number from 0", true
	case kind == "duration":
		return "is not a time, as 30s or 2m", true
	case kind == "bool":
		return "is neither true nor false", true
	default:
		return e.Unwrap().Error(), false
	}
}

var errNegative = errors.New("cannot be negative")

type valueFlag[T any] struct {
	to     *T
	kind   string
	parse  func(string) (T, error)
	format func(T) string
}

func (f valueFlag[T]) String() string { return f.format(*f.to) }
func (f valueFlag[T]) Type() string   { return f.kind }

func (f valueFlag[T]) Set(s string) error {
	v, err := f.parse(s)
	if err == nil {
		*f.to = v
	}
	return err
}

// notNegative returns a parsed number, or an error if it is negative.
func notNegative[T int | time.Duration](n T, err error) (T, error) {
	if err == nil && n < 0 {
		err = errNegative
	}
	return n, err
}

// countFlag is a non-negative whole number.
func countFlag(to *int) valueFlag[int] {
	return valueFlag[int]{to, "int", func(s string) (int, error) { return notNegative(strconv.Atoi(s)) }, strconv.Itoa}
}

// timeFlag is a non-negative duration; 0 means none.
func timeFlag(to *time.Duration) valueFlag[time.Duration] {
	parse := func(s string) (time.Duration, error) { return notNegative(time.ParseDuration(s)) }
	return valueFlag[time.Duration]{to, "duration", parse, func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}}
}

func optionalFlag[T any](to *catalog.Optional[T], kind string, parse func(string) (T, error), format func(T) string) valueFlag[catalog.Optional[T]] {
	return valueFlag[catalog.Optional[T]]{to, kind, func(s string) (catalog.Optional[T], error) {
		v, err := parse(s)
		return catalog.Optional[T]{Value: v, Set: true}, err
	}, func(o catalog.Optional[T]) string {
		if !o.Set {
			return ""
		}
		return format(o.Value)
	}}
}

func numberFlag(to *catalog.Optional[float64]) valueFlag[catalog.Optional[float64]] {
	return optionalFlag(to, "number", parseNumber, func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) })
}

// moneyFlag is an optional amount of dollars, in millionths.
func moneyFlag(to *catalog.Optional[int64]) valueFlag[catalog.Optional[int64]] {
	return optionalFlag(to, "dollars", words.ParseDollars, words.ExactDollars)
}

func parseNumber(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return v, nil
}

// hundredths formats a share as a number of hundredths.
func hundredths(x float64) string { return strconv.FormatFloat(x*100, 'g', 6, 64) }

// percent formats a share as a percentage, for example 1%.
func percent(x float64) string { return hundredths(x) + "%" }

// shareFlag is a share from 0 to 1, which may also be written as 1%.
func shareFlag(to *float64) valueFlag[float64] {
	return valueFlag[float64]{to, "share", func(s string) (float64, error) {
		number, isPercent := strings.CutSuffix(s, "%")
		v, err := parseNumber(number)
		if isPercent {
			v /= 100
		}
		if err == nil && (v < 0 || v > 1) {
			err = fmt.Errorf("%s lies outside 0 to 1, or 0%% to 100%%", s)
		}
		return v, err
	}, percent}
}

// pointsFlag is a difference of shares from 0 to 1, which may also be written as 1pp.
func pointsFlag(to *float64) valueFlag[float64] {
	return valueFlag[float64]{to, "points", parsePoints, func(x float64) string {
		if x == 0 {
			return ""
		}
		return hundredths(x) + "pp"
	}}
}

func parsePoints(s string) (float64, error) {
	number, points := strings.CutSuffix(s, "pp")
	v, err := parseNumber(number)
	switch {
	case err != nil:
		return 0, err
	case points:
		v /= 100
	case v >= 1:
		return 0, fmt.Errorf("%s is a difference of shares: write %spp for percentage points", s, number)
	}
	if v <= 0 || v >= 1 {
		return 0, fmt.Errorf("%s lies outside 0pp to 100pp", s)
	}
	return v, nil
}
