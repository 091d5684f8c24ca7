package page

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestDollars(t *testing.T) {
	tests := []struct {
		micros int64
		want   string
	}{
		{0, "$0.0000"},
		{1, "less than $0.0001"},
		{49, "less than $0.0001"},
		{50, "$0.0001"},
		{149, "$0.0001"},
		{150, "$0.0002"},
		{999_949, "$0.9999"},
		{999_950, "$1.0000"},
		{1_234_567_890, "$1,234.5679"},
	}
	for _, tt := range tests {
		if got := Dollars(tt.micros); got != tt.want {
			t.Errorf("Dollars(%d) = %q, want %q", tt.micros, got, tt.want)
		}
	}
}

func TestComma(t *testing.T) {
	tests := []struct {
		n    int64
		want string
	}{
		{0, "0"},
		{999, "999"},
		{1000, "1,000"},
		{-1000, "-1,000"},
		{-100, "-100"},
		{1234567, "1,234,567"},
		{math.MinInt64, "-9,223,372,036,854,775,808"},
	}
	for _, tt := range tests {
		if got := Comma(tt.n); got != tt.want {
			t.Errorf("Comma(%d) = %q, want %q", tt.n, got, tt.want)
		}
	}
}

func TestRounded(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"},
		{999, "999ns"},
		{1234567, "1.23ms"},
		{999_600_000, "1s"},
		{2345 * time.Millisecond, "2.35s"},
		{math.MaxInt64, "2561111h6m40s"},
	}
	for _, tt := range tests {
		if got := Rounded(tt.d).String(); got != tt.want {
			t.Errorf("Rounded(%d) = %s, want %s", tt.d, got, tt.want)
		}
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain", "plain"},
		{"时间 推理", "时间 推理"},
		{"a\nb\r\tc", `a\nb\r\tc`},
		{"\x1b[31mred", `\x1b[31mred`},
		{"\u202eevil", `\u202eevil`},
		{"no break\u00a0space", `no break\u00a0space`},
		{"\x80\xfe", `\x80\xfe`},
		{`it's a \ backslash`, `it's a \ backslash`},
		{"\x7f\u0085", `\x7f\u0085`},
	}
	for _, tt := range tests {
		if got := Clean(tt.in); got != tt.want {
			t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	var b strings.Builder
	wrap(&b, "(1)  ", strings.Repeat("word ", 30))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("wrap gave %d lines, want 2:\n%s", len(lines), b.String())
	}
	if !strings.HasPrefix(lines[0], "(1)  word") || !strings.HasPrefix(lines[1], "     word") {
		t.Errorf("wrap does not indent:\n%s", b.String())
	}
	for _, line := range lines {
		if len(line) > LineWidth {
			t.Errorf("the line %q is %d columns wide, want at most %d", line, len(line), LineWidth)
		}
	}
	b.Reset()
	long := strings.Repeat("x", 200)
	wrap(&b, "", "a "+long)
	if got, want := b.String(), "a\n"+long+"\n"; got != want {
		t.Errorf("wrap cut a long word: %q", got)
	}
}
