package doc

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"deem/internal/words"
	"deem/stat"
)

// An axis is the common axis of all estimates of a table. Its ends are round numbers.
type axis struct {
	lo, hi, step float64
	points       bool
}

// axis returns an axis that fits all plotted estimates, and false if there are none.
func (t Table) axis() (axis, bool) {
	a := axis{lo: math.Inf(1), hi: math.Inf(-1), points: t.Draw.Points}
	for _, row := range t.Rows {
		if est := t.drawn(row); est != nil {
			lo, hi := Drawn(*est)
			a.lo, a.hi = math.Min(a.lo, lo), math.Max(a.hi, hi)
		}
	}
	if math.IsInf(a.lo, 1) {
		return a, false
	}
	include := slices.Concat(t.Draw.Include, t.Draw.Lines)
	if t.Draw.Line != nil {
		include = append(include, *t.Draw.Line)
	}
	for _, x := range include {
		a.lo, a.hi = math.Min(a.lo, x), math.Max(a.hi, x)
	}
	a.step = 0.5
	for _, s := range []float64{0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2} {
		if math.Max(a.hi-a.lo, 0.01)/s <= 6 {
			a.step = s
			break
		}
	}
	a.lo, a.hi = math.Floor(a.lo/a.step+1e-9)*a.step, math.Ceil(a.hi/a.step-1e-9)*a.step
	if a.hi-a.lo < a.step {
		a.hi = a.lo + a.step
	}
	return a, true
}

// drawn returns the plotted estimate of a row, or nil.
func (t Table) drawn(row []Cell) *stat.Estimate {
	if t.Draw == nil || t.Draw.Column >= len(row) {
		return nil
	}
	return row[t.Draw.Column].Estimate
}

// label formats a number of the axis.
func (a axis) label(x float64) string {
	x = math.Round(1000*x)/10 + 0 // Adding 0 turns a negative zero into a positive one.
	switch {
	case !a.points:
		return fmt.Sprintf("%g%%", x)
	case x == 0:
		return "0 pp"
	}
	return fmt.Sprintf("%+g pp", x)
}

// at returns the position of x between the ends of the axis, from 0 to 1.
func (a axis) at(x float64) float64 { return math.Min(math.Max((x-a.lo)/(a.hi-a.lo), 0), 1) }

// bar plots an estimate in width characters, with the reference line if the interval leaves
// room.
func (a axis) bar(est *stat.Estimate, line *float64, width int) string {
	cells := []rune(strings.Repeat(" ", width))
	column := func(x float64) int { return min(int(a.at(x)*float64(width)+1e-9), width-1) }
	if line != nil {
		cells[column(*line)] = '┊'
	}
	if est != nil {
		from, to := Drawn(*est)
		lo, hi := column(from), column(to)
		for i := lo; i <= hi; i++ {
			cells[i] = '─'
		}
		cells[lo], cells[hi] = '├', '┤'
		cells[column(est.Value)] = '●'
	}
	return strings.TrimRight(string(cells), " ")
}

// plotMargin is the share of a drawing that is left free on both sides, for the labels of
// the axis.
const plotMargin = 0.06

// A plot is the template's view of a drawing: the axis, and a bar for each row of the
// table. Positions are percentages of the width of the column.
type plot struct {
	Caption string
	Line    *float64
	Lines   []float64
	Ticks   []tick
	Bars    []*plotBar // nil for a row without an estimate
}

type tick struct {
	X     float64
	Label string
}

// A plotBar is an estimate: the ends of its interval and its value.
type plotBar struct {
	*plot
	Tone       Tone
	X1, X2, CX float64
}

// plot plots the estimates of a table. It returns nil if there are none.
func (t Table) plot() *plot {
	if t.Draw == nil {
		return nil
	}
	a, ok := t.axis()
	if !ok {
		return nil
	}
	x := func(v float64) float64 { return math.Round(1000*(plotMargin+a.at(v)*(1-2*plotMargin))) / 10 }
	p := &plot{Caption: words.Clean(t.Draw.Caption)}
	for _, row := range t.Rows {
		var bar *plotBar
		if est := t.drawn(row); est != nil {
			lo, hi := Drawn(*est)
			bar = &plotBar{plot: p, Tone: row[t.Draw.Column].Tone, X1: x(lo), X2: x(hi), CX: x(est.Value)}
		}
		p.Bars = append(p.Bars, bar)
	}
	for i := math.Ceil(a.lo/a.step-1e-9) + 0; i*a.step <= a.hi+1e-9; i++ {
		p.Ticks = append(p.Ticks, tick{x(i * a.step), strings.TrimSuffix(a.label(i*a.step), " pp")})
	}
	if t.Draw.Line != nil {
		at := x(*t.Draw.Line)
		p.Line = &at
	}
	for _, v := range t.Draw.Lines {
		p.Lines = append(p.Lines, x(v))
	}
	return p
}

