package ci_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deem/internal/test/storetest"
)

// A reader follows one page, as somebody who never saw deem would.
type reader struct {
	folder  string
	env     []string // which blocks may change
	printed string   // by the last block
	unseen  bool     // the last block could not be run here
	ran     int
	left    []string // the blocks that could not be run here, and why
	address string   // of the server that stays
	db      string   // the address of a Postgres, once a block wanted one
}

// fromTheTop are the pages that begin with a copy of the repository and nothing else:
// what a newcomer has.
var fromTheTop = []string{"README.md", "docs/library.md"}

// newReader returns somebody who opens a page.
func newReader(t *testing.T, name, vendors string) *reader {
	t.Helper()
	r := &reader{env: environment(t, vendors)}
	if slices.Contains(fromTheTop, name) {
		r.folder = checkout(t)
	} else {
		r.folder = scratch(t, name)
	}
	return r
}

// scratch returns the folder that docs/README.md tells a reader to make: the examples, and
// the files of the quick start. A page of an example begins in that example's folder.
func scratch(t *testing.T, name string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "examples"), os.DirFS(filepath.Join(root, "examples"))); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(name, "examples/") {
		return filepath.Join(folder, filepath.Dir(name))
	}
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(root, "examples", "quickstart"))); err != nil {
		t.Fatal(err)
	}
	return folder
}

// checkout returns a copy of the files that git knows, as a clone would have them, and
// of none that lie about here. The folder is called deem, as that of a clone is.
func checkout(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "deem")
	cmd := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "ls-files", "-z")
	cmd.Dir = root
	list, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		from, to := filepath.Join(root, name), filepath.Join(folder, name)
		info, err := os.Lstat(from)
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o700)
		}
		if err == nil {
			err = os.WriteFile(to, text, info.Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// environment is that of a reader with keys, whose vendors are in this process. Nothing
// else can be reached, and the home is empty. What Go has built and fetched is kept
// from test to test.
func environment(t *testing.T, vendors string) []string {
	t.Helper()
	env := []string{
		"HOME=" + t.TempDir(),
		"PATH=" + filepath.Dir(binary) + string(os.PathListSeparator) + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb",
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1",
		"OPENAI_API_KEY=" + key, "OPENAI_BASE_URL=" + vendors + "/openai/v1",
		"ANTHROPIC_API_KEY=" + key, "ANTHROPIC_BASE_URL=" + vendors + "/anthropic",
		"GEMINI_API_KEY=" + key, "GOOGLE_GEMINI_BASE_URL=" + vendors + "/google/v1beta",
		"OLLAMA_HOST=" + vendors + "/ollama",
	}
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} {
		out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(out)))
	}
	return env
}

