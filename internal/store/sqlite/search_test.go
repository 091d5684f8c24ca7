package sqlite_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deem"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

// indexAll updates the search index, and returns the number of calls.
func indexAll(t *testing.T, s *sqlite.Store, runID string) (calls int) {
	t.Helper()
	for calls = 1; calls < 1000; calls++ {
		done, err := s.Index(t.Context(), runID)
		if err != nil {
			t.Fatalf("Index: %v", err)
		}
		if done.Complete() {
			return calls
		}
	}
	t.Fatal("Index does not come to an end")
	return 0
}

// wantFound fails the test unless a word is found in the expected number of records.
func wantFound(t *testing.T, s *sqlite.Store, runID, word string, want int) {
	t.Helper()
	counts, err := s.Count(t.Context(), runID, store.View{Text: word})
	if err != nil || counts.Total != want {
		t.Errorf("%q is found in %d records, %v, want %d", word, counts.Total, err, want)
	}
}

// readOnly opens a database for reading.
func readOnly(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.OpenReadOnly(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// names returns the names of the files in a folder.
func names(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

// TestSearchReadOnly checks that a store that was opened for reading can be searched, and
// that the index is one file next to the database, accessible only to the user, and reused
// by others.
func TestSearchReadOnly(t *testing.T) {
	path := file(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := readOnly(t, path)
	run, err := s.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	wantFound(t, s, run.ID, "lighthouse", 0)
	indexAll(t, s, run.ID)
	wantFound(t, s, run.ID, "lighthouse", 120)
	wantFound(t, s, run.ID, "q00000017", 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, filepath.Dir(path)); got != "deem.db deem.db.search" {
		t.Errorf("the folder holds %s, want the database and its index", got)
	}
	if info, err := os.Stat(path + ".search"); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode of the index = %v, %v, want 0600", info.Mode(), err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the database was changed by indexing it, %v", err)
	}
	again := readOnly(t, path)
	wantFound(t, again, run.ID, "lighthouse", 120)
	if calls := indexAll(t, again, run.ID); calls != 1 {
		t.Errorf("an index that is complete took %d calls", calls)
	}
}

// TestSearchMadeAnew checks that the index is silently rebuilt, whatever happens to its
// file.
func TestSearchMadeAnew(t *testing.T) {
	run, database, index := indexed(t)
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, index string)
	}{
		{"deleted", func(t *testing.T, index string) { remove(t, index) }},
		{"empty", func(t *testing.T, index string) { overwrite(t, index, nil) }},
		{"text", func(t *testing.T, index string) {
			overwrite(t, index, []byte(strings.Repeat("my shopping list\n", 500)))
		}},
		{"short text", func(t *testing.T, index string) { overwrite(t, index, []byte("hello")) }},
		{"cut off", func(t *testing.T, index string) {
			if err := os.Truncate(index, 9000); err != nil {
				t.Fatal(err)
			}
		}},
		{"overwritten inside", func(t *testing.T, index string) {
			data, err := os.ReadFile(index)
			if err != nil {
				t.Fatal(err)
			}
			for i := 4096; i < len(data); i++ {
				data[i] = byte(i * 7)
			}
			overwrite(t, index, data)
		}},
		{"another program's", func(t *testing.T, index string) {
			remove(t, index)
			execute(t, index, "CREATE TABLE visits (url TEXT)")
		}},
		{"of another deem", func(t *testing.T, index string) { execute(t, index, "PRAGMA user_version = 9999") }},
		{"without its tables", func(t *testing.T, index string) { execute(t, index, "DROP TABLE about") }},
		{"words damaged", func(t *testing.T, index string) {
			execute(t, index, "UPDATE item_words_data SET block = randomblob(500)")
		}},
		{"a log without its file", func(t *testing.T, index string) {
			remove(t, index)
			overwrite(t, index+"-wal", []byte(strings.Repeat("x", 10_000)))
		}},
		{"a half-made one", func(t *testing.T, index string) {
			remove(t, index)
			overwrite(t, index+".new", []byte("x"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "deem.db")
			overwrite(t, path, database)
			overwrite(t, path+".search", index)
			s := readOnly(t, path)
			wantFound(t, s, run.ID, "lighthouse", 120)
			tt.spoil(t, path+".search")
			wantFound(t, s, run.ID, "lighthouse", 0)
			indexAll(t, s, run.ID)
			wantFound(t, s, run.ID, "lighthouse", 120)
		})
	}
}

// indexed returns a run, and the contents of a database with it and of its index.
func indexed(t *testing.T) (run store.Run, database, index []byte) {
	t.Helper()
	path := file(t)
	s := readOnly(t, path)
	run, err := s.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	indexAll(t, s, run.ID)
	if database, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if index, err = os.ReadFile(path + ".search"); err != nil {
		t.Fatal(err)
	}
	return run, database, index
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSearchElsewhere checks that a search works if no file can be created next to the
// database, and leaves nothing behind.
func TestSearchElsewhere(t *testing.T) {
	path, temp := file(t), t.TempDir()
	t.Setenv("TMPDIR", temp)
	// A folder of that name cannot be replaced by a file, not even by root.
	if err := os.MkdirAll(filepath.Join(path+".search", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := readOnly(t, path)
	run, err := s.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	wantFound(t, s, run.ID, "lighthouse", 0)
	indexAll(t, s, run.ID)
	wantFound(t, s, run.ID, "lighthouse", 120)
	if got := names(t, temp); !strings.HasPrefix(got, "deem-search-") {
		t.Errorf("the folder for temporary files holds %q, want the index", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, temp); got != "" {
		t.Errorf("after Close the folder for temporary files holds %q", got)
	}
}

// TestSearchNowhere checks that a search returns an error if the index cannot be stored
// anywhere.
func TestSearchNowhere(t *testing.T) {
	path := file(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	if err := os.MkdirAll(filepath.Join(path+".search", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := readOnly(t, path)
	run, err := s.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Index(t.Context(), run.ID)
	wantTrouble(t, "Index", err, "missing", "TMPDIR")
	if recs, err := s.View(t.Context(), run.ID, store.View{}); err != nil || len(recs) != store.DefaultLimit {
		t.Errorf("View without a text = %d records, %v, want a page", len(recs), err)
	}
}

// TestSearchOtherDatabase checks that the index of a deleted database is not used for the
// next one, whose numbers mean other items.
func TestSearchOtherDatabase(t *testing.T) {
	path, other := file(t), file(t)
	s := open(t, path)
	run, err := s.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	indexAll(t, s, run.ID)
	data, err := os.ReadFile(path + ".search")
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, other+".search", data)
	s = open(t, other)
	if run, err = s.Run(t.Context(), "last"); err != nil {
		t.Fatal(err)
	}
	wantFound(t, s, run.ID, "lighthouse", 0)
	indexAll(t, s, run.ID)
	wantFound(t, s, run.ID, "lighthouse", 120)
}

// TestSearchPutBack checks that a database that is restored to an earlier state, and then
// changes differently, is not searched with stale words.
func TestSearchPutBack(t *testing.T) {
	path := file(t)
	early, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	said := func(response, reason string) {
		t.Helper()
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
		if err != nil {
			t.Fatal(err)
		}
		rec := storetest.Record(500)
		rec.Item.Response, rec.Verdict.Reason = response, reason
		if err := s.Append(t.Context(), run.ID, []deem.Record{rec}); err != nil {
			t.Fatal(err)
		}
		indexAll(t, s, run.ID)
		wantFound(t, s, run.ID, response, 1)
		wantFound(t, s, run.ID, reason, 1)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	said("granite", "velvet")
	overwrite(t, path, early)
	said("walnut", "maple")
	s := open(t, path)
	run, err := s.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	wantFound(t, s, run.ID, "granite", 0)
	wantFound(t, s, run.ID, "velvet", 0)
}

// TestSearchBusy checks that a process that finds another one indexing does not wait, and
// reports the other's progress.
func TestSearchBusy(t *testing.T) {
	path := file(t)
	s := readOnly(t, path)
	run, err := s.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	wantFound(t, s, run.ID, "lighthouse", 0) // It creates the file.
	db := raw(t, path+".search")
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	done, err := s.Index(t.Context(), run.ID)
	if want := (store.Searched{Total: 120}); done != want || err != nil {
		t.Errorf("Index = %+v, %v, want %+v", done, err, want)
	}
	if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	indexAll(t, s, run.ID)
	wantFound(t, s, run.ID, "lighthouse", 120)
}

// TestSearchMadeAtOnce checks that stores can create a missing or damaged index
// concurrently.
func TestSearchMadeAtOnce(t *testing.T) {
	path := file(t)
	for _, spoil := range []func(){func() {}, func() { overwrite(t, path+".search", []byte("hello")) }} {
		spoil()
		var wg sync.WaitGroup
		for range 6 {
			s := readOnly(t, path)
			wg.Go(func() {
				run, err := s.Run(context.WithoutCancel(t.Context()), "last")
				if err != nil {
					t.Errorf("Run: %v", err)
					return
				}
				for done := (store.Searched{Total: 1}); !done.Complete(); {
					if done, err = s.Index(t.Context(), run.ID); err != nil {
						t.Errorf("Index: %v", err)
						return
					}
				}
				wantFound(t, s, run.ID, "lighthouse", 120)
			})
		}
		wg.Wait()
	}
	if got := names(t, filepath.Dir(path)); strings.Contains(got, ".lock") || strings.Contains(got, ".new") {
		t.Errorf("the folder holds %s, want no traces", got)
	}
}
