package postgres

import (
	"testing"
	"testing/fstest"

	"deem"
)

var testFiles = fstest.MapFS{
	"migrations/00001_a.sql":  {Data: []byte("-- +goose Up\nCREATE TABLE a (n INTEGER);\n")},
	"migrations/00002_b.sql":  {Data: []byte("-- +goose Up\nCREATE TABLE b (n INTEGER);\n")},
	"migrations/00010_c.sql":  {Data: []byte("-- +goose Up\nCREATE TABLE c (n INTEGER);\n")},
	"migrations/readme.md":    {Data: []byte("Not a migration.")},
	"elsewhere/00011_not.sql": {Data: []byte("-- +goose Up\nCREATE TABLE d (n INTEGER);\n")},
}

// TestLatest checks that versions are numbers, from the folder only.
func TestLatest(t *testing.T) {
	if got := NewTables(testFiles, "versions", 1).latest; got != 10 {
		t.Errorf("Latest = %d, want 10", got)
	}
}

func TestRefuse(t *testing.T) {
	s := NewTables(testFiles, "versions", 1)
	for _, tt := range []struct {
		version      int64
		newer, older string
	}{
		{2, "", "it was written by an older deem (schema 2, this deem reads 10)"},
		{10, "", ""},
		{11, "it was written by a newer deem (schema 11, this deem knows 10)", ""},
	} {
		wantError(t, "refuseNewer", s.refuseNewer(tt.version), tt.newer)
		wantError(t, "refuseOlder", s.refuseOlder(tt.version), tt.older)
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

// TestNoMigrations checks that a program built without its migrations panics at once.
func TestNoMigrations(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("tables without migrations do not panic")
		}
	}()
	NewTables(fstest.MapFS{"migrations/readme.md": {}}, "versions", 1)
}
