package text_test

import (
	"testing"

	"deem/internal/text"
)

func TestClosest(t *testing.T) {
	names := []string{"question", "response", "references", "id"}
	for _, c := range []struct{ word, want string }{
		{"qestion", "question"},
		{"Respnose", "response"},
		{"reference", "references"},
		{"ids", "id"},
		{"weather", ""},
		{"", ""},
		{"xy", ""},
	} {
		if got := text.Closest(c.word, names); got != c.want {
			t.Errorf("Closest(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}
