package model

import "math"

// A level is the number of concurrent calls that a vendor is assumed to accept. It learns
// from the outcomes of calls. It uses no clock and no lock.
//
// It starts small and doubles with each round of successes. If a call is refused, the calls
// still in flight show the vendor's capacity: refusals come at once and replies take time,
// so once all refusals of an overload are in, the remaining calls are the ones being
// served. That number is the wall. The level stays there and only occasionally tries one
// more, less often after each such refusal. If the vendor still refuses calls after the
// cut, it limits calls per minute rather than concurrent calls, or is down; then the level
// is halved, as in TCP.
type level struct {
	ceiling float64
	limit   float64 // concurrent calls allowed, from 1 to ceiling
	steep   float64 // below this, the limit doubles each round

	served   float64 // calls still being served in the last overload; 0 before the first
	wall     float64 // the vendor's capacity; 0 if unknown
	patience float64 // rounds at the wall before one more is tried
	rounds   float64 // rounds of successes since the last cut or attempt to grow

	cuts     int     // overloads so far; a call belongs to the count at its start
	settling bool    // refusals of the last overload are still coming in
	before   float64 // the limit before that overload, or a decayed earlier one
}

const (
	// slowStart is the initial number of calls in flight, if the ceiling allows it.
	// Doubling from here reaches a ceiling of 512 after five rounds. With 32, a vendor with
	// three slots refused so many calls at first that the level sometimes mistook it for a
	// vendor that limits calls per minute.
	slowStart = 16

	// firstPatience and maxPatience bound how many rounds the level stays at a wall. The
	// first is short, because a wall may result from a burst of refusals unrelated to the
	// number of calls.
	firstPatience = 4
	maxPatience   = 64
)

func newLevel(ceiling int) level {
	return level{
		ceiling: float64(ceiling),
		limit:   float64(min(ceiling, slowStart)),
		steep:   math.Inf(1),
	}
}

// refuse lowers the limit after a call was refused while others were being served. cut is
// the number of overloads when the call began. It reports whether the refusal was expected,
// because one more call than the known capacity was being tried.
func (l *level) refuse(cut, others int) (expected bool) {
	served := float64(max(1, others))
	switch {
	case cut < l.cuts:
		// The call belongs to an overload that is already known. It only shows how many
		// calls of that time are left.
		if l.settling {
			l.limit = min(l.limit, served)
		}
		return false
	case l.limit > l.served && l.limit <= 2*l.served && math.Abs(served-l.served) <= max(1, l.served/8):
		// Only a few more calls were tried, and about as many are served as last time,
		// within the error of counting calls that begin and end at the same moment: this is
		// the wall.
		l.cuts++
		l.limit, l.steep, l.wall = l.served, l.served, l.served
		l.rounds, l.patience = 0, min(4*l.patience, maxPatience)
		return true
	}
	again := l.cuts > 0 && l.rounds < 1
	l.cuts++
	half := math.Floor(l.limit / 2)
	if !again || !l.settling && l.limit > l.served {
		// Remember the limit before the overload, to return to it quickly. It decays,
		// because the vendor's capacity may have dropped, but not while everything is
		// refused, which says nothing about capacity.
		l.before = max(l.limit, math.Floor(l.before*3/4))
	}
	l.limit = min(math.Floor(l.limit), served)
	if again {
		l.limit = max(1, min(l.limit, half))
	}
	l.wall, l.rounds, l.settling = 0, 0, true
	return false
}

// succeed raises the limit after a success: by one in slow start, which doubles it each
// round, and by one per round later. cut is the number of overloads when the call began: a
// call older than the last overload has not tested the current limit. full reports whether
// the limit was reached; if not, the call has not tested it either.
func (l *level) succeed(cut int, full bool) {
	if l.settling { // The refusals of the last overload are in.
		l.settling = false
		l.served, l.patience = l.limit, firstPatience
		if l.limit >= math.Floor(l.before/2) {
			l.wall, l.steep = l.limit, l.limit
		} else {
			// So few calls were served that their number was not the cause. About the
			// earlier limit will probably be accepted again.
			l.steep = math.Floor(l.before * 3 / 4)
		}
	}
	if !full || cut < l.cuts {
		return
	}
	l.rounds += 1 / l.limit
	switch {
	case l.limit < l.steep:
		l.limit++
	case l.wall == 0:
		l.limit += 1 / l.limit
	case l.limit > l.wall:
		if l.rounds >= 1 {
			l.wall = 0 // a whole round above the wall succeeded: the wall is gone
		}
	case l.rounds >= l.patience:
		l.limit, l.rounds = l.wall+1, 0
	}
	l.limit = min(l.ceiling, l.limit)
}
