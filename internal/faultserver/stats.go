package faultserver

import (
	"maps"
	"math"
	"time"
)

// Stats are what a server has seen.
type Stats struct {
	Requests int `json:"requests"` // completions that were asked for, refused ones too
	Distinct int `json:"distinct"` // different bodies among those let in
	Answered int `json:"answered"` // answers that a vendor would charge for

	// Duplicates are requests that were let in though the same body had been
	// answered: what a caller pays twice.
	Duplicates int `json:"duplicates"`

	Refused  int `json:"refused"`  // for want of a slot, by the rate or in a storm
	Exceeded int `json:"exceeded"` // the same, after the grace

	InFlight int `json:"in_flight"` // let in and not answered yet
	Peak     int `json:"peak"`      // of InFlight

	Faults map[Fault]int `json:"faults"` // how often each was met
}

// PerItem returns how many requests were made for each different body.
func (s Stats) PerItem() float64 { return float64(s.Requests) / float64(max(1, s.Distinct)) }

// Stats returns what was counted so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Faults = maps.Clone(st.Faults)
	return st
}

// asked is what is known of a body.
type asked struct {
	attempts int // that were let in
	answered bool
}

// admit lets a request in, or refuses it. Refused attempts are not counted as attempts
// of the body: when they happen depends on the clock, and what happens to a body must
// not.
func (s *Server) admit(d digest) (attempt int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Requests++
	now := time.Now()
	if s.full(now) {
		s.refuse(now)
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

// full reports whether a request cannot be let in now, and takes its token if it can.
// The caller holds the lock.
func (s *Server) full(now time.Time) bool {
	if s.opts.Slots > 0 && s.stats.InFlight >= s.opts.Slots || s.stormy(now) {
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

func (s *Server) stormy(now time.Time) bool {
	st := s.opts.Storm
	return st.Every > 0 && now.Sub(s.started)%st.Every >= st.Every-st.For
}

// refuse counts a refusal. The caller holds the lock.
func (s *Server) refuse(now time.Time) {
	s.stats.Refused++
	if s.first.IsZero() {
		s.first = now
	}
	if now.Sub(s.first) > s.opts.Grace {
		s.stats.Exceeded++
	}
}

// leave counts the end of an attempt. When its caller got an answer it is paid for.
func (s *Server) leave(d digest, fault Fault, answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.InFlight--
	if fault != "" {
		s.stats.Faults[fault]++
	}
	if answered {
		s.stats.Answered++
		s.asked[d].answered = true
	}
}
