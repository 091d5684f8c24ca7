package web

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/words"
	"deem/judge"
	"deem/report"
	"deem/stat"
)

// Charts are laid out here and drawn by templates, in their own units that scale with the
// page. Each chart has a text description for people who cannot see it.

// An intervalBar is a small drawing of an estimate: the interval as a line on an axis from
// 0 to 100 percent, with the value marked.
type intervalBar struct{ X1, X2, CX float64 }

// The width of the axis, and the margin on both sides for the mark.
const (
	barWidth  = 120
	barMargin = 5
)

func newIntervalBar(est stat.Estimate) *intervalBar {
	x := func(share float64) float64 {
		share = math.Min(math.Max(share, 0), 1)
		return tenth(barMargin + share*(barWidth-2*barMargin))
	}
	lo, hi := doc.Drawn(est)
	return &intervalBar{X1: x(lo), X2: x(hi), CX: x(est.Value)}
}

// tenth rounds to a tenth of a unit.
func tenth(x float64) float64 { return math.Round(10*x) / 10 }

// The dimensions of a bar chart.
const (
	chartWidth  = 560
	chartHeight = 190
	chartLeft   = 70
	chartRight  = 550
	chartTop    = 12
	chartBase   = 134
	chartTick   = 162
	chartTitle  = 184
)

// A chart is the common part of all charts.
type chart struct {
	ID, Title, Words, Axis string
	Width, Height          int
	Left, Right, Top, Base int
	TickY, AxisY           int
	Bars                   []chartBar
	Ticks, Levels          []chartTickMark

	Columns []string   // of the table behind the chart
	Cells   [][]string // its rows
}

type chartBar struct {
	X, Y, W, H float64
	Words      string
}

type chartTickMark struct {
	X, Y  float64
	Label string
}

func newChart(id, title, axis string) chart {
	return chart{
		ID: id, Title: title, Axis: axis, Width: chartWidth, Height: chartHeight, Left: chartLeft, Right: chartRight,
		Top: chartTop, Base: chartBase, TickY: chartTick, AxisY: chartTitle,
	}
}

// x and y return the coordinates of shares of the axes.
func (c chart) x(share float64) float64 { return tenth(chartLeft + share*(chartRight-chartLeft)) }

func (c chart) y(share float64) float64 {
	return tenth(float64(c.Base) - share*float64(c.Base-c.Top))
}

// level adds a label at a height of the y axis.
func (c *chart) level(share float64, label string) {
	c.Levels = append(c.Levels, chartTickMark{X: chartLeft - 6, Y: c.y(share) + 4, Label: label})
}

// bar draws a bar over a part of the axis, unless its height is 0, and adds its row to the
// table.
func (c *chart) bar(from, width, share float64, name, value string) {
	c.Cells = append(c.Cells, []string{name, value})
	if share > 0 {
		x, y := c.x(from), c.y(share)
		c.Bars = append(c.Bars, chartBar{X: x + 1, Y: y, W: tenth(c.x(from+width) - x - 2), H: tenth(float64(c.Base) - y), Words: name + ": " + value})
	}
}

// Latencies are counted in bins that grow by a factor of the square root of two, from a
// tenth of a millisecond to about an hour.
const (
	latencyBins  = 52
	latencyFirst = 100 * time.Microsecond
	fewestBars   = 9
)

// A latencyCount is a histogram of the latencies of replies.
type latencyCount [latencyBins]int

func (l *latencyCount) add(d time.Duration) {
	at := 2 * math.Log2(float64(max(d, latencyFirst))/float64(latencyFirst))
	l[min(int(at), latencyBins-1)]++
}

// latencyFrom returns the lower bound of a bin.
func latencyFrom(bin int) time.Duration {
	return time.Duration(float64(latencyFirst) * math.Pow(2, float64(bin)/2))
}

