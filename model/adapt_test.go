package model

import (
	"testing"

	"pgregory.net/rapid"
)

// TestLevelStaysInBounds draws ceilings and what becomes of calls. A level below one
// would stop the run for good, and one above its ceiling would break a promise.
func TestLevelStaysInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ceiling := rapid.IntRange(1, 600).Draw(t, "ceiling")
		l := newLevel(ceiling)
		for _, event := range rapid.SliceOfN(rapid.IntRange(-20, 600), 1, 200).Draw(t, "events") {
			before := l
			if event > 0 {
				l.succeed(event%4 > 0)
			} else {
				l.refuse(max(0, l.cuts+event%3), min(-event, int(l.limit)))
			}
			if !(l.limit >= 1 && l.limit <= float64(ceiling)) {
				t.Fatalf("limit %v after event %d on %+v, want 1 to %d", l.limit, event, before, ceiling)
			}
		}
	})
}

// TestLevelComesBack lets everything be refused, and then everything succeed: the
// ceiling is reached again.
func TestLevelComesBack(t *testing.T) {
	l := newLevel(64)
	for range 100 {
		l.succeed(true)
	}
	for others := 63; others >= 0; others-- {
		l.refuse(l.cuts, others)
	}
	if l.limit != 1 {
		t.Errorf("limit = %v after nothing but refusals, want 1", l.limit)
	}
	n := 0
	for ; l.limit < 64 && n < 10_000; n++ {
		l.succeed(true)
	}
	if l.limit != 64 || n > 1500 {
		t.Errorf("limit = %v after %d successes, want 64 after at most 1500", l.limit, n)
	}
}
