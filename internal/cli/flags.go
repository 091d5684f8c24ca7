package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deem"
	"deem/internal/catalog"
	"deem/internal/text"
)

// flagError says what is wrong with a flag in words of ours, and which flag was meant.
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
		if near := text.Closest(e.GetSpecifiedName(), names); near != "" && e.GetSpecifiedShortnames() == "" {
			return deem.WithHint(err, "did you mean --%s?", near)
		}
		return deem.WithHint(err, "%s --help lists its flags", cmd.CommandPath())
	}
	return err
}

// A said is an error in words of ours.
type said struct {
	words string
	err   error
}

func (s *said) Error() string { return s.words }

func (s *said) Unwrap() error { return s.err }

// wrongValue says what is wrong with the value of a flag: of the value, as "is no whole
// number", or as the flag itself puts it.
func wrongValue(e *pflag.InvalidValueError) (what string, ofValue bool) {
	switch kind := e.GetFlag().Value.Type(); {
	case errors.Is(e, errNegative):
		return errNegative.Error(), true
	case errors.Is(e, strconv.ErrRange):
		return "is too large", true
	case kind == "int":
		return "is no whole number", true
	case kind == "uint64":
		return "is no whole number from 0", true
	case kind == "duration":
		return "is no time, as 30s or 2m", true
	case kind == "bool":
		return "is neither true nor false", true
	default:
		return e.Unwrap().Error(), false
	}
}

var errNegative = errors.New("cannot be negative")

// countFlag is a whole number that is not negative.
type countFlag struct{ to *int }

func (f countFlag) String() string {
	if f.to == nil {
		return ""
	}
	return strconv.Itoa(*f.to)
}

func (f countFlag) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err == nil && n < 0 {
		err = errNegative
	}
	if err != nil {
		return err
	}
	*f.to = n
	return nil
}

func (f countFlag) Type() string { return "int" }

// timeFlag is a time that is not negative; none is 0.
type timeFlag struct{ to *time.Duration }

func (f timeFlag) String() string {
	if f.to == nil || *f.to == 0 {
		return ""
	}
	return f.to.String()
}

func (f timeFlag) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = errNegative
	}
	if err != nil {
		return err
	}
	*f.to = d
	return nil
}

func (f timeFlag) Type() string { return "duration" }

// numberFlag is a number that may be absent.
type numberFlag struct{ to *catalog.Optional[float64] }

func (f numberFlag) String() string {
	if f.to == nil || !f.to.Set {
		return ""
	}
	return strconv.FormatFloat(f.to.Value, 'g', -1, 64)
}

func (f numberFlag) Set(s string) error {
	v, err := parseNumber(s)
	if err != nil {
		return err
	}
	f.to.Value, f.to.Set = v, true
	return nil
}

func (f numberFlag) Type() string { return "number" }

// shareFlag is a share from 0 to 1, which may also be written as 1%.
type shareFlag struct{ to *float64 }

func (f shareFlag) String() string {
	if f.to == nil {
		return ""
	}
	return strconv.FormatFloat(*f.to*100, 'g', 6, 64) + "%"
}

func (f shareFlag) Set(s string) error {
	number, percent := strings.CutSuffix(s, "%")
	v, err := parseNumber(number)
	if err != nil {
		return err
	}
	if percent {
		v /= 100
	}
	if v < 0 || v > 1 {
		return fmt.Errorf("%s lies outside 0 to 1, or 0%% to 100%%", s)
	}
	*f.to = v
	return nil
}

func (f shareFlag) Type() string { return "share" }

func parseNumber(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return v, nil
}

// pointsFlag is a difference of shares from 0 to 1, which may also be written as 1pp.
type pointsFlag struct{ to *float64 }

func (f pointsFlag) String() string {
	if f.to == nil || *f.to == 0 {
		return ""
	}
	return strconv.FormatFloat(*f.to*100, 'g', 6, 64) + "pp"
}

func (f pointsFlag) Set(s string) error {
	number, points := strings.CutSuffix(s, "pp")
	v, err := parseNumber(number)
	switch {
	case err != nil:
		return err
	case points:
		v /= 100
	case v >= 1:
		return fmt.Errorf("%s is a difference of shares: write %spp for percentage points", s, number)
	}
	if v <= 0 || v >= 1 {
		return fmt.Errorf("%s lies outside 0pp to 100pp", s)
	}
	*f.to = v
	return nil
}

func (f pointsFlag) Type() string { return "points" }
