package queue

import "time"

// A pace says when calls of one model may begin, whoever makes them. It is kept in the
// database as one row, which a worker locks, changes and writes back. It knows no clock.
//
// Requests and tokens each have a line of time. Whoever wants to make calls reserves a
// stretch at the end of the line: so many calls, evenly spaced. What is reserved and not
// used is lost, and nobody can make up for it: in no minute there are more calls than
// there are places on a minute of the line.
//
// Where the user gives no rate, there is none until the vendor refuses a call. Then it is
// cut for all workers, and grows again by and by.
//
// TCP cuts by a fixed part, since a lost packet says nothing about how many were not lost.
// Here all calls and refusals are counted, and the cut follows the share that was refused.
// A vendor with a limit that is asked for twice as much refuses half: what it served is its
// limit, and the rate is there with one cut. A vendor that refuses two of a hundred for
// reasons of its own is asked for nearly as much as before. With a fixed cut to 70% it was
// asked for about 1/(7q) calls a second where it refuses a share of q: seven, of hundreds.
//
// No single share tells the two apart: at a rate a little too high a limit refuses few calls
// as well. What tells them apart is whether a cut helps. If it does, the rate stays for a
// while where nothing is refused. If refusals go on it grows at once. That makes up for the
// cuts where 5% are refused at random, and not where 10% are: such a vendor is taken for one
// with a limit. In simulations (pace_test.go) a vendor with a limit is used fully, and
// refuses 5 to 12% of the calls.
type pace struct {
	Next   time.Time `json:"next,omitzero"`   // where the line of requests ends
	Tokens time.Time `json:"tokens,omitzero"` // where the line of tokens ends

	Rate   float64   `json:"rate,omitempty"` // requests a second that the vendor bears; 0 is not known
	Peak   float64   `json:"peak,omitempty"` // what was asked when it was cut
	For    float64   `json:"for,omitempty"`  // the share of refusals that it was cut for
	Cut    time.Time `json:"cut,omitzero"`
	Grown  time.Time `json:"grown,omitzero"`
	Paused time.Time `json:"paused,omitzero"` // the vendor wants to be left alone until then

	Since time.Time `json:"since,omitzero"` // of what was Sent
	Sent  int       `json:"sent,omitempty"`
	Speed float64   `json:"speed,omitempty"` // requests a second, as last measured

	// A worker of an earlier version writes the row back without these.
	Told    int     `json:"told,omitempty"`    // requests sent since then by who counts refusals
	Refused int     `json:"refused,omitempty"` // of those
	Share   float64 `json:"share,omitempty"`   // of refusals among what was sent before
	Seen    float64 `json:"seen,omitempty"`    // requests that tell the share, at most memory
	Served  float64 `json:"served,omitempty"`  // requests a second that were not refused, as last measured
}

