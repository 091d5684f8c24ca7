package locomo_test

import (
	"os"
	"path/filepath"
	"testing"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/locomo"
)

func open(t *testing.T, o locomo.Options) benchmark.Set {
	t.Helper()
	s, err := locomo.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func items(t *testing.T, s benchmark.Set) []deem.Item {
	t.Helper()
	var list []deem.Item
	for it, err := range s.Items() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, it)
	}
	return list
}

func writeFile(file, text string) error { return os.WriteFile(file, []byte(text), 0o600) }

// write writes a file into a temporary folder.
func write(t *testing.T, name, text string) string {
	t.Helper()
	return writeHere(t, filepath.Join(t.TempDir(), name), text)
}

// writeHere writes a file into the working folder.
func writeHere(t *testing.T, name, text string) string {
	t.Helper()
	if err := writeFile(name, text); err != nil {
		t.Fatal(err)
	}
	return name
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
