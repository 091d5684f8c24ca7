package cli_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deem/internal/board"
	"deem/internal/cli"
)

// exampleBoard is the board that deem init board writes, made once.
var exampleBoard = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "board")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	to := filepath.Join(dir, "board")
	var out strings.Builder
	if code := cli.Main([]string{"init", "board", to}, strings.NewReader(""), &out, &out); code != 0 {
		return nil, fmt.Errorf("deem init board: exit code %d: %s", code, out.String())
	}
	return boardFiles(to)
})

// smallBoard is the example with four of its runs.
var smallBoard = sync.OnceValues(func() (map[string][]byte, error) {
	list, err := exampleBoard()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "board")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, name := range []string{"board.yaml", "runs/own-amber.deem", "runs/own-heath.deem", "runs/read2000-amber.deem", "runs/read2000-arm-none.deem"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, list[name], 0o644)); err != nil {
			return nil, err
		}
	}
	b, err := board.Open(dir)
	if err != nil {
		return nil, err
	}
	if _, err := b.Append(context.Background(), boardExampleKey, nil, ""); err != nil {
		return nil, err
	}
	return boardFiles(dir)
})

// boardFiles reads a folder.
func boardFiles(dir string) (map[string][]byte, error) {
	list := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		list[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	return list, err
}

// copied writes a board into a folder of the test.
func boardCopied(t *testing.T, made func() (map[string][]byte, error)) string {
	t.Helper()
	list, err := made()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "board")
	for name, text := range list {
		boardWrite(t, filepath.Join(dir, name), text)
	}
	return dir
}

