package page

import (
	"fmt"
	"math"
	"strings"

	"deem/stat"
)

// An Axis is the line on which the intervals of a table are drawn, so that one can see
// which of them overlap.
type Axis struct {
	Lo, Hi float64
	Width  int // in columns
}

// Round returns the axis with ends at whole tenths, a tenth apart at least.
func (a Axis) Round() Axis {
	a.Lo, a.Hi = math.Floor(10*a.Lo+1e-9)/10, math.Ceil(10*a.Hi-1e-9)/10
	if a.Hi <= a.Lo {
		a.Lo, a.Hi = math.Min(a.Lo, 0.9), math.Min(a.Lo, 0.9)+0.1
	}
	return a
}

// Head returns the ends of the axis, each above its column.
func (a Axis) Head() string {
	lo, hi := fmt.Sprintf("%.0f%%", 100*a.Lo), fmt.Sprintf("%.0f%%", 100*a.Hi)
	return lo + strings.Repeat(" ", max(1, a.Width-len(lo)-len(hi))) + hi
}

// Bar returns the interval of an estimate as a line from end to end with its value
// marked. An end that lies beyond the axis is at the end of the axis.
func (a Axis) Bar(est stat.Estimate) string {
	from, to := est.Drawn()
	lo, value, hi := a.column(from), a.column(est.Value), a.column(to)
	cells := []rune(strings.Repeat(" ", a.Width))
	for i := lo; i <= hi; i++ {
		cells[i] = '─'
	}
	cells[lo], cells[hi] = '├', '┤'
	cells[value] = '●'
	return strings.TrimRight(string(cells), " ")
}

// column returns the column in which x lies.
func (a Axis) column(x float64) int {
	at := int(math.Floor((x-a.Lo)/(a.Hi-a.Lo)*float64(a.Width) + 1e-9))
	return min(max(at, 0), a.Width-1)
}
