package ci_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// aptGet stands for Debian's package manager. It reports a held lock until it was called
// as often as $BUSY says, then installs a program.
const aptGet = `#!/bin/sh
n=$(cat "$STATE" 2>/dev/null || echo 0)
n=$((n + 1))
echo "$n" >"$STATE"
if [ "$n" -le "$BUSY" ]; then
  echo "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1234 (apt-get)" >&2
  exit 100
fi
case "$*" in
*"$BROKEN"*) echo "E: Unable to locate package" >&2; exit 100 ;;
*install*) printf '#!/bin/sh\n' >"$BIN/shellcheck"; chmod +x "$BIN/shellcheck" ;;
esac
`

// need runs need.sh on a machine that has no program but the fake apt-get and a few basic ones.
func need(t *testing.T, busy, broken, wait string, tools ...string) (output string, err error) {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"bash", "sh", "env", "cat", "grep", "mktemp", "rm", "sleep", "id", "chmod", "readlink", "dirname", "true"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"apt-get": aptGet, "sudo": "#!/bin/sh\nshift\nexec \"$@\"\n"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil { //nolint:gosec // A program must be executable.
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{filepath.Join(root, "scripts", "need.sh")}, tools...)...)
	cmd.Env = []string{
		"PATH=" + bin, "BIN=" + bin, "STATE=" + filepath.Join(t.TempDir(), "calls"),
		"BUSY=" + busy, "BROKEN=" + broken, "DEEM_APT_WAIT=" + wait,
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestNeedWaits checks that need.sh waits while another program holds apt's lock.
func TestNeedWaits(t *testing.T) {
	t.Parallel()
	out, err := need(t, "2", "nothing", "60", "shellcheck")
	if err != nil || !strings.Contains(out, "another program is installing packages") {
		t.Errorf("with the lock held twice: %v\n%s", err, out)
	}
}

// TestNeedGivesUp checks that need.sh stops waiting after its limit, shows what apt-get
// said, and names what needs the missing program.
func TestNeedGivesUp(t *testing.T) {
	t.Parallel()
	out, err := need(t, "1000", "nothing", "1", "shellcheck")
	if err == nil || !strings.Contains(out, "Could not get lock") || !strings.Contains(out, "make lint-shell") {
		t.Errorf("with the lock held for good: %v\n%s", err, out)
	}
}

// TestNeedSaysWhich checks that a program that cannot be installed is reported at once, with
// the tests that need it.
func TestNeedSaysWhich(t *testing.T) {
	t.Parallel()
	out, err := need(t, "0", "install", "60", "chromium")
	if err == nil || !strings.Contains(out, "the browser tests of internal/server/web need it") || !strings.Contains(out, "apt-get install chromium") {
		t.Errorf("with a package that does not exist: %v\n%s", err, out)
	}
}

// TestSkips checks which skipped tests are errors, and that none is where ../shared is missing.
func TestSkips(t *testing.T) {
	t.Parallel()
	log := `{"Action":"skip","Package":"deem/a","Test":"TestX"}
{"Action":"skip","Package":"deem/empty"}
{"Action":"pass","Package":"deem/a","Test":"TestY"}
{"Action":"skip","Package":"deem/a","Test":"TestZ/sub"}
`
	for _, tt := range []struct {
		name, log, list string
		shared          bool
		want            string
		ok              bool
	}{
		{"all listed", log, "# a comment\n\ndeem/a TestX no disk\ndeem/a TestZ/sub no disk\n", true, "", true},
		{"one is not listed", log, "deem/a TestX no disk\n", true, "deem/a TestZ/sub", false},
		{"one is not listed, without data", log, "deem/a TestX no disk\n", false, "1 tests skipped themselves", true},
		{"none is listed, without data", log, "", false, "2 tests skipped themselves; those that read ../shared need that folder:\ndeem/a TestX\ndeem/a TestZ/sub\n", true},
		{"nothing skipped", `{"Action":"pass","Package":"deem/a","Test":"TestY"}` + "\n", "", true, "", true},
		{"listed without need", log, "deem/a TestX r\ndeem/a TestY r\ndeem/a TestZ/sub r\n", true, "listed but not skipped: deem/a TestY", true},
		{"no reason", log, "deem/a TestX\n", false, "needs a package, a test and a reason", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			scripts := filepath.Join(dir, "deem", "scripts")
			if err := os.MkdirAll(scripts, 0o700); err != nil {
				t.Fatal(err)
			}
			if tt.shared {
				if err := os.Mkdir(filepath.Join(dir, "shared"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			script := filepath.Join(scripts, "skips.sh")
			for name, text := range map[string]string{script: read(t, "scripts/skips.sh"), filepath.Join(dir, "log"): tt.log, filepath.Join(dir, "list"): tt.list} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.CommandContext(t.Context(), "bash", script, filepath.Join(dir, "log"), filepath.Join(dir, "list")).CombinedOutput()
			if (err == nil) != tt.ok || !strings.Contains(string(out), tt.want) {
				t.Errorf("skips.sh: %v, want success %t and %q\n%s", err, tt.ok, tt.want, out)
			}
		})
	}
}

// Renaming the module leaves a tree that builds and that the arrows accept.
func TestModule(t *testing.T) {
	if testing.Short() {
		t.Skip("a short run does not build everything twice")
	}
	list, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("not a git repository: %v", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, but not yet committed
		}
		info, statErr := os.Stat(filepath.Join(root, name))
		if err := errors.Join(err, statErr, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("make", "module", "PATH=example.org/you/deem")
	run("go", "build", "./...")
	run("go", "vet", ".", "./judge/...", "./internal/test/golden", "./internal/ci")
	run("go", "test", "-run", "TestArrows", ".")
	if got := run("go", "list", "./stat"); got != "example.org/you/deem/stat\n" {
		t.Errorf("go list ./stat = %s", got)
	}
	if out, err := exec.Command(filepath.Join(dir, "scripts/module.sh"), "nonsense").CombinedOutput(); err == nil {
		t.Errorf("module.sh took nonsense for a path:\n%s", out)
	}
}
