package store_test

import (
	"testing"

	"deem/internal/store"
)

// "last" skips a run that stopped before any item had a verdict, but not a finished run
// without one, whose report says why.
func TestRunCounts(t *testing.T) {
	for _, tt := range []struct {
		name              string
		state             store.State
		records, unjudged int
		want              bool
	}{
		{"no record", store.Open, 0, 0, false},
		{"stopped, and every call failed", store.Open, 19, 19, false},
		{"stopped after a verdict", store.Open, 19, 18, true},
		{"finished without a verdict", store.Done, 19, 19, true},
		{"finished", store.Done, 19, 0, true},
	} {
		run := store.Run{State: tt.state, Records: tt.records, Unjudged: tt.unjudged}
		if got := run.Counts(); got != tt.want {
			t.Errorf("%s: Counts() = %v, want %v", tt.name, got, tt.want)
		}
	}
}
