package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"deem/internal/cli"
)

// TestErrorsAreHarmless checks that control characters in a name, or any other foreign
// text, do not reach the terminal in an error or its hint.
func TestErrorsAreHarmless(t *testing.T) {
	const hostile = "\x1b]0;owned\x07\x1b[31mx\u009b2J\u202e\x7f.deem"
	for _, args := range [][]string{{"verify", hostile}, {"report", hostile}, {"show", "q1", "--run", hostile}} {
		var out, errs bytes.Buffer
		if code := cli.Main(args, strings.NewReader(""), &out, &errs); code == 0 {
			t.Errorf("%q did not fail", args)
		}
		if bad := strings.IndexAny(errs.String(), "\x1b\x07\x7f\u009b\u202e"); bad >= 0 {
			t.Errorf("%q prints a control character: %q", args, errs.String())
		}
	}
}
