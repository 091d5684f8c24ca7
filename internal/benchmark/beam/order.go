package beam

import (
	"errors"
	"math"
	"slices"
	"strings"
)

// An order is the result of upstream's event_ordering_score: how far the events of a
// response are those of the rubric, and how far they are in its order.
type order struct{ precision, recall, f1, tau, final float64 }

// errNoOrder means that tau is undefined; upstream's result is NaN.
var errNoOrder = errors.New("tau is not defined: one event has no order")

// align returns the lines of a response, with each line that means the same as a rubric
// item replaced by the text of that item. The function same compares a rubric item with a
// line; each item is used once, and the first match is taken.
func align(rubric, lines []string, same func(item, line int) (bool, error)) ([]string, error) {
	used := make([]bool, len(rubric))
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line
		for k, item := range rubric {
			if used[k] {
				continue
			}
			yes, err := same(k, i)
			if err != nil {
				return nil, err
			}
			if yes {
				out[i], used[k] = item, true
				break
			}
		}
	}
	return out, nil
}

// orderOf scores aligned lines as upstream does.
func orderOf(rubric, aligned []string) (order, error) {
	ref, sys := set(rubric), set(aligned)
	tp, fp, fn := 0, 0, 0
	for text := range ref {
		if sys[text] {
			tp++
		}
	}
	for _, line := range aligned {
		if !ref[line] {
			fp++
		}
	}
	for _, item := range rubric {
		if !sys[item] {
			fn++
		}
	}
	var o order
	if tp+fp > 0 {
		o.precision = float64(tp) / float64(tp+fp)
	}
	if tp+fn > 0 {
		o.recall = float64(tp) / float64(tp+fn)
	}
	if sum := o.precision + o.recall; sum > 0 {
		o.f1 = 2 * o.precision * o.recall / sum
	}
	tau := tauB(ranks(rubric, aligned))
	if math.IsNaN(tau) {
		return o, errNoOrder
	}
	o.tau = (tau + 1) / 2
	o.final = o.tau * o.f1
	return o, nil
}

// fixedOrder scores aligned lines as upstream does, with two differences: a line without an
// event lowers precision and has no place in the order; and if there is no order, the score
// is 0 if no event was named, and F1 otherwise.
func fixedOrder(rubric, aligned []string) order {
	events := set(rubric)
	var named []string
	for _, line := range aligned {
		if events[line] {
			named = append(named, line)
		}
	}
	o, _ := orderOf(rubric, aligned)
	ordered, err := orderOf(rubric, named)
	o.tau = ordered.tau
	if err != nil && len(named) > 0 {
		o.tau = 1
	}
	o.final = o.tau * o.f1
	return o
}

func set(list []string) map[string]bool {
	m := map[string]bool{}
	for _, s := range list {
		m[s] = true
	}
	return m
}

// ranks returns the ranks of all texts in both lists. The last occurrence of a text counts,
// and a text that is missing from a list ranks after all others.
func ranks(a, b []string) (x, y []int) {
	last := func(list []string) map[string]int {
		m := map[string]int{}
		for i, s := range list {
			m[s] = i + 1
		}
		return m
	}
	inA, inB := last(a), last(b)
	var union []string
	seen := map[string]bool{}
	for _, s := range slices.Concat(a, b) {
		if !seen[s] {
			seen[s] = true
			union = append(union, s)
		}
	}
	for _, s := range union {
		for _, in := range []struct {
			places map[string]int
			to     *[]int
		}{{inA, &x}, {inB, &y}} {
			rank, ok := in.places[s]
			if !ok {
				rank = len(union) + 1
			}
			*in.to = append(*in.to, rank)
		}
	}
	return x, y
}

// tauB returns Kendall's tau-b, NaN if all ranks of one list are tied.
func tauB(x, y []int) float64 {
	con, dis, tiesX, tiesY, pairs := 0, 0, 0, 0, 0
	for i := range x {
		for j := range i {
			pairs++
			dx, dy := x[i]-x[j], y[i]-y[j]
			if dx == 0 {
				tiesX++
			}
			if dy == 0 {
				tiesY++
			}
			switch {
			case dx*dy > 0:
				con++
			case dx*dy < 0:
				dis++
			}
		}
	}
	// Like scipy, with two square roots, because the last digit depends on it.
	tau := float64(con-dis) / math.Sqrt(float64(pairs-tiesX)) / math.Sqrt(float64(pairs-tiesY))
	return math.Min(1, math.Max(-1, tau))
}

// isEvent reports whether a line may be an event under the fixed reading. Blank lines and
// lines that introduce a list are not.
func isEvent(line string) bool {
	line = strings.TrimRight(strings.TrimSpace(line), "*_ ")
	return line != "" && !strings.HasSuffix(line, ":")
}
