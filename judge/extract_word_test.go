package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A reply of one word gives the same result as the full reading.
func FuzzWord(f *testing.F) {
	for _, labels := range []string{
		"CORRECT\nINCORRECT", "yes\nno", "Yes\nyes\nno", "A\nB", "true\nfalse", "correct\nnot correct\ncorrect_", "None\nnone",
		"IS\nIK\nIſ", "not\nno\nnon", "fair\nfairly", "json\nlabel", "sorry\nokay", "\u212Ao\nko", "İyi\niyi",
	} {
		for text := range strings.SplitSeq(labels, "\n") {
			f.Add(text, labels)
			f.Add(strings.ToUpper(text), labels)
			f.Add(text+" "+text, labels)
		}
	}
	f.Fuzz(func(t *testing.T, text, labels string) {
		menu := strings.Split(labels, "\n")
		got, ok := word(text, menu)
		if !ok {
			return
		}
		want, err := readWhole(text, menu)
		if err != nil || got != want {
			t.Errorf("word(%q, %q) = %+v; read as a whole it is %+v, %v:\n%s", text, menu, got, want, err, cmp.Diff(want, got))
		}
	})
}

// Most replies are one word, so most must take the fast path.
func TestWord(t *testing.T) {
	for _, tt := range []struct {
		text, labels string
		short        bool
	}{
		{"CORRECT", "CORRECT,INCORRECT", true},
		{"INCORRECT", "CORRECT,INCORRECT", true},
		{"no", "yes,no", true},
		{"No", "yes,no", false},
		{"no.", "yes,no", false},
		{"A", "A,B", false},
		{"no", "No,no", false},
		{"", "yes,no", false},
		{"ſo", "so,no", false},
		{"ko", "\u212Ao,ko", false},
	} {
		if _, ok := word(tt.text, strings.Split(tt.labels, ",")); ok != tt.short {
			t.Errorf("word(%q, %s) finds: %v, want %v", tt.text, tt.labels, ok, tt.short)
		}
	}
}
