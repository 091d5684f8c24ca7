package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
)

const runsPerPage = 50

// The kinds of runs, which are listed separately: runs with results, runs over probes of a
// judge, runs in which nothing was judged, and deleted runs.
const (
	usualRuns   = ""
	probeRuns   = "probes"
	emptyRuns   = "empty"
	deletedRuns = "deleted"
)

// A runsFilter selects and orders the listed runs. It is parsed from the URL.
type runsFilter struct {
	Text, Dataset, Judge, System, Tag, Kind, Sort string
	Flat                                          bool // not grouped by dataset
}

// runOrders are the ways to sort runs. The first is the default.
var runOrders = []string{"newest", "score", "cost", "items", "name"}

func readRunsFilter(q url.Values) (runsFilter, error) {
	f := runsFilter{
		Text: q.Get("q"), Dataset: q.Get("dataset"), Judge: q.Get("judge"), System: q.Get("system"), Tag: q.Get("tag"), Kind: q.Get("kind"),
		Sort: cmp.Or(q.Get("sort"), runOrders[0]), Flat: q.Get("group") == "none",
	}
	if !slices.Contains(runOrders, f.Sort) {
		return f, server.BadRequest("runs are not sorted by %q", f.Sort)
	}
	if !slices.Contains([]string{usualRuns, probeRuns, emptyRuns, deletedRuns}, f.Kind) {
		return f, server.BadRequest("there are no runs of kind %q", f.Kind)
	}
	return f, nil
}

// Active reports whether the filter excludes runs.
func (f runsFilter) Active() bool {
	return f.Text+f.Dataset+f.Judge+f.System+f.Tag != ""
}

// link returns the URL of a page with this filter. More are the names and values of
// parameters to replace.
func (f runsFilter) link(path string, more ...string) string {
	q := url.Values{"q": {f.Text}, "dataset": {f.Dataset}, "judge": {f.Judge}, "system": {f.System}, "tag": {f.Tag}, "kind": {f.Kind}}
	if f.Flat {
		q.Set("group", "none")
	}
	if f.Sort != runOrders[0] {
		q.Set("sort", f.Sort)
	}
	return server.Link(path, q, more...)
}

