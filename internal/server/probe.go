package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"deem/internal/findings"
	"deem/internal/store"
	"deem/internal/words"
	"deem/probe"
	"deem/report"
	"deem/stat"
)

// probeRoutes are the page of what a judge did with probes.
func (s *Server) probeRoutes() []route {
	return []route{{pattern: "GET /runs/{id}/card", page: s.cardPage}}
}

// cardURL returns the address of a run's judge card.
func cardURL(run string) string { return runURL(run) + "/card" }

// A cardView is what the page of a judge card shows.
type cardView struct {
	Run  store.Run
	Tabs []tab
	probe.Card

	Tiles    []report.PageCard
	Groups   []cardGroup
	Injected *injectedView
	Lengths  []lengthRow
	Steady   string
	Ordered  string
	Notes    []report.PageNote
}

// A cardGroup are the kinds of wrong answers, or those of right ones.
type cardGroup struct {
	ID, Title, Bad string
	Plot           *forest
	Rows           []kindRow
	Mistakes       []mistakeView
}

// A kindRow is the rate of one kind of probe.
type kindRow struct {
	probe.KindRate
	Figure figure
	Band   string // what the unjudged may make of it
}

type mistakeView struct {
	probe.Mistake
	URL string
}

type injectedView struct {
	Accepted, Turned string
	Strings          []probe.StringRate
}

type lengthRow struct {
	Name, Text, Plain, Long, Per100 string
	N                               int
	Marks                           []int
}

// cardPage shows what the judge of a run over probes did with them.
func (s *Server) cardPage(r *http.Request) (page, error) {
	run, err := s.runOf(r)
	if err != nil {
		return page{}, err
	}
	return soon(r, "Judge card", func(ctx context.Context) (page, error) {
		card, err := countOnce(ctx, s.bench, "card "+run.ID, stampOf(run, time.Now()), func(ctx context.Context) (probe.Card, error) {
			return findings.Card(ctx, s.store, run, findings.ProbeHead(run, report.DefaultMaxUnjudged))
		})
		if err != nil {
			return page{}, err
		}
		if card.Probes == 0 && run.Records > 0 {
			return page{}, notFound("run %s has no probes: its items are those of a dataset", run.ID)
		}
		return page{Template: "card", Title: "Judge card of " + run.Judge.Name, Section: "runs", Data: s.newCardView(run, card)}, nil
	})
}

// newCardView lays a card out.
func (s *Server) newCardView(run store.Run, card probe.Card) cardView {
	v := cardView{Run: run, Tabs: s.runTabs(run, "card"), Card: card}
	var notes footnotes
	v.tiles(&notes)
	v.Groups = []cardGroup{
		v.group("wrong", "Wrong answers, accepted", "accepted", false, &notes),
		v.group("right", "Right answers, rejected", "rejected", true, &notes),
	}
	if i := card.Injected; i != nil {
		v.Injected = &injectedView{Accepted: rateText(i.Accepted), Turned: rateText(i.Turned), Strings: i.Strings}
	}
	v.lengths(&notes)
	if c := card.Consistency; c != nil {
		v.Steady = fmt.Sprintf("All %d trials agree on %s of %s; two trials differ with a chance of %s.",
			card.Trials, share(c.Steady), words.Plural(c.Probes, "probe", "probes"), percent(c.Flips))
	}
	if o := card.Order; o != nil {
		v.Ordered = fmt.Sprintf("The order of two responses decides %s of %s", share(o.Flips), words.Plural(o.Pairs, "pair", "pairs"))
		if o.Flips.Value > 0 {
			v.Ordered += fmt.Sprintf("; the first place wins in %s of these", percent(o.First))
		}
		v.Ordered += "."
	}
	notes.mark(card.Notes...)
	v.Notes = notes.notes()
	return v
}

// tiles shows the numbers over all kinds in large letters.
func (v *cardView) tiles(notes *footnotes) {
	add := func(name, about string, r probe.Rate) {
		if r.Probes == 0 {
			return
		}
		c := report.PageCard{Name: name, Value: "no estimate", Small: about}
		if r.Judged > 0 {
			c.Value = "withheld"
		}
		small := fmt.Sprintf("between %s and %s", percent(r.Band[0]), percent(r.Band[1]))
		if e := r.Estimate; e != nil {
			c.Value, c.Marks = percent(e.Value), notes.mark(e.Warnings...)
			small = ends(*e)
		}
		c.Small = fmt.Sprintf("%s, n=%s, unjudged %s: %s", small, words.Comma(r.Judged), words.Comma(r.Unjudged), about)
		v.Tiles = append(v.Tiles, c)
	}
	add("false accepts", "wrong answers that it takes for right, instructions aside", v.FalseAccepts)
	add("false rejects", "right answers that it takes for wrong", v.FalseRejects)
	if i := v.Card.Injected; i != nil {
		add("injection", "wrong answers that an instruction in them turns into accepted ones", i.Turned)
	}
}

// group returns the kinds of right answers, or those of wrong ones.
func (v *cardView) group(id, title, bad string, want bool, notes *footnotes) cardGroup {
	g := cardGroup{ID: id, Title: title, Bad: bad}
	var drawn []plotted
	for _, k := range v.Kinds {
		if k.Want != want {
			continue
		}
		row := kindRow{KindRate: k, Figure: figure{Text: "no estimate"}}
		if k.Estimate != nil {
			row.Figure = notes.shareFigure(*k.Estimate)
			drawn = append(drawn, plotted{Name: string(k.Kind), Value: row.Figure.Text, Class: errorClass(k.Errors), Est: *k.Estimate})
		}
		if k.Unjudged > 0 {
			row.Band = fmt.Sprintf("between %s and %s", percent(k.Rate.Band[0]), percent(k.Rate.Band[1]))
		}
		g.Rows = append(g.Rows, row)
	}
	g.Plot = newForest(id+"-plot", drawn, []float64{0, 1}, percents)
	for _, m := range v.Mistakes {
		if m.Want == want {
			g.Mistakes = append(g.Mistakes, mistakeView{m, itemURL(v.Run.ID, m.ID)})
		}
	}
	return g
}

// errorClass returns how a rate of errors is drawn.
func errorClass(errors int) string {
	if errors == 0 {
		return "better"
	}
	return "worse"
}

// rateText returns a rate with its interval in a sentence.
func rateText(r probe.Rate) string {
	if r.Estimate == nil {
		return "an unknown share"
	}
	return fmt.Sprintf("%s (n=%s)", share(*r.Estimate), words.Comma(r.Judged))
}

// lengths enters what a long text around an answer does.
func (v *cardView) lengths(notes *footnotes) {
	l := v.Length
	if l == nil {
		return
	}
	add := func(name string, s *probe.Shift) {
		if s != nil {
			v.Lengths = append(v.Lengths, lengthRow{
				Name: name, Text: shiftText(s.Estimate), Plain: percent(s.Plain), Long: percent(s.Long),
				Per100: fmt.Sprintf("%+.1f pp", 100*s.Per100), N: s.Estimate.N, Marks: notes.mark(s.Estimate.Warnings...),
			})
		}
	}
	add("wrong answers", l.Wrong)
	add("right answers", l.Right)
}

// shiftText returns a difference in percentage points; ~ marks what may be noise.
func shiftText(e stat.Estimate) string {
	text := fmt.Sprintf("%.1f pp ", 100*e.Value) + e.Ends("%.1f", 100)
	if e.Lo <= 0 && e.Hi >= 0 {
		text += " ~"
	}
	return text
}
