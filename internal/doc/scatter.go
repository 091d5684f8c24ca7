package doc

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"deem/internal/words"
	"deem/stat"
)

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
