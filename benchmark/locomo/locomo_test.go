package locomo_test

import (
	"testing"

	"deem"
	"deem/benchmark/locomo"
)

func open(t *testing.T, o locomo.Options) *locomo.Set {
	t.Helper()
	s, err := locomo.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func items(t *testing.T, s *locomo.Set) []deem.Item {
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
