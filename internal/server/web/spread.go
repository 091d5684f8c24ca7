package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/words"
	"deem/judge"
)

// A spread is the distribution of the scores of a run, overall and by category, and of its
// aspects.
type spread struct {
	all        scoreCount
	categories map[string]*scoreCount
	aspects    map[string]*scoreCount
	scales     map[string]judge.Aspect // of the aspects that the judge declares
}

func newSpread(run store.Run) *spread {
	s := &spread{categories: map[string]*scoreCount{}, aspects: map[string]*scoreCount{}, scales: map[string]judge.Aspect{}}
	if d := reports.SpecOf(run).Declaration; d != nil {
		for _, a := range d.Aspects {
			s.scales[a.Name] = a
		}
	}
	return s
}

// add counts a verdict.
func (s *spread) add(category string, v deem.Verdict) {
	s.all.add(v.Score, 0, 1)
	of := func(counts map[string]*scoreCount, name string) *scoreCount {
		if counts[name] == nil {
			counts[name] = &scoreCount{}
		}
		return counts[name]
	}
	of(s.categories, cmp.Or(category, doc.None)).add(v.Score, 0, 1)
	for name, x := range v.Aspects {
		scale, ok := s.scales[name]
		if !ok {
			scale = judge.Aspect{Min: 0, Max: 1} // for example of a rule
		}
		of(s.aspects, name).add(x, scale.Min, scale.Max)
	}
}

// A scoreCount counts numbers by tenths of their scale, and those strictly between its ends.
type scoreCount struct {
	bins       [10]int
	n, between int
	sum        float64
}

func (c *scoreCount) add(x, least, most float64) {
	share := (x - least) / (most - least)
	if share > 0 && share < 1 {
		c.between++
	}
	c.bins[min(max(int(share*10+1e-9), 0), 9)]++
	c.n++
	c.sum += x
}

// A spreadRow is a small chart of the distribution of one group.
type spreadRow struct {
	Name, Mean, N string
	Scale         string
	Bars          []chartBar
}

// A spreadChart is the distribution of scores, with a small chart for each category and
// aspect.
type spreadChart struct {
	chart
	Rows []spreadRow
}

// The maximum number of groups that are drawn, largest first, and the height of their charts.
const (
	spreadRows = 12
	spreadHigh = 20
)

// newSpreadChart draws the distribution of scores. It returns nil if all are 0 or 1 and there
// are no aspects.
func newSpreadChart(s *spread) *spreadChart {
	if s.all.between == 0 && len(s.aspects) == 0 {
		return nil
	}
	c := &spreadChart{chart: newChart("scores", "Scores", "score, in tenths")}
	c.Columns = []string{"score", "verdicts"}
	top := slices.Max(s.all.bins[:])
	for i, n := range s.all.bins {
		c.Ticks = append(c.Ticks, chartTickMark{X: c.x(float64(i) / 10), Label: fmt.Sprintf("%.1f", float64(i)/10)})
		c.bar(float64(i)/10, 0.1, float64(n)/float64(top), fmt.Sprintf("%.1f to %.1f", float64(i)/10, float64(i+1)/10), words.Comma(n))
	}
	c.Ticks = append(c.Ticks, chartTickMark{X: c.x(1), Label: "1.0"})
	c.Words = fmt.Sprintf("%s, mean %.2f, %s neither 0 nor 1", words.Count(s.all.n, "verdict"), s.all.sum/float64(s.all.n), words.Comma(s.all.between))
	c.level(0, "0")
	c.level(1, words.Comma(top))
	for i, counts := range []map[string]*scoreCount{s.aspects, s.categories} {
		if len(counts) == 1 && counts[doc.None] != nil {
			continue
		}
		names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(counts[b].n-counts[a].n, cmp.Compare(a, b))
		})
		for _, name := range names[:min(len(names), spreadRows)] {
			row := newSpreadRow(name, counts[name], s.scales[name])
			if i > 0 {
				row.Mean = "" // The category bars already show it.
			}
			c.Rows = append(c.Rows, row)
		}
	}
	return c
}

