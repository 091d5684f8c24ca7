package openai_test

import (
	"testing"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/openai"
)

func TestBatches(t *testing.T) {
	modeltest.TestBatches(t, func(tb testing.TB, s modeltest.Setup) deem.Model {
		tb.Helper()
		m, err := openai.New(openai.Options{Model: s.Model, BaseURL: s.URL, Key: s.Key, Timeout: s.Timeout})
		if err != nil {
			tb.Fatal(err)
		}
		return m
	}, modeltest.OpenAIBatches)
}