func boardWrite(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func boardRead(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// edit replaces text in a file that has it.
func boardEdit(t *testing.T, path, old, now string) {
	t.Helper()
	text := string(boardRead(t, path))
	if !strings.Contains(text, old) {
		t.Fatalf("%s does not have %q", path, old)
	}
	boardWrite(t, path, []byte(strings.Replace(text, old, now, 1)))
}

func boardChecked(t *testing.T, dir string, o board.Options) *board.Checked {
	t.Helper()
	b, err := board.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.Check(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// boardExampleKey is the key of the exampleBoard, which is public.
var boardExampleKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{42}, ed25519.SeedSize))

func boardAppend(t *testing.T, dir string, key ed25519.PrivateKey, withdraw []string, reason string) error {
	t.Helper()
	b, err := board.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Append(t.Context(), key, withdraw, reason)
	return err
}

func TestBoardExample(t *testing.T) {
	t.Parallel()
	c := boardChecked(t, boardCopied(t, exampleBoard), board.Options{})
	if !c.OK() || c.Files != 23 || c.Entries != 24 || len(c.Pending) > 0 {
		t.Errorf("findings %v, %d boardFiles, %d entries, pending %v", c.Findings, c.Files, c.Entries, c.Pending)
	}
}

// vector returns a file of testdata/spec.
func specVector(t *testing.T, name string) []byte {
	t.Helper()
	return boardRead(t, filepath.Join("..", "..", "testdata", "spec", name+".deem"))
}

// TestBoardTampered does what somebody may do to a board, and wants it to be named.
func TestBoardTampered(t *testing.T) {
	t.Parallel()
	const amber, heath, entries, checkpoint = "runs/own-amber.deem", "runs/own-heath.deem", "log/entries.jsonl", "log/checkpoint"
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	for _, tt := range []struct {
		name   string
		tamper func(t *testing.T, dir string)
		kind   string
		file   string
		says   string
	}{
		{"a byte of a run file", func(t *testing.T, dir string) {
			text := boardRead(t, filepath.Join(dir, amber))
			text[len(text)/2] ^= 1
			boardWrite(t, filepath.Join(dir, amber), text)
		}, board.KindFile, amber, ""},
		{"a verdict, with a new chain", func(t *testing.T, dir string) {
			boardWrite(t, filepath.Join(dir, amber), specVector(t, "verdict-rule"))
		}, board.KindFile, amber, "verdict"},
		{"a reply, with a new chain", func(t *testing.T, dir string) {
			boardWrite(t, filepath.Join(dir, amber), specVector(t, "verdict-reply"))
		}, board.KindFile, amber, "verdict"},
		{"a prompt, with a new chain", func(t *testing.T, dir string) { boardWrite(t, filepath.Join(dir, amber), specVector(t, "prompt-hash")) }, board.KindFile, amber, "prompt"},
		{"an item", func(t *testing.T, dir string) { boardWrite(t, filepath.Join(dir, amber), specVector(t, "chain-item")) }, board.KindFile, amber, "item"},
		{"the dataset", func(t *testing.T, dir string) {
			boardWrite(t, filepath.Join(dir, amber), specVector(t, "item-dataset"))
		}, board.KindFile, amber, "item"},
		{"a number of a report", func(t *testing.T, dir string) {
			boardWrite(t, filepath.Join(dir, amber), specVector(t, "numbers-mean"))
		}, board.KindFile, amber, "numbers"},
		{"other questions", func(t *testing.T, dir string) { boardWrite(t, filepath.Join(dir, amber), specVector(t, "valid-rule")) }, board.KindLane, amber, "no lane has questions"},
		{"one run file in place of another", func(t *testing.T, dir string) {
			boardWrite(t, filepath.Join(dir, amber), boardRead(t, filepath.Join(dir, heath)))
		}, board.KindLog, amber, "changed since"},
		{"a run submitted twice", func(t *testing.T, dir string) {
			boardWrite(t, filepath.Join(dir, "runs/z.deem"), boardRead(t, filepath.Join(dir, amber)))
		}, board.KindDuplicate, "runs/z.deem", "same records as " + amber},
		{"a run file removed", func(t *testing.T, dir string) { boardRemove(t, filepath.Join(dir, amber)) }, board.KindLog, amber, "it is missing"},
		{"an entry removed", func(t *testing.T, dir string) {
			lines := bytes.SplitAfter(boardRead(t, filepath.Join(dir, entries)), []byte("\n"))
			boardWrite(t, filepath.Join(dir, entries), bytes.Join(slices.Delete(lines, 3, 4), nil))
		}, board.KindCheckpoint, checkpoint, "entries were removed"},
		{"entries reordered", func(t *testing.T, dir string) {
			lines := bytes.SplitAfter(boardRead(t, filepath.Join(dir, entries)), []byte("\n"))
			lines[3], lines[4] = lines[4], lines[3]
			boardWrite(t, filepath.Join(dir, entries), bytes.Join(lines, nil))
		}, board.KindCheckpoint, checkpoint, "reordered"},
		{"an entry added by hand", func(t *testing.T, dir string) {
			boardWrite(t, filepath.Join(dir, entries), append(boardRead(t, filepath.Join(dir, entries)), []byte(`{"action":"withdraw","file":"runs/own-heath.deem"}`+"\n")...))
		}, board.KindCheckpoint, checkpoint, "not signed"},
		{"an entry in another form", func(t *testing.T, dir string) { boardEdit(t, filepath.Join(dir, entries), `"action":`, `"action": `) }, board.KindLog, entries, "not an entry"},
		{"the size in the checkpoint", func(t *testing.T, dir string) { boardEdit(t, filepath.Join(dir, checkpoint), "\n5\n", "\n4\n") }, board.KindCheckpoint, checkpoint, "not signed"},
		{"a checkpoint by another key", func(t *testing.T, dir string) {
			key, err := board.VerifierKey("example.org/board", other.Public().(ed25519.PublicKey))
			if err != nil {
				t.Fatal(err)
			}
			text := string(boardRead(t, filepath.Join(dir, "board.yaml")))
			at := strings.Index(text, "\nkey: ")
			end := at + 1 + strings.Index(text[at+1:], "\n")
			boardWrite(t, filepath.Join(dir, "board.yaml"), []byte(text[:at]+"\nkey: "+key+text[end:]))
		}, board.KindCheckpoint, checkpoint, "not signed with the key"},
		{"the checkpoint removed", func(t *testing.T, dir string) { boardRemove(t, filepath.Join(dir, checkpoint)) }, board.KindCheckpoint, checkpoint, "missing"},
		{"a floor that becomes a row", func(t *testing.T, dir string) {
			boardEdit(t, filepath.Join(dir, "board.yaml"), "floors: [arm none]", "floors: []")
		}, board.KindRules, "board.yaml", "lanes, floors or rules were changed"},
		{"the budget of a lane", func(t *testing.T, dir string) {
			boardEdit(t, filepath.Join(dir, "board.yaml"), "budget: 2000", "budget: 4000")
		}, board.KindLane, "runs/read2000-amber.deem", "budget 2000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := boardCopied(t, smallBoard)
			tt.tamper(t, dir)
			c := boardChecked(t, dir, board.Options{})
			if !slices.ContainsFunc(c.Findings, func(f board.Finding) bool {
				return f.Kind == tt.kind && f.File == tt.file && strings.Contains(f.Message, tt.says)
			}) {
				t.Errorf("findings %v, want one of %s about %s that says %q", c.Findings, tt.kind, tt.file, tt.says)
			}
		})
	}
}

func boardRemove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// A log that was made anew from the boardFiles, and signed with the right key, is not the one whose
// checkpoint somebody kept.
func TestBoardRewrittenLog(t *testing.T) {
	t.Parallel()
	dir := boardCopied(t, smallBoard)
	kept := boardRead(t, filepath.Join(dir, "log/checkpoint"))
	if c := boardChecked(t, dir, board.Options{Since: kept}); !c.OK() {
		t.Fatalf("findings before: %v", c.Findings)
	}
	if err := os.RemoveAll(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	boardRemove(t, filepath.Join(dir, "runs/own-amber.deem"))
	if err := boardAppend(t, dir, boardExampleKey, nil, ""); err != nil {
		t.Fatal(err)
	}
	if c := boardChecked(t, dir, board.Options{}); !c.OK() {
		t.Errorf("the new log by itself: %v", c.Findings)
	}
	c := boardChecked(t, dir, board.Options{Since: kept})
	if c.OK() || !strings.Contains(c.Findings[0].Message, "entries were removed") {
		t.Errorf("findings %v, want that entries were removed", c.Findings)
	}
}

// Withdrawals and corrections are new entries, and need a reason.
func TestBoardWithdraw(t *testing.T) {
	t.Parallel()
	dir := boardCopied(t, smallBoard)
	kept := boardRead(t, filepath.Join(dir, "log/checkpoint"))
	const amber = "runs/own-amber.deem"
	boardRemove(t, filepath.Join(dir, amber))
	if err := boardAppend(t, dir, boardExampleKey, nil, ""); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("a file that vanished: %v", err)
	}
	if err := boardAppend(t, dir, boardExampleKey, []string{amber}, ""); err == nil || !strings.Contains(err.Error(), "reason") {
		t.Errorf("a withdrawal without a reason: %v", err)
	}
	if err := boardAppend(t, dir, boardExampleKey, []string{amber}, "the contexts were wrong"); err != nil {
		t.Fatal(err)
	}
	c := boardChecked(t, dir, board.Options{Since: kept})
	if !c.OK() || c.Entries != 6 {
		t.Errorf("findings %v, %d entries", c.Findings, c.Entries)
	}
	if err := boardAppend(t, dir, ed25519.NewKeyFromSeed(make([]byte, 32)), nil, ""); err != nil {
		t.Errorf("nothing to add: %v", err)
	}
}

// Two builds in other folders and time zones give the same bytes, and a changed page is named.
func TestBoardBuild(t *testing.T) {
	was := time.Local
	defer func() { time.Local = was }()
	var sites []string
	for _, zone := range []int{0, 9} {
		time.Local = time.FixedZone("zone", zone*3600)
		dir := boardCopied(t, smallBoard)
		site := filepath.Join(t.TempDir(), fmt.Sprintf("site %d", zone))
		if _, err := boardChecked(t, dir, board.Options{}).Build(t.Context(), site, ""); err != nil {
			t.Fatal(err)
		}
		sites = append(sites, site)
	}
	first, err := boardFiles(sites[0])
	if err != nil {
		t.Fatal(err)
	}
	second, err := boardFiles(sites[1])
	if err != nil {
		t.Fatal(err)
	}
	if len(first) < 20 || len(first) != len(second) {
		t.Errorf("%d and %d files", len(first), len(second))
	}
	for name, text := range first {
		if !bytes.Equal(text, second[name]) {
			t.Errorf("%s differs", name)
		}
	}
	c := boardChecked(t, boardCopied(t, smallBoard), board.Options{})
	if err := c.CompareSite(t.Context(), sites[1]); err != nil || !c.OK() {
		t.Errorf("the pages themselves: %v, %v", err, c.Findings)
	}
	boardEdit(t, filepath.Join(sites[1], "index.html"), "93.3%", "98.3%")
	boardWrite(t, filepath.Join(sites[1], "more.html"), []byte("hello"))
	boardRemove(t, filepath.Join(sites[1], "rows/own-amber/items-2.html"))
	if err := c.CompareSite(t.Context(), sites[1]); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, f := range c.Findings {
		named = append(named, f.Kind+" "+f.File)
	}
	slices.Sort(named)
	if want := []string{"page index.html", "page more.html", "page rows/own-amber/items-2.html"}; !slices.Equal(named, want) {
		t.Errorf("findings %q, want %q", named, want)
	}
}

// The page has what a reader needs to judge the numbers.
func TestBoardPage(t *testing.T) {
	t.Parallel()
	site := filepath.Join(t.TempDir(), "site")
	if _, err := boardChecked(t, boardCopied(t, exampleBoard), board.Options{}).Build(t.Context(), site, ""); err != nil {
		t.Fatal(err)
	}
	for file, wants := range map[string][]string{
		"index.html":                       {"a score of one lane says nothing about one of another", ">ceiling<", ">floor<", "99.0% stated", "example.org/board\n24\n", "redacted", "points would be shown"},
		"rows/own-heath/index.html":        {"Not checkable: the bundle is redacted"},
		"rows/read2000-amber/index.html":   {"answered"},
		"rows/read2000-amber/items-1.html": {"Ada: city = ", "This verdict is wrong", "issues/new?body=Item", "reader deem"},
	} {
		text := string(boardRead(t, filepath.Join(site, filepath.FromSlash(file))))
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not have %q", file, want)
			}
		}
	}
}
