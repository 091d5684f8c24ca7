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
// cut below what was measured, for all workers, and grows again by and by, as TCP does.
type pace struct {
	Next   time.Time `json:"next,omitzero"`   // where the line of requests ends
	Tokens time.Time `json:"tokens,omitzero"` // where the line of tokens ends

	Rate   float64   `json:"rate,omitempty"` // requests a second that the vendor bears; 0 is not known
	Peak   float64   `json:"peak,omitempty"` // what was asked when it was cut
	Cut    time.Time `json:"cut,omitzero"`
	Grown  time.Time `json:"grown,omitzero"`
	Paused time.Time `json:"paused,omitzero"` // the vendor wants to be left alone until then

	Since time.Time `json:"since,omitzero"` // of what was Sent
	Sent  int       `json:"sent,omitempty"`
	Speed float64   `json:"speed,omitempty"` // requests a second, as last measured
}

const (
	// cutTo is what a refusal leaves of the rate, and growth is how much of the peak comes
	// back in a second. A vendor that bore no trouble for long is asked freely again.
	cutTo   = 0.7
	growth  = 0.05
	forget  = 3.0
	minRate = 0.1

	// sameTrouble is how long refusals belong to one cut: calls that were in flight then
	// say nothing new.
	sameTrouble = 2 * time.Second

	// longestPause is how long one answer can stop the fleet.
	longestPause = 2 * time.Minute

	// longestMeasure is how long a measurement of the speed may take.
	longestMeasure = 10 * time.Second

	// margin keeps the pace a little below what the user allows, since a call reaches
	// the vendor a little later than it was meant to, and not always by as much.
	margin = 0.99
)

// A wish is what a worker wants, and what it saw since it last asked.
type wish struct {
	requests, tokens int
	rpm, tpm         int // 0 is no bound
	sent             int
	refused          bool
	retryAfter       time.Duration
	ago              time.Duration // since it was refused
}

// A grant is what a worker may do.
type grant struct {
	free     bool          // any number of requests, as far as tokens go
	from     time.Time     // of the first request
	gap      time.Duration // between two of them
	requests int

	bounded   bool      // tokens are
	tokens    int       // that may be used
	tokensAt  time.Time // when the first may
	tokensGap float64   // seconds between two of them
	paused    time.Time
}

// take reserves what is wanted.
func (p *pace) take(now time.Time, w wish) grant {
	p.measure(now, w.sent)
	p.learn(now, w)
	g := grant{paused: p.Paused}
	begin := later(now, p.Paused)
	perSecond := p.perSecond(w.rpm)
	if g.free = perSecond == 0; !g.free {
		g.requests = min(max(1, w.requests), max(1, int(perSecond)))
		g.gap = time.Duration(float64(time.Second) / perSecond)
		g.from = later(p.Next, begin)
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

// measure counts requests. A second tells their speed, and after a while in which nobody
// asked nothing is known.
func (p *pace) measure(now time.Time, sent int) {
	p.Sent += sent
	took := now.Sub(p.Since)
	if took < time.Second {
		return
	}
	p.Speed = float64(p.Sent) / took.Seconds()
	if took > longestMeasure {
		p.Speed = 0
	}
	p.Sent, p.Since = 0, now
}

// learn cuts the rate after a refusal, and lets it grow otherwise.
func (p *pace) learn(now time.Time, w wish) {
	if w.refused && p.refuse(now, w) {
		return
	}
	if p.Rate == 0 || now.Sub(p.Grown) < time.Second {
		return
	}
	p.Rate += p.Peak * growth * min(30, now.Sub(p.Grown).Seconds())
	p.Grown = now
	if p.Rate > forget*p.Peak {
		p.Rate, p.Peak = 0, 0
	}
}

// refuse cuts the rate, and reports whether it did. A worker tells of a refusal when it
// asks for its next places, which is many seconds later where there are few: what counts
// is when it was refused, or one bad second would be cut for once by every worker.
func (p *pace) refuse(now time.Time, w wish) bool {
	at := now.Add(-w.ago)
	p.Paused = later(p.Paused, at.Add(min(w.retryAfter, longestPause)))
	if at.Sub(p.Cut) < sameTrouble {
		return false
	}
	asked := p.Rate
	if asked == 0 || p.Speed > 0 && p.Speed < asked {
		asked = p.Speed
	}
	if asked == 0 {
		return true // Nobody knows how much was too much. Each worker slows down by itself.
	}
	p.Peak = asked
	p.Rate = max(minRate, asked*cutTo)
	p.Cut, p.Grown = now, now
	return true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
