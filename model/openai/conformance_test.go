package openai_test

import (
	"testing"

	"deem"
	"deem/model/modeltest"
	"deem/model/openai"
)

func TestConformance(t *testing.T) {
	modeltest.Test(t, func(tb testing.TB, s modeltest.Setup) deem.Model {
		m, err := openai.New(openai.Options{Model: s.Model, BaseURL: s.URL, Key: s.Key, Timeout: s.Timeout})
		if err != nil {
			tb.Fatalf("New: %v", err)
		}
		return m
	}, modeltest.OpenAI())
}