func newSpreadRow(name string, c *scoreCount, scale judge.Aspect) spreadRow {
	row := spreadRow{Name: name, Mean: fmt.Sprintf("%.2f", c.sum/float64(c.n)), N: words.Comma(c.n)}
	least, wide := 0.0, 1.0
	if scale.Name != "" {
		least, wide = scale.Min, scale.Max-scale.Min
		row.Scale = fmt.Sprintf("%v to %v", scale.Min, scale.Max)
	}
	top := slices.Max(c.bins[:])
	for i, n := range c.bins {
		high := tenth(spreadHigh * float64(n) / float64(top))
		row.Bars = append(row.Bars, chartBar{
			X: float64(10 * i), Y: spreadHigh - high, W: 9, H: high,
			Words: fmt.Sprintf("%.3g to %.3g: %s", least+wide*float64(i)/10, least+wide*float64(i+1)/10, words.Comma(n)),
		})
	}
	return row
}

// A timedCall is the start, latency and cost of a call.
type timedCall struct {
	at      time.Time
	latency time.Duration
	cost    int64
}

// A timeChart shows a quantity over the time of a run.
type timeChart struct {
	chart
	Path   string // of the line
	Points []chartPoint
}

// timeSteps is the maximum number of points of a chart over time.
const timeSteps = 24

// newTimeCharts draws latency and cost over time, or nothing if the calls of a run began within
// a second.
func newTimeCharts(list []timedCall) []*timeChart {
	slices.SortFunc(list, func(a, b timedCall) int { return a.at.Compare(b.at) })
	if len(list) < 2 || list[len(list)-1].at.Sub(list[0].at) < time.Second {
		return nil
	}
	first, span := list[0].at, list[len(list)-1].at.Sub(list[0].at)
	latency := &timeChart{chart: newChart("latencytime", "Latency over time", "time since the first call")}
	cost := &timeChart{chart: newChart("costtime", "Cost over time", "time since the first call")}
	latency.Columns, cost.Columns = []string{"time", "median latency", "95%", "calls"}, []string{"time", "spent so far"}
	type step struct {
		at        time.Duration
		mid, high time.Duration
		n         int
		spent     int64
	}
	var steps []step
	var spent int64
	slowest := time.Nanosecond // avoids division by zero
	for rest := list; len(rest) > 0; {
		k := int(int64(timeSteps) * int64(rest[0].at.Sub(first)) / int64(span+1))
		end := slices.IndexFunc(rest, func(c timedCall) bool {
			return int(int64(timeSteps)*int64(c.at.Sub(first))/int64(span+1)) > k
		})
		if end < 0 {
			end = len(rest)
		}
		var took []time.Duration
		for _, c := range rest[:end] {
			took, spent = append(took, c.latency), spent+c.cost
		}
		slices.Sort(took)
		s := step{rest[end-1].at.Sub(first), took[len(took)/2], took[(len(took)*19)/20], len(took), spent}
		steps, slowest, rest = append(steps, s), max(slowest, s.high), rest[end:]
	}
	for _, s := range steps {
		x := float64(s.at) / float64(span)
		when := took(words.Round(s.at, 3))
		latency.point(x, float64(s.mid)/float64(slowest), float64(s.high)/float64(slowest),
			fmt.Sprintf("until %s: half within %s, 95%% within %s, %s", when, took(s.mid), took(s.high), words.Count(s.n, "call")),
			when, took(s.mid), took(s.high), words.Comma(s.n))
		if spent > 0 {
			y := float64(s.spent) / float64(spent)
			cost.point(x, y, y, fmt.Sprintf("until %s: %s", when, words.Dollars(s.spent)), when, words.Dollars(s.spent))
		}
	}
	charts := []*timeChart{latency}
	latency.Words = fmt.Sprintf("%s in %s", words.Count(len(list), "call"), took(span))
	latency.level(0, "0")
	latency.level(1, took(words.Round(slowest, 2)))
	if spent > 0 {
		charts = append(charts, cost)
		cost.Words = fmt.Sprintf("%s spent in %s", words.Dollars(spent), took(span))
		cost.level(0, "0")
		cost.level(1, words.Dollars(spent))
	}
	for _, c := range charts {
		for i := range 5 {
			c.Ticks = append(c.Ticks, chartTickMark{X: c.x(float64(i) / 4), Label: took(words.Round(span*time.Duration(i)/4, 3))})
		}
	}
	return charts
}

// point adds a point to the line, with its description and its row of the table.
func (c *timeChart) point(x, y, high float64, said string, row ...string) {
	p := chartPoint{CX: c.x(x), CY: c.y(y), Lo: c.y(y), Hi: c.y(high), Words: said}
	c.Path += fmt.Sprintf("%g,%g ", p.CX, p.CY)
	c.Points, c.Cells = append(c.Points, p), append(c.Cells, row)
}
