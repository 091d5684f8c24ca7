package ci_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const fences = "```"

// page writes a page with ' for each backtick.
func page(lines ...string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "'", "`")
}

func TestParse(t *testing.T) {
	got, errs := Parse("a.md", page(
		"# Title", "<!-- run: exit 3 -->", "'''sh", "deem demo", "'''", "It prints", "",
		"<!-- output: part -->", "'''text", "score", "  ...", "'''",
		"- a list", "  <!-- file: a b.yaml -->", "  '''yaml", "  name: x", "    deep: 1", "  '''",
		"<!-- not run: needs a key -->", "", "''''bash", "'''", "''''",
		"<!-- run: server, stays -->", "'''sh", "deem serve", "'''",
		"<!-- run: published, exit 4 -->", "'''sh", "deem rejudge x", "'''",
		"<!-- run: postgres -->", "'''sh", "deem queue", "'''",
		"<!-- not output: a plan -->", "'''text", "a", "'''",
		"<!-- from: a/b.go -->", "'''go", "x := 1", "'''"))
	want := []Block{
		{Line: 3, Lang: "sh", Text: "deem demo\n", Kind: Run, Exit: 3},
		{Line: 9, Lang: "text", Text: "score\n  ...\n", Kind: Output, Part: true},
		{Line: 15, Lang: "yaml", Text: "name: x\n  deep: 1\n", Kind: File, Name: "a b.yaml"},
		{Line: 21, Lang: "bash", Text: fences + "\n", Kind: NotRun, Why: "needs a key"},
		{Line: 25, Lang: "sh", Text: "deem serve\n", Kind: Run, Server: true, Stays: true},
		{Line: 29, Lang: "sh", Text: "deem rejudge x\n", Kind: Run, Published: true, Exit: 4},
		{Line: 33, Lang: "sh", Text: "deem queue\n", Kind: Run, Postgres: true},
		{Line: 37, Lang: "text", Text: "a\n", Kind: NotOutput, Why: "a plan"},
		{Line: 41, Lang: "go", Text: "x := 1\n", Kind: From, Name: "a/b.go"},
	}
	if d := cmp.Diff(want, got.Blocks); d != "" || len(errs) > 0 {
		t.Errorf("errors %v, blocks (-want +got):\n%s", errs, d)
	}
}

func TestParseFindsWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{page("'''sh", "deem demo", "'''"), "a.md:1: a shell block needs <!-- run --> or <!-- not run: REASON --> above it"},
		{page("", "'''", "deem demo", "'''"), "a.md:2: the block does not say its language; text is one"},
		{page("<!-- run -->", "'''text", "x", "'''"), "a.md:2: a block of text cannot be run"},
		{page("<!-- output -->", "'''text", "x", "'''"), "a.md:2: no block was run whose output this could be"},
		{page("<!-- run: quickly -->", "'''sh", "x", "'''"), `a.md:1: the comment "run": "quickly" says nothing that we know`},
		{page("<!-- not run -->", "'''sh", "x", "'''"), `a.md:1: the comment "not run": "" says nothing that we know`},
		{page("<!-- run: exit x -->", "'''sh", "x", "'''"), `a.md:1: "x" is not an exit status`},
		{page("<!-- run -->", "prose", "'''yaml", "x", "'''"), "a.md:1: no block follows the comment"},
		{page("'''go", "x", "'''"), "a.md:1: a block of Go needs <!-- from: FILE --> above it, so that it stays true"},
		{page("'''text", "x", "'''"), "a.md:1: a block of text needs <!-- output --> or <!-- not output: REASON --> above it"},
		{page("<!-- not output -->", "'''text", "x", "'''"), `a.md:1: the comment "not output": "" says nothing that we know`},
		{page("'''text", "x"), "a.md:1: the block has no end"},
		{page("prose", "", "    deem run --data x"), "a.md:3: a command in a block that is not fenced"},
	} {
		_, errs := Parse("a.md", c.page)
		if len(errs) != 1 || errs[0].Error() != c.want {
			t.Errorf("Parse(%q) complains %v, want %s", c.page, errs, c.want)
		}
	}
}

func TestCommands(t *testing.T) {
	got := Commands("# first\n" +
		"deem run --gate 'overall.lo >= 65%' # why\n" +
		"KEY=a DEEM_DB=x deem report | head -3 && deem show \"m 1\" -o a#b\n" +
		"deem plan lock --data x \\\n  --judge y\n" +
		"curl -d '{\n \"a\": 1}' x; cd y\n")
	want := [][]string{
		{"deem", "run", "--gate", "overall.lo >= 65%"},
		{"deem", "report"},
		{"head", "-3"},
		{"deem", "show", "m 1", "-o", "a#b"},
		{"deem", "plan", "lock", "--data", "x", "--judge", "y"},
		{"curl", "-d", "{\n \"a\": 1}", "x"},
		{"cd", "y"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("commands (-want +got):\n%s", d)
	}
}

func TestMatches(t *testing.T) {
	const printed = "run      20261116-005d5b, started 2026-11-16 00:02:03 UTC, took 10.1ms\nscore  69.7%\n  strict\ndeem     (devel)\n"
	for _, c := range []struct {
		text string
		part bool
		want bool
	}{
		{text: "run      20251231-ffffff, started 2025-12-31 23:59:59 UTC, took 2m3s\nscore  69.7%\n  strict\ndeem     v0.1.0\n", want: true},
		{text: "score  69.7%\n  strict\n", part: true, want: true},
		{text: "score  69.7%\n  strict\n", want: false},
		{text: "...\nscore  69.7%\n...\n", want: true},
		{text: "...\nscore 69.7%\n...\n", want: false}, // blanks count where nothing varies
		{text: "score  69.8%\n", part: true, want: false},
		{text: "score  69.7%\ndeem     v1\n", part: true, want: false},
		{text: "score  69.7%\n...\ndeem     v1\n", part: true, want: true},
	} {
		if got := Matches(Block{Text: c.text, Part: c.part}, printed); got != c.want {
			t.Errorf("Matches(%q, part %v) = %v, want %v", c.text, c.part, got, c.want)
		}
	}
}
