package sqlite_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

func TestStore(t *testing.T) {
	opens := opener()
	storetest.Test(t, func(t *testing.T) store.Database { return opens(t) })
}

// opener returns a function that opens the database of a test, the same one each time. At
// the end of the test, no row may refer to a missing row.
func opener() func(t *testing.T) *sqlite.Store {
	var folders sync.Map
	return func(t *testing.T) *sqlite.Store {
		t.Helper()
		folder, ok := folders.Load(t.Name())
		if !ok {
			folder = t.TempDir()
			folders.Store(t.Name(), folder)
			t.Cleanup(func() { mustBeSound(t, filepath.Join(folder.(string), "deem.db")) })
		}
		s, err := sqlite.Open(t.Context(), filepath.Join(folder.(string), "deem.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func mustBeSound(t *testing.T, path string) {
	t.Helper()
	if _, err := sqlite.Check(context.Background(), path, sqlite.Options{}); err != nil {
		t.Errorf("afterwards the database is not sound: %v", err)
	}
}