// newLatencyChart draws latencies. It returns nil if there are none.
func newLatencyChart(counts latencyCount, l *report.Latency) *chart {
	lo, hi := -1, -1
	most, total := 0, 0
	for i, n := range counts {
		if n > 0 {
			if lo < 0 {
				lo = i
			}
			hi, most, total = i, max(most, n), total+n
		}
	}
	if lo < 0 || l == nil {
		return nil
	}
	for hi-lo < fewestBars { // A single bar gives no sense of scale.
		lo, hi = max(0, lo-1), min(latencyBins-1, hi+1)
	}
	c := newChart("latency", "Latency of replies", "time until the reply, on a logarithmic scale")
	c.Words = fmt.Sprintf("%s, half of them within %s and 95%% within %s", words.Plural(total, "reply", "replies"), took(l.P50), took(l.P95))
	c.Columns = []string{"latency", "replies"}
	bars := hi - lo + 1
	width, every := 1/float64(bars), max(1, (bars+5)/6)
	for i, n := range counts[lo : hi+1] {
		from, to := took(words.Round(latencyFrom(lo+i), 2)), took(words.Round(latencyFrom(lo+i+1), 2))
		if i%every == 0 {
			c.Ticks = append(c.Ticks, chartTickMark{X: c.x(float64(i) * width), Label: from})
		}
		c.bar(float64(i)*width, width, float64(n)/float64(most), from+" to "+to, words.Comma(n))
	}
	c.level(0, "0")
	c.level(1, words.Comma(most))
	return &c
}

// A confidenceChart shows the confidence of the judge and, if people have labelled items,
// how often the judge was right at each level of confidence.
type confidenceChart struct {
	chart
	Summary  string // in words
	Points   []chartPoint
	Labelled int  // items with a confidence and a human label
	Trials   bool // the confidence is the agreement between trials
}

type chartPoint struct {
	CX, CY, Lo, Hi float64
	Words          string
}

// newConfidenceChart draws confidences. It returns nil if there are none.
func newConfidenceChart(conf *report.Confidence, bins []agreement.Bin) *confidenceChart {
	if conf == nil || conf.N == 0 {
		return nil
	}
	c := &confidenceChart{chart: newChart("confidence", "Confidence", "how sure the judge is"), Summary: conf.Words(), Trials: conf.Source == doc.FromTrials}
	c.Columns = []string{"confidence", "verdicts"}
	for _, l := range conf.Levels {
		from, to := l.From, l.To
		if from == to { // A level without width, such as three of four trials, is drawn around its value.
			from, to = math.Max(0, from-0.02), math.Min(1, to+0.02)
		}
		c.bar(from, to-from, float64(l.N)/float64(conf.N), fmt.Sprintf("%s to %s sure", doc.Percent(l.From), doc.Percent(l.To)), fmt.Sprintf("%s of %s", words.Comma(l.N), words.Comma(conf.N)))
	}
	said := []string{conf.Words()}
	for _, b := range bins {
		c.Labelled += b.N
		lo, hi := doc.Drawn(b.Observed)
		sure, right := doc.Percent(b.Confidence)+" sure", fmt.Sprintf("right in %s, n=%d", doc.Share(b.Observed), b.N)
		c.Points = append(c.Points, chartPoint{CX: c.x(b.Confidence), CY: c.y(b.Observed.Value), Lo: c.y(lo), Hi: c.y(hi), Words: sure + ": " + right})
		said = append(said, sure+": "+right)
		c.Cells = append(c.Cells, []string{sure, right})
	}
	for i := range 6 {
		part := float64(i) / 5
		c.Ticks = append(c.Ticks, chartTickMark{X: c.x(part), Label: fmt.Sprintf("%.0f%%", 100*part)})
	}
	c.level(0, "0%")
	c.level(0.5, "50%")
	c.level(1, "100%")
	c.Words = strings.Join(said, "; ")
	return c
}

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
	for kind, counts := range []map[string]*scoreCount{s.aspects, s.categories} {
		if len(counts) == 1 && counts[doc.None] != nil {
			continue
		}
		names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(counts[b].n-counts[a].n, cmp.Compare(a, b))
		})
		for _, name := range names[:min(len(names), spreadRows)] {
			group, scale := counts[name], s.scales[name]
			row := spreadRow{Name: name, N: words.Comma(group.n)}
			if kind == 0 { // The category bars already show the mean.
				row.Mean = fmt.Sprintf("%.2f", group.sum/float64(group.n))
			}
			least, wide := 0.0, 1.0
			if scale.Name != "" {
				least, wide = scale.Min, scale.Max-scale.Min
				row.Scale = fmt.Sprintf("%v to %v", scale.Min, scale.Max)
			}
			top := slices.Max(group.bins[:])
			for i, n := range group.bins {
				high := tenth(spreadHigh * float64(n) / float64(top))
				row.Bars = append(row.Bars, chartBar{
					X: float64(10 * i), Y: spreadHigh - high, W: 9, H: high,
					Words: fmt.Sprintf("%.3g to %.3g: %s", least+wide*float64(i)/10, least+wide*float64(i+1)/10, words.Comma(n)),
				})
			}
			c.Rows = append(c.Rows, row)
		}
	}
	return c
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
