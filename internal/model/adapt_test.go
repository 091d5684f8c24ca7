package model

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestLevelStaysInBounds draws random ceilings and outcomes of calls. A level below one
// would stop the run for good, and a level above its ceiling would exceed the user's limit.
func TestLevelStaysInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ceiling := rapid.IntRange(1, 600).Draw(t, "ceiling")
		l := newLevel(ceiling)
		for _, event := range rapid.SliceOfN(rapid.IntRange(-20, 600), 1, 200).Draw(t, "events") {
			before := l
			if event > 0 {
				l.succeed(max(0, l.cuts-event%3), event%4 > 0)
			} else {
				l.refuse(max(0, l.cuts+event%3), min(-event, int(l.limit)))
			}
			if !(l.limit >= 1 && l.limit <= float64(ceiling)) {
				t.Fatalf("limit %v after event %d on %+v, want 1 to %d", l.limit, event, before, ceiling)
			}
		}
	})
}

// TestLevelComesBack refuses every call and then accepts every call: the level must reach
// the ceiling again.
func TestLevelComesBack(t *testing.T) {
	l := newLevel(64)
	for range 100 {
		l.succeed(l.cuts, true)
	}
	for others := 63; others >= 0; others-- {
		l.refuse(l.cuts, others)
	}
	if l.limit != 1 {
		t.Errorf("limit = %v after nothing but refusals, want 1", l.limit)
	}
	n := 0
	for ; l.limit < 64 && n < 10_000; n++ {
		l.succeed(l.cuts, true)
	}
	if l.limit != 64 || n > 1500 {
		t.Errorf("limit = %v after %d successes, want 64 after at most 1500", l.limit, n)
	}
}

// TestLevelFindsTheWall simulates a vendor with a fixed number of slots, in which each call
// takes one round, and a level that remembers a higher capacity. The level has to forget
// it: returning to that number repeatedly costs calls each round.
func TestLevelFindsTheWall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 100).Draw(t, "slots")
		l := newLevel(512)
		l.limit = float64(rapid.IntRange(1, slots).Draw(t, "limit"))
		l.before = float64(rapid.IntRange(slots, 512).Draw(t, "before"))
		l.cuts, l.settling = 1, true

		var served []int // the number of overloads at the start of each call, oldest first
		refused := 0
		for success := range 400 * slots {
			for len(served) < int(l.limit) {
				if len(served) < slots {
					served = append(served, l.cuts)
					continue
				}
				l.refuse(l.cuts, slots)
				if success > 200*slots {
					refused++
				}
			}
			full := len(served) == int(l.limit)
			cut := served[0]
			served = served[1:]
			l.succeed(cut, full)
		}
		if l.limit < math.Floor(float64(slots)*3/4) {
			t.Errorf("a limit of %v in the end, want most of %d slots used: %+v", l.limit, slots, l)
		}
		if refused > 10 {
			t.Errorf("%d calls beyond %d slots in the last 200 rounds, want at most 10: %+v", refused, slots, l)
		}
	})
}
