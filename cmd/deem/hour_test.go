//go:build soak

package main_test

import (
	"os"
	"testing"
	"time"
)

// enough is the minimum duration for conclusions about sizes. Pages, reports and
// connections are kept in bounded caches, and until these are full, a filling cache looks
// like a leak.
const enough = 30 * time.Minute

// The hour of faults: nothing is lost, duplicated or grows. SOAKTIME makes it longer or
// shorter.
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
	if !measurable() {
		t.Log("this system does not say what processes take: nothing is known of memory and files")
	}
	for _, w := range s.watched {
		switch err := w.verdict(whole); {
		case err != nil && whole < enough:
			t.Logf("in less than %v this may be a cache that fills: %v", enough, err)
		case err != nil:
			t.Error(err)
		}
	}
}
