package web

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem/internal/reports"
	"deem/internal/reports/agree"
	"deem/internal/server"
	"deem/internal/store"
	"deem/report"
)

// agreementURL returns the URL of a run's agreement page. More are the names and values of
// query parameters.
func agreementURL(run string, more ...string) string {
	return server.Link(runURL(run)+"/agreement", url.Values{}, more...)
}

// defaultWidth is the default target width of the corrected interval, in percentage points.
// The page shows how many more labels are needed to reach it.
const defaultWidth = 10

// An agreeAsk is the parsed URL of an agreement page.
type agreeAsk struct {
	run    store.Run
	other  *store.Run // nil if people are the truth
	Only   []string   // annotators; empty for all
	Width  float64    // target width of the corrected interval, in percentage points
	labels []store.Label
}

// readAgree parses the URL of an agreement page and reads the labels.
func (s *Server) readAgree(r *http.Request) (agreeAsk, error) {
	q := r.URL.Query()
	run, err := s.RunOf(r)
	if err != nil {
		return agreeAsk{}, err
	}
	ask := agreeAsk{run: run, Width: defaultWidth}
	if text := q.Get("width"); text != "" {
		if ask.Width, err = strconv.ParseFloat(text, 64); err != nil || !(ask.Width > 0 && ask.Width < 100) {
			return ask, server.BadRequest("a width lies between 0 and 100 percentage points, not at %q", text)
		}
	}
	if ref := q.Get("with"); ref != "" {
		other, err := s.Store.Run(r.Context(), ref)
		if err == nil && other.ID == run.ID {
			err = server.BadRequest("a judge agrees with itself: both are run %s", run.ID)
		}
		if err == nil && other.Dataset.Hash != run.Dataset.Hash {
			err = server.BadRequest("runs %s and %s judged different items, so their judges cannot be compared", run.ID, other.ID)
		}
		ask.other = &other
		return ask, err
	}
	for _, name := range q["annotator"] {
		if !slices.Contains(ask.Only, name) {
			ask.Only = append(ask.Only, name)
		}
	}
	ask.labels, err = s.labelsOf(r.Context(), store.LabelQuery{})
	return ask, err
}

