package claims

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// A Percent is a percentage with its printed decimals: 91.30 is not 91.3.
type Percent struct {
	units    int64 // 9130 for 91.30
	decimals int
}

func (p Percent) String() string { return p.rat().FloatString(p.decimals) + "%" }

func (p Percent) rat() *big.Rat { return big.NewRat(p.units, pow10(p.decimals)) }

func pow10(n int) int64 {
	v := int64(1)
	for range n {
		v *= 10
	}
	return v
}

// A Rounding is how a printed number was rounded.
type Rounding string

// The roundings. Nearest allows ties either way, so it covers half up and half even.
const (
	Nearest   Rounding = "nearest"
	Truncated Rounding = "truncated"

	// Loose covers the others, and numbers that were rounded before they were printed: 85.046
	// becomes 85.05 and then 85.1, and 96.6 becomes 97 and then 97.0.
	Loose Rounding = "loose"
)

// bounds are the exact percentages that are printed as one number: from lo/den to hi/den,
// without the upper end if open.
type bounds struct {
	lo, hi, den int64
	open        bool
}

func (p Percent) bounds(m Rounding) bounds {
	den := 2 * pow10(p.decimals)
	switch m {
	case Truncated:
		return bounds{2 * p.units, 2*p.units + 2, den, true}
	case Loose:
		for p.decimals > 0 && p.units%10 == 0 {
			p = Percent{p.units / 10, p.decimals - 1}
		}
		// Rounding at one more decimal first moves the lower end by a twentieth of a unit.
		return bounds{20*p.units - 11, 20*p.units + 20, 20 * pow10(p.decimals), true}
	}
	return bounds{2*p.units - 1, 2*p.units + 1, den, false}
}

func (b bounds) has(v *big.Rat) bool {
	above := v.Cmp(big.NewRat(b.hi, b.den))
	return v.Cmp(big.NewRat(b.lo, b.den)) >= 0 && (above < 0 || above == 0 && !b.open)
}

// counts returns the smallest and the largest count of n that is printed as p. There is
// none if lo > hi.
func (p Percent) counts(n int64, m Rounding) (lo, hi int64) {
	b := p.bounds(m)
	den := 100 * b.den
	lo = (max(b.lo, 0)*n + den - 1) / den
	hi = b.hi * n / den
	if b.open && b.hi*n%den == 0 {
		hi--
	}
	return lo, min(hi, n)
}

// counts returns the smallest and the largest number of right answers over the given runs
// of n questions that the cell allows. A cell without information about n questions allows
// all.
func (c Cell) counts(n int64, runs int, m Rounding) (lo, hi int64) {
	r := int64(runs)
	switch {
	case c.Count != nil && c.Count.Of == n:
		return r * c.Count.Right, r * c.Count.Right
	case c.Percent != nil:
		return c.Percent.counts(r*n, m)
	}
	return 0, r * n
}

// fewestRuns returns the smallest number of runs whose mean can be the cell, or 0. Only if no
// number of runs gives it as printed does a number that was rounded before count.
func (c Cell) fewestRuns(n int64, most int) (int, Rounding) {
	for _, roundings := range [][]Rounding{{Nearest, Truncated}, {Loose}} {
		for r := 1; r <= most; r++ {
			for _, m := range roundings {
				if lo, hi := c.counts(n, r, m); lo <= hi {
					return r, m
				}
			}
		}
	}
	return 0, Nearest
}

// isOneRun reports whether one run gives the cell as printed.
func (c Cell) isOneRun(n int64) bool {
	runs, m := c.fewestRuns(n, 1)
	return runs == 1 && m != Loose
}

// says reports whether the cell contains a number.
func (c Cell) says() bool { return c.Percent != nil || c.Count != nil }

func (c Cell) String() string {
	if c.Percent != nil {
		return c.Percent.String()
	}
	if c.Count != nil {
		return fmt.Sprintf("%d/%d", c.Count.Right, c.Count.Of)
	}
	return "-"
}

var (
	countPattern   = regexp.MustCompile(`^(\d{1,9})\s*(?:/|of)\s*(\d{1,9})$`)
	percentPattern = regexp.MustCompile(`^(\d{1,3})(?:\.(\d*))?\s*%?$`)
	bothPattern    = regexp.MustCompile(`^(.+?)\s*[(\[](.+)[)\]]$`)
)

// parseCell parses a printed number: "94.7", "94.70%", "**94.7**", "646/670", "96.4%
// (646/670)", "646/670 (96.4%)", "94.7 ± 0.3".
func parseCell(text string) (Cell, error) {
	plain := strings.TrimSpace(strings.Trim(strings.TrimSpace(text), "*_`†‡↑↓~"))
	c := Cell{Text: plain}
	if isBlank(plain) {
		return c, nil
	}
	value, _, _ := strings.Cut(plain, "±")
	value, _, _ = strings.Cut(value, "+/-")
	pieces := []string{strings.TrimSpace(value)}
	if m := bothPattern.FindStringSubmatch(plain); m != nil {
		pieces = []string{strings.TrimSpace(m[1]), strings.TrimSpace(m[2])}
	}
	for _, piece := range pieces {
		if m := countPattern.FindStringSubmatch(piece); m != nil && c.Count == nil {
			right, _ := strconv.ParseInt(m[1], 10, 64) // nine digits
			of, _ := strconv.ParseInt(m[2], 10, 64)
			if right > of && of > 0 {
				return c, fmt.Errorf("there are more right answers than questions: %s of %s", m[1], m[2])
			}
			if of == 0 || of > maxSize {
				return c, fmt.Errorf("%q does not count questions out of 1 to %d", piece, maxSize)
			}
			c.Count = &Count{right, of}
			continue
		}
		m := percentPattern.FindStringSubmatch(piece)
		if m == nil || c.Percent != nil {
			return c, fmt.Errorf("%q is not a percentage such as 94.7, nor a count such as 646/670", c.Text)
		}
		whole, _ := strconv.ParseInt(m[1], 10, 64) // three digits
		p := Percent{whole, min(len(m[2]), maxDecimals)}
		for _, digit := range m[2][:p.decimals] {
			p.units = 10*p.units + int64(digit-'0')
		}
		if len(m[2]) > maxDecimals && m[2][maxDecimals] >= '5' {
			p.units++
		}
		c.Percent = &p
	}
	return c, nil
}

// asShareOf reports whether k of n can be printed as the percentage.
func (p Percent) asShareOf(k, n int64) bool {
	return p.bounds(Loose).has(big.NewRat(100*k, n)) || p.asShare().bounds(Loose).has(big.NewRat(100*k, n))
}

// isBlank reports whether a field has no number.
func isBlank(text string) bool {
	switch strings.ToLower(text) {
	case "", "-", "–", "—", "n/a", "na", "null", "none", "?", "--":
		return true
	}
	return false
}

// asShare converts a share between 0 and 1 to a percentage: .9130 is 91.30%.
func (p Percent) asShare() Percent {
	for p.decimals < 2 {
		p.units, p.decimals = 10*p.units, p.decimals+1
	}
	return Percent{p.units, p.decimals - 2}
}
