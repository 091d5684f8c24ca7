package catalog

import (
	"strings"
	"testing"
)

func TestTogether(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"f1", "f1"},
		{"f1+bleu", "f1 bleu"},
		{"chrf++", "chrf++"},
		{"f1+chrf++", "f1 chrf++"},
		{"chrf+++f1", "chrf++ f1"},
		{"", ""},
	} {
		if got := strings.Join(together(c.name), " "); got != c.want {
			t.Errorf("together(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestUnquote(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`plain`, `plain`},
		{`plain # comment`, `plain`},
		{`a#b`, `a#b`},
		{`"in # quotes" # comment`, `in # quotes`},
		{`'single'`, `single`},
		{`"open`, `"open`},
		{``, ``},
	} {
		if got := unquote(c.in); got != c.want {
			t.Errorf("unquote(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
