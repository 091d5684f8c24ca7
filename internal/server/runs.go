package server

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"deem/internal/store"
)

// runsPerPage is how many runs a page lists.
const runsPerPage = 50

// maxRunsPage keeps the number of a page from being more than can be counted.
const maxRunsPage = 1_000_000

// A runsList is what the page of runs shows.
type runsList struct {
	Runs         []runRow
	Newer, Older string // paths, "" for none
}

// A runRow is one run in the list.
type runRow struct {
	store.Run
	Wanted int        // records that the run will have when it is done
	Score  *scoreView // nil when there is no report yet
	Late   string     // where the score can be had
}

// Done reports whether the run is done.
func (r runRow) Done() bool { return r.State == store.Done }

// runsPage lists runs, newest first.
func (s *Server) runsPage(r *http.Request) (page, error) {
	at, _ := strconv.Atoi(r.URL.Query().Get("page"))
	at = min(max(at, 1), maxRunsPage)
	var list runsList
	i := 0
	for run, err := range s.store.Runs(r.Context()) {
		if err != nil {
			return page{}, err
		}
		if i >= at*runsPerPage {
			list.Older = "/?page=" + strconv.Itoa(at+1)
			break
		}
		if i >= (at-1)*runsPerPage {
			list.Runs = append(list.Runs, s.runRow(run))
		}
		i++
	}
	if at > 1 && len(list.Runs) == 0 {
		return page{}, notFound("there is no page %d in the list of runs", at)
	}
	if at > 1 {
		list.Newer = "/?page=" + strconv.Itoa(at-1)
	}
	return page{Template: "runs", Title: "Runs", Section: "runs", Data: list}, nil
}

// runRow returns a run with its score if that is known already. Otherwise a script asks
// for it: the list does not wait.
func (s *Server) runRow(run store.Run) runRow {
	row := runRow{Run: run, Wanted: wanted(run)}
	if got, ok := s.reports.peek(run); ok {
		score := scoreOf(run, got.Report)
		row.Score = &score
	} else {
		row.Late = runURL(run.ID) + "/score"
	}
	return row
}

// choose sends whoever has ticked runs to the page that compares them.
func (s *Server) choose(w http.ResponseWriter, r *http.Request) error {
	ids := r.URL.Query()["run"]
	if len(ids) < 2 {
		return badRequest("choose at least two runs to compare")
	}
	for i, id := range ids {
		ids[i] = url.QueryEscape(id)
	}
	http.Redirect(w, r, "/compare?runs="+strings.Join(ids, ","), http.StatusSeeOther) //nolint:gosec // It begins with a path of ours.
	return nil
}

// wanted returns how many records a run has when it is done.
func wanted(run store.Run) int { return run.Dataset.Items * max(run.Trials, 1) }
