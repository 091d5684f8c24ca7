package postgres_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"deem"
	"deem/internal/store/postgres"
	"deem/internal/test/storetest"
)

// open opens the database at url and closes it when the test is over.
func open(t testing.TB, url string, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, o)
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

// empty creates a database without tables and returns its URL.
func empty(t *testing.T) string {
	t.Helper()
	url := storetest.Database(t)
	storetest.Execute(t, url, "DROP SCHEMA deem CASCADE")
	return url
}

// TestOpenAtOnce checks that workers can start concurrently on an empty database.
func TestOpenAtOnce(t *testing.T) {
	url := empty(t)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), url, postgres.Options{})
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
	if _, _, err := open(t, url, postgres.Options{}).Begin(t.Context(), storetest.Spec(""), false); err != nil {
		t.Error(err)
	}
}

// TestOpenRefused checks that tables of another program or a newer deem are left unchanged,
// and that the error has a hint.
func TestOpenRefused(t *testing.T) {
	t.Parallel()
	newer, foreign := storetest.Database(t), empty(t)
	storetest.Execute(t, newer, "INSERT INTO deem.deem_migrations (version_id, is_applied) VALUES (4000, true)")
	storetest.Execute(t, foreign, "CREATE SCHEMA deem", "CREATE TABLE deem.runs (legs INT)")
	for _, tt := range []struct {
		name, url    string
		says, advice string
	}{
		{"newer", newer, "newer deem (schema 4000", "install a newer deem"},
		{"foreign", foreign, "another program", "search_path"},
		{"no database", strings.Replace(newer, "/test_", "/nothing_", 1), "no such database", "createdb"},
		{"nobody there", "postgres://deem@127.0.0.1:1/x", "cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused", "check its address"},
		{"no such host", "postgres://deem@nowhere.invalid/x", "cannot be reached", "check its address"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			for what, open := range map[string]func(context.Context, string, postgres.Options) (*postgres.Store, error){
				"Open": postgres.Open, "OpenReadOnly": postgres.OpenReadOnly,
			} {
				s, err := open(t.Context(), tt.url, postgres.Options{})
				if err == nil {
					t.Fatalf("%s: no error, and closing says %v", what, s.Close())
				}
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %q is more than a sentence", what, err)
				}
				if !strings.Contains(err.Error(), tt.says) || !strings.Contains(deem.HintOf(err), tt.advice) {
					t.Errorf("%s: %q with the hint %q, want it to say %q and advise %q", what, err, deem.HintOf(err), tt.says, tt.advice)
				}
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %v to say so", took)
			}
		})
	}
}

// TestReadOnly checks that a store that was opened for reading reads, and changes nothing.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	if s, err := postgres.OpenReadOnly(t.Context(), empty(t), postgres.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenReadOnly of an empty database = %v, %v, want fs.ErrNotExist", s, err)
	}
	url := storetest.Database(t)
	s := open(t, url, postgres.Options{})
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), run.ID, []deem.Record{storetest.Record(0)}); err != nil {
		t.Fatal(err)
	}
	ro, err := postgres.OpenReadOnly(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close() //nolint:errcheck // It holds nothing.
	if got, err := ro.Run(t.Context(), "last"); err != nil || got.Records != 1 {
		t.Errorf("Run = %d records, %v, want 1", got.Records, err)
	}
	_, _, beginErr := ro.Begin(t.Context(), storetest.Spec("other"), false)
	for what, err := range map[string]error{
		"Begin": beginErr, "Append": ro.Append(t.Context(), run.ID, []deem.Record{storetest.Record(1)}),
		"Finish": ro.Finish(t.Context(), run.ID),
	} {
		if err == nil || !strings.Contains(err.Error(), "for reading only") {
			t.Errorf("%s: %v, want an error that says that it was opened for reading only", what, err)
		}
	}
	if _, err := ro.Pool().Exec(t.Context(), "DELETE FROM calls"); err == nil {
		t.Error("the connections of a store that was opened for reading can write")
	}
}

// TestSecrets checks that no error and no name of a store contains its password.
func TestSecrets(t *testing.T) {
	t.Parallel()
	c := storetest.Shared(t)
	const secret = "hunter2secret"
	for _, url := range []string{
		"postgres://deem:" + secret + "@127.0.0.1:1/x",
		"postgres://deem@127.0.0.1:1/x?password=" + secret,
		"postgres://deem:" + secret + "/x@127.0.0.1:1/x",
		"postgres://deem:" + secret + "#x@127.0.0.1:1/x",
		"postgres://deem:" + secret + "%zz@127.0.0.1:1/x",
		"postgres://deem:" + secret + "@127.0.0.1:port/x",
		"postgres://deem:" + secret + "@127.0.0.1:1/x?sslmode=perhaps",
		"postgres://deem@127.0.0.1:1/x?sslmode=perhaps&password=" + secret,
		"host=127.0.0.1 port=1 password=" + secret,
		strings.Replace(c.TCP("postgres"), c.Password(), secret, 1),
		strings.Replace(c.TCP("nothing"), c.Password(), secret, 1),
	} {
		s, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err == nil {
			t.Errorf("Open(%q) gave no error, and closing says %v", url, s.Close())
			continue
		}
		if said := err.Error() + deem.HintOf(err); strings.Contains(said, secret) {
			t.Errorf("the error of Open(%q) says the password: %s", url, said)
		}
		if deem.HintOf(err) == "" {
			t.Errorf("the error of Open(%q) has no hint: %v", url, err)
		}
	}
	_, db, _ := strings.Cut(storetest.Database(t), "@/")
	db, _, _ = strings.Cut(db, "?")
	s := open(t, c.TCP(db), postgres.Options{})
	if strings.Contains(s.Path(), c.Password()) || !strings.Contains(s.Path(), "127.0.0.1") {
		t.Errorf("Path() = %q, want the host and not the password", s.Path())
	}
	if err := s.Finish(t.Context(), "nothing"); err == nil || strings.Contains(err.Error(), c.Password()) {
		t.Errorf("Finish of no run: %v, want an error without the password", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	s := open(t, url, postgres.Options{})
	if err := s.Append(t.Context(), begin(t, s).ID, []deem.Record{storetest.Record(0), storetest.Record(1)}); err != nil {
		t.Fatal(err)
	}
	h, err := postgres.Check(t.Context(), url, postgres.Options{})
	if err != nil || h.Schema != h.Latest || h.Latest == 0 || h.Runs != 1 || h.Records != 2 || h.Bytes == 0 || h.Server == "" {
		t.Errorf("Check = %+v, %v, want the latest schema with 1 run and 2 records", h, err)
	}
	blank := empty(t)
	if h, err := postgres.Check(t.Context(), blank, postgres.Options{}); err != nil || h.Schema != 0 || h.Runs != 0 {
		t.Errorf("Check of an empty database = %+v, %v, want no schema", h, err)
	}
	if _, err := postgres.OpenReadOnly(t.Context(), blank, postgres.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Check, OpenReadOnly says %v, want that there is nothing still", err)
	}
	if _, err := postgres.Check(t.Context(), "postgres://deem@127.0.0.1:1/x", postgres.Options{}); err == nil {
		t.Error("Check of no server gave no error")
	}
}
