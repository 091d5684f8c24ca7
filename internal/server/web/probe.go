package web

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"deem/internal/doc"
	"deem/internal/probe"
	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/words"
	"deem/report"
	"deem/stat"
)

// A reportView is the data of a page of a run that consists of one document.
type reportView struct {
	Run    store.Run
	Tabs   []tab
	Trust  *trust
	Report template.HTML
}

// cardPage shows the judge card of a run over probes.
func (s *Server) cardPage(r *http.Request, run store.Run) (page, error) {
	return withPatience(r, "Judge card", func(ctx context.Context) (page, error) {
		card, err := countOnce(ctx, s.bench, "card "+run.ID, stampOf(run, time.Now()), false, func(ctx context.Context) (probe.Card, error) {
			return reports.ProbeCard(ctx, s.Store, run, reports.ProbeHead(run, report.DefaultMaxUnjudged))
		})
		if err != nil {
			return page{}, err
		}
		if card.Probes == 0 && run.Records > 0 {
			return page{}, server.NotFound("run %s has no probes: its items are those of a dataset", run.ID)
		}
		v := reportView{Run: run, Tabs: s.runTabs(run, "card")}
		if card.Judged > 0 {
			v.Trust = new(newTrust(card.FalseAccepts.Estimate, card.FalseRejects.Estimate, card.Judged, "probe"))
		}
		d := reports.ProbeDocument(card)
		made := d.Sections[0]
		made.Title = "How this was made"
		d.Sections = append(d.Sections[1:], made)
		v.Report, err = doc.Fragment(d, links(run.ID))
		return page{Template: "card", Title: "Judge card of " + run.Judge.Name, Section: "runs", Data: v}, err
	})
}

// trust is the assessment whether a judge can be trusted for a use.
type trust struct {
	Tone doc.Tone
	Text string
	Why  string // the errors of the judge, "" if there is too little data
}

// Thresholds of trust. An error rate below trusted is small compared with the uncertainty of
// most runs; above distrusted, the corrected score depends more on the labels than on the
// judge.
const (
	trusted    = 0.10
	distrusted = 0.25
	fewLabels  = 30
)

// newTrust assesses a judge by its error rates: the share of wrong responses that it accepts
// and of right responses that it rejects, among n responses with a known truth. An unknown
// error rate does not count in favour of the judge.
func newTrust(accepts, rejects *stat.Estimate, n int, known string) trust {
	if n < fewLabels || accepts == nil || rejects == nil || doc.Unknown(*accepts) || doc.Unknown(*rejects) {
		return trust{Tone: doc.Warning, Text: fmt.Sprintf("It is too early to say whether this judge can be trusted: there are %s, and both right and wrong responses are needed.", words.Count(n, known))}
	}
	errs := fmt.Sprintf("It accepts %s of the wrong responses and rejects %s of the right ones.", doc.Percent(accepts.Value), doc.Percent(rejects.Value))
	switch {
	case accepts.Value > distrusted || rejects.Value > distrusted:
		return trust{doc.Bad, "Do not trust this judge for this use.", errs}
	case accepts.Hi <= trusted && rejects.Hi <= trusted:
		return trust{doc.Good, "This judge can be trusted for this use.", errs}
	case accepts.Value <= trusted && rejects.Value <= trusted:
		return trust{doc.Warning, "This judge looks right for this use, but the evidence is thin. Quote the corrected score.", errs}
	}
	return trust{doc.Warning, "Quote the corrected score of this judge, not its own.", errs}
}
