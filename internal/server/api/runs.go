package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/queue"
	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/usage"
)

// ndjson is the media type of newline-delimited JSON.
const ndjson = "application/x-ndjson"

// The states of a run as clients see them.
const (
	stateQueued  = "queued"  // waits for a slot
	stateJudging = "judging" // by this server
	stateOpen    = "open"    // not done, and not judged by this server
	stateDone    = "done"
)

// A runOut is a run as clients see it.
type runOut struct {
	ID         string    `json:"id"`
	State      string    `json:"state"`
	Judge      judgeOut  `json:"judge"`
	Model      string    `json:"model,omitempty"`
	Dataset    string    `json:"dataset"`
	Hash       string    `json:"dataset_hash"`
	Items      int       `json:"items"`
	Trials     int       `json:"trials"`
	Records    int       `json:"records"`
	Wanted     int       `json:"wanted"`
	Unjudged   int       `json:"unjudged"`
	CostMicros int64     `json:"cost_micros"`
	Created    time.Time `json:"created"`
	Updated    time.Time `json:"updated"`
	Resumable  bool      `json:"resumable,omitempty"`
	Problem    *problem  `json:"problem,omitempty"`
}

// A judgeOut is the judge of a run as clients see it.
type judgeOut struct {
	Name     string          `json:"name"`
	Hash     string          `json:"hash"`
	Rule     bool            `json:"rule"`
	Identity json.RawMessage `json:"identity,omitempty"` // only in the answer about a single run
}

// runOut returns a run as clients see it.
func (s *Server) runOut(run store.Run) runOut {
	out := runOut{
		ID: run.ID, State: stateOpen, Model: run.Model,
		Judge:   judgeOut{Name: run.Judge.Name, Hash: run.Judge.Hash, Rule: run.Judge.Rule},
		Dataset: strings.Join(run.Dataset.Names, ", "), Hash: run.Dataset.Hash, Items: run.Dataset.Items,
		Trials: run.Trials, Records: run.Records, Wanted: run.Wanted(), Unjudged: run.Unjudged,
		CostMicros: run.CostMicros, Created: run.Created, Updated: run.Updated,
	}
	switch j := s.jobs.find(run.ID); {
	case j != nil:
		out.State = stateQueued
		j.mu.Lock()
		if j.judging {
			out.State = stateJudging
		}
		j.mu.Unlock()
	case run.State == store.Done:
		out.State = stateDone
	default:
		out.Resumable = submissionOf(run) != nil && s.spool.has(run.Dataset.Hash)
		if why := s.End(run.ID); why != nil {
			out.Problem = new(problemOf(why))
		}
	}
	return out
}

// now returns the current state of a run.
func (s *Server) now(ctx context.Context, id string) (runOut, error) {
	run, err := s.Store.Run(ctx, id)
	return s.runOut(run), err
}

func apiRunURL(id string) string { return server.APIRoot + "/runs/" + url.PathEscape(id) }

// The default and maximum number of entries on a page of a list.
const (
	defaultPage = 50
	maxPage     = 1000
)

