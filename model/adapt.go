package model

import "math"

// A level is how many calls a vendor is thought to bear at once. It learns from what
// becomes of calls, knows no time and takes no lock.
//
// It starts small and doubles with each round of successes. When a call is refused,
// those that are being served tell what the vendor bears: refusals come at once and
// replies take their time, so once all refusals of an overload are in, the calls
// that are left are the ones that have a place. That number is the wall. The level
// stays there, and tries one more only now and then, less often each time that is
// refused too. A vendor that goes on refusing after the cut does not count calls at
// once but calls a minute, or is down; then the level is halved, as TCP does it.
type level struct {
	ceiling float64
	limit   float64 // calls allowed at once, from 1 to ceiling
	steep   float64 // up to here the limit doubles each round

	served   float64 // calls that went on being served in the last overload, 0 before the first
	wall     float64 // what the vendor bears, 0 when that is not known
	patience float64 // rounds at the wall before one more is tried
	rounds   float64 // rounds of successes since the last cut or try

	cuts     int     // overloads so far; a call belongs to the number at its start
	settling bool    // refusals of the last overload are still coming in
	before   float64 // the limit before that overload, or what is remembered of an earlier one
}

const (
	// slowStart is how many calls are in flight at first, if as many are allowed.
	// Doubling from here, a ceiling of 512 is reached after five rounds. With 32, a
	// vendor with three places refused so many at first that the level sometimes took
	// it for one that counts calls a minute.
	slowStart = 16

	// firstPatience and maxPatience bound how many rounds the level stays at a
	// wall. The first is short, because a wall may come of a burst of refusals
	// that has nothing to do with the number of calls.
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

// refuse lowers the limit after a call was refused while others were being served.
// The call began when there were cut overloads. It reports true when the refusal was
// to be expected, because one more was being tried than was borne before.
func (l *level) refuse(cut, others int) (expected bool) {
	served := float64(max(1, others))
	switch {
	case cut < l.cuts:
		// Its overload was noticed before. It only says how many of that time
		// are left.
		if l.settling {
			l.limit = min(l.limit, served)
		}
		return false
	case l.limit > l.served && l.limit <= 2*l.served && math.Abs(served-l.served) <= max(1, l.served/8):
		// Few more were tried, and about as many are served as last time, as far
		// as calls that come and go at the same moment let us count: this is the
		// wall.
		l.cuts++
		l.limit, l.steep, l.wall = l.served, l.served, l.served
		l.rounds, l.patience = 0, min(4*l.patience, maxPatience)
		return true
	}
	again := l.cuts > 0 && l.rounds < 1
	l.cuts++
	half := math.Floor(l.limit / 2)
	if !again || !l.settling && l.limit > l.served {
		// What was borne before the trouble is what to come back to, quickly. It
		// is forgotten by and by, as the vendor may bear less from now on, but not
		// while everything is refused, which says nothing about the number.
		l.before = max(l.limit, math.Floor(l.before*3/4))
	}
	l.limit = min(math.Floor(l.limit), served)
	if again {
		l.limit = max(1, min(l.limit, half))
	}
	l.wall, l.rounds, l.settling = 0, 0, true
	return false
}

// settle draws the conclusion from an overload once a call succeeds.
func (l *level) settle() {
	l.settling = false
	l.served, l.patience = l.limit, firstPatience
	if l.limit >= math.Floor(l.before/2) {
		l.wall, l.steep = l.limit, l.limit
	} else {
		// So few were served that it was not for their number. What was borne
		// before is likely to be borne again, or nearly.
		l.steep = math.Floor(l.before * 3 / 4)
	}
}

// succeed raises the limit after a success, by one in slow start, which doubles it
// each round, and by one a round later. The call began when there were cut overloads:
// one that is older than the last has not tested the limit since, and neither has one
// at a time when the limit was not reached, which full says.
func (l *level) succeed(cut int, full bool) {
	if l.settling {
		l.settle()
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
			l.wall = 0 // a whole round was borne: there is no wall here any more
		}
	case l.rounds >= l.patience:
		l.limit, l.rounds = l.wall+1, 0
	}
	l.limit = min(l.ceiling, l.limit)
}
