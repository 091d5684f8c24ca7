package report

import (
	"fmt"
	"math"
	"strings"

	"deem/report/internal/page"
	"deem/stat"
)

// The measures of the plot, in units of its own that scale with the page.
const (
	forestWidth = 860 // with room for the longest value in a wide font
	labelEdge   = 230
	plotLeft    = 245
	plotRight   = 620
	valueLeft   = 640
	rowHeight   = 26
	plotTop     = 24
)

// A forest draws estimates below each other on one axis, so that one can see which of
// them overlap.
type forest struct {
	Width, Height, Base, TickY int
	Words                      string
	Ticks                      []forestTick
	Rows                       []forestRow
	Whole                      float64 // where the number of all items lies
	HasWhole                   bool
	Marked                     bool // a category differs from the rest

	axis page.Axis
}

type forestTick struct {
	X     float64
	Label string
}

type forestRow struct {
	Label, Value, Class, ValueClass string
	LabelX, ValueX, TextY, Y        int
	X1, X2, CX                      float64
	Dot                             bool
}

// newForest returns the plot of the headline and the categories, nil without records.
func newForest(r Report) *forest {
	if len(r.Metrics) == 0 || r.Items == 0 {
		return nil
	}
	f := &forest{Width: forestWidth, axis: axisOf(r)}
	m := r.Metrics[0]
	if m.Judged != nil {
		f.add(m.Metric, *m.Judged, "first", page.Share(*m.Judged))
		f.Whole, f.HasWhole = f.x(m.Judged.Value), true
	}
	f.add("strict", m.Strict, "hollow", page.Share(m.Strict))
	if m.Unjudged > 0 {
		band := stat.Estimate{Value: m.Band.Lo, Lo: m.Band.Lo, Hi: m.Band.Hi}
		f.add("band of failures", band, "band", page.Percent(m.Band.Lo)+" to "+page.Percent(m.Band.Hi))
	}
	for _, c := range r.Categories {
		f.addCategory(c)
	}
	f.Base = plotTop + rowHeight*len(f.Rows) - 4
	f.TickY = f.Base + 18
	f.Height = f.TickY + 8
	f.ticks()
	f.Words = f.describe()
	return f
}

// axisOf returns the axis that all intervals fit on.
func axisOf(r Report) page.Axis {
	m := r.Metrics[0]
	a := page.Axis{Lo: m.Band.Lo, Hi: m.Band.Hi}
	widen := func(est *stat.Estimate) {
		if est != nil {
			lo, hi := est.Drawn()
			a.Lo, a.Hi = math.Min(a.Lo, lo), math.Max(a.Hi, hi)
		}
	}
	widen(&m.Strict)
	widen(m.Judged)
	for _, c := range r.Categories {
		widen(c.Judged)
		if c.Judged == nil {
			widen(&c.Strict)
		}
	}
	return a.Round()
}

// addCategory adds a category: its number or, where that is withheld, the strict one.
func (f *forest) addCategory(c Category) {
	class, est, note := "", c.Judged, ""
	if est == nil {
		class, est, note = "hollow", &c.Strict, " strict"
	}
	if c.Differs() {
		class, note, f.Marked = "differs", " *", true
	}
	f.add(page.Cell(c.Name, page.NameWidth), *est, class, page.Share(*est)+note)
}

func (f *forest) add(label string, est stat.Estimate, class, value string) {
	y := plotTop + rowHeight*len(f.Rows)
	lo, hi := est.Drawn()
	f.Rows = append(f.Rows, forestRow{
		Label: label, Value: value, Class: class, ValueClass: "value",
		LabelX: labelEdge, ValueX: valueLeft, TextY: y + 5, Y: y,
		X1: f.x(lo), X2: f.x(hi), CX: f.x(est.Value), Dot: class != "band",
	})
}

// x returns where a share lies, to a tenth of a unit.
func (f *forest) x(share float64) float64 {
	part := (share - f.axis.Lo) / (f.axis.Hi - f.axis.Lo)
	part = math.Min(math.Max(part, 0), 1)
	return math.Round(10*(plotLeft+part*(plotRight-plotLeft))) / 10
}

// ticks marks the axis at tenths, or at twentieths when it is short.
func (f *forest) ticks() {
	step := 0.1
	switch width := f.axis.Hi - f.axis.Lo; {
	case width > 0.65:
		step = 0.2
	case width < 0.25:
		step = 0.05
	}
	// Adding 0 turns the negative zero of a rounded -1e-9 into a plain one.
	for i := math.Ceil(f.axis.Lo/step-1e-9) + 0; i*step <= f.axis.Hi+1e-9; i++ {
		f.Ticks = append(f.Ticks, forestTick{X: f.x(i * step), Label: fmt.Sprintf("%.0f%%", 100*i*step)})
	}
}

// describe says in words what the plot shows.
func (f *forest) describe() string {
	parts := make([]string, len(f.Rows))
	for i, row := range f.Rows {
		parts[i] = row.Label + " " + row.Value
	}
	return strings.Join(parts, "; ")
}
