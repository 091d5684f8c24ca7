package cli_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"deem/internal/cli"
)

// The help of a command with many flags shows the most used ones in groups on two screens,
// the command's own flags, and every flag with --help-all.
func TestHelpGroups(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		command string
		has     []string // on the first screens
		hides   string
	}{
		{"run", []string{"\nDATA\n", "\nJUDGE\n", "\nMODEL\n", "\nLIMITS\n", "\nOUTPUT\n", "--max-cost", "more flags: deem run --help-all"}, "--batch-poll"},
		{"rejudge", []string{"--claimed", "--pick", "more flags: deem rejudge --help-all"}, "--batch-poll"},
	} {
		short, all := helpOf(t, tt.command, "--help"), helpOf(t, tt.command, "--help-all")
		for _, want := range tt.has {
			if !strings.Contains(short, want) {
				t.Errorf("deem %s --help does not have %q", tt.command, want)
			}
		}
		if strings.Contains(short, tt.hides) || !strings.Contains(all, tt.hides) {
			t.Errorf("deem %s: %s is not in --help-all alone", tt.command, tt.hides)
		}
		if strings.Contains(all, "(default )") {
			t.Errorf("deem %s --help-all prints an empty default", tt.command)
		}
		if n := strings.Count(short, "\n"); tt.command == "run" && n > 100 {
			t.Errorf("deem run --help has %d lines, want two screens at most", n)
		}
	}
}

func helpOf(t *testing.T, args ...string) string {
	t.Helper()
	var out, errw bytes.Buffer
	if code := cli.Main(args, strings.NewReader(""), &out, &errw); code != 0 {
		t.Fatalf("deem %s: exit code %d: %s", strings.Join(args, " "), code, errw.String())
	}
	return out.String()
}

// The first help fits a terminal of 80 columns, and names at most 26 commands.
func TestHelpFitsATerminal(t *testing.T) {
	t.Parallel()
	text := helpOf(t, "--help")
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if n := len(regexp.MustCompile(`(?m)^  [a-z][a-z-]+  `).FindAllString(text, -1)); n < 20 || n > 26 {
		t.Errorf("%d commands, want at most 26", n)
	}
}
