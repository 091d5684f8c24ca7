package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

// file returns a closed database with some records.
func file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deem.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	appendRecords(t, s, run.ID, 0, 120)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// raw opens a database bypassing the store.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // The test reads what it wrote.
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// wantTrouble fails the test unless err has the expected message and hint, in the format of
// all our errors.
func wantTrouble(t *testing.T, what string, err error, says, advice string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s gave no error, want %q", what, says)
		return
	}
	if text := err.Error(); !strings.Contains(text, says) || strings.HasSuffix(text, ".") || strings.Contains(text, "\n") {
		t.Errorf("%s: error = %q, want one line that says %q", what, text, says)
	}
	if hint := deem.HintOf(err); !strings.Contains(hint, advice) || hint == "" {
		t.Errorf("%s: hint = %q, want it to say %q", what, hint, advice)
	}
}

// openers are all ways to open a database.
var openers = map[string]func(ctx context.Context, path string) error{
	"Open": func(ctx context.Context, path string) error {
		s, err := sqlite.Open(ctx, path, sqlite.Options{})
		if err == nil {
			err = errors.Join(errors.New("it opened"), s.Close())
		}
		return err
	},
	"OpenReadOnly": func(ctx context.Context, path string) error {
		s, err := sqlite.OpenReadOnly(ctx, path, sqlite.Options{})
		if err == nil {
			err = errors.Join(errors.New("it opened"), s.Close())
		}
		return err
	},
	"Check": func(ctx context.Context, path string) error {
		_, err := sqlite.Check(ctx, path, sqlite.Options{})
		return err
	},
}

// TestCannotOpen checks that a file that cannot be opened is named in the error, and left
// unchanged.
func TestCannotOpen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		make   func(t *testing.T) string
		says   string
		advice string
	}{
		{"folder", func(t *testing.T) string { return t.TempDir() }, "is a folder", "deem.db"},
		{"below a file", func(t *testing.T) string {
			return filepath.Join(write(t, "x", []byte("hello")), "sub", "deem.db")
		}, "not a directory", "--db"},
		{"text", func(t *testing.T) string {
			return write(t, "deem.db", []byte(strings.Repeat("no database at all\n", 400)))
		}, "it is not a database", "--db"},
		{"short text", func(t *testing.T) string { return write(t, "deem.db", []byte("hello\n")) }, "it is not a database", "--db"},
		{"another program's", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "history.db")
			execute(t, path, "CREATE TABLE visits (url TEXT)", "INSERT INTO visits VALUES ('x')")
			return path
		}, "of another program", "nothing was changed"},
		{"our tables with the id of another program", func(t *testing.T) string {
			path := file(t)
			execute(t, path, "PRAGMA application_id = 0")
			return path
		}, "of another program", "nothing was changed"},
		{"newer", func(t *testing.T) string {
			path := file(t)
			execute(t, path, "PRAGMA user_version = 99999")
			return path
		}, "written by a newer deem (schema 99999", "install a newer deem"},
		{"cut off", func(t *testing.T) string {
			path := file(t)
			if err := os.Truncate(path, 5000); err != nil {
				t.Fatal(err)
			}
			return path
		}, "the database is damaged", ".recover"},
	} {
		for opener, open := range openers {
			t.Run(tt.name+"/"+opener, func(t *testing.T) {
				t.Parallel()
				path := tt.make(t)
				before, _ := os.ReadFile(path) //nolint:errcheck // It may be a folder.
				wantTrouble(t, opener, open(t.Context(), path), tt.says, tt.advice)
				after, _ := os.ReadFile(path) //nolint:errcheck // It may be a folder.
				if !bytes.Equal(before, after) {
					t.Error("the file was changed")
				}
			})
		}
	}
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadOnlyMissing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "sub", "deem.db")
	_, err := sqlite.OpenReadOnly(t.Context(), path, sqlite.Options{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenReadOnly of nothing: error = %v, want fs.ErrNotExist", err)
	}
	wantTrouble(t, "OpenReadOnly of nothing", err, "no runs at", "judge something first, with `deem run --data FILE` or `deem demo`")
	blank := write(t, "deem.db", nil)
	_, err = sqlite.OpenReadOnly(t.Context(), blank, sqlite.Options{})
	wantTrouble(t, "OpenReadOnly of an empty file", err, "it holds no runs", "judge something first, with `deem run --data FILE` or `deem demo`")
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("the folder holds %v, %v, want nothing", entries, err)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := file(t)
	s, err := sqlite.OpenReadOnly(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // Nothing was written.
	run, err := s.Run(t.Context(), "last")
	if err != nil || run.Records != 120 {
		t.Errorf("Run = %d records, %v, want 120", run.Records, err)
	}
	n := 0
	for _, err := range s.Records(t.Context(), run.ID, store.Query{WithCalls: true}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 120 {
		t.Errorf("%d records, want 120", n)
	}
	_, _, err = s.Begin(t.Context(), storetest.Spec("x"), false)
	for what, err := range map[string]error{
		"Begin":  err,
		"Append": s.Append(t.Context(), run.ID, []deem.Record{storetest.Record(0)}),
		"Finish": s.Finish(t.Context(), run.ID),
	} {
		if err == nil || !strings.Contains(err.Error(), "opened for reading only") {
			t.Errorf("%s of a store that only reads: error = %v", what, err)
		}
	}
}

// TestFull fills the database up and checks that nothing is half written, that committed
// data is there, and that the run can be resumed once there is space.
func TestFull(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deem.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{MaxPages: 150})
	if err != nil {
		t.Fatal(err)
	}
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	kept := map[string]bool{}
	w := store.NewWriter(s, run.ID, store.WriterOptions{MaxRows: 32, Committed: func(recs []deem.Record) {
		mu.Lock()
		defer mu.Unlock()
		for _, rec := range recs {
			kept[rec.Item.ID] = true
		}
	}})
	for i := 0; err == nil && i < 10_000; i++ {
		err = w.Put(t.Context(), storetest.Record(i))
	}
	wantTrouble(t, "Put", err, "the disk is full", "free some space")
	wantTrouble(t, "Close", w.Close(), "were not kept", "free some space")
	if len(kept) < 64 {
		t.Fatalf("only %d records were kept, the test is worth nothing", len(kept))
	}
	mustHold(t, s, run.ID, kept)
	if err := s.Close(); err != nil {
		t.Errorf("Close of a full store: %v", err)
	}

	again := open(t, path)
	resumed, ok, err := again.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil || !ok || resumed.ID != run.ID {
		t.Fatalf("Begin = %s, %v, %v, want %s, true", resumed.ID, ok, err, run.ID)
	}
	mustHold(t, again, run.ID, kept)
	appendRecords(t, again, run.ID, 10_000, 10_100)
}

// mustHold fails the test unless the run has exactly the given items, with matching counts.
func mustHold(t *testing.T, s *sqlite.Store, runID string, want map[string]bool) {
	t.Helper()
	n := 0
	for rec, err := range s.Records(t.Context(), runID, store.Query{WithCalls: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if !want[rec.Item.ID] || len(rec.Calls) != 1 {
			t.Fatalf("record %s with %d calls was never said to be kept", rec.Item.ID, len(rec.Calls))
		}
		n++
	}
	run, err := s.Run(t.Context(), runID)
	if err != nil || n != len(want) || run.Records != n {
		t.Fatalf("%d records, the run counts %d, %v, want %d", n, run.Records, err, len(want))
	}
}

// TestLocked checks that a store waits for another writer, but not forever.
func TestLocked(t *testing.T) {
	path := file(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Wait: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // TestStore has it.
	run, err := s.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	recs := []deem.Record{storetest.Record(1000)}
	wantTrouble(t, "Append", s.Append(t.Context(), run.ID, recs), "another process has the database locked", "run the command again")
	_, _, err = s.Begin(t.Context(), storetest.Spec(""), false)
	wantTrouble(t, "Begin", err, "another process has the database locked", "run the command again")
	_, err = sqlite.Check(t.Context(), path, sqlite.Options{Wait: 30 * time.Millisecond})
	wantTrouble(t, "Check", err, "another process has the database locked", "run the command again")
	if status, err := s.Status(t.Context(), run.ID, recs[0].Item.ID, 0); err != nil || status != store.Missing {
		t.Errorf("Status while another writes = %v, %v, want missing", status, err)
	}
	if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), run.ID, recs); err != nil {
		t.Errorf("Append after the lock is gone: %v", err)
	}
	if _, _, err := s.Begin(t.Context(), storetest.Spec(""), false); err != nil {
		t.Errorf("Begin after the lock is gone: %v", err)
	}
}

// TestDamaged corrupts pages in the middle of the file.
func TestDamaged(t *testing.T) {
	t.Parallel()
	path := file(t)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for page := int64(30); page < info.Size()/4096; page++ {
		if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, 4096), page*4096); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = sqlite.Check(t.Context(), path, sqlite.Options{})
	wantTrouble(t, "Check", err, "the database is damaged", ".recover")
	s := open(t, path)
	run, err := s.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	for _, err = range s.Records(t.Context(), run.ID, store.Query{WithCalls: true}) {
		if err != nil {
			break
		}
	}
	wantTrouble(t, "Records", err, "the database is damaged", ".recover")
	recs := []deem.Record{storetest.Record(0), storetest.Record(60), storetest.Record(119)}
	wantTrouble(t, "Append", s.Append(t.Context(), run.ID, recs), "the database is damaged", ".recover")
}