// Drawn returns the ends of the plotted interval, or the value if the data allow no
// interval.
func Drawn(e stat.Estimate) (lo, hi float64) {
	if e.Method == stat.MethodNone {
		return e.Value, e.Value
	}
	return e.Lo, e.Hi
}

// A Dot is a point of a [Scatter] with the interval of its height.
type Dot struct {
	Name  string
	X     float64       // from 0 on
	Y     stat.Estimate // a share
	Joins bool          // it is joined by the line
}

// Scatter plots points, with a stepped line through those that are joined, which must be
// sorted by X. The X axis begins at 0; amount formats its numbers. A table has the same
// numbers, so forms without drawings show nothing.
func Scatter(title string, dots []Dot, amount func(float64) string) Figure {
	const left, right, top, base = 46, 430, 34, 220
	t := Table{Draw: &Draw{}}
	most := 0.0
	for _, d := range dots {
		t.Rows = append(t.Rows, []Cell{{Estimate: &d.Y}})
		most = math.Max(most, d.X)
	}
	a, ok := t.axis()
	if !ok || most == 0 {
		return Figure{}
	}
	type dot struct {
		Name          string
		Tone          Tone
		X, Y, Lo, Hi  float64
		LabelX, TextY float64
		Anchor, Words string
	}
	var drawing struct {
		Title       string
		Left, Right int
		XTicks      []tick
		YTicks      []tick // X is the height
		Path        string
		Dots        []dot
	}
	round := func(v float64) float64 { return math.Round(10*v) / 10 }
	x := func(v float64) float64 { return round(left + v/most*(right-left)) }
	y := func(v float64) float64 { return round(base - a.at(v)*(base-top)) }
	step := roundStep(most / 4)
	most = step * math.Ceil(most/step-1e-9)
	drawing.Title, drawing.Left, drawing.Right = words.Clean(title), left, right
	for v := 0.0; v <= most*(1+1e-9); v += step {
		drawing.XTicks = append(drawing.XTicks, tick{x(v), amount(v)})
	}
	for i := math.Ceil(a.lo/a.step - 1e-9); i*a.step <= a.hi+1e-9; i++ {
		drawing.YTicks = append(drawing.YTicks, tick{y(i * a.step), a.label(i * a.step)})
	}
	var path strings.Builder
	for _, d := range dots {
		lo, hi := Drawn(d.Y)
		at := dot{Name: Clip(d.Name, 24), Tone: Dim, X: x(d.X), Y: y(d.Y.Value), Lo: y(lo), Hi: y(hi)}
		at.LabelX, at.TextY, at.Anchor = at.X+9, at.Y-6, "start"
		// There is room to the left of the stepped line.
		if d.Joins && at.X > left+90 || at.X > left+0.75*(right-left) {
			at.LabelX, at.Anchor = at.X-9, "end"
		}
		at.Words = words.Clean(fmt.Sprintf("%s: %s, %s", d.Name, Share(d.Y), amount(d.X)))
		if d.Joins {
			at.Tone = Good
			px, py := fmt.Sprint(at.X), fmt.Sprint(at.Y)
			if path.Len() == 0 {
				path.WriteString("M" + px + " " + py)
			} else {
				path.WriteString("H" + px + "V" + py)
			}
		}
		drawing.Dots = append(drawing.Dots, at)
	}
	if path.Len() > 0 {
		drawing.Path = path.String() + "H" + fmt.Sprint(right)
	}
	html, err := execute("scatter", drawing)
	if err != nil {
		panic("doc: " + err.Error()) // the template is fixed
	}
	return Figure{HTML: html}
}

// roundStep returns the smallest round number of at least x: 1, 2 or 5 times a power of
// ten.
func roundStep(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, n := range []float64{1, 2, 5} {
		if n*unit >= x*(1-1e-9) {
			return n * unit
		}
	}
	return 10 * unit
}

// Together combines figures into one, next to each other if there is room.
func Together(list []Figure) Figure {
	var all template.HTML
	for _, f := range list {
		all += f.HTML
	}
	return Figure{HTML: `<div class="together">` + all + "</div>\n"}
}
