package web

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// A trendView is the data of the page that shows scores over time.
type trendView struct {
	Runs   string // the address of the list with the same filter
	Charts []trendChart
	Late   bool // some scores were not computed in time
}

// A trendChart shows one dataset and judge, with a line for each system.
type trendChart struct {
	chart
	Dataset, Judge string
	Lines          []trendLine
}

// A trendLine is the runs of one system, oldest first.
type trendLine struct {
	System string
	Class  string // CSS class of its colour
	Path   string // of the polyline
	Points []trendPoint
}

type trendPoint struct {
	Row            runRow
	CX, CY, Lo, Hi float64
	Change         string // from the previous run, "" for the first
	Tone           doc.Tone
	Words          string
}

// trendLines is the number of line colours. Further systems share the last one.
const trendLines = 6

// trendTaller is how much taller the chart is than other charts.
const trendTaller = 110

// trendPage shows scores over time, for the runs that a filter selects.
func (s *Server) trendPage(r *http.Request) (page, error) {
	f, err := readRunsFilter(r.URL.Query())
	if err != nil {
		return page{}, err
	}
	rows, err := s.listed(r.Context(), f, &runsList{})
	if err != nil {
		return page{}, err
	}
	v := trendView{Runs: f.link("/")}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	type key struct{ dataset, judge string }
	var keys []key
	groups := map[key][]runRow{}
	for _, row := range rows {
		score, err := s.reports.score(ctx, row.Run)
		v.Late = v.Late || errors.Is(err, context.DeadlineExceeded)
		if err != nil || score.Value == "" {
			continue
		}
		row.Score = &score
		k := key{row.DatasetName, row.Run.Judge.Name + " " + row.Run.Judge.Hash}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], row)
	}
	for i, k := range keys {
		slices.Reverse(groups[k])
		v.Charts = append(v.Charts, newTrendChart(fmt.Sprint("trend", i), groups[k]))
	}
	p := page{Template: "trend", Title: "Trend", Section: "trend", Data: v}
	if v.Late {
		p.Refresh = refreshEvery
	}
	return p, nil
}

// newTrendChart draws the runs of one dataset and judge, which must be sorted oldest first.
func newTrendChart(id string, rows []runRow) trendChart {
	first, last := rows[0], rows[len(rows)-1]
	c := trendChart{chart: newChart(id, first.DatasetName, ""), Dataset: first.DatasetName, Judge: first.Run.Judge.Name}
	c.Height, c.Base, c.TickY = c.Height+trendTaller, c.Base+trendTaller, c.TickY+trendTaller
	lo, hi := 1.0, 0.0
	for _, r := range rows {
		from, to := doc.Drawn(r.Score.estimate)
		lo, hi = math.Min(lo, from), math.Max(hi, to)
	}
	lo, hi = math.Max(0, math.Floor(lo*10)/10), math.Min(1, math.Ceil(hi*10)/10)
	y := func(share float64) float64 { return c.y((share - lo) / math.Max(hi-lo, 0.1)) }
	for part := lo; part <= hi+1e-9; part += 0.1 {
		c.Levels = append(c.Levels, chartTickMark{X: chartLeft - 6, Y: y(part) + 4, Label: fmt.Sprintf("%.0f%%", 100*part)})
	}
	span := last.Created.Sub(first.Created).Seconds()
	x := func(r runRow) float64 {
		if span == 0 {
			return c.x(0.5)
		}
		return c.x(trendMargin + (1-2*trendMargin)*r.Created.Sub(first.Created).Seconds()/span)
	}
	c.addDates(first.Created.Local(), last.Created.Local())
	at := map[string]int{}
	for _, r := range rows {
		i, ok := at[r.System]
		if !ok {
			i = len(c.Lines)
			at[r.System] = i
			c.Lines = append(c.Lines, trendLine{System: r.System, Class: fmt.Sprintf("line%d", min(i, trendLines-1)+1)})
		}
		line := &c.Lines[i]
		from, to := doc.Drawn(r.Score.estimate)
		p := trendPoint{Row: r, CX: x(r), CY: y(r.Score.estimate.Value), Lo: y(from), Hi: y(to)}
		p.Words = fmt.Sprintf("%s: %s, %s", r.Title(), doc.Share(r.Score.estimate), clock(r.Created))
		if n := len(line.Points); n > 0 {
			d := difference(line.Points[n-1].Row.Score.estimate, r.Score.estimate)
			p.Change = doc.Points(d)
			switch {
			case d.Lo > 0:
				p.Tone = doc.Good
			case d.Hi < 0:
				p.Tone = doc.Bad
			}
			p.Words += "; " + p.Change + " to the run before"
		}
		line.Path += fmt.Sprintf("%g,%g ", p.CX, p.CY)
		line.Points = append(line.Points, p)
	}
	c.Words = fmt.Sprintf("%s of %s from %s to %s", words.Count(len(rows), "run"), words.Count(len(c.Lines), "system"), doc.Share(first.Score.estimate), doc.Share(last.Score.estimate))
	return c
}

// trendDates is the maximum number of dates below the chart, and trendMargin the share of its
// width that is left free on each side.
const (
	trendDates  = 5
	trendMargin = 0.04
)

// addDates adds dates below the chart, as precise as the time between the runs allows.
func (c *trendChart) addDates(first, last time.Time) {
	span, layout := last.Sub(first), "2 Jan 2006"
	switch {
	case span == 0:
		c.Ticks = []chartTickMark{{X: c.x(0.5), Label: first.Format(layout)}}
		return
	case span < 36*time.Hour:
		layout = "15:04"
	case span < 300*24*time.Hour:
		layout = "2 Jan"
	default:
		layout = "Jan 2006"
	}
	before := ""
	for i := range trendDates {
		part := float64(i) / (trendDates - 1)
		label := first.Add(time.Duration(part * float64(span))).Format(layout)
		if label != before {
			c.Ticks = append(c.Ticks, chartTickMark{X: c.x(trendMargin + (1-2*trendMargin)*part), Label: label})
		}
		before = label
	}
}

// difference returns b minus a, two estimates of independent runs, with a confidence interval
// computed from their intervals (G. Y. Zou and A. Donner, "Construction of confidence limits
// about effect measures", Statistics in Medicine 27 (2008), 1693-1702). Runs over the same
// items are paired, so the interval tends to be too wide.
func difference(a, b stat.Estimate) stat.Estimate {
	d := b.Value - a.Value
	return stat.Estimate{
		Value: d, Lo: d - math.Hypot(b.Value-b.Lo, a.Hi-a.Value), Hi: d + math.Hypot(b.Hi-b.Value, a.Value-a.Lo),
		N: min(a.N, b.N), Level: a.Level, Method: "mover",
	}
}
