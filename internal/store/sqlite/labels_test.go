package sqlite_test

import (
	"path/filepath"
	"testing"

	"deem"
	"deem/internal/store"
	"deem/internal/store/storetest"
)

// A database of before there were labels keeps its runs and learns of labels.
func TestLabelsAreAddedToAnOlderDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deem.db")
	s := open(t, path)
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	rec := storetest.Record(0)
	if err := s.Append(t.Context(), run.ID, []deem.Record{rec}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "DROP TABLE labels", "DELETE FROM goose_db_version WHERE version_id >= 3")
	s = open(t, path)
	if got, err := s.Run(t.Context(), run.ID); err != nil || got.Records != 1 {
		t.Errorf("after the migration the run has %d records, %v, want 1", got.Records, err)
	}
	if err := s.PutLabels(t.Context(), []store.Label{{Item: rec.Item.Hash(), ID: rec.Item.ID, Label: "yes", Yes: true, Score: 1}}); err != nil {
		t.Errorf("PutLabels after the migration: %v", err)
	}
}
