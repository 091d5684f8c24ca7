package openai_test

import (
	"testing"

	"go.uber.org/goleak"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/openai"
)

// TestMain checks that no test leaks a goroutine.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	modeltest.Test(t, func(tb testing.TB, s modeltest.Setup) deem.Model {
		m, err := openai.New(openai.Options{Model: s.Model, BaseURL: s.URL, Key: s.Key, Timeout: s.Timeout})
		if err != nil {
			tb.Fatalf("New: %v", err)
		}
		return m
	}, modeltest.OpenAI())
}
