package docs_test

import (
	"bytes"
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
	"time"

	"deem/internal/ci/docs"
)

// update writes what the commands print into the documents, where a whole output is
// shown. Read the difference before you commit it.
var update = flag.Bool("update", false, "write outputs into the documents")

// root is the top of the repository.
var root = filepath.Join("..", "..", "..")

// binary is deem, built as a user would build it.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(withBinary(m))
}

// withBinary builds deem once and runs the tests. DEEM_BINARY names one that is built
// already, as that of a release.
func withBinary(m *testing.M) int {
	folder, err := os.MkdirTemp("", "deem-docs")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	binary = filepath.Join(folder, "deem")
	if built := os.Getenv("DEEM_BINARY"); built != "" {
		if err := os.Symlink(built, binary); err != nil {
			panic(err)
		}
		return m.Run()
	}
	// The flags are those of the Makefile, so that what it compiled is used again.
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", binary, "./cmd/deem")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		panic(string(out))
	}
	return m.Run()
}

// pages returns the documents whose commands are run.
func pages(t *testing.T) []string {
	t.Helper()
	names := []string{"README.md", "CONTRIBUTING.md"}
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

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPages does what the documents say, page by page.
func TestPages(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("documents are written for a Unix shell")
		return
	}
	vendors := startVendors(t)
	var ran atomic.Int64
	t.Cleanup(func() {
		whole := !strings.Contains(flag.Lookup("test.run").Value.String(), "/")
		if n := ran.Load(); whole && n < 60 {
			t.Errorf("%d blocks were run: the test sees too little", n)
		}
	})
	for _, name := range pages(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page, errs := docs.Parse(name, read(t, name))
			for _, err := range errs {
				t.Error(err)
			}
			r := &reader{folder: scratch(t, name), env: environment(vendors)}
			for i := range page.Blocks {
				r.do(t, page, &page.Blocks[i])
			}
			ran.Add(int64(r.ran))
			if *update {
				rewrite(t, name, page)
			}
		})
	}
}

// scratch returns a folder as a reader has it at the beginning of a page: the examples,
// and a dataset answers.jsonl. A page of an example begins in that example's folder.
func scratch(t *testing.T, name string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "examples"), os.DirFS(filepath.Join(root, "examples"))); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(name, "examples/") {
		return filepath.Join(folder, filepath.Dir(name))
	}
	for _, file := range []string{"answers.jsonl", "before.jsonl", "labels.csv"} {
		text := read(t, "examples/quickstart/"+file)
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// environment is that of a reader with keys, whose vendors are in this process. Nothing
// else can be reached.
func environment(vendors string) []string {
	return []string{
		"PATH=" + filepath.Dir(binary) + string(os.PathListSeparator) + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb",
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1",
		"OPENAI_API_KEY=sk-of-nobody", "OPENAI_BASE_URL=" + vendors + "/openai/v1",
		"ANTHROPIC_API_KEY=sk-of-nobody", "ANTHROPIC_BASE_URL=" + vendors + "/anthropic",
		"OLLAMA_HOST=" + vendors + "/ollama",
	}
}

// A reader follows one page.
type reader struct {
	folder  string
	env     []string
	printed string // by the last block
	ran     int
}

func (r *reader) do(t *testing.T, page docs.Page, b *docs.Block) {
	t.Helper()
	switch b.Kind {
	case docs.File:
		if err := os.WriteFile(filepath.Join(r.folder, b.Name), []byte(b.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	case docs.Run:
		r.ran++
		checkFlags(t, page.Name, *b)
		if b.Server {
			r.serve(t, page.Name, *b)
			return
		}
		r.run(t, page.Name, *b)
	case docs.NotRun:
		checkFlags(t, page.Name, *b)
	case docs.Output:
		if !docs.Matches(*b, r.printed) {
			t.Errorf("%s:%d: the document shows\n%sand the command prints\n%s", page.Name, b.Line, b.Text, r.printed)
			if !b.Part && !slices.Contains(strings.Split(b.Text, "\n"), "...") {
				b.Text = strings.TrimRight(r.printed, "\n") + "\n"
			}
		}
	}
}

// shell returns the command that runs a block.
func (r *reader) shell(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = r.folder, append(slices.Clone(r.env), "HOME="+r.folder)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run runs a block and keeps what it prints, in the order in which a terminal would
// show it.
func (r *reader) run(t *testing.T, name string, b docs.Block) {
	t.Helper()
	var out bytes.Buffer
	// A reader who changed the folder is in it still at the next block.
	at := filepath.Join(t.TempDir(), "folder")
	cmd := r.shell(t, "trap 'pwd > \""+at+"\"' EXIT\n"+b.Text)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	r.printed = out.String()
	if folder, err := os.ReadFile(at); err == nil {
		r.folder = strings.TrimSpace(string(folder))
	}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != b.Exit {
		t.Errorf("%s:%d: exit status %v, want %d\n%s%s", name, b.Line, err, b.Exit, b.Text, r.printed)
	}
}

// rewrite writes a page with the outputs that were seen.
func rewrite(t *testing.T, name string, page docs.Page) {
	t.Helper()
	old := read(t, name)
	lines := strings.Split(old, "\n")
	for _, b := range slices.Backward(page.Blocks) {
		if b.Kind != docs.Output {
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
