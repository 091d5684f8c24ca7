package agree

import (
	"math"
	"math/rand/v2"

	"deem/internal/agreement"
	"deem/stat"
)

// An Item is a judged item that may have a label.
type Item struct {
	Labelled bool

	Yes        bool // the judge's decision
	Category   string
	Cluster    string
	Confidence *float64 // of the judge, nil if it gives none
	Position   int      // in the dataset
	Length     int      // bytes of the response, 0 if unknown

	// Stratum names the part of the run that the item was drawn from, if there is a plan.
	// Items are compared within their stratum.
	Stratum string
}

// A SelectionTest tests whether the labelled items look like the others in one respect.
type SelectionTest struct {
	Of    string  `json:"of"` // "verdict", "category", "confidence", "cluster", "position" or "response length"
	P     float64 `json:"p"`
	PHolm float64 `json:"p_holm"` // adjusted for the number of tests

	// Differs reports whether the difference is significant: PHolm is below 0.05.
	Differs bool `json:"differs"`
}

// selected is the p-value below which labels are considered not drawn at random.
const selected = 0.05

// Selection tests whether the labelled items were drawn at random, by the known properties
// of all judged items. A test is omitted if items do not differ in its property. Without
// labels, or without other items, there are none.
//
// Each test is a permutation test, which is exact: the same number of items is repeatedly
// drawn at random, within their strata, and the labelled items are compared with these
// draws. Verdict, confidence, position and length are compared by rank sum, category and
// cluster by Pearson's chi-squared. The same seed draws the same items.
func Selection(items []Item, seed uint64) []SelectionTest {
	var names []string // of strata
	strata, labels := map[string][]int{}, map[string]int{}
	var labelled []int
	for i, it := range items {
		if strata[it.Stratum] == nil {
			names = append(names, it.Stratum)
		}
		strata[it.Stratum] = append(strata[it.Stratum], i)
		if it.Labelled {
			labels[it.Stratum]++
			labelled = append(labelled, i)
		}
	}
	if len(labelled) == 0 || len(labelled) == len(items) {
		return nil
	}
	var draws [][]int
	rng := rand.New(rand.NewPCG(seed, 3))
	for range min(selectionDraws, max(leastSelection, mostRatings/len(labelled))) {
		drawn := make([]int, 0, len(labelled))
		for _, name := range names {
			pool := strata[name]
			for i := range labels[name] {
				j := i + rng.IntN(len(pool)-i)
				pool[i], pool[j] = pool[j], pool[i]
				drawn = append(drawn, pool[i])
			}
		}
		draws = append(draws, drawn)
	}
	var tests []SelectionTest
	var ps []float64
	for _, r := range respects {
		distance, differ := r.distance(items)
		if !differ {
			continue
		}
		seen, as := distance(labelled), 0
		for _, places := range draws {
			if distance(places) >= seen-1e-9 {
				as++
			}
		}
		p := float64(1+as) / float64(1+len(draws))
		tests, ps = append(tests, SelectionTest{Of: r.name, P: p}), append(ps, p)
	}
	for i, p := range stat.Holm(ps) {
		tests[i].PHolm, tests[i].Differs = p, p < selected
	}
	return tests
}

// A respect is a property that labels may have been selected by: a number, or the name of a
// group.
type respect struct {
	name   string
	number func(Item) float64
	group  func(Item) string
}

// The respects. Weights can correct a selection by verdict or category.
const (
	ofVerdict  = "verdict"
	ofCategory = "category"
)

var respects = []respect{
	{name: ofVerdict, number: func(it Item) float64 { return agreement.Number(it.Yes) }},
	{name: ofCategory, group: func(it Item) string { return it.Category }},
	{name: "confidence", number: func(it Item) float64 {
		if it.Confidence == nil {
			return -1
		}
		return *it.Confidence
	}},
	{name: "cluster", group: func(it Item) string { return it.Cluster }},
	{name: "position", number: func(it Item) float64 { return float64(it.Position) }},
	{name: "response length", number: func(it Item) float64 { return float64(it.Length) }},
}

// The number of draws, unless there are very many labels.
const (
	selectionDraws = 999
	leastSelection = 199
)

// distance returns a function that measures how far some items are from a random draw: by
// the distance between their rank sum and its expectation within strata, or by their groups.
// It is not ok if the items do not differ in this respect.
func (r respect) distance(items []Item) (distance func([]int) float64, ok bool) {
	if r.number == nil {
		return groups(items, r.group)
	}
	values := make([]float64, len(items))
	for i, it := range items {
		values[i] = r.number(it)
	}
	ranks := agreement.MidRanks(values)
	// Relative to the mean of its stratum, a rank does not depend on which strata have more
	// labels.
	sum, n := map[string]float64{}, map[string]float64{}
	for i, it := range items {
		ranks[i] -= 0.5 // so that they begin at 0.5
		sum[it.Stratum] += ranks[i]
		n[it.Stratum]++
	}
	for i, it := range items {
		ranks[i] -= sum[it.Stratum] / n[it.Stratum]
		ok = ok || math.Abs(ranks[i]) > 1e-9
	}
	return func(places []int) float64 {
		total := 0.0
		for _, i := range places {
			total += ranks[i]
		}
		return math.Abs(total)
	}, ok
}

// groups returns a function that computes Pearson's chi-squared of the groups of some
// items, up to constants. An item without a cluster is its own group and is not
// informative.
func groups(items []Item, of func(Item) string) (distance func([]int) float64, ok bool) {
	index := map[string]int{}
	group := make([]int, len(items)) // of each item; -1 for none
	var size []float64
	several := false
	for i, it := range items {
		name := of(it)
		at, known := index[name]
		switch {
		case name == "":
			at = -1
		case !known:
			at = len(size)
			index[name] = at
			size = append(size, 1)
		default:
			size[at]++
			several = true
		}
		group[i] = at
	}
	seen := make([]float64, len(size))
	return func(places []int) float64 {
		total := 0.0
		for _, i := range places {
			if g := group[i]; g >= 0 {
				total += (2*seen[g] + 1) / size[g] // the increase of the squared count
				seen[g]++
			}
		}
		for _, i := range places {
			if g := group[i]; g >= 0 {
				seen[g] = 0
			}
		}
		return total
	}, several && len(size) > 1
}
