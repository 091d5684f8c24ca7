package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRun runs the real go test on a module of one package: what go test says
// as JSON is decided by the go command, so a made-up stream would prove less.
func TestRun(t *testing.T) {
	const skips = "# why\n\nm TestSkips the moon is not full\nm TestPasses it used to\n"
	tests := []struct {
		name  string
		body  string
		flags []string
		code  int
		want  []string // lines that must be there
		not   []string // parts that must not
	}{
		{
			name: "passes quietly", body: `func TestPasses(t *testing.T) { t.Log("chatter") }`,
			code: 0, want: []string{"testlog: packages: 1, failed 0; tests: passed 1, failed 0, skipped 0"},
			not: []string{"chatter", "=== RUN", "PASS"},
		},
		{
			name: "shows a failure", body: `func TestFails(t *testing.T) { t.Run("deep", func(t *testing.T) { t.Error("x = 1, want 2") }) }`,
			code: 1, want: []string{"m_test.go:3: x = 1, want 2", "testlog: failed: m TestFails/deep", "testlog: packages: 1, failed 1; tests: passed 0, failed 2, skipped 0"},
			not: []string{"=== RUN"},
		},
		{
			name: "lets a skip pass by day", body: `func TestSkips(t *testing.T) { t.Skip("no moon") }`,
			code: 0, want: []string{"m_test.go:3: no moon", "testlog: skipped: m TestSkips"},
		},
		{
			name: "fails on a skip in CI", body: `func TestSkips(t *testing.T) { t.Skip("no moon") }`, flags: []string{"-strict"},
			code: 1, want: []string{"testlog: skipped without leave: m TestSkips"},
		},
		{
			name: "fails on a skipped subtest in CI", body: `func TestSkips(t *testing.T) { t.Run("a", func(t *testing.T) { t.SkipNow() }) }`, flags: []string{"-strict", "-skips", "skips.txt"},
			code: 1, want: []string{"testlog: skipped without leave: m TestSkips/a"},
		},
		{
			name: "knows a skip that is listed", body: `func TestSkips(t *testing.T) { t.Skip("no moon") }`, flags: []string{"-strict", "-skips", "skips.txt"},
			code: 0, want: []string{"testlog: skipped: m TestSkips (allowed: the moon is not full)", "testlog: listed as skipping, but did not: m TestPasses"},
		},
		{
			name: "names a package that does not build", body: `func TestFails(t *testing.T) { nothing }`,
			code: 1, want: []string{"./m_test.go:3:32: undefined: nothing", "FAIL\tm [build failed]", "testlog: failed: m"},
		},
		{
			name: "shows what a panic interrupted", body: `func TestPanics(t *testing.T) { t.Log("last words"); panic("boom") }`,
			code: 1, want: []string{"m_test.go:3: last words", "testlog: failed: m TestPanics"},
		},
		{
			name: "shows what ran out of time", body: `func TestHangs(t *testing.T) { t.Log("waiting"); select {} }`, flags: []string{"--", "-timeout=300ms"},
			code: 1, want: []string{"testlog: failed: m TestHangs"},
		},
		{
			name: "names a package that is missing", flags: []string{"--", "./missing/..."},
			code: 1, want: []string{"testlog: failed: ./missing/..."},
		},
		{
			name: "is not content with nothing", flags: []string{"--", "./..."},
			code: 1, want: []string{"testlog: no package was tested"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(module(t, tt.body))
			writeFile(t, "skips.txt", skips)
			var stdout, stderr strings.Builder
			code := run(t.Context(), tt.flags, &stdout, &stderr)
			if code != tt.code {
				t.Errorf("run(%q) = %d, want %d", tt.flags, code, tt.code)
			}
			lines := strings.Split(stdout.String(), "\n")
			for _, want := range tt.want {
				if !contains(lines, want) {
					t.Errorf("no line %q", want)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(stdout.String(), not) {
					t.Errorf("output contains %q", not)
				}
			}
			if t.Failed() {
				t.Logf("stdout:\n%s\nstderr:\n%s", &stdout, &stderr)
			}
		})
	}
}

func TestWrongCall(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "short.txt", "# two words\nm TestSkips\n")
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"-strickt"}, "flag provided but not defined: -strickt"},
		{[]string{"-skips", "missing.txt"}, "missing.txt"},
		{[]string{"-skips", "short.txt"}, "short.txt:2: want a package, a test and a reason"},
	}
	for _, tt := range tests {
		var stdout, stderr strings.Builder
		if code := run(t.Context(), tt.args, &stdout, &stderr); code != 2 {
			t.Errorf("run(%q) = %d, want 2", tt.args, code)
		}
		if !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("run(%q) said %q, want %q", tt.args, stderr.String(), tt.want)
		}
	}
}

func TestReadKeepsWhatIsNoEvent(t *testing.T) {
	var out strings.Builder
	log := newTally(&out)
	in := "go: downloading a thing\n{\"not\":\"an event\"}\n" +
		`{"Action":"output","Package":"m","Output":"ok  \tm\t0.1s\n"}` + "\nno newline"
	if err := log.read(strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	want := "go: downloading a thing\n{\"not\":\"an event\"}\nok  \tm\t0.1s\nno newline"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestHoldIsBounded keeps the last words of a test that never stops talking.
func TestHoldIsBounded(t *testing.T) {
	log := newTally(&strings.Builder{})
	id := testID{"m", "TestTalks"}
	for range 3 * maxHeld {
		log.hold(id, "again\n")
	}
	log.hold(id, "last\n")
	held := log.held[id]
	if len(held) > maxHeld || held[len(held)-1] != "last\n" {
		t.Errorf("held %d lines ending in %q, want at most %d ending in \"last\"", len(held), held[len(held)-1], maxHeld)
	}
}

// module writes a module with one test file and returns its folder.
func module(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "go.mod"), "module m\n\ngo 1.26\n")
	if body != "" {
		writeFile(t, filepath.Join(dir, "m_test.go"), "package m\nimport \"testing\"\n"+body+"\n")
	}
	return dir
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// contains reports whether a line says want, however far it is indented.
func contains(lines []string, want string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.TrimSpace(line) == want })
}