const (
	// cutTo is what a refusal leaves of the rate when nobody knows which share was refused.
	// Otherwise it leaves mostLeft, less the share that was, so that what was too much can
	// drain. It leaves leastLeft in any case, and unless there is an outage nearly as much
	// as was served.
	cutTo     = 0.7
	mostLeft  = 0.95
	leastLeft = 0.1
	nearly    = 0.8
	minRate   = 0.1

	// growth is how much of the peak comes back in a second. Far beyond the peak, by a
	// factor of farBeyond, it says nothing any more, and every second adds leap. A vendor
	// that bore no trouble for long, at what workers can ask for, is asked freely again.
	growth    = 0.05
	farBeyond = 1.5
	leap      = 0.2
	forget    = 3.0
	longQuiet = time.Minute

	// outage is a share of refusals that says nothing about the rate: the vendor serves
	// nobody. When it serves calls again every second adds recovery.
	outage   = 0.8
	recovery = 0.7

	// memory is how many requests tell the share of refusals, besides those that are being
	// counted, and enough is how many have to. A share that is clearly larger is not so by
	// chance.
	memory  = 60.0
	enough  = 20.0
	clearly = 0.1

	// meant is the share of refusals from which on the vendor means everybody.
	meant = 0.3

	// farthest is how far ahead places are reserved. Who waits for a place that is farther away
	// would wait for it also when the vendor bears more in the meantime.
	farthest = time.Second

	// speedy is by how much the speed may be more than was measured, as some workers may not
	// have told yet what they sent.
	speedy = 1.5

	// sameTrouble is how long refusals belong to one cut: calls that were in flight then
	// say nothing new.
	sameTrouble = 2 * time.Second

	// hold is how long the rate does not grow after a cut, unless it did not help: calls are
	// refused also after drained, when the places that were reserved before it are used.
	hold    = 4 * time.Second
	drained = 1500 * time.Millisecond

	// longestPause is how long one answer can stop the fleet.
	longestPause = 2 * time.Minute

	// shortestMeasure and longestMeasure are how long a measurement of the speed takes.
	// Workers tell what they sent about once a second, so it has to be longer than that; but
	// half of it is better than to know nothing.
	shortestMeasure = 2 * time.Second
	longestMeasure  = 10 * time.Second

	// longestMemory is how long the share of refusals is known while nobody asks.
	longestMemory = time.Minute

	// margin keeps the pace a little below what the user allows, since a call reaches
	// the vendor a little later than it was meant to, and not always by as much.
	margin = 0.99
)

// A wish is what a worker wants, and what it saw since it last asked.
type wish struct {
	requests, tokens int // no requests are wanted by who only tells
	rpm, tpm         int // 0 is no bound
	sent             int
	refused          int // of what was sent, now or before
	retryAfter       time.Duration
	ago              time.Duration // since it was refused
}

// A grant is what a worker may do.
type grant struct {
	free     bool          // any number of requests, as far as tokens go
	from     time.Time     // of the first request
	gap      time.Duration // between two of them
	requests int           // none when the first is too far ahead

	bounded   bool      // tokens are
	tokens    int       // that may be used
	tokensAt  time.Time // when the first may
	tokensGap float64   // seconds between two of them
	paused    time.Time
}

// take reserves what is wanted.
func (p *pace) take(now time.Time, w wish) grant {
	p.measure(now, w)
	p.grow(now, w)
	if w.refused > 0 {
		p.refuse(now, w)
	}
	g := grant{paused: p.Paused}
	begin := later(now, p.Paused)
	perSecond := p.perSecond(w.rpm)
	if g.free = perSecond == 0; !g.free {
		g.gap = time.Duration(float64(time.Second) / perSecond)
	}
	if w.requests == 0 {
		return g
	}
	if !g.free {
		g.from = later(p.Next, begin)
		if g.from.Sub(now) > farthest {
			return g
		}
		g.requests = min(w.requests, max(1, int(perSecond)))
		p.Next = g.from.Add(time.Duration(g.requests) * g.gap)
	}
	if g.bounded = w.tpm > 0; g.bounded {
		g.tokens = max(1, w.tokens)
		g.tokensGap = 60 / (float64(w.tpm) * margin)
		g.tokensAt = later(p.Tokens, begin)
		p.Tokens = g.tokensAt.Add(seconds(float64(g.tokens) * g.tokensGap))
	}
	return g
}

// perSecond returns how many requests may begin in a second, 0 for any number.
func (p *pace) perSecond(rpm int) float64 {
	user := float64(rpm) / 60 * margin
	switch {
	case p.Rate == 0:
		return user
	case user == 0:
		return p.Rate
	default:
		return min(user, p.Rate)
	}
}

