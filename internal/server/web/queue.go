package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"deem/internal/queue"
	"deem/internal/server"
	"deem/internal/words"
)

// A Queue controls runs that workers judge. [queue.Control] implements it.
type Queue interface {
	Status(ctx context.Context) (queue.Status, error)
	Run(ctx context.Context, runID string) (queue.RunStatus, error)
	Pause(ctx context.Context, runID string) error
	Resume(ctx context.Context, runID string, ch queue.Change) error
	Cancel(ctx context.Context, runID string) error
}

// errNoQueue is returned if the database has no queue.
var errNoQueue = server.NotFound("this database has no queue: runs are left to workers with deem run --detach, in a Postgres")

// A queueView is the data of the queue page.
type queueView struct {
	Runs    []queuedView
	Workers []queue.WorkerStatus
	Working int     // workers with a recent heartbeat
	Rate    float64 // total, in records per second
	Depth   int     // chunks that no worker has taken
}

// A queuedView is a queued run and the actions available for it.
type queuedView struct {
	queue.RunStatus
	Spent string
	Most  string // "" if there is no limit
	Left  string // estimated remaining time, "" if unknown
	Verbs []string
}

func queuedOf(r queue.RunStatus) queuedView {
	v := queuedView{RunStatus: r, Spent: words.Dollars(r.SpentMicros)}
	switch r.State {
	case queue.Queued:
		v.Verbs = []string{"pause", "cancel"}
	case queue.Paused:
		v.Verbs = []string{"resume", "cancel"}
	case queue.Cancelled, queue.Stopped:
		v.Verbs = []string{"resume"}
	}
	if r.MaxMicros != nil {
		v.Most = words.Dollars(*r.MaxMicros)
	}
	if r.ETA != nil {
		v.Left = took(time.Duration(*r.ETA) * time.Second)
	}
	return v
}

// queuePage shows the workers and the queued runs.
func (s *Server) queuePage(r *http.Request) (page, error) {
	if s.queue == nil {
		return page{}, errNoQueue
	}
	status, err := s.queue.Status(r.Context())
	if err != nil {
		return page{}, err
	}
	v := queueView{Workers: status.Workers}
	for _, run := range status.Runs {
		v.Runs = append(v.Runs, queuedOf(run))
		v.Rate += run.Rate
		if run.State == queue.Queued {
			v.Depth += run.Chunks - run.Taken
		}
	}
	for _, w := range status.Workers {
		if w.State != "silent" {
			v.Working++
		}
	}
	return page{Template: "queue", Title: "Queue", Section: "queue", Data: v, Refresh: 5}, nil
}

// steer pauses, resumes or cancels a run.
func (s *Server) steer(w http.ResponseWriter, r *http.Request) error {
	if s.queue == nil {
		return errNoQueue
	}
	run, err := s.RunOf(r)
	if err != nil {
		return err
	}
	switch verb := r.PostFormValue("verb"); verb {
	case "pause":
		err = s.queue.Pause(r.Context(), run.ID)
	case "resume":
		err = s.queue.Resume(r.Context(), run.ID, queue.Change{})
	case "cancel":
		err = s.queue.Cancel(r.Context(), run.ID)
	default:
		return server.BadRequest("a run is paused, resumed or cancelled, and not %q", verb)
	}
	if errors.Is(err, queue.ErrNotQueued) {
		return server.NotFound("run %s was not left to workers", run.ID)
	}
	if err != nil {
		return err
	}
	to := runURL(run.ID)
	if slices.Contains(r.PostForm["from"], "queue") {
		to = "/queue"
	}
	http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // It is a page of ours.
	return nil
}
