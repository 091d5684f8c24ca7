package text_test

import (
	"slices"
	"strings"
	"testing"

	"deem/text"
)

func TestBigInt(t *testing.T) {
	for _, tt := range []struct {
		in, want string // "" for what Python does not take
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
		"x²½Ⅳ一5":            {"5"}, // numbers, but no decimal digits
		"1,000\u00a0" + "2": {"1", "000", "2"},
	} {
		if got := text.Digits(in); !slices.Equal(got, want) {
			t.Errorf("Digits(%q) = %q, want %q", in, got, want)
		}
	}
}
