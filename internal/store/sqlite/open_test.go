package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

func TestOpenCreates(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a", ".deem")
	path := filepath.Join(folder, "deem.db")
	s := open(t, path)
	if _, _, err := s.Begin(t.Context(), storetest.Spec(""), false); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{folder: 0o700 | os.ModeDir, path: 0o600, path + "-wal": 0o600} {
		info, err := os.Stat(name)
		if err != nil || info.Mode() != want {
			t.Errorf("mode of %s = %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("after Close the folder holds %v, %v, want only the database", entries, err)
	}
}

// TestOpenNames checks that a path means the file of that name, even if a URI would mean
// something else.
func TestOpenNames(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{
		"deem.db", "a b.db", "what?.db", "50%.db", "%41.db", "#1.db", "a&mode=ro.db", "größe.db", "a:b.db", "deep/er/x.db", "?_pragma=x",
	} {
		s := open(t, name)
		if s.Path() != name {
			t.Errorf("Path() = %q, want %q", s.Path(), name)
		}
		if info, err := os.Stat(name); err != nil || info.Size() == 0 {
			t.Errorf("there is no database at %q: %v", name, err)
		}
		run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
		if err != nil {
			t.Errorf("Begin in %q: %v", name, err)
		}
		again, err := sqlite.OpenReadOnly(t.Context(), name, sqlite.Options{})
		if err != nil {
			t.Errorf("OpenReadOnly(%q): %v", name, err)
			continue
		}
		if _, err := again.Run(t.Context(), run.ID); err != nil {
			t.Errorf("Run in %q: %v", name, err)
		}
		if err := again.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// TestOpenAtOnce checks that processes can create the same database concurrently.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deem.db")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	wg.Wait()
}

// TestOpenUnborn checks that an interrupted creation of a database is completed.
func TestOpenUnborn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deem.db")
	execute(t, path, "PRAGMA journal_mode = WAL")
	s := open(t, path)
	if _, _, err := s.Begin(t.Context(), storetest.Spec(""), false); err != nil {
		t.Error(err)
	}
}

// TestOpenOutOfWAL checks that a tool that switched the database out of WAL mode does no
// lasting harm.
func TestOpenOutOfWAL(t *testing.T) {
	t.Parallel()
	path := file(t)
	execute(t, path, "PRAGMA journal_mode = DELETE")
	open(t, path)
	var mode string
	if err := raw(t, path).QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode); err != nil || mode != "wal" {
		t.Errorf("journal_mode = %q, %v, want wal", mode, err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	path := file(t)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	blank := write(t, "deem.db", nil)
	missing := filepath.Join(t.TempDir(), "not", "yet", "deem.db")
	for path, want := range map[string]sqlite.Health{
		path:    {Path: path, Exists: true, Bytes: info.Size(), Schema: 2, Latest: 2, Runs: 1, Records: 120},
		blank:   {Path: blank, Exists: true, Latest: 2},
		missing: {Path: missing, Latest: 2},
	} {
		got, err := sqlite.Check(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Errorf("Check: %v", err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("Check differs (-want +got):\n%s", d)
		}
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(missing))); err == nil {
		t.Error("Check created a folder")
	}
}

// TestCheckReferences checks that a row that refers to a missing row is found.
func TestCheckReferences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ remove, says string }{
		{"DELETE FROM items WHERE n = 3", "records refers to one of items"},
		{"DELETE FROM replies WHERE n = 3", "calls refers to one of replies"},
		{"DELETE FROM runs", "records refers to one of runs"},
		{"INSERT INTO item_texts VALUES (3, 'question', 99)", "item_texts refers to one of texts"},
	} {
		path := file(t)
		execute(t, path, c.remove)
		_, err := sqlite.Check(t.Context(), path, sqlite.Options{})
		wantTrouble(t, "Check after "+c.remove, err, c.says, "")
	}
}

// TestLogBounded checks that the log next to the database is checkpointed, and does not
// grow with the run.
func TestLogBounded(t *testing.T) {
	t.Parallel()
	s, run := begin(t)
	const bound = 40 << 20 // It is checkpointed after a commit, so one commit may exceed the threshold.
	rec := storetest.Record(0)
	rec.Calls = nil
	for i := range 12 {
		// A different text each time, since SQLite does not write unchanged data.
		rec.Verdict.Reason = strings.Repeat(string(rune('a'+i)), 5<<20)
		if err := s.Append(t.Context(), run.ID, []deem.Record{rec}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(s.Path() + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > bound {
			t.Fatalf("the log has %d bytes, want at most %d", info.Size(), bound)
		}
	}
	info, err := os.Stat(s.Path())
	if err != nil || info.Size() < 5<<20 {
		t.Errorf("the database has %d bytes, %v: the log was never moved", info.Size(), err)
	}
}

// TestReadOnlyFolder checks that a database can be read in a read-only folder.
func TestReadOnlyFolder(t *testing.T) {
	path := file(t)
	folder := filepath.Dir(path)
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Chmod(folder, 0o700); err != nil {
			t.Error(err)
		}
	})
	if f, err := os.Create(filepath.Join(folder, "x")); err == nil {
		t.Log("this user may write everywhere, so there is nothing to see")
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	s, err := sqlite.OpenReadOnly(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if run, err := s.Run(t.Context(), "last"); err != nil || run.Records != 120 {
		t.Errorf("Run = %d records, %v, want 120", run.Records, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_, err = sqlite.Open(t.Context(), path, sqlite.Options{})
	wantTrouble(t, "Open", err, "the database", "permissions")
}
