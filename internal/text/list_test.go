package text_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/text"
)

func TestParseList(t *testing.T) {
	for s, want := range map[string][]string{
		"[]":                          {},
		"['a', \"it's\"]":             {"a", "it's"},
		`['say \'x\' \u00e9\n', 'é']`: {"say 'x' é\n", "é"},
		"[ 'a' ,\n'b' ]":              {"a", "b"},
	} {
		if got, ok := text.ParseList(s); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "[", "['a'", "['a' 'b']", "[1]", "[a] b", "['a'] b", "[,]"} {
		if got, ok := text.ParseList(s); ok {
			t.Errorf("%s: %q", s, got)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOf(rapid.String()).Draw(rt, "list")
		if got, ok := text.ParseList(text.Repr(list)); !ok || !slices.Equal(got, list) {
			rt.Errorf("%q: %q, %v", text.Repr(list), got, ok)
		}
	})
}