// measure counts requests and refusals. A few seconds tell their speed, and after a while
// in which nobody asked nothing is known.
func (p *pace) measure(now time.Time, w wish) {
	p.Sent, p.Told, p.Refused = p.Sent+w.sent, p.Told+w.sent, p.Refused+w.refused
	took := now.Sub(p.Since)
	if took < shortestMeasure && (p.Speed > 0 || took < shortestMeasure/2) {
		return
	}
	speed := float64(p.Sent) / took.Seconds()
	p.Speed = max(speed, (speed+p.Speed)/2) // Some may not have told yet what they sent.
	p.Served = float64(max(0, p.Told-p.Refused)) / took.Seconds()
	p.Share, p.Seen = p.share()
	p.Seen = min(memory, p.Seen)
	if took > longestMeasure {
		p.Speed, p.Served = 0, 0
	}
	if took > longestMemory {
		p.Share, p.Seen = 0, 0
	}
	p.Sent, p.Told, p.Refused, p.Since = 0, 0, 0, now
}

// share returns the share of refusals among the last requests, and how many those are.
func (p *pace) share() (share, seen float64) {
	if seen = p.Seen + float64(p.Told); seen == 0 {
		return 0, 0
	}
	return min(1, (p.Share*p.Seen+float64(p.Refused))/seen), seen
}

// grow lets the rate grow. After a deep cut the peak says little, and the rate grows by
// what it is.
func (p *pace) grow(now time.Time, w wish) {
	if p.Rate == 0 {
		return
	}
	s := min(30, now.Sub(p.Grown).Seconds())
	switch {
	case s <= 0:
		return
	case p.For >= outage && w.sent > w.refused:
		p.Rate *= 1 + recovery*min(4, s)
	case p.Rate > farBeyond*p.Peak:
		p.Rate *= 1 + leap*s
	default:
		p.Rate += min(p.Peak, p.Rate/cutTo) * growth * s
	}
	p.Grown = now
	if p.Rate > forget*max(p.Peak, p.Speed) && now.Sub(p.Cut) > longQuiet {
		p.Rate, p.Peak, p.For = 0, 0, 0
	}
}

// refuse cuts the rate. A worker tells of a refusal when it asks for its next places,
// which is many seconds later where there are few: what counts is when it was refused, or
// one bad second would be cut for once by every worker. What comes to light soon after a
// cut makes it deeper, not another.
//
// A Retry-After stops everybody only if the vendor refuses many. The call that was refused
// waits for as long as it says in any case ([model.Retry]), and so do new calls of its
// worker until one is served ([model.Limit]); but of a vendor that serves all the others
// it says nothing to them, and with two such refusals a second nobody would ever ask.
func (p *pace) refuse(now time.Time, w wish) {
	at := now.Add(-w.ago)
	share, seen := p.share()
	known := seen >= enough
	if !known || share >= meant {
		p.Paused = later(p.Paused, at.Add(min(w.retryAfter, longestPause)))
	}
	if at.Sub(p.Cut) > drained && p.Grown.After(now) {
		p.Grown = p.Cut // It did not help.
		p.grow(now, w)
	}
	switch {
	case now.Sub(p.Cut) < sameTrouble:
		if known && share > p.For+clearly {
			p.cut(p.Peak, share)
		}
	case at.Sub(p.Cut) < sameTrouble:
	default:
		asked := p.asked()
		if asked == 0 {
			return // Nobody knows how much was too much. Each worker slows down by itself.
		}
		if !known {
			share = mostLeft - cutTo
		}
		p.Rate, p.Cut = max(asked, minRate), now
		p.cut(asked, share)
	}
}

// asked returns how many requests a second were made, 0 when nobody knows.
func (p *pace) asked() float64 {
	switch {
	case p.Rate == 0:
		return p.Speed
	case p.Speed == 0:
		return p.Rate
	default:
		return min(p.Rate, p.Speed*speedy)
	}
}

// cut leaves of a peak what was not refused, if that is less than the rate. It is never far
// less than what was served: the share may be of a second in which more was asked.
func (p *pace) cut(peak, share float64) {
	p.Peak, p.For, p.Grown = peak, share, p.Cut
	left := peak * max(mostLeft-share, leastLeft)
	if share < outage {
		left = max(left, p.Served*nearly)
		p.Grown = p.Cut.Add(hold)
	}
	p.Rate = min(p.Rate, max(minRate, left))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
