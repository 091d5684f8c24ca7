// These tests build a release for this platform and install its packages as a user does: in
// fresh environments, without a network, and on a PATH without Go. They also run the Python
// package's own tests.

package ci_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	build  sync.Once
	folder string // with dist, the release, and key, which signed it
)

const host = runtime.GOOS + "-" + runtime.GOARCH

// built builds a release for this platform once and returns the folder that dist is in.
func built(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the binary and installs packages")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the packages are installed on Linux only")
	}
	build.Do(func() {
		dir, err := os.MkdirTemp("", "deem-packages-")
		if err != nil {
			t.Fatal(err)
		}
		key := filepath.Join(dir, "key")
		run(t, dir, nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "a test", "-f", key)
		release(t, root, filepath.Join(dir, "dist"), key, "--version", "v0.1.0", "--only", host)
		folder = dir
	})
	if folder == "" {
		t.Fatal("the release could not be built")
	}
	return folder
}

// release builds a release out of the sources in a folder.
func release(t *testing.T, sources, out, key string, args ...string) {
	t.Helper()
	env := append(os.Environ(), "DEEM_SIGNING_KEY="+key, "PYTHONDONTWRITEBYTECODE=1")
	run(t, sources, env, python(t), append([]string{"scripts/release.py", "--out", out}, args...)...)
}

// bare is an environment without Go and without a network, whose PATH begins with first.
func bare(t *testing.T, first, home string) []string {
	t.Helper()
	path := first + ":/usr/bin:/bin"
	for _, dir := range filepath.SplitList(path) {
		if _, err := os.Stat(filepath.Join(dir, "go")); err == nil {
			t.Skipf("go is in %s: it cannot be left out of the PATH", dir)
		}
	}
	return []string{"PATH=" + path, "HOME=" + home, "PIP_NO_INDEX=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "LANG=C.UTF-8"}
}

// python returns the interpreter of the system, which has the packages that Debian has.
func python(t *testing.T) string {
	t.Helper()
	const debian = "/usr/bin/python3"
	if _, err := os.Stat(debian); err == nil {
		return debian
	}
	name, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 is missing: scripts/need.sh python")
	}
	return name
}

// run runs a command and returns what it printed.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if env != nil {
		cmd.Env = env
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out.String())
	}
	return out.String()
}

func one(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v, %v, want one file", pattern, names, err)
	}
	return names[0]
}

func TestPython(t *testing.T) {
	dir := built(t)
	venv := filepath.Join(dir, "venv")
	bare := bare(t, filepath.Join(venv, "bin"), dir)
	run(t, dir, bare, python(t), "-m", "venv", "--system-site-packages", venv)
	bare = append(bare, "DEEM=file://"+filepath.Join(dir, "dist"))
	run(t, dir, bare, "bash", "-c", installLine(t, "pip install"))

	t.Run("command", func(t *testing.T) {
		if out := run(t, dir, bare, filepath.Join(venv, "bin", "deem"), "demo"); !strings.Contains(out, "69.9%") {
			t.Errorf("deem demo printed\n%s", out)
		}
	})
	t.Run("import", func(t *testing.T) {
		out := run(t, dir, bare, filepath.Join(venv, "bin", "python"), "-c",
			`import deem, pathlib; run = deem.judge([{"question": "q", "references": ["Paris"], "response": "Paris"}]); print(deem.__version__, run.score, (pathlib.Path(deem.__file__).parent / "SKILL.md").exists())`)
		if strings.TrimSpace(out) != "0.1.0 1.0 True" {
			t.Errorf("python printed %q", out)
		}
	})
	for page, want := range map[string][]string{
		"docs/python.md": {"2 passed", "test_memory: 66.7%"},
		"README.md":      {"1 passed", "test_memory: 69.9%", "120 items", "better"},
	} {
		t.Run(page, func(t *testing.T) {
			var code strings.Builder
			for _, block := range regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(read(t, page), -1) {
				code.WriteString(block[1])
			}
			work := t.TempDir()
			for _, file := range []string{"answers.jsonl", "before.jsonl"} {
				if err := os.WriteFile(filepath.Join(work, file), []byte(read(t, "examples/quickstart/"+file)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(work, "test_page.py"), []byte(code.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			out := run(t, work, bare, filepath.Join(venv, "bin", "python"), "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "test_page.py")
			for _, text := range want {
				if !strings.Contains(out, text) {
					t.Errorf("the page's code does not print %q but\n%s", text, out)
				}
			}
		})
	}
	t.Run("tests", func(t *testing.T) {
		out := run(t, filepath.Join(root, "python"), bare, filepath.Join(venv, "bin", "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
		t.Log(out)
		if strings.Contains(out, "skipped") && !strings.Contains(out, "1 skipped") {
			t.Errorf("pytest skipped more than the test that needs pytest-xdist:\n%s", out)
		}
	})
	t.Run("types", func(t *testing.T) {
		run(t, filepath.Join(root, "python"), bare, python(t), "-m", "mypy", "--strict", "--cache-dir", filepath.Join(dir, "mypy"), "src/deem")
	})
	t.Run("misspelt options", func(t *testing.T) {
		cmd := exec.Command(python(t), "-m", "mypy", "--cache-dir", filepath.Join(dir, "mypy"), "--follow-imports", "silent", "tests/misspelt.py")
		cmd.Dir, cmd.Env = filepath.Join(root, "python"), slices.Concat(bare, []string{"MYPYPATH=src"})
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "Found 5 errors") {
			t.Errorf("mypy finds something else than five errors:\n%s", out)
		}
	})
}

func TestNPM(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed; scripts/need.sh npm installs it")
	}
	dir := built(t)
	app := filepath.Join(dir, "app")
	if err := os.MkdirAll(app, 0o755); err != nil {
		t.Fatal(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	bare := bare(t, filepath.Dir(node), dir)
	bare = append(bare, "DEEM=file://"+filepath.Join(dir, "dist"), "npm_config_offline=true", "npm_config_audit=false")
	run(t, app, bare, "bash", "-c", installLine(t, "npm install"))
	if out := run(t, app, bare, "npx", "--offline", "deem", "demo"); !strings.Contains(out, "69.9%") {
		t.Errorf("npx deem demo printed\n%s", out)
	}
}
