package vendors

import (
	"testing"
)

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
