package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"

	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/store/storetest"
)

func TestStore(t *testing.T) {
	opens := opener()
	storetest.Test(t, func(t *testing.T) store.Store { return opens(t) })
}

// opener returns a function that opens the database of a test, each time the same.
func opener() func(t *testing.T) *sqlite.Store {
	var folders sync.Map
	return func(t *testing.T) *sqlite.Store {
		t.Helper()
		folder, ok := folders.Load(t.Name())
		if !ok {
			folder = t.TempDir()
			folders.Store(t.Name(), folder)
		}
		s, err := sqlite.Open(t.Context(), filepath.Join(folder.(string), "deem.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}
