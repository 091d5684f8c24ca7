package web

import (
	"fmt"
	"math"
	"strings"
	"time"

	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/words"
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

// add counts one reply.
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
