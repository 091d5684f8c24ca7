package words

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

func TestRound(t *testing.T) {
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
		if got := Round(tt.d, 3).String(); got != tt.want {
			t.Errorf("Round(%d, 3) = %s, want %s", tt.d, got, tt.want)
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

func TestNumbersInWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Comma(0), "0"},
		{Comma(999), "999"},
		{Comma(1000), "1,000"},
		{Comma(1234567), "1,234,567"},
		{Comma(-1000), "-1,000"},
		{Count(1, "item"), "1 item"},
		{Count(0, "item"), "0 items"},
		{Count(1500, "item"), "1,500 items"},
		{ExactDollars(0), "$0.00"},
		{ExactDollars(1), "$0.000001"},
		{ExactDollars(1_230_000), "$1.23"},
		{ExactDollars(12_345_678), "$12.345678"},
		{Plural(1, "retry", "retries"), "1 retry"},
		{Plural(1500, "retry", "retries"), "1,500 retries"},
		{ExactDollars(1_234_500_000), "$1,234.50"},
		{AboutDollars(0), "$0"},
		{AboutDollars(99), "$0.000099"},
		{AboutDollars(2_682), "$0.0027"},
		{AboutDollars(31_500), "$0.03"},
		{AboutDollars(1_234_500_000), "$1,235"},
		{And([]string{"a", "b", "c"}), "a, b and c"},
		{Clip("naïve", 3), "naï..."},
		{Clip("naïve", 5), "naïve"},
		{Cut("naïve", 3), "na"},
		{Cut("naïve", 4), "naï"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestPrintableKeepsTheTerminalSafe(t *testing.T) {
	if got := Printable("a\tb\x1b[31m\x00\u009bé两"); strings.ContainsAny(got, "\x1b\x00\u009b") || !strings.Contains(got, "é两") || !strings.Contains(got, "\t") {
		t.Errorf("printable = %q", got)
	}
}

func TestParseDollars(t *testing.T) {
	for text, want := range map[string]int64{"1.00": 1_000_000, "$1": 1_000_000, "0.000001": 1, "2.5": 2_500_000, "$0.05": 50_000} {
		if got, err := ParseDollars(text); err != nil || got != want {
			t.Errorf("ParseDollars(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "$", "-1", "1e3", "one", "1.0000001", "1,5", "NaN", "10000000"} {
		if got, err := ParseDollars(text); err == nil {
			t.Errorf("ParseDollars(%q) = %d, want an error", text, got)
		}
	}
}

// FuzzParseDollars checks that a sum of money is between zero and a million dollars, and
// survives a round trip.
func FuzzParseDollars(f *testing.F) {
	for _, seed := range []string{"1.50", "$0", " $1000000 ", "1000000.000001", ".5", "5.", "-1", "1e3", "1.0000001", "٣"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		micros, err := ParseDollars(text)
		if err != nil {
			return
		}
		if micros < 0 || micros > 1e12 {
			t.Fatalf("ParseDollars(%q) = %d", text, micros)
		}
		written := ExactDollars(micros)
		if again, err := ParseDollars(strings.ReplaceAll(written, ",", "")); err != nil || again != micros {
			t.Errorf("ParseDollars(%q) = %d, written as %s, which is %d, %v", text, micros, written, again, err)
		}
	})
}
