package server_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/store/storetest"
)

// token is long enough, and nobody's.
const token = "a-token-for-the-tests-alone"

// openStore returns an empty store.
func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "deem.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return st
}

// serve starts a server on a store.
func serve(t *testing.T, o server.Options) *httptest.Server {
	t.Helper()
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ts.Close()
		s.Close()
	})
	return ts
}

func TestSkeleton(t *testing.T) {
	st := openStore(t)
	run, _, err := st.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	ts := serve(t, server.Options{Store: store.Store(st)})
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	ts.Config.Handler.ServeHTTP(rec, req)
	if rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), run.ID) {
		t.Errorf("GET / = %d without the run: %s", rec.Code, rec.Body)
	}
}
