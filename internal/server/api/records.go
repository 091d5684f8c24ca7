package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
	"deem/report"
)

// A recordsOut is a page of records.
type recordsOut struct {
	Records []recordOut `json:"records"`
	Next    string      `json:"next,omitempty"`
}

// recordsPage is how many records are read at once if the client requests all of them.
const recordsPage = 500

// getRecords sends the records that a filter selects: one page of them, or all as a stream
// of lines, which it reads page by page, so that a slow client does not block a run that
// writes.
func (s *Server) getRecords(w http.ResponseWriter, r *http.Request) error {
	run, f, err := s.Filtered(r)
	if err != nil {
		return err
	}
	with, err := readParts(r)
	if err != nil {
		return err
	}
	want := f.View()
	want.WithCalls, want.Brief = with.calls, !with.item && f.Text == ""
	q := r.URL.Query()
	if at := q.Get("after"); at != "" {
		if want.From, err = server.DecodePlace(at); err != nil {
			return err
		}
	}
	want.Limit = recordsPage
	if !wantsLines(r) {
		limit, err := pageSize(q)
		if err != nil {
			return err
		}
		want.Limit = limit + 1 // One more shows whether there is a next page.
	}
	recs, err := s.Store.View(r.Context(), run.ID, want)
	if err != nil {
		return err
	}
	if !wantsLines(r) {
		page := recordsOut{Records: []recordOut{}}
		if last := want.Limit - 1; len(recs) > last {
			recs = recs[:last]
			page.Next = server.EncodePlace(store.PlaceOf(recs[last-1], f.Order))
		}
		for _, rec := range recs {
			page.Records = append(page.Records, with.of(rec))
		}
		return writeAnswer(w, http.StatusOK, page)
	}
	out := newLines(w, 0)
	for len(recs) > 0 {
		for _, rec := range recs {
			if err := out.write(with.of(rec)); err != nil {
				return s.Cut(r, err)
			}
		}
		if err := out.flush(); err != nil {
			return s.Cut(r, err)
		}
		want.From = store.PlaceOf(recs[len(recs)-1], want.Order)
		if recs, err = s.Store.View(r.Context(), run.ID, want); err != nil {
			return s.Cut(r, err)
		}
	}
	return nil
}

// An itemOut is everything that a run has on one item.
type itemOut struct {
	Trials []reports.Shown `json:"trials"`
}

// getRecord sends the trials of one item in the format of "deem show --json".
func (s *Server) getRecord(w http.ResponseWriter, r *http.Request, run store.Run) error {
	recs, err := s.RecordsOf(r.Context(), run, r.PathValue("item"))
	if err != nil {
		return err
	}
	p, _ := reports.Protocol(run) //nolint:errcheck // Without a protocol the prompts are not rendered again.
	var out itemOut
	for _, rec := range recs {
		out.Trials = append(out.Trials, reports.Show(run, p, rec))
	}
	return writeAnswer(w, http.StatusOK, out)
}

// How long a client may wait for verdicts.
const (
	defaultWait = 60 * time.Second
	maxWait     = 10 * time.Minute

	// lastWait is how long clients wait once the server is stopping: it must respond before
	// it closes the connection.
	lastWait = server.GraceTimeout - time.Second
)

// waitOf returns how long a client wants to wait, from the header Prefer (RFC 7240).
func waitOf(r *http.Request) (time.Duration, error) {
	wait := defaultWait
	for _, value := range r.Header.Values("Prefer") {
		for _, preference := range strings.Split(value, ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(strings.TrimSpace(preference), "=")
			switch {
			case strings.EqualFold(name, "respond-async"):
				return 0, nil
			case strings.EqualFold(name, "wait"):
				n, err := strconv.Atoi(strings.Trim(value, `" `))
				if err != nil || n < 0 {
					return 0, server.BadRequest("Prefer: wait=%s is not a number of seconds", value)
				}
				// Limited before the multiplication, which could overflow.
				wait = time.Duration(min(n, int(maxWait/time.Second))) * time.Second
			}
		}
	}
	return wait, nil
}

// A recordOut is a record in the API: a verdict, or a failure without a score.
type recordOut struct {
	ID       string        `json:"id"` // of the item
	Position int           `json:"position"`
	Trial    int           `json:"trial"`
	Judge    string        `json:"judge"`
	Verdict  *deem.Verdict `json:"verdict,omitempty"`
	Failure  *deem.Failure `json:"failure,omitempty"`
	Item     *deem.Item    `json:"item,omitempty"`
	Calls    []deem.Call   `json:"calls,omitempty"`
}

// parts selects what records include.
type parts struct{ item, calls bool }

// readParts reads the parameter "with".
func readParts(r *http.Request) (parts, error) {
	var p parts
	text := r.URL.Query().Get("with")
	if text == "" {
		return p, nil
	}
	for _, name := range strings.Split(text, ",") {
		switch strings.TrimSpace(name) {
		case "item":
			p.item = true
		case "calls":
			p.calls = true
		default:
			return p, server.BadRequest("records come with item and calls, and not with %q", name)
		}
	}
	return p, nil
}

// of returns a record with the selected parts.
func (p parts) of(rec deem.Record) recordOut {
	out := recordOut{
		ID: rec.Item.ID, Position: rec.Position, Trial: rec.Trial, Judge: rec.Judge,
		Verdict: rec.Verdict, Failure: rec.Failure,
	}
	if p.item {
		out.Item = &rec.Item
	}
	if p.calls {
		out.Calls = rec.Calls
	}
	return out
}

// A verdictsOut is the response to a client that waited for verdicts.
type verdictsOut struct {
	Run     runOut        `json:"run"`
	Records []recordOut   `json:"records"`
	Report  report.Report `json:"report"`
}

