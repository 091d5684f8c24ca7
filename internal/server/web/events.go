package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"deem"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/words"
)

// Runs are watched by polling the store, because another process may write the records.
const (
	pollEvery  = time.Second
	beatEvery  = 15 * time.Second // so that proxies do not close an idle connection
	rateWindow = 30 * time.Second
	maxStreams = 64

	// A run without new records for quietAfter is queued, waits for a model or was
	// interrupted. Its stream ends, and the page asks again after askAgain.
	quietAfter = time.Minute
	askAgain   = 20 * time.Second
)

// A progress is the progress of a run, as sent to the page of the run.
type progress struct {
	State    store.State `json:"state"`
	Records  int         `json:"records"`
	Wanted   int         `json:"wanted"`
	Unjudged int         `json:"unjudged"`
	Cost     string      `json:"cost"`
	Rate     float64     `json:"rate"`          // records per second, over the last half minute
	ETA      string      `json:"eta,omitempty"` // until the last item, "" if unknown
	Words    string      `json:"words"`
	Stopped  string      `json:"stopped,omitempty"` // why this server no longer judges it
}

// Done reports whether the run is done.
func (p progress) Done() bool { return p.State == store.Done }

func (s *Server) progressOf(run store.Run) progress {
	p := progress{
		State: run.State, Records: run.Records, Wanted: run.Wanted(),
		Unjudged: run.Unjudged, Cost: words.Dollars(run.CostMicros),
	}
	p.Words = fmt.Sprintf("%s of %s", words.Comma(p.Records), words.Count(p.Wanted, "record"))
	if why := s.End(run.ID); why != nil && !p.Done() {
		p.Stopped = why.Error()
		if hint := deem.HintOf(why); hint != "" {
			p.Stopped += " (" + hint + ")"
		}
		p.Stopped = server.InFields(p.Stopped)
	}
	return p
}

// A pace measures the rate of new records.
type pace struct{ seen []seenAt }

type seenAt struct {
	at      time.Time
	records int
}

// add notes the number of records, and returns the recent rate per second.
func (pc *pace) add(now time.Time, records int) float64 {
	pc.seen = append(pc.seen, seenAt{now, records})
	for len(pc.seen) > 2 && now.Sub(pc.seen[0].at) > rateWindow {
		pc.seen = pc.seen[1:]
	}
	first := pc.seen[0]
	passed := now.Sub(first.at).Seconds()
	if passed <= 0 || records <= first.records {
		return 0
	}
	return float64(records-first.records) / passed
}

// events streams the progress of a run until it is done.
func (s *Server) events(w http.ResponseWriter, r *http.Request, run store.Run) error {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		return server.WithStatus(http.StatusServiceUnavailable, errors.New("too many pages watch runs"))
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	// Once the stream has begun, an error can only end it, and the browser reconnects.
	if err := s.watch(w, r, run); err != nil {
		s.Logger.Debug("events", "run", run.ID, "error", err)
	}
	return nil
}

// watch sends the progress of a run whenever it changes, and otherwise a heartbeat every
// beatEvery. The last event of a run that is done has the type "done". The stream of a run
// that gets no records ends, so that its page does not hold a connection.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, run store.Run) error {
	ticks := time.NewTicker(s.poll)
	defer ticks.Stop()
	rc := http.NewResponseController(w)
	var pc pace
	var last string
	var sent time.Time // when something was last sent
	session := s.Guard.Session(r)
	moved := run.Updated
	for {
		p := s.progressOf(run)
		p.Rate = pc.add(time.Now(), run.Records)
		if left := p.Wanted - p.Records; p.Rate > 0 && left > 0 {
			p.ETA = took(time.Duration(float64(left)/p.Rate) * time.Second)
		}
		text, err := json.Marshal(p)
		if err != nil {
			return err
		}
		event := ""
		switch {
		case p.Done():
			event = fmt.Sprintf("event: done\ndata: %s\n\n", text)
		case string(text) != last:
			event = fmt.Sprintf("event: progress\ndata: %s\n\n", text)
		case time.Since(sent) >= beatEvery:
			event = ": still here\n\n"
		}
		if event != "" {
			last, sent = string(text), time.Now()
			server.Extend(rc, 0)
			if _, err := io.WriteString(w, event); err != nil {
				return err
			}
			if err := rc.Flush(); err != nil || p.Done() {
				return err
			}
		}
		if time.Since(moved) > quietAfter {
			_, err := fmt.Fprintf(w, "retry: %d\n\n", askAgain.Milliseconds())
			return err
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-s.Background.Done():
			return nil
		case <-ticks.C:
		}
		if s.Guard.Session(r) != session {
			return nil // The user has logged out, or the session has expired.
		}
		records := run.Records
		if run, err = s.Store.Run(r.Context(), run.ID); err != nil {
			return err
		}
		if run.Records != records {
			moved = time.Now()
		}
	}
}
