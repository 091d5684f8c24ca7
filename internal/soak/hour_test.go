//go:build soak

package soak_test

import (
	"os"
	"testing"
	"time"
)

// The hour of faults: nothing is lost, nothing is doubled, and nothing grows. SOAKTIME
// makes it longer or shorter.
func TestSoakHour(t *testing.T) {
	whole := time.Hour
	if text := os.Getenv("SOAKTIME"); text != "" {
		var err error
		if whole, err = time.ParseDuration(text); err != nil {
			t.Fatalf("SOAKTIME: %v", err)
		}
	}
	s := soak(t, whole, scale{share: 1}, 5*time.Second)
	whole = time.Since(s.began)
	for _, w := range s.watched {
		if err := w.verdict(whole); err != nil {
			t.Error(err)
		}
	}
}