func (r *reader) do(t *testing.T, page Page, b *Block) {
	t.Helper()
	switch b.Kind {
	case File:
		if err := os.WriteFile(filepath.Join(r.folder, b.Name), []byte(b.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	case From:
		for _, line := range missing(read(t, b.Name), b.Text) {
			t.Errorf("%s:%d: %s has no line %q behind those before it", page.Name, b.Line, b.Name, line)
		}
	case Run:
		checkFlags(t, page.Name, *b)
		if r.unseen = !r.able(t, page.Name, *b); !r.unseen {
			r.ran++
			r.start(t, page.Name, *b)
		}
	case NotRun:
		checkFlags(t, page.Name, *b)
	case Output:
		r.compare(t, page.Name, b)
	}
}

// able reports whether a block can be run on this machine.
func (r *reader) able(t *testing.T, page string, b Block) bool {
	t.Helper()
	switch {
	case b.Published && !publish(t, r.folder, page, b):
		r.left = append(r.left, fmt.Sprintf("%s:%d needs the published files", page, b.Line))
		return false
	case b.Postgres && !r.postgres(t):
		r.left = append(r.left, fmt.Sprintf("%s:%d needs Postgres", page, b.Line))
		return false
	}
	return true
}

// start runs a block in its way.
func (r *reader) start(t *testing.T, name string, b Block) {
	t.Helper()
	switch {
	case b.Stays:
		r.stay(t, name, b)
	case b.Server:
		r.serve(t, name, b)
	default:
		r.run(t, name, b)
	}
}

// compare holds what a block of output shows against what was printed.
func (r *reader) compare(t *testing.T, name string, b *Block) {
	t.Helper()
	if r.unseen || Matches(*b, r.printed) {
		return
	}
	t.Errorf("%s:%d: the document shows\n%sand the command prints\n%s", name, b.Line, b.Text, r.printed)
	if !b.Part && !slices.Contains(strings.Split(b.Text, "\n"), "...") {
		b.Text = strings.TrimRight(r.printed, "\n") + "\n"
	}
}

// shell returns the command that runs a script, with addresses that are those of this
// test.
func (r *reader) shell(script string) *exec.Cmd {
	if r.address != "" {
		script = strings.ReplaceAll(script, "http://127.0.0.1:8080", r.address)
	}
	if r.db != "" {
		script = exampleDB.ReplaceAllString(script, r.db)
	}
	cmd := exec.Command("bash", "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = r.folder, slices.Clone(r.env)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run runs a block and keeps what it prints, in the order in which a terminal would
// show it.
func (r *reader) run(t *testing.T, name string, b Block) {
	t.Helper()
	var out bytes.Buffer
	state := t.TempDir()
	cmd := r.shell("trap 'pwd > \"" + state + "/folder\"; env -0 > \"" + state + "/env\"' EXIT\n" + b.Text)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	r.printed = out.String()
	r.goOn(state)
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != b.Exit {
		t.Errorf("%s:%d: exit status %v, want %d\n%s%s", name, b.Line, err, b.Exit, b.Text, r.printed)
	}
}

// goOn takes over where a block left the reader: in which folder, and with which
// variables.
func (r *reader) goOn(state string) {
	if folder, err := os.ReadFile(filepath.Join(state, "folder")); err == nil {
		r.folder = strings.TrimSpace(string(folder))
	}
	if env, err := os.ReadFile(filepath.Join(state, "env")); err == nil && len(env) > 0 {
		r.env = strings.Split(strings.TrimRight(string(env), "\x00"), "\x00")
	}
}

// exampleDB is what documents call a Postgres of a team's.
var exampleDB = regexp.MustCompile(`postgres://deem@db\.example(:\d+)?/deem`)

// postgres makes a database for the page, and reports whether it could. It is asked for
// over TCP, since that address has no sign in it that a shell would take for its own.
func (r *reader) postgres(t *testing.T) bool {
	t.Helper()
	if r.db != "" {
		return true
	}
	var cluster *storetest.Cluster
	t.Run("postgres", func(t *testing.T) { cluster = storetest.Shared(t) })
	if cluster == nil {
		return false
	}
	socket, err := url.Parse(cluster.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	r.db = cluster.TCP(strings.TrimPrefix(socket.Path, "/"))
	return true
}

// missing returns the lines of a block that a file does not have, in their order. A line
// "..." stands for any number of lines. White space in front of lines is no matter, since
// a block need not stand as deep as the file does.
func missing(file, block string) (lines []string) {
	at, all := 0, trimmed(file)
	for _, line := range trimmed(block) {
		if line == "" || line == "..." {
			continue
		}
		i := slices.Index(all[at:], line)
		if i < 0 {
			lines = append(lines, line)
			continue
		}
		at += i + 1
	}
	return lines
}

func trimmed(text string) []string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

func TestMissing(t *testing.T) {
	const file = "package x\n\nfunc f() {\n\ta()\n\tb()\n}\n"
	for block, want := range map[string]string{
		"a()\nb()\n":           "",
		"func f() {\n...\n}\n": "",
		"b()\na()\n":           "a()",
		"c()\n":                "c()",
	} {
		if got := strings.Join(missing(file, block), ","); got != want {
			t.Errorf("missing(%q) = %q, want %q", block, got, want)
		}
	}
}
