package server

import (
	"fmt"
	"math"
	"strings"

	"deem/internal/words"
	"deem/stat"
)

// The measures of a forest, as those of the plot in a report, so that pages look alike.
const (
	forestWidth  = 800
	forestLabel  = 230
	forestLeft   = 245
	forestRight  = 600
	forestValue  = 620
	forestRow    = 26
	forestTop    = 24
	forestLetter = 30 // how many letters a label may have
)

// A forest draws estimates below each other on one axis.
type forest struct {
	ID            string // unique in its page
	Words         string // what it shows, for those who cannot see it
	Width, Height int
	Base, TickY   int
	Ticks         []chartTickMark
	Zero          *float64 // where a line stands that the eye shall compare with
	Rows          []forestMark

	lo, hi float64
}

// A forestMark is one estimate in a forest.
type forestMark struct {
	Name, Value, Class          string
	X1, X2, CX                  float64
	Y, TextY, LabelX, ValueLeft int
}

// A plotted is an estimate that is to be drawn.
type plotted struct {
	Name, Value, Class string
	Est                stat.Estimate
}

// newForest draws estimates on an axis that all of them and the numbers in also fit on;
// nil when there is nothing to draw. Ticks are labelled by unit.
func newForest(id string, rows []plotted, also []float64, unit func(float64) string) *forest {
	if len(rows) == 0 {
		return nil
	}
	f := &forest{ID: id, Width: forestWidth}
	step := f.axis(rows, also)
	for i, row := range rows {
		y := forestTop + forestRow*i
		lo, hi := row.Est.Drawn()
		f.Rows = append(f.Rows, forestMark{
			Name: words.Clip(row.Name, forestLetter), Value: row.Value, Class: row.Class,
			X1: f.x(lo), X2: f.x(hi), CX: f.x(row.Est.Value),
			Y: y, TextY: y + 5, LabelX: forestLabel, ValueLeft: forestValue,
		})
	}
	f.Base = forestTop + forestRow*len(rows) - 4
	f.TickY = f.Base + 18
	f.Height = f.TickY + 8
	// Adding 0 turns the negative zero of a rounded -1e-9 into a plain one.
	for i := math.Ceil(f.lo/step-1e-9) + 0; i*step <= f.hi+1e-9; i++ {
		f.Ticks = append(f.Ticks, chartTickMark{X: f.x(i * step), Label: unit(i * step)})
	}
	f.Words = describe(rows)
	return f
}

// axis sets the ends of the axis to round numbers, and returns what is between ticks.
func (f *forest) axis(rows []plotted, also []float64) float64 {
	f.lo, f.hi = math.Inf(1), math.Inf(-1)
	for _, row := range rows {
		lo, hi := row.Est.Drawn()
		f.lo, f.hi = math.Min(f.lo, lo), math.Max(f.hi, hi)
	}
	for _, x := range also {
		f.lo, f.hi = math.Min(f.lo, x), math.Max(f.hi, x)
	}
	width := math.Max(f.hi-f.lo, 0.01)
	step := 0.5
	for _, s := range []float64{0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2} {
		if width/s <= 6 {
			step = s
			break
		}
	}
	f.lo, f.hi = math.Floor(f.lo/step+1e-9)*step, math.Ceil(f.hi/step-1e-9)*step
	if f.hi-f.lo < step {
		f.hi = f.lo + step
	}
	return step
}

// x returns where a number lies.
func (f *forest) x(value float64) float64 {
	part := math.Min(math.Max((value-f.lo)/(f.hi-f.lo), 0), 1)
	return tenth(forestLeft + part*(forestRight-forestLeft))
}

// line marks a number with a line.
func (f *forest) line(value float64) *forest {
	if f != nil {
		at := f.x(value)
		f.Zero = &at
	}
	return f
}

// describe says in words what a forest shows.
func describe(rows []plotted) string {
	parts := make([]string, len(rows))
	for i, row := range rows {
		parts[i] = row.Name + " " + row.Value
	}
	return strings.Join(parts, "; ")
}

// percents and points label axes.
func percents(x float64) string { return fmt.Sprintf("%.0f%%", 100*x) }

func points(x float64) string {
	if x = math.Round(1000*x) / 10; x != 0 {
		return fmt.Sprintf("%+g pp", x)
	}
	return "0 pp"
}

// Footnotes are warnings that numbers point to. Equal ones are one.
type footnotes struct{ list []string }

// mark returns the numbers of the footnotes that the warnings are.
func (f *footnotes) mark(warnings ...string) []int {
	var marks []int
	for _, w := range warnings {
		at := 0
		for at < len(f.list) && f.list[at] != w {
			at++
		}
		if at == len(f.list) {
			f.list = append(f.list, w)
		}
		marks = append(marks, at+1)
	}
	return marks
}

// notes returns the footnotes as sentences, in the order of their numbers.
func (f *footnotes) notes() []pageNote {
	list := make([]pageNote, len(f.list))
	for i, text := range f.list {
		list[i] = pageNote{N: i + 1, Text: words.UpperFirst(strings.TrimSuffix(text, ".")) + "."}
	}
	return list
}

// A figure is a number as a table shows it.
type figure struct {
	Text  string
	Bar   *intervalBar // nil when it is no share
	Marks []int
}

// shareFigure returns a share with its interval drawn.
func (f *footnotes) shareFigure(est stat.Estimate) figure {
	fig := figure{Text: share(est), Marks: f.mark(est.Warnings...)}
	if !est.Unknown() {
		fig.Bar = newIntervalBar(est)
	}
	return fig
}

// A pager leads through a list whose length is known.
type pager struct {
	Page, Pages int
	Prev, Next  string // paths, "" for none
}

// newPager returns the pager at a page, which it moves into range.
func newPager(page, items, perPage int, link func(page int) string) pager {
	p := pager{Pages: max(1, (items+perPage-1)/perPage)}
	p.Page = min(max(page, 1), p.Pages)
	if p.Page > 1 {
		p.Prev = link(p.Page - 1)
	}
	if p.Page < p.Pages {
		p.Next = link(p.Page + 1)
	}
	return p
}

// span returns which part of the list is on the page.
func (p pager) span(items, perPage int) (from, to int) {
	from = min((p.Page-1)*perPage, items)
	return from, min(from+perPage, items)
}
