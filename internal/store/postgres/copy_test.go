package postgres_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/bundle"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

// openFile opens an SQLite store and closes it when the test is over.
func openFile(t testing.TB) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "deem.db"), sqlite.Options{})
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

// bundled returns the bundle of a run.
func bundled(t *testing.T, s store.Store, id string) []byte {
	t.Helper()
	run, err := s.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	identity := []byte(`{"prompt":"is it right?"}`)
	hash, err := deem.Hash(map[string]string{"prompt": "is it right?"})
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	_, err = bundle.Write(&buf, bundle.Source{
		Run: bundle.Run{
			CostMicros: run.CostMicros, Created: run.Created, Endpoint: run.Endpoint, ID: run.ID, Model: run.Model,
			Dataset: bundle.Dataset{Hash: run.Dataset.Hash, Items: run.Dataset.Items, Names: run.Dataset.Names},
			Records: run.Records, Settings: run.Settings, State: string(run.State), Trials: run.Trials, Unjudged: run.Unjudged,
			Updated: run.Updated,
		},
		Judge:   bundle.Judge{Hash: hash, Identity: identity, Name: run.Judge.Name},
		Records: s.Records(t.Context(), id, store.Query{WithCalls: true}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// TestCopyThereAndBack checks that copying a store from SQLite to Postgres and back changes
// nothing: every bundle is identical to the byte, and so is everything that is not in
// bundles.
func TestCopyThereAndBack(t *testing.T) {
	t.Parallel()
	first, second, third := openFile(t), open(t, storetest.Database(t), postgres.Options{}), openFile(t)
	ids := storetest.FillForCopy(t, first)
	for _, step := range []struct {
		name     string
		from, to store.Database
	}{{"there", first, second}, {"back", second, third}} {
		got, err := store.Copy(t.Context(), step.from, step.to)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got.Runs != len(ids) || got.There != 0 || got.Records == 0 || got.Labels == 0 {
			t.Errorf("%s: %+v, want %d runs, none of them there before", step.name, got, len(ids))
		}
		storetest.SameForCopy(t, first, step.to)
		for _, id := range ids {
			if !bytes.Equal(bundled(t, first, id), bundled(t, step.to, id)) {
				t.Errorf("%s: the bundle of run %s is another", step.name, id)
			}
		}
		again, err := store.Copy(t.Context(), step.from, step.to)
		if d := cmp.Diff(store.Copied{Runs: len(ids), There: len(ids)}, again); d != "" || err != nil {
			t.Errorf("%s: copied again: %v (-want +got):\n%s", step.name, err, d)
		}
	}
}

func TestCopy(t *testing.T) {
	storetest.TestCopy(t, func(t *testing.T, _ string) store.Database {
		s, err := postgres.Open(t.Context(), storetest.Database(t), postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// TestCopyFiles is the same for SQLite.
func TestCopyFiles(t *testing.T) {
	storetest.TestCopy(t, func(t *testing.T, name string) store.Database {
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), name+".db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
