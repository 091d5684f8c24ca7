// Package packages_test installs the Python wheel and the npm packages as a user does, in
// fresh environments and without a network, and runs the Python package's own tests.
package packages_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// TestMain removes what the tests built.
func TestMain(m *testing.M) {
	code := m.Run()
	if folder != "" {
		_ = os.RemoveAll(folder)
	}
	os.Exit(code)
}

var (
	build  sync.Once
	folder string // with the binary, and dist with its packages
)

// built builds the binary and the packages once and returns their folder.
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
		run(t, root(t), nil, "go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "deem"), "./cmd/deem")
		pack(t, filepath.Join(dir, "dist"), filepath.Join(dir, "deem"))
		folder = dir
	})
	if folder == "" {
		t.Fatal("the packages could not be built")
	}
	return folder
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// pack makes the packages of a binary for this platform.
func pack(t *testing.T, out, binary string) {
	t.Helper()
	run(t, root(t), nil, python(t), "scripts/packages.py", "--version", "v0.1.0rc1", "--out", out, runtime.GOOS+"-"+runtime.GOARCH+"="+binary)
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

// run runs a command and returns what it printed. The environment holds no Go and no
// proxy, so that nothing is built or downloaded behind our back.
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
	wheel := one(t, filepath.Join(dir, "dist", "*.whl"))
	venv := filepath.Join(dir, "venv")
	bare := []string{"PATH=" + filepath.Join(venv, "bin") + ":/usr/bin:/bin", "HOME=" + dir, "PIP_NO_INDEX=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "LANG=C.UTF-8"}
	run(t, dir, bare, python(t), "-m", "venv", "--system-site-packages", venv)
	run(t, dir, bare, filepath.Join(venv, "bin", "pip"), "install", "--quiet", wheel)

	t.Run("command", func(t *testing.T) {
		if out := run(t, dir, bare, filepath.Join(venv, "bin", "deem"), "demo"); !strings.Contains(out, "69.7%") {
			t.Errorf("deem demo printed\n%s", out)
		}
	})
	t.Run("import", func(t *testing.T) {
		out := run(t, dir, bare, filepath.Join(venv, "bin", "python"), "-c",
			`import deem; run = deem.judge([{"question": "q", "references": ["Paris"], "response": "Paris"}]); print(deem.__version__, run.score)`)
		if strings.TrimSpace(out) != "0.1.0rc1 1.0" {
			t.Errorf("python printed %q", out)
		}
	})
	t.Run("docs", func(t *testing.T) {
		text, err := os.ReadFile(filepath.Join(root(t), "docs", "python.md"))
		if err != nil {
			t.Fatal(err)
		}
		var code strings.Builder
		for _, block := range regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(text, -1) {
			code.Write(block[1])
		}
		work := t.TempDir()
		if err := os.WriteFile(filepath.Join(work, "test_page.py"), []byte(code.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		out := run(t, work, bare, filepath.Join(venv, "bin", "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_page.py")
		if !strings.Contains(out, "2 passed") || !strings.Contains(out, "test_memory: 66.7%") {
			t.Errorf("the page's code printed\n%s", out)
		}
	})
	t.Run("tests", func(t *testing.T) {
		out := run(t, filepath.Join(root(t), "python"), bare, filepath.Join(venv, "bin", "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
		t.Log(out)
		if strings.Contains(out, "skipped") && !strings.Contains(out, "1 skipped") {
			t.Errorf("pytest skipped more than the test that needs pytest-xdist:\n%s", out)
		}
	})
	t.Run("types", func(t *testing.T) {
		run(t, filepath.Join(root(t), "python"), bare, python(t), "-m", "mypy", "--strict", "--cache-dir", filepath.Join(dir, "mypy"), "src/deem")
	})
}

// The same input gives the same bytes.
func TestReproducible(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "deem")
	if err := os.WriteFile(binary, []byte("a binary"), 0o755); err != nil { //nolint:gosec // It stands for a program.
		t.Fatal(err)
	}
	pack(t, filepath.Join(dir, "one"), binary)
	pack(t, filepath.Join(dir, "two"), binary)
	names, err := filepath.Glob(filepath.Join(dir, "one", "*"))
	if err != nil || len(names) != 3 {
		t.Fatalf("packages %v, %v, want a wheel and two npm packages", names, err)
	}
	for _, name := range names {
		first, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(dir, "two", filepath.Base(name)))
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s differs in the second build (%v)", filepath.Base(name), err)
		}
	}
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
	tarballs, err := filepath.Glob(filepath.Join(dir, "dist", "*.tgz"))
	if err != nil || len(tarballs) != 2 {
		t.Fatalf("npm packages %v, %v, want two", tarballs, err)
	}
	path := os.Getenv("PATH")
	bare := []string{"PATH=" + path, "HOME=" + dir}
	run(t, app, bare, "npm", append([]string{"install", "--offline", "--no-audit", "--no-fund"}, tarballs...)...)
	if out := run(t, app, bare, "npx", "--offline", "deem", "demo"); !strings.Contains(out, "69.7%") {
		t.Errorf("npx deem demo printed\n%s", out)
	}
}
