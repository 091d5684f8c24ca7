package postgres_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/test/storetest"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		fmt.Println("error:", holdForever(url))
		os.Exit(1)
	}
	os.Exit(storetest.Main(m, storetest.Options{Template: migrated}))
}

// migrated migrates a database.
func migrated(ctx context.Context, url string) error {
	s, err := postgres.Open(ctx, url, postgres.Options{})
	if err != nil {
		return err
	}
	return s.Close()
}

// opener returns a function that opens the store of a test, the same one each time.
func opener() func(t *testing.T) *postgres.Store {
	var mu sync.Mutex
	urls := map[string]string{}
	return func(t *testing.T) *postgres.Store {
		t.Helper()
		mu.Lock()
		url, ok := urls[t.Name()]
		mu.Unlock()
		if !ok {
			url = storetest.Database(t)
			mu.Lock()
			urls[t.Name()] = url
			mu.Unlock()
		}
		s, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestStore(t *testing.T) {
	open := opener()
	storetest.Test(t, func(t *testing.T) store.Database { return open(t) })
}
