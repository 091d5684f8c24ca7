package deem_test

import (
	"errors"
	"iter"
	"testing"

	"deem"
)

// eachOf yields items and then an error, unless that is nil.
func eachOf(err error, items ...deem.Item) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
		if err != nil {
			yield(deem.Item{}, err)
		}
	}
}

// TestDatasetHash holds the hash to what run files and databases have: it never changes.
func TestDatasetHash(t *testing.T) {
	a := deem.Item{ID: "a", References: []string{"x"}, Response: "x"}
	b := deem.Item{ID: "b", References: []string{"y"}, Response: "z"}
	hash := func(items ...deem.Item) string {
		t.Helper()
		h, err := deem.DatasetHash(eachOf(nil, items...))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	const zero = "0000000000000000000000000000000000000000000000000000000000000000"
	if got := hash(); got != zero {
		t.Errorf("DatasetHash of nothing = %s, want %s", got, zero)
	}
	seen := map[string]string{}
	for name, got := range map[string]string{"a": hash(a), "b": hash(b), "a, b": hash(a, b), "b, a": hash(b, a), "a, a": hash(a, a)} {
		if other, ok := seen[got]; ok || len(got) != 64 {
			t.Errorf("DatasetHash(%s) = %s, which is that of %s, or of another length", name, got, other)
		}
		seen[got] = name
	}
	// Made by another program, from the description in docs/spec/run-file.md.
	const want = "fc54ba49b2c8d76beb6b14e6b88f5598542814c86b4a47d4bb90e088d0dbee6f"
	if got := hash(a, b); got != want {
		t.Errorf("DatasetHash(a, b) = %s, want %s", got, want)
	}
	broken := errors.New("broken")
	if got, err := deem.DatasetHash(eachOf(broken, a)); !errors.Is(err, broken) || got != "" {
		t.Errorf("DatasetHash of a stream that breaks = %q, %v, want %v", got, err, broken)
	}
}
