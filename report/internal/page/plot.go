package page

import (
	"math"

	"deem/stat"
)

// A PlotRow is an estimate in a forest plot.
type PlotRow struct {
	Group string // what the row belongs to, where there are several
	Name  string
	Label string // the numbers in words
	Class string // better, worse or within, which give the line its colour
	Est   stat.Estimate
}

// A Plot is a forest plot in the units of its drawing.
type Plot struct {
	Width, Height int
	Zero          float64 // where 0 lies
	HasZero       bool
	Ticks         []PlotTick
	Marks         []PlotMark
}

// A PlotTick is a line of the axis.
type PlotTick struct {
	X     float64
	Label string
}

// A PlotMark is an estimate with its interval, or the name of a group of them.
type PlotMark struct {
	PlotRow
	Y             int
	X, X1, X2     float64
	TextY, LabelX int
	Bar           bool
}

// The measures of a plot.
const (
	plotLeft  = 210
	plotRight = 590
	plotRow   = 26
)

// PlotTemplate draws a [Plot] with html/template.
const PlotTemplate = `{{define "plot"}}{{if .Marks}}<svg viewBox="0 0 {{.Width}} {{.Height}}" width="{{.Width}}" role="img" aria-label="Estimates with their intervals; the table below has the same numbers">
{{$bottom := .Height}}{{range .Ticks}}<line class="axis" x1="{{.X}}" x2="{{.X}}" y1="2" y2="{{$bottom}}"/><text x="{{.X}}" y="{{$bottom}}" text-anchor="middle">{{.Label}}</text>
{{end}}{{if .HasZero}}<line class="zero" x1="{{.Zero}}" x2="{{.Zero}}" y1="2" y2="{{.Height}}"/>
{{end}}{{range .Marks}}<text x="0" y="{{.TextY}}">{{.Name}}</text>{{if .Bar}}<line class="bar {{.Class}}" x1="{{.X1}}" x2="{{.X2}}" y1="{{.Y}}" y2="{{.Y}}"/><circle class="{{.Class}}" cx="{{.X}}" cy="{{.Y}}" r="4"/><text x="{{.LabelX}}" y="{{.TextY}}">{{.Label}}</text>{{end}}
{{end}}</svg>{{end}}{{end}}`

// NewPlot returns the plot of estimates on an axis from lo to hi, with ticks a step apart.
func NewPlot(rows []PlotRow, lo, hi, step float64, format func(float64) string) Plot {
	at := func(x float64) float64 { return plotLeft + (x-lo)/(hi-lo)*(plotRight-plotLeft) }
	out := Plot{Width: 760, Zero: at(0), HasZero: lo < 0}
	for i := math.Ceil(lo/step-1e-9) + 0; i*step <= hi+1e-9; i++ {
		out.Ticks = append(out.Ticks, PlotTick{X: at(i * step), Label: format(i * step)})
	}
	line := 0
	add := func(m PlotMark) {
		m.Y = plotRow*line + 14
		m.TextY, m.LabelX = m.Y+4, plotRight+10
		out.Marks = append(out.Marks, m)
		line++
	}
	group := ""
	for _, r := range rows {
		if r.Group != group {
			group = r.Group
			add(PlotMark{PlotRow: PlotRow{Name: group}})
		}
		from, to := r.Est.Drawn()
		add(PlotMark{PlotRow: r, X: at(r.Est.Value), X1: at(from), X2: at(to), Bar: true})
	}
	out.Height = plotRow*line + 30
	return out
}