// selects reports whether the filter selects a run of the shown kind. Every word of the
// text must occur in the id, names, model, note or tags of the run.
func (f runsFilter) selects(r runRow) bool {
	if f.Dataset != "" && f.Dataset != r.DatasetName || f.Judge != "" && f.Judge != r.Run.Judge.Name ||
		f.System != "" && f.System != r.System || f.Tag != "" && !slices.Contains(r.About.Tags, f.Tag) {
		return false
	}
	said := strings.ToLower(strings.Join(append([]string{r.ID, r.DatasetName, r.Run.Judge.Name, r.Model, r.System, r.About.Name, r.About.Note}, r.About.Tags...), "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(f.Text)) {
		if !strings.Contains(said, word) {
			return false
		}
	}
	return true
}

// A runsList is the data of the page of runs.
type runsList struct {
	Filter        runsFilter
	Groups        []runGroup
	Total, Before int // number of selected runs, and of runs of all kinds
	Tabs          []tab
	Newer, Older  string // paths, "" for none
	Trend         string
	Orders        []string

	Datasets, Judges, Systems, Tags []store.Count

	CanEdit bool
	Undo    []string // runs that were just deleted
	Late    bool     // not all scores were ready in time to sort by them
}

// A runGroup is the runs of one dataset.
type runGroup struct {
	Name string // "" if runs are not grouped
	Runs []runRow
}

type runRow struct {
	store.Run
	DatasetName, System string
	Score               *scoreView // nil if there is no report yet
	Late                string     // URL of the score, if it is not ready
}

// Done reports whether the run is done.
func (r runRow) Done() bool { return r.State == store.Done }

// Title returns the name of the run, or else its system, or else its id.
func (r runRow) Title() string { return cmp.Or(r.About.Name, r.System, r.ID) }

// runName returns the name of a run on every page: the name that people gave it, or else its
// system, or the name of its data, with its judge.
func runName(run store.Run) string {
	if run.About.Name != "" {
		return run.About.Name
	}
	name := cmp.Or(reports.SettingsOf(run.Spec).System, datasetName(run.Dataset.Names)) + " · " + run.Judge.Name
	if run.Model != "" {
		name += " (" + run.Model + ")"
	}
	return name
}

// Took returns how long the run took, or "" if it is not done.
func (r runRow) Took() string {
	if !r.Done() || !r.Updated.After(r.Created) {
		return ""
	}
	return took(r.Updated.Sub(r.Created))
}

// kindOf returns the kind of a run. An unfinished run without records that was updated in
// the last 24 hours is probably in progress, and counts as usual.
func kindOf(run store.Run, now time.Time) string {
	switch {
	case !run.About.Deleted.IsZero():
		return deletedRuns
	case run.Probes():
		return probeRuns
	case run.Answered() || run.State != store.Done && now.Sub(run.Updated) < 24*time.Hour:
		return usualRuns
	}
	return emptyRuns
}

func (s *Server) runsPage(r *http.Request) (page, error) {
	f, err := readRunsFilter(r.URL.Query())
	if err != nil {
		return page{}, err
	}
	list := runsList{Filter: f, Orders: runOrders, Trend: f.link("/trend")}
	rows, err := s.listed(r.Context(), f, &list)
	if err != nil {
		return page{}, err
	}
	list.Late = s.sortRuns(r.Context(), rows, f)
	at, _ := strconv.Atoi(r.URL.Query().Get("page"))
	pages := newPager(at, len(rows), runsPerPage, func(n int) string { return f.link("/", "page", strconv.Itoa(n)) })
	if at > pages.Pages {
		return page{}, server.NotFound("there is no page %d in the list of runs", at)
	}
	list.Total, list.Newer, list.Older = len(rows), pages.Prev, pages.Next
	from, to := pages.span(len(rows), runsPerPage)
	for _, row := range rows[from:to] {
		if score, ok := s.reports.scored(row.Run); ok {
			row.Score = &score
		} else {
			row.Late = runURL(row.ID) + "/score" // A script loads it, so that the list does not wait.
		}
		name := row.DatasetName
		if f.Flat {
			name = ""
		}
		if n := len(list.Groups); n == 0 || list.Groups[n-1].Name != name {
			list.Groups = append(list.Groups, runGroup{Name: name})
		}
		last := &list.Groups[len(list.Groups)-1]
		last.Runs = append(last.Runs, row)
	}
	list.CanEdit = !s.ReadOnly
	if undo := r.URL.Query().Get("undo"); undo != "" && list.CanEdit {
		list.Undo = strings.Split(undo, ",")
	}
	p := page{Template: "runs", Title: "Runs", Section: "runs", Data: list}
	if list.Late {
		p.Refresh = refreshEvery
	}
	return p, nil
}

// listed returns the runs that a filter selects, newest first, and adds the filter choices
// to list.
func (s *Server) listed(ctx context.Context, f runsFilter, list *runsList) ([]runRow, error) {
	kinds, now := map[string]int{}, time.Now()
	var datasets, judges, systems, tags store.Tally
	var rows []runRow
	for _, seq := range []iter.Seq2[store.Run, error]{s.Store.Runs(ctx), s.Store.Deleted(ctx)} {
		for run, err := range seq {
			if err != nil {
				return nil, err
			}
			kind := kindOf(run, now)
			if kinds[kind]++; kind != f.Kind {
				continue
			}
			row := runRow{Run: run, DatasetName: datasetName(run.Dataset.Names), System: reports.SettingsOf(run.Spec).System}
			datasets.Add("", row.DatasetName, false, 1)
			judges.Add("", run.Judge.Name, false, 1)
			if row.System != "" {
				systems.Add("", row.System, false, 1)
			}
			for _, tag := range run.About.Tags {
				tags.Add("", tag, false, 1)
			}
			if f.selects(row) {
				rows = append(rows, row)
			}
		}
	}
	for _, k := range []struct{ kind, name string }{{usualRuns, "Runs"}, {probeRuns, "Probes"}, {emptyRuns, "Empty or failed"}, {deletedRuns, "Deleted"}} {
		if n := kinds[k.kind]; n > 0 || k.kind == usualRuns {
			list.Tabs = append(list.Tabs, tab{fmt.Sprintf("%s %d", k.name, n), f.link("/", "kind", k.kind), k.kind == f.Kind})
		}
		list.Before += kinds[k.kind]
	}
	list.Datasets, list.Judges, list.Systems, list.Tags = datasets.Counts().Labels, judges.Counts().Labels, systems.Counts().Labels, tags.Counts().Labels
	return rows, nil
}

// sortRuns sorts rows, which are newest first. It keeps the rows of a dataset together
// unless f.Flat is set. It reports whether some scores were not ready in time.
func (s *Server) sortRuns(ctx context.Context, rows []runRow, f runsFilter) (late bool) {
	score := map[string]float64{}
	if f.Sort == "score" {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		for _, r := range rows {
			v, err := s.reports.score(ctx, r.Run)
			late = late || errors.Is(err, context.DeadlineExceeded)
			score[r.ID] = -1
			if err == nil && v.Value != "" {
				score[r.ID] = v.estimate.Value
			}
		}
	}
	place := map[string]int{}
	for _, r := range rows {
		if _, ok := place[r.DatasetName]; !ok && !f.Flat {
			place[r.DatasetName] = len(place)
		}
	}
	slices.SortStableFunc(rows, func(a, b runRow) int {
		if c := cmp.Compare(place[a.DatasetName], place[b.DatasetName]); c != 0 {
			return c
		}
		switch f.Sort {
		case "score":
			return cmp.Compare(score[b.ID], score[a.ID])
		case "cost":
			return cmp.Compare(b.CostMicros, a.CostMicros)
		case "items":
			return cmp.Compare(b.Dataset.Items, a.Dataset.Items)
		case "name":
			return cmp.Compare(strings.ToLower(a.Title()), strings.ToLower(b.Title()))
		}
		return 0
	})
	return late
}

// choose redirects to the comparison of the selected runs.
func (s *Server) choose(w http.ResponseWriter, r *http.Request) error {
	ids := r.URL.Query()["run"]
	if len(ids) < 2 {
		return server.BadRequest("choose at least two runs to compare")
	}
	for i, id := range ids {
		ids[i] = url.QueryEscape(id)
	}
	http.Redirect(w, r, "/compare?runs="+strings.Join(ids, ","), http.StatusSeeOther) //nolint:gosec // The path begins with a prefix of our own.
	return nil
}

// edit changes the metadata of runs. The parameter do is tag, untag, note, delete, restore
// or purge.
func (s *Server) edit(w http.ResponseWriter, r *http.Request) error {
	ids, do, now := r.Form["run"], r.URL.Query().Get("do"), time.Now().UTC()
	tags := strings.FieldsFunc(r.PostFormValue("tag"), func(c rune) bool { return c == ',' || c == ' ' })
	changes := map[string]func(*store.About){
		"tag": func(a *store.About) { a.Tags = append(slices.Clone(a.Tags), tags...) },
		"untag": func(a *store.About) {
			a.Tags = slices.DeleteFunc(slices.Clone(a.Tags), func(t string) bool { return slices.Contains(tags, t) })
		},
		"note":    func(a *store.About) { a.Name, a.Note, a.Tags = r.PostFormValue("name"), r.PostFormValue("note"), tags },
		"delete":  func(a *store.About) { a.Deleted = now },
		"restore": func(a *store.About) { a.Deleted = time.Time{} },
	}
	change, ok := changes[do]
	if !ok && do != "purge" {
		return server.BadRequest("runs cannot be changed by %q", do)
	}
	if len(ids) == 0 {
		return server.BadRequest("choose the runs that you mean first")
	}
	for _, id := range ids {
		var err error
		if do == "purge" {
			err = s.Store.Purge(r.Context(), id)
		} else {
			_, err = s.Store.Edit(r.Context(), id, change)
		}
		if err != nil {
			return err
		}
	}
	to := "/"
	switch do {
	case "delete":
		to = "/?undo=" + url.QueryEscape(strings.Join(ids, ","))
	case "note":
		to = runURL(ids[0])
	}
	if back := r.PostFormValue("back"); do == "tag" && strings.HasPrefix(back, "/?") {
		to = back
	}
	http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // The path begins with a prefix of our own.
	return nil
}