// postVerdicts judges items while the client waits. If that takes longer than the client
// wants to wait, the run continues in the background, so that no paid result is lost.
func (s *Server) postVerdicts(w http.ResponseWriter, r *http.Request) error {
	wait, err := waitOf(r)
	if err != nil {
		return err
	}
	with, err := readParts(r)
	if err != nil {
		return err
	}
	sub, d, err := s.readSubmission(w, r, smallItems)
	if err != nil {
		return err
	}
	j, err := s.jobs.start(r.Context(), sub, d)
	if err != nil {
		return err
	}
	server.Extend(http.NewResponseController(w), wait)
	if wantsLines(r) {
		return s.streamVerdicts(w, r, j, wait, with)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	stopping, late := s.Background.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case <-j.done:
			return s.verdicts(w, r, j, with)
		case <-timer.C:
			w.Header().Set("Preference-Applied", fmt.Sprintf("wait=%d", int(wait.Seconds())))
			return s.accepted(w, r, j.run.ID)
		case <-stopping:
			stopping, late = nil, time.After(lastWait)
		case <-late:
			return &runError{j.run.ID, deem.ErrStopped}
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
}

// verdicts sends all records of a run that has ended.
func (s *Server) verdicts(w http.ResponseWriter, r *http.Request, j *runJob, with parts) error {
	out := verdictsOut{Records: []recordOut{}}
	var err error
	if out.Run, out.Report, err = s.result(r.Context(), j); err != nil {
		return err
	}
	for rec, err := range s.Store.Records(r.Context(), j.run.ID, store.Query{WithCalls: with.calls}) {
		if err != nil {
			return err
		}
		out.Records = append(out.Records, with.of(rec))
	}
	w.Header().Set("Location", apiRunURL(j.run.ID))
	return writeAnswer(w, http.StatusOK, out)
}

// result returns a run that has ended, and its report, which is small and not cached.
func (s *Server) result(ctx context.Context, j *runJob) (runOut, report.Report, error) {
	if j.err != nil {
		return runOut{}, report.Report{}, &runError{j.run.ID, j.err}
	}
	run, err := s.Store.Run(ctx, j.run.ID)
	if err != nil {
		return runOut{}, report.Report{}, err
	}
	f, err := reports.Of(ctx, s.Store, run, reports.Options{MaxUnjudged: report.DefaultMaxUnjudged})
	return s.runOut(run), f.Report, err
}

// A runError says why a run ended early. Its records are kept.
type runError struct {
	run string
	err error
}

func (e *runError) Error() string { return fmt.Sprintf("run %s: %v", e.run, e.err) }

func (e *runError) Unwrap() error { return e.err }

// A verdictLine is one line of a stream: a record or, at the end, the run with its report,
// the run alone, or a problem.
type verdictLine struct {
	Record  *recordOut     `json:"record,omitempty"`
	Run     *runOut        `json:"run,omitempty"`
	Report  *report.Report `json:"report,omitempty"`
	Problem *problem       `json:"problem,omitempty"`
}

// streamVerdicts sends records as they are judged. The last line is the run: with its
// report if it is done, without one if it continues in the background.
func (s *Server) streamVerdicts(w http.ResponseWriter, r *http.Request, j *runJob, wait time.Duration, with parts) error {
	out := newLines(w, wait)
	w.Header().Set("Location", apiRunURL(j.run.ID))
	timer := time.NewTimer(wait)
	defer timer.Stop()
	stopping, late := s.Background.Done(), (<-chan time.Time)(nil)
	for sent, over := 0, false; !over; {
		recs, more := j.from(sent)
		for _, rec := range recs {
			line := with.of(rec)
			if err := out.write(verdictLine{Record: &line}); err != nil {
				return nil //nolint:nilerr // The client is gone, so there is nobody to answer.
			}
		}
		sent += len(recs)
		if err := out.flush(); err != nil {
			return nil //nolint:nilerr // The client is gone, so there is nobody to answer.
		}
		select {
		case <-more:
		case <-j.done:
			recs, _ = j.from(sent)
			over = len(recs) == 0
		case <-timer.C:
			over = true
		case <-stopping:
			stopping, late = nil, time.After(lastWait)
		case <-late:
			_ = out.write(verdictLine{Problem: new(problemOf(&runError{j.run.ID, deem.ErrStopped}))}) // A client that is gone needs no response.
			return nil
		case <-r.Context().Done():
			return nil
		}
	}
	var last verdictLine
	var run runOut
	var err error
	select {
	case <-j.done:
		last.Report = &report.Report{}
		run, *last.Report, err = s.result(r.Context(), j)
	default:
		run, err = s.now(r.Context(), j.run.ID)
	}
	last.Run = &run
	if err != nil {
		last = verdictLine{Problem: new(problemOf(err))}
	}
	_ = out.write(last) // A client that is gone needs no response.
	return nil
}

// lines writes JSON values, one per line, and extends the deadline for slow clients.
type lines struct {
	enc  *json.Encoder
	rc   *http.ResponseController
	wait time.Duration // the longest time between two lines
}

// newLines starts a response of lines.
func newLines(w http.ResponseWriter, wait time.Duration) *lines {
	h := w.Header()
	h.Set("Content-Type", ndjson)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	l := &lines{enc: json.NewEncoder(w), rc: http.NewResponseController(w), wait: wait}
	l.enc.SetEscapeHTML(false)
	return l
}

func (l *lines) write(v any) error { return l.enc.Encode(v) }

// flush sends the buffered lines.
func (l *lines) flush() error {
	server.Extend(l.rc, l.wait)
	if err := l.rc.Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
