package upgrade_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"deem"
	"deem/internal/store/internal/upgrade"
)

var files = fstest.MapFS{
	"migrations/00001_a.sql":  {Data: []byte("-- +goose Up\nCREATE TABLE a (n INTEGER);\n")},
	"migrations/00002_b.sql":  {Data: []byte("-- +goose Up\nCREATE TABLE b (n INTEGER);\n")},
	"migrations/00010_c.sql":  {Data: []byte("-- +goose Up\nCREATE TABLE c (n INTEGER);\n")},
	"migrations/readme.md":    {Data: []byte("Not a migration.")},
	"elsewhere/00011_not.sql": {Data: []byte("-- +goose Up\nCREATE TABLE d (n INTEGER);\n")},
}

// TestLatest holds that versions are numbers, and only those in the folder.
func TestLatest(t *testing.T) {
	if got := upgrade.Postgres(files, "versions").Latest(); got != 10 {
		t.Errorf("Latest = %d, want 10", got)
	}
}

func TestRefuse(t *testing.T) {
	s := upgrade.Postgres(files, "versions")
	for _, tt := range []struct {
		version      int64
		newer, older string
	}{
		{2, "", "it was written by an older deem (schema 2, this deem reads 10)"},
		{10, "", ""},
		{11, "it was written by a newer deem (schema 11, this deem knows 10)", ""},
	} {
		wantError(t, "RefuseNewer", s.RefuseNewer(tt.version), tt.newer)
		wantError(t, "RefuseOlder", s.RefuseOlder(tt.version), tt.older)
	}
	if query := s.SelectVersion(); !strings.Contains(query, " versions ") {
		t.Errorf("SelectVersion = %s, want it to ask the table that was named", query)
	}
}

func wantError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("%s = %v, want none", what, err)
		}
		return
	}
	if err == nil || err.Error() != want || deem.HintOf(err) == "" {
		t.Errorf("%s = %v with hint %q, want %s with one", what, err, deem.HintOf(err), want)
	}
}

// TestNoMigrations holds that a program built without its migrations says so at once.
func TestNoMigrations(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a schema without migrations is none")
		}
	}()
	upgrade.Postgres(fstest.MapFS{"migrations/readme.md": {}}, "versions")
}
