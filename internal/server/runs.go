package server

import (
	"net/http"
	"strconv"

	"deem/internal/store"
)

// runsPerPage is how many runs a page lists.
const runsPerPage = 50

// A runsList is what the page of runs shows.
type runsList struct {
	Runs         []runRow
	Newer, Older string // paths, "" for none
}

// A runRow is one run in the list.
type runRow struct {
	store.Run
	Wanted int // records that the run will have when it is done
}

// runsPage lists runs, newest first.
func (s *Server) runsPage(r *http.Request) (page, error) {
	at, _ := strconv.Atoi(r.URL.Query().Get("page"))
	at = max(at, 1)
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
			list.Runs = append(list.Runs, runRow{Run: run, Wanted: wanted(run)})
		}
		i++
	}
	if at > 1 {
		list.Newer = "/?page=" + strconv.Itoa(at-1)
	}
	return page{Template: "runs", Title: "Runs", Section: "runs", Data: list}, nil
}

// wanted returns how many records a run has when it is done.
func wanted(run store.Run) int { return run.Dataset.Items * max(run.Trials, 1) }