// labelsOf returns the labels that match q.
func (s *Server) labelsOf(ctx context.Context, q store.LabelQuery) ([]store.Label, error) {
	var list []store.Label
	for l, err := range s.Store.Labels(ctx, q) {
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// link returns the URL of a page below the agreement, for example "/items".
func (a agreeAsk) link(below string, more ...string) string {
	q := url.Values{}
	if a.other != nil {
		q.Set("with", a.other.ID)
	}
	if len(a.Only) > 0 {
		q["annotator"] = a.Only
	}
	if a.Width != defaultWidth {
		q.Set("width", strconv.FormatFloat(a.Width, 'g', -1, 64))
	}
	return server.Link(runURL(a.run.ID)+"/agreement"+below, q, more...)
}

// stampOfLabels returns a string that changes with the labels: a changed label has a later
// time, a withdrawn label lowers the count, and both together change the sum.
func stampOfLabels(list []store.Label) string {
	last, sum := int64(0), int64(0)
	for _, l := range list {
		at := l.Labelled.UnixNano()
		last, sum = max(last, at), sum+at%1_000_003
		if l.Yes {
			sum++
		}
	}
	return fmt.Sprint(";", len(list), ";", last, ";", sum)
}

// An agreed is an agreement and the items it is based on.
type agreed struct {
	agree.Agreement
	both  []bothItem
	votes map[string]int // number of items labelled, by annotator
	other int            // labels for a response other than the judged one

	narrowed string // the effect of the last labels on the corrected interval, "" if unknown
}

// A bothItem is an item with a verdict and a label.
type bothItem struct {
	id, category  string
	judge, people bool
}

// agreed compares the judge with people or another judge.
func (s *Server) agreed(ctx context.Context, ask agreeAsk) (*agreed, error) {
	other, stamp := "", stampOf(ask.run, time.Now())
	if ask.other != nil {
		other, stamp = ask.other.ID, stamp+";"+stampOf(*ask.other, time.Now())
	} else {
		stamp += stampOfLabels(ask.labels)
	}
	key := fmt.Sprintf("agree %s %s %q %g", ask.run.ID, other, ask.Only, ask.Width)
	return countOnce(ctx, s.bench, key, stamp, false, func(ctx context.Context) (*agreed, error) {
		got := &agreed{votes: map[string]int{}}
		o := agree.Options{
			Judge: reports.Party(ask.run), People: ask.other == nil, Items: ask.run.Dataset.Items, Trials: ask.run.Trials,
			Width: ask.Width / 100, MaxUnjudged: report.DefaultMaxUnjudged, CalibrationError: reports.CalibrationError(ask.run),
			SystemModel: reports.SettingsOf(ask.run.Spec).SystemModel,
		}
		o = reports.WithLabels(o, reports.LabelsOf(ask.run, false))
		if ask.other != nil {
			o.Truth = reports.Party(*ask.other)
			b := agree.New(o)
			err := reports.EachWithRun(ctx, s.Store, ask.run, *ask.other, o, got.note(b.Add))
			got.Agreement = b.Agreement()
			return got, err
		}
		people, err := reports.Kept(ctx, s.Store, store.LabelQuery{Annotators: ask.Only})
		if err != nil {
			return nil, err
		}
		o.Truth = agree.Party{Judge: people.Name}
		b := agree.New(o)
		if err := reports.EachWithPeople(ctx, s.Store, ask.run, people, o, got.note(b.Add)); err != nil {
			return nil, err
		}
		got.Agreement, got.other = b.Agreement(), people.OtherResponses
		return got, s.addNarrowed(ctx, ask, o, got)
	})
}

// lastLabels is the number of most recent labels whose effect the agreement page shows.
const lastLabels = 10

// addNarrowed sets how much the last labels narrowed the corrected interval. It computes
// the agreement again without them.
func (s *Server) addNarrowed(ctx context.Context, ask agreeAsk, o agree.Options, got *agreed) error {
	var times []time.Time
	for _, l := range ask.labels {
		if l.Dataset == ask.run.Dataset.Hash && (len(ask.Only) == 0 || slices.Contains(ask.Only, l.Annotator)) {
			times = append(times, l.Labelled)
		}
	}
	if len(times) < 2*lastLabels || got.Corrected == nil {
		return nil
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	people, err := reports.Kept(ctx, labelsBefore{s.Store, times[lastLabels-1]}, store.LabelQuery{Annotators: ask.Only})
	if err != nil {
		return err
	}
	before, err := reports.CompareWithPeople(ctx, s.Store, ask.run, people, o)
	if err != nil || before.Corrected == nil {
		return err
	}
	was, now := before.Corrected.Quoted(), got.Corrected.Quoted()
	got.narrowed = fmt.Sprintf("With the last %d labels the corrected interval went from %.1f to %.1f points wide.", lastLabels, 100*(was.Hi-was.Lo), 100*(now.Hi-now.Lo))
	return nil
}

// labelsBefore is a database restricted to the labels given before a time.
type labelsBefore struct {
	store.Database
	at time.Time
}

// Labels implements [store.Labels].
func (b labelsBefore) Labels(ctx context.Context, q store.LabelQuery) iter.Seq2[store.Label, error] {
	return func(yield func(store.Label, error) bool) {
		for l, err := range b.Database.Labels(ctx, q) {
			if (err != nil || l.Labelled.Before(b.at)) && !yield(l, err) {
				return
			}
		}
	}
}

// note returns a function that calls add and records the items of the agreement.
func (g *agreed) note(add func(agree.Pair)) func(agree.Pair) {
	return func(p agree.Pair) {
		add(p)
		if p.Truth == nil {
			return
		}
		for name := range p.Truth.Votes {
			g.votes[name]++
		}
		if p.Verdict != nil && !p.Truth.Tie {
			g.both = append(g.both, bothItem{
				id: strings.Clone(p.Item.ID), category: strings.Clone(p.Item.Category),
				judge: p.Verdict.Yes(), people: p.Truth.Yes,
			})
		}
	}
}

// agreementPage compares the judge of a run with people or with the judge of another run.
func (s *Server) agreementPage(r *http.Request) (page, error) {
	ask, err := s.readAgree(r)
	if err != nil {
		return page{}, err
	}
	return withPatience(r, "Agreement", func(ctx context.Context) (page, error) {
		got, err := s.agreed(ctx, ask)
		if err != nil {
			return page{}, err
		}
		v, err := s.newAgreeView(ask, got)
		if err != nil {
			return page{}, err
		}
		if v.Others, err = s.sameDataset(r, ask.run); err != nil {
			return page{}, err
		}
		return page{Template: "agreement", Title: "Agreement of " + ask.run.ID, Section: "runs", Data: v}, nil
	})
}
