package page

import (
	"strings"
	"testing"
)

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
