package ci_test

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"deem/internal/test/storetest"
)

// update writes what the commands print into the documents, where a whole output is
// shown. Read the difference before you commit it.
var update = flag.Bool("update", false, "write outputs into the documents")

// root is the top of the repository, an absolute path.
var root = func() string {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		panic(err)
	}
	return dir
}()

// binary is deem, built as a user would build it.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(withBinary(m))
}

// withBinary builds deem once and runs the tests. DEEM_BINARY names one that is built
// already, as that of a release.
func withBinary(m *testing.M) int {
	dir, err := os.MkdirTemp("", "deem-ci")
	if err != nil {
		panic(err)
	}
	defer func() {
		_ = os.RemoveAll(dir)
		if folder != "" {
			_ = os.RemoveAll(folder)
		}
	}()
	binary = filepath.Join(dir, "deem")
	if built := os.Getenv("DEEM_BINARY"); built != "" {
		if err := os.Symlink(built, binary); err != nil {
			panic(err)
		}
		return storetest.Main(m, storetest.Options{})
	}
	// A program in a workspace needs modules that a build of deem alone does not. Pages run
	// without a network, so they are downloaded here.
	download := exec.Command("go", "mod", "download")
	download.Dir = root
	if out, err := download.CombinedOutput(); err != nil {
		panic(string(out))
	}
	// The flags are those of the Makefile, so that what it compiled is used again.
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags", "-s -w", "-o", binary, "./cmd/deem")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		panic(string(out))
	}
	return storetest.Main(m, storetest.Options{})
}

// pages returns the documents whose commands are run.
func pages(t *testing.T) []string {
	t.Helper()
	names := []string{"README.md", "CONTRIBUTING.md", "AGENTS.md"}
	for _, folder := range []string{"docs", "examples"} {
		err := fs.WalkDir(os.DirFS(root), folder, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(name, ".md") {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// read returns the content of a file. A relative name begins at the top of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(root, name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPages does what the documents say, page by page.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("a short run does not run the documents")
	}
	if runtime.GOOS == "windows" {
		t.Log("documents are written for a Unix shell")
		return
	}
	vendors := startVendors(t)
	var ran atomic.Int64
	t.Cleanup(func() {
		whole := !strings.Contains(flag.Lookup("test.run").Value.String(), "/")
		if n := ran.Load(); whole && n < 120 {
			t.Errorf("%d blocks were run: the test sees too little", n)
		}
	})
	for _, name := range pages(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page, errs := Parse(name, read(t, name))
			for _, err := range errs {
				t.Error(err)
			}
			r := newReader(t, name, vendors)
			for i := range page.Blocks {
				r.do(t, page, &page.Blocks[i])
			}
			ran.Add(int64(r.ran))
			if *update {
				rewrite(t, name, page)
			}
			if len(r.left) > 0 {
				t.Skipf("not all blocks can be run here: %s", strings.Join(r.left, ", "))
			}
		})
	}
}

// rewrite writes a page with the outputs that were seen.
func rewrite(t *testing.T, name string, page Page) {
	t.Helper()
	old := read(t, name)
	lines := strings.Split(old, "\n")
	for _, b := range slices.Backward(page.Blocks) {
		if b.Kind != Output {
			continue
		}
		end := b.Line + slices.Index(lines[b.Line:], "```")
		lines = slices.Concat(lines[:b.Line], strings.Split(strings.TrimSuffix(b.Text, "\n"), "\n"), lines[end:])
	}
	text := strings.Join(lines, "\n")
	if text == old {
		return
	}
	if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
