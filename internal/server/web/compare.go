package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/reports/compare"
	"deem/internal/server"
	"deem/internal/store"
	"deem/report"
)

// maxCompared is the maximum number of runs in a comparison: a table has no room for more.
const maxCompared = 8

// compareSeed is the seed of permutation tests, the same as in the compare command.
const compareSeed = 1

// A compareAsk is the parameters of a comparison.
type compareAsk struct {
	Refs   []string // of runs, the baseline first
	Anyway bool
	Change string // list only items with this change, "" for all
	page   int
}

// readCompare parses runs=a,b or, as sent by forms, run=a&run=b; base names the baseline.
func readCompare(q url.Values) compareAsk {
	ask := compareAsk{Anyway: q.Get("anyway") != "", Change: q.Get("change")}
	ask.page, _ = strconv.Atoi(q.Get("page"))
	for _, list := range append(slices.Clone(q["runs"]), q["run"]...) {
		for ref := range strings.SplitSeq(list, ",") {
			if ref = strings.TrimSpace(ref); ref != "" && !slices.Contains(ask.Refs, ref) {
				ask.Refs = append(ask.Refs, ref)
			}
		}
	}
	if base := q.Get("base"); base != "" {
		rest := slices.DeleteFunc(ask.Refs, func(ref string) bool { return ref == base })
		ask.Refs = slices.Insert(rest, 0, base)
	}
	return ask
}

// link returns the address of the comparison. more is pairs of a parameter and its new
// value; "" removes the parameter.
func (a compareAsk) link(path string, more ...string) string {
	q := url.Values{"runs": {strings.Join(a.Refs, ",")}, "change": {a.Change}}
	if a.Anyway {
		q.Set("anyway", "1")
	}
	return server.Link(path, q, more...)
}

// A comparedRuns is a comparison of runs, with the items on which they differ.
type comparedRuns struct {
	compare.Comparison
	runs  []reports.Compared
	flips []compare.Flip
}

// compared finds the runs and compares them.
func (s *Server) compared(ctx context.Context, ask compareAsk) (*comparedRuns, error) {
	if len(ask.Refs) > maxCompared {
		return nil, server.BadRequest("%d runs are too many to compare: the limit is %d", len(ask.Refs), maxCompared)
	}
	var runs []reports.Compared
	for _, ref := range ask.Refs {
		run, err := store.Find(ctx, s.Store, ref)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(runs, func(r reports.Compared) bool { return r.ID == run.ID }) {
			return nil, server.BadRequest("run %s is named twice", run.ID)
		}
		runs = append(runs, reports.Compared{Run: run})
	}
	runs, err := reports.NameRuns(runs)
	if err != nil {
		return nil, err
	}
	stamp, now := "", time.Now()
	for i, run := range runs {
		ask.Refs[i] = run.ID // Links use the full id, because "last" may mean another run later.
		stamp += stampOf(run.Run, now) + ";"
	}
	labelled, err := s.labelsOf(ctx, store.LabelQuery{})
	if err != nil {
		return nil, err
	}
	stamp += stampOfLabels(labelled)
	key := fmt.Sprint("compare ", ask.Anyway, " ", ask.Refs)
	return countOnce(ctx, s.bench, key, stamp, false, func(ctx context.Context) (*comparedRuns, error) {
		o := compare.Options{MaxUnjudged: report.DefaultMaxUnjudged, Seed: compareSeed, Anyway: ask.Anyway}
		var people []*reports.People
		if len(labelled) > 0 {
			for range runs {
				p, err := reports.Kept(ctx, s.Store, store.LabelQuery{})
				if err != nil {
					return nil, err
				}
				people = append(people, p)
			}
		}
		b, err := reports.Compare(ctx, s.Store, runs, people, o)
		if err != nil {
			return nil, err
		}
		return &comparedRuns{Comparison: b.Comparison(), runs: runs, flips: b.Flips()}, nil
	})
}

// comparePage shows a comparison, or a form to choose runs if fewer than two are named.
func (s *Server) comparePage(r *http.Request) (page, error) {
	ask := readCompare(r.URL.Query())
	if len(ask.Refs) < 2 {
		v := chooseView{One: len(ask.Refs) == 1}
		for run, err := range s.Store.Runs(r.Context()) {
			if err != nil {
				return page{}, err
			}
			if len(v.Runs) == maxChoose {
				v.Oldest = true
				break
			}
			v.Runs = append(v.Runs, chooseRow{run, slices.Contains(ask.Refs, run.ID)})
		}
		return page{Template: "choose", Title: "Compare", Section: "compare", Data: v}, nil
	}
	return withPatience(r, "Comparison", func(ctx context.Context) (page, error) {
		b, err := s.compared(ctx, ask)
		if err != nil {
			return page{}, err
		}
		d := b.Summary()
		v := compareView{Title: d.Title, Ask: ask, Refused: b.Refused}
		if b.Refused {
			v.Anyway = ask.link("/compare", "anyway", "1")
			v.Advice = "Judge all of them in the same way. Or compare them anyway, and say what differs wherever you quote the difference."
			if len(b.runs) == 2 && b.runs[0].Dataset.Hash == b.runs[1].Dataset.Hash {
				v.Advice = "Both runs judged the same responses: their judges differ. Look at how far the judges agree."
				v.Agree = agreementURL(b.runs[0].ID, "with", b.runs[1].ID)
			}
		} else {
			b.addWins(d)
			if err := s.addFlips(r.Context(), &v, b); err != nil {
				return page{}, err
			}
		}
		v.Report, err = doc.Fragment(d, links(""))
		return page{Template: "compare", Title: v.Title, Section: "compare", Data: v}, err
	})
}

// A chooseView is the form to choose runs.
type chooseView struct {
	Runs   []chooseRow
	One    bool // only one run was named
	Oldest bool // there are more runs than are listed
}

type chooseRow struct {
	store.Run
	Chosen bool
}

// maxChoose is the maximum number of runs to choose from.
const maxChoose = 100

// flipsCSV streams all items on which runs differ as a CSV file.
func (s *Server) flipsCSV(w http.ResponseWriter, r *http.Request) error {
	ask := readCompare(r.URL.Query())
	if len(ask.Refs) < 2 {
		return server.BadRequest("choose at least two runs to compare")
	}
	b, err := s.compared(r.Context(), ask)
	if err != nil {
		return err
	}
	if b.Refused {
		err := deem.WithHint(fmt.Errorf("the runs differ in more than their systems, and are not compared"), "anyway=1 in the address compares them all the same")
		return server.WithStatus(http.StatusConflict, err)
	}
	names := make([]string, len(b.Runs))
	for i, run := range b.Runs {
		names[i] = run.Name
	}
	server.Download(w, csvType, "flips.csv")
	rc := http.NewResponseController(w)
	texts := reports.FlipTexts(r.Context(), s.Store, b.runs, b.listed(ask.Change))
	err = compare.WriteCSV(w, names, func(yield func(compare.FlipText, error) bool) {
		n := 0
		for f, err := range texts {
			if n++; n%csvPage == 1 {
				server.Extend(rc, 0)
			}
			if !yield(f, err) {
				return
			}
		}
	})
	if err != nil {
		return s.Cut(r, err)
	}
	return nil
}

// listed returns the items with a change, or all if change is "".
func (b *comparedRuns) listed(change string) []compare.Flip {
	if change == "" {
		return b.flips
	}
	return slices.DeleteFunc(slices.Clone(b.flips), func(f compare.Flip) bool { return f.Change() != change })
}