// pageSize reads the parameter limit.
func pageSize(q url.Values) (int, error) {
	text := q.Get("limit")
	if text == "" {
		return defaultPage, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPage {
		return 0, server.BadRequest("limit is a number from 1 to %d, not %q", maxPage, text)
	}
	return n, nil
}

// A runsOut is a page of the list of runs.
type runsOut struct {
	Runs []runOut `json:"runs"`
	Next string   `json:"next,omitempty"`
}

// getRuns lists runs, newest first.
func (s *Server) getRuns(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := pageSize(q)
	if err != nil {
		return err
	}
	after := q.Get("after")
	out := runsOut{Runs: []runOut{}}
	for run, err := range s.Store.Runs(r.Context()) {
		if err != nil {
			return err
		}
		if after != "" && run.ID >= after || q.Get("judge") != "" && run.Judge.Name != q.Get("judge") {
			continue
		}
		if len(out.Runs) == limit {
			out.Next = out.Runs[limit-1].ID
			break
		}
		out.Runs = append(out.Runs, s.runOut(run))
	}
	return writeAnswer(w, http.StatusOK, out)
}

func (s *Server) getRun(w http.ResponseWriter, r *http.Request, run store.Run) error {
	out := s.runOut(run)
	out.Judge.Identity = run.Judge.Identity
	return writeAnswer(w, http.StatusOK, out)
}

// postRuns accepts items and judges them in the background.
func (s *Server) postRuns(w http.ResponseWriter, r *http.Request) error {
	sub, d, err := s.readSubmission(w, r, maxItems)
	if err != nil {
		return err
	}
	j, err := s.jobs.start(r.Context(), sub, d)
	if err != nil {
		return err
	}
	return s.accepted(w, r, j.run.ID)
}

// accepted answers with 202 and the location of a run that this server judges in the
// background, or that workers judge.
func (s *Server) accepted(w http.ResponseWriter, r *http.Request, id string) error {
	out, err := s.now(r.Context(), id)
	if err != nil {
		return err
	}
	w.Header().Set("Location", apiRunURL(out.ID))
	w.Header().Set("Retry-After", "1")
	return writeAnswer(w, http.StatusAccepted, out)
}

// cancelRun stops a run that this server or workers judge.
func (s *Server) cancelRun(w http.ResponseWriter, r *http.Request, run store.Run) error {
	j := s.jobs.find(run.ID)
	if j == nil && s.options.Queue != nil {
		err := s.options.Queue.Cancel(r.Context(), run.ID)
		if err == nil {
			return s.accepted(w, r, run.ID)
		}
		if !errors.Is(err, queue.ErrNotQueued) {
			return err
		}
	}
	if j == nil {
		err := deem.WithHint(errors.New("this server does not judge run "+run.ID), "only the server or the command that judges a run can stop it")
		return server.WithStatus(http.StatusConflict, err)
	}
	// No new items are started. Calls in flight that finish within callsGrace are kept, the
	// others are aborted.
	j.mu.Lock()
	j.cancelled = true
	j.mu.Unlock()
	j.stop()
	time.AfterFunc(callsGrace, j.kill)
	// Calls in flight may take longer than cancelWait. Clients can poll the run.
	select {
	case <-j.done:
	case <-time.After(cancelWait):
	case <-r.Context().Done():
		return r.Context().Err()
	}
	return s.accepted(w, r, run.ID)
}

// cancelWait is how long the answer to a cancellation waits for calls in flight.
const cancelWait = 2 * time.Second

// A resumption is the settings that may change when a run is resumed.
type resumption struct {
	MaxCost       *dollarSum `json:"max_cost"`
	RetryUnjudged bool       `json:"retry_unjudged"`
}

func (s *Server) resumeRun(w http.ResponseWriter, r *http.Request, run store.Run) error {
	var more resumption
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if len(text) > 0 {
		if err := usage.Mark(decodeStrictly(text, &more, "the body")); err != nil {
			return err
		}
	}
	if s.options.Queue != nil {
		err := s.options.Queue.Resume(r.Context(), run.ID, queue.Change{MaxMicros: (*int64)(more.MaxCost)})
		if err == nil {
			return s.accepted(w, r, run.ID)
		}
		if !errors.Is(err, queue.ErrNotQueued) {
			return err
		}
	}
	if err := s.resume(r.Context(), run, more); err != nil {
		return err
	}
	return s.accepted(w, r, run.ID)
}

// getReport answers with the report of a run, as printed by "deem report --json". A failed
// gate does not change the status: the request itself succeeded.
func (s *Server) getReport(w http.ResponseWriter, r *http.Request, run store.Run) error {
	// Report invalid gates before making the report.
	gates, err := reports.ParseGates(r.URL.Query()["gate"])
	if err != nil {
		return err
	}
	rep, err := s.options.Report(r.Context(), run)
	if err != nil {
		return err
	}
	held, err := reports.Gates(gates, run, rep)
	if err != nil {
		return err
	}
	if len(held) > 0 {
		rep.Gates = held
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	return rep.JSON(w)
}
