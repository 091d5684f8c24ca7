package faultserver

import (
	"maps"
	"math"
	"time"
)

// Stats are the counters of a server.
type Stats struct {
	Requests int `json:"requests"` // completion requests, including refused ones
	Distinct int `json:"distinct"` // different bodies among the admitted ones
	Answered int `json:"answered"` // answers that a vendor would charge for

	// Duplicates are requests that were admitted although the same body had been answered:
	// what a caller pays twice.
	Duplicates int `json:"duplicates"`

	Refused  int `json:"refused"`  // because of slots, the rate or a storm
	Exceeded int `json:"exceeded"` // the same, after the grace period

	InFlight int `json:"in_flight"` // admitted and not answered yet
	Peak     int `json:"peak"`      // of InFlight

	Faults map[Fault]int `json:"faults"` // how many times each occurred
}

// PerItem returns the number of requests per different body.
func (s Stats) PerItem() float64 { return float64(s.Requests) / float64(max(1, s.Distinct)) }

// Stats returns the counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Faults = maps.Clone(st.Faults)
	return st
}

// asked is the state of a body.
type asked struct {
	attempts int // that were let in
	answered bool
}

// admit admits a request, or refuses it. Refusals do not count as attempts of the body:
// they depend on the clock, and the outcome of a body must not.
func (s *Server) admit(d digest) (attempt int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Requests++
	now := time.Now()
	if s.full(now) {
		s.stats.Refused++
		if s.first.IsZero() {
			s.first = now
		}
		if now.Sub(s.first) > s.opts.Grace {
			s.stats.Exceeded++
		}
		return 0, false
	}
	a := s.asked[d]
	if a == nil {
		a = &asked{}
		s.asked[d] = a
		s.stats.Distinct++
	}
	if a.answered {
		s.stats.Duplicates++
	}
	a.attempts++
	s.stats.InFlight++
	s.stats.Peak = max(s.stats.Peak, s.stats.InFlight)
	return a.attempts - 1, true
}

// full reports whether a request cannot be admitted now, and takes its token if it can. The
// caller holds the lock.
func (s *Server) full(now time.Time) bool {
	storm := s.opts.Storm
	stormy := storm.Every > 0 && now.Sub(s.started)%storm.Every >= storm.Every-storm.For
	if stormy || s.opts.Slots > 0 && s.stats.InFlight >= s.opts.Slots {
		return true
	}
	if s.opts.Rate <= 0 {
		return false
	}
	s.tokens = min(burst(s.opts.Rate), s.tokens+now.Sub(s.filled).Seconds()*s.opts.Rate)
	s.filled = now
	if s.tokens < 1 {
		return true
	}
	s.tokens--
	return false
}

// burst is how many requests of the rate may come at once.
func burst(rate float64) float64 { return math.Max(1, rate) }