// TestSwappedPages swaps two pages of the file. A read returns every record or an error: it
// never leaves one out, and never panics.
func TestSwappedPages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deem.db")
	s := open(t, path)
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	const records = 300
	for i := range records {
		rec := storetest.Record(i)
		for k := range 12 {
			rec.Calls = append(rec.Calls, deem.Call{Model: "m", Request: strings.Repeat("r", 64), Error: fmt.Sprint("busy ", k)})
		}
		if err := s.Append(t.Context(), run.ID, []deem.Record{rec}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Finish(t.Context(), run.ID), s.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	r := rand.New(rand.NewPCG(38, 5))
	reported := 0
	for range 100 {
		i, j := 1+r.IntN(len(whole)/page-1), 1+r.IntN(len(whole)/page-1)
		swapped := bytes.Clone(whole)
		copy(swapped[i*page:(i+1)*page], whole[j*page:])
		copy(swapped[j*page:(j+1)*page], whole[i*page:(i+1)*page])
		other := filepath.Join(t.TempDir(), "swapped.db")
		if err := os.WriteFile(other, swapped, 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := readAll(t.Context(), other, run.ID)
		if err == nil && n != records {
			t.Errorf("with pages %d and %d swapped, %d of %d records and no error", i, j, n, records)
		}
		if err != nil {
			reported++
		}
	}
	t.Logf("%d of 100 swaps were reported", reported)
}

// readAll reads all records of a run with their calls, and returns their number.
func readAll(ctx context.Context, path, runID string) (n int, err error) {
	s, err := sqlite.OpenReadOnly(ctx, path, sqlite.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, err := range s.Records(ctx, runID, store.Query{WithCalls: true}) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
