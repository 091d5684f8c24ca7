package text_test

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deem/internal/text"
)

func TestBigInt(t *testing.T) {
	for _, tt := range []struct {
		in, want string // "" if Python does not accept it
	}{
		{"7", "7"},
		{" +7\n", "7"},
		{"-0", "0"},
		{"1_000", "1000"},
		{"４２", "42"},
		{"٣", "3"},
		{"123456789012345678901234567890", "123456789012345678901234567890"},
		{"", ""},
		{"+", ""},
		{"1__0", ""},
		{"_1", ""},
		{"1_", ""},
		{"4.0", ""},
		{"0x10", ""},
		{"- 1", ""},
		{"²", ""},
		{strings.Repeat("9", 4300), strings.Repeat("9", 4300)},
		{strings.Repeat("9", 4301), ""},
	} {
		n, ok := text.BigInt(tt.in)
		got := ""
		if ok {
			got = n.String()
		}
		if got != tt.want {
			t.Errorf("BigInt(%.40q) = %.40q, want %.40q", tt.in, got, tt.want)
		}
	}
}

func TestDigits(t *testing.T) {
	for in, want := range map[string][]string{
		"":                  nil,
		"no":                nil,
		"a12b3":             {"12", "3"},
		"3.14 and 007":      {"3", "14", "007"},
		"第３章 ٣١":            {"３", "٣١"},
		"x²½Ⅳ一5":            {"5"}, // numbers, but not decimal digits
		"1,000\u00a0" + "2": {"1", "000", "2"},
	} {
		if got := text.Digits(in); !slices.Equal(got, want) {
			t.Errorf("Digits(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzInt checks Int and BigInt against each other, and plain numbers against strconv.
func FuzzInt(f *testing.F) {
	for _, seed := range []string{"1", " -2 ", "+1_000", "١٢", "1__0", "_1", "9223372036854775808", "-9223372036854775808", "1.5", "", "0x1", "1\u00a0", "\x1c1", "٣٤_5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := text.Int(s)
		large, largeOK := text.BigInt(s)
		if ok && (!largeOK || large.Cmp(big.NewInt(n)) != 0) {
			t.Errorf("Int(%q) = %d, BigInt = %v, %v", s, n, large, largeOK)
		}
		if largeOK && large.IsInt64() != ok {
			t.Errorf("BigInt(%q) = %v, and Int says %v", s, large, ok)
		}
		if want, err := strconv.ParseInt(s, 10, 64); err == nil && (!ok || n != want) {
			t.Errorf("Int(%q) = %d, %v, want %d", s, n, ok, want)
		}
	})
}

// FuzzRound checks that rounding changes at most half of the last digit, and is idempotent.
func FuzzRound(f *testing.F) {
	f.Add(2.675, 2)
	f.Add(0.5, 0)
	f.Add(-1e300, 3)
	f.Add(5e-324, 10)
	f.Fuzz(func(t *testing.T, x float64, digits int) {
		if x-x != 0 || digits < 0 || digits > 15 {
			return
		}
		for name, round := range map[string]func(float64, int) float64{"Round": text.Round, "NumpyRound": text.NumpyRound} {
			got := round(x, digits)
			if name == "NumpyRound" && math.IsInf(x*math.Pow10(digits), 0) {
				if !math.IsInf(got, 0) {
					t.Errorf("%s(%v, %d) = %v, want it infinite, as the product is", name, x, digits, got)
				}
				continue
			}
			if unit := math.Pow(10, -float64(digits)); math.Abs(got-x) > unit/2*(1+1e-9)+math.Abs(x)*1e-15 {
				t.Errorf("%s(%v, %d) = %v", name, x, digits, got)
			}
			if again := round(got, digits); math.Abs(again-got) > math.Abs(got)*1e-15 {
				t.Errorf("%s(%v, %d) = %v, and of that %v", name, x, digits, got, again)
			}
		}
	})
}
