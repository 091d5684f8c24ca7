package anthropic_test

import (
	"testing"

	"deem/model/anthropic"
)

// open returns a model or ends the test.
func open(t *testing.T, o anthropic.Options) *anthropic.Model {
	t.Helper()
	m, err := anthropic.New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}
