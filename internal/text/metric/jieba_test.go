package metric_test

import (
	"slices"
	"strings"
	"testing"

	"deem/internal/text/metric"
)

func TestCut(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"我来到北京清华大学", "我/来到/北京/清华大学"},
		// 杭研 is not in the dictionary: the model finds it.
		{"他来到了网易杭研大厦", "他/来到/了/网易/杭研/大厦"},
		{"a.b c-3.5%x\r\n y", "a/./b/ /c/-/3.5%/x/\r\n/ /y"},
		{"AT&T的C++，T恤。", "AT&T/的/C++/，/T恤/。"},
		{"\xff北京\xe4", "\xff/北京/\xe4"},
	} {
		if got := strings.Join(metric.JiebaCut(tt.in), "/"); got != tt.want {
			t.Errorf("Cut(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestCutTogether calls Cut from many goroutines, which unpack the dictionary at first.
func TestCutTogether(t *testing.T) {
	want := []string{"永和", "服装", "饰品", "有限公司"}
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			if got := metric.JiebaCut("永和服装饰品有限公司"); !slices.Equal(got, want) {
				t.Errorf("Cut = %q, want %q", got, want)
			}
		})
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range []string{"", "中文abc", "\xff一", "１２3.4.5%%", "\r\n\r\n", "龘龘龘龘", "𠀀一丁"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		words := metric.JiebaCut(s)
		if got := strings.Join(words, ""); got != s {
			t.Errorf("the words of %q make %q", s, got)
		}
		if slices.Contains(words, "") {
			t.Errorf("Cut(%q) has an empty word", s)
		}
	})
}

func BenchmarkCut(b *testing.B) {
	s := strings.Repeat("小明硕士毕业于中国科学院计算所，后在日本京都大学深造。", 40)
	metric.JiebaCut(s)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		metric.JiebaCut(s)
	}
}
