package dataset_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"deem/internal/dataset"
)

// The same items by file, folder, pattern and address are the same dataset.
func TestNamesOfManyFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.jsonl", `{"id":"1","question":"q","answer":"a","response":"a"}`+"\n")
	write("sub/b.csv", "id,question,answer,response\n2,q,b,b\n")
	write("notes.txt", "not data")
	write(".hidden/c.jsonl", "not data")
	srv := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(srv.Close)
	hashes := map[string]bool{}
	for _, names := range [][]string{
		{filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "sub", "b.csv")},
		{dir},
		{filepath.Join(dir, "*.jsonl"), filepath.Join(dir, "sub")},
		{srv.URL + "/a.jsonl", srv.URL + "/sub/b.csv"},
	} {
		d, err := dataset.Open(t.Context(), dataset.Source{Names: names})
		if err != nil {
			t.Fatal(err)
		}
		if d.Len() != 2 || !slices.Equal(d.Names(), names) {
			t.Errorf("%v: %d items of %v", names, d.Len(), d.Names())
		}
		hashes[d.Hash()] = true
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(hashes) != 1 {
		t.Errorf("the same items have %d hashes", len(hashes))
	}
}
