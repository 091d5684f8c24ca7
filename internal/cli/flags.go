package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"deem/internal/assembly"
)

// numberFlag is a number that may be absent.
type numberFlag struct{ to *assembly.Optional[float64] }

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
