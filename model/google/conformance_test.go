package google_test

import (
	"testing"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/google"
)

func TestConformance(t *testing.T) {
	modeltest.Test(t, func(tb testing.TB, s modeltest.Setup) deem.Model {
		m, err := google.New(google.Options{Model: s.Model, BaseURL: s.URL, Key: s.Key, Timeout: s.Timeout})
		if err != nil {
			tb.Fatalf("New: %v", err)
		}
		return m
	}, modeltest.Google())
}
