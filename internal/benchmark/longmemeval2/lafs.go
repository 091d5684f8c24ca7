package longmemeval2

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Point is a system with one of its settings.
type Point struct {
	Accuracy float64 `json:"accuracy"` // in percent
	Latency  float64 `json:"latency_seconds"`
}

// The range of latencies in seconds over which LAFS averages, from
// leaderboard/compute_lafs.py.
const (
	lafsFrom = 1.0
	lafsTo   = 200.0
)

// Tiers returns the sizes of the benchmark that have a fixed frontier.
func Tiers() []string { return []string{"small", "medium"} }

// Frontier returns the fixed points of upstream's leaderboard for a tier.
func Frontier(tier string) ([]Point, error) {
	switch tier {
	case "small":
		return []Point{{51.0, 0.2}, {69.9, 177.2}, {58.6, 26.9}, {74.9, 108.3}}, nil
	case "medium":
		return []Point{{45.9, 0.3}, {68.7, 185.8}, {57.0, 25.8}, {70.1, 139.9}}, nil
	}
	return nil, fmt.Errorf("%s has no tier %q; it has %s", Name, tier, strings.Join(Tiers(), ", "))
}

// Pareto returns the points whose accuracy no faster point reaches, the fastest first.
func Pareto(points []Point) []Point {
	sorted := slices.SortedFunc(slices.Values(points), func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Latency, b.Latency), cmp.Compare(b.Accuracy, a.Accuracy))
	})
	var front []Point
	for _, p := range sorted {
		if len(front) == 0 || p.Accuracy > front[len(front)-1].Accuracy {
			front = append(front, p)
		}
	}
	return front
}

// LAFS returns the latency-aware frontier score: the best accuracy within a latency budget,
// averaged over budgets from 1 to 200 seconds, uniform in log latency.
func LAFS(points []Point) float64 {
	front := Pareto(points)
	budgets := []float64{lafsFrom}
	for _, p := range front {
		if p.Latency > lafsFrom && p.Latency < lafsTo && p.Latency != budgets[len(budgets)-1] {
			budgets = append(budgets, p.Latency)
		}
	}
	budgets = append(budgets, lafsTo)
	area := 0.0
	for i, from := range budgets[:len(budgets)-1] {
		best := 0.0
		for _, p := range front {
			if p.Latency <= from {
				best = math.Max(best, p.Accuracy)
			}
		}
		area += float64(best * math.Log(budgets[i+1]/from))
	}
	return area / math.Log(lafsTo/lafsFrom)
}
