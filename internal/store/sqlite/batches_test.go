package sqlite_test

import (
	"path/filepath"
	"testing"

	"deem"
	"deem/internal/store"
	"deem/internal/store/storetest"
)

func TestBatches(t *testing.T) {
	opens := opener()
	storetest.TestBatches(t, func(t *testing.T) storetest.BatchStore { return opens(t) })
}

// A database of before there were batches keeps its runs and learns of batches.
func TestBatchesAreAddedToAnOlderDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deem.db")
	s := open(t, path)
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), run.ID, []deem.Record{storetest.Record(0)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "DROP TABLE labels", "DROP TABLE batch_lines", "DROP TABLE batches", "DELETE FROM goose_db_version WHERE version_id >= 2")
	s = open(t, path)
	got, err := s.Run(t.Context(), run.ID)
	if err != nil || got.Records != 1 {
		t.Errorf("after the migration the run has %d records, %v, want 1", got.Records, err)
	}
	b := store.Batch{Key: "b", State: store.BatchPlanned, Lines: 1}
	if err := s.PutBatch(t.Context(), run.ID, b, []store.BatchLine{{Key: "k"}}); err != nil {
		t.Errorf("PutBatch after the migration: %v", err)
	}
}
