package agree

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"deem/internal/agreement"
)

// A Candidate is an item that may be labelled.
type Candidate struct {
	Category string
	Yes      bool // the judge's decision
	Labelled bool // it already has a label
	Unsure   bool // the judge is unsure of its decision; see [Unsure]
}

// Unsure reports of each item whether the judge is unsure of it, from its confidence, NaN if
// it states none. These are the least confident quarter, with all others that are as
// confident as the most confident of them, unless these are most of all.
func Unsure(confidence []float64) []bool {
	known := slices.DeleteFunc(slices.Clone(confidence), math.IsNaN)
	slices.Sort(known)
	unsure := make([]bool, len(confidence))
	if len(known) == 0 {
		return unsure
	}
	limit := known[(len(known)-1)/4]
	if limit == known[(len(known)-1)/2] { // so the judge says the same of half of its items
		limit = math.Nextafter(limit, math.Inf(-1))
	}
	for i, x := range confidence {
		unsure[i] = x <= limit
	}
	return unsure
}

// enough is the minimum number of labels for each category and verdict, if there are enough
// items. With fewer, an error rate is a guess.
const enough = 5

// Draw selects n of the candidates to be labelled, at random and in random order, and
// returns their indices. Labels are proportional to the size of each category and verdict;
// those that would get fewer than five labels get five, or as many as there are, as long as
// that takes no more than half of all. Draw selects fewer if there are fewer candidates.
// The same seed selects the same items.
func Draw(from []Candidate, n int, seed uint64) []int {
	var places []int
	for _, c := range DrawStrata(from, n, seed) {
		places = append(places, c.Place)
	}
	return places
}

// A Chosen is a selected candidate: its index and how it was drawn. Of the Of items of its
// stratum, Drawn were drawn at random. The number of a stratum does not reveal the judge's
// decision, because people who label may see it.
type Chosen struct{ Place, Stratum, Drawn, Of int }

// DrawStrata selects like [Draw], and returns how each item was drawn.
func DrawStrata(from []Candidate, n int, seed uint64) []Chosen {
	rng := rand.New(rand.NewPCG(seed, 0))
	cells := map[cell]*pool{}
	for i, c := range from {
		key := cell{c.Category, c.Yes, c.Unsure}
		if cells[key] == nil {
			cells[key] = &pool{key: key}
		}
		if c.Labelled {
			cells[key].labelled++
		} else {
			cells[key].places = append(cells[key].places, i)
		}
	}
	// The order must not be that of a map, because the pools share one random source.
	pools := slices.SortedFunc(maps.Values(cells), func(x, y *pool) int {
		return cmp.Or(cmp.Compare(x.key.category, y.key.category), cmp.Compare(agreement.Number(x.key.yes), agreement.Number(y.key.yes)),
			cmp.Compare(agreement.Number(x.key.unsure), agreement.Number(y.key.unsure)))
	})
	allot(pools, n)
	var chosen []Chosen
	for i, p := range pools {
		rng.Shuffle(len(p.places), func(i, j int) { p.places[i], p.places[j] = p.places[j], p.places[i] })
		for _, place := range p.places[:p.quota] {
			chosen = append(chosen, Chosen{Place: place, Stratum: i, Drawn: p.quota, Of: len(p.places)})
		}
	}
	rng.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	number := rng.Perm(len(pools))
	for i, c := range chosen {
		chosen[i].Stratum = number[c.Stratum] + 1
	}
	return chosen
}

// More labels are drawn of a pool of which the judge is unsure, as rates of its size. With
// the best rates, which the unknown errors decide, the interval would be little narrower; and
// with these it is hardly wider if the judge is not wrong more often where it is unsure.
//
// Source: J. Neyman, "On the two different aspects of the representative method", Journal of
// the Royal Statistical Society 97 (1934), 558-625.
const (
	sureRate   = 3
	unsureRate = 4
)

// A pool is the items of one category and verdict of which the judge is sure, or unsure.
type pool struct {
	key      cell
	places   []int // indices of items without a label
	labelled int
	quota    int // how many of them to draw
}

// allot sets the quotas: first what each pool needs to have enough, then the rest in
// proportion, by the largest remainders.
func allot(pools []*pool, n int) {
	left, lacking, lacks := 0, 0, lacking(pools)
	for i, p := range pools {
		left += len(p.places)
		lacking += lacks[i]
	}
	n = min(n, left)
	if lacking <= n/2 {
		for i, p := range pools {
			p.quota = lacks[i]
			n -= p.quota
		}
	}
	type part struct {
		pool *pool
		rest int // of the division, out of free
	}
	for n > 0 { // A pool that is exhausted leaves its part to the others.
		free := 0
		for _, p := range pools {
			free += p.claim()
		}
		var parts []part
		more := n
		for _, p := range pools {
			claim := more * p.claim()
			got := min(claim/free, len(p.places)-p.quota)
			p.quota += got
			n -= got
			parts = append(parts, part{p, claim % free})
		}
		slices.SortStableFunc(parts, func(x, y part) int { return cmp.Compare(y.rest, x.rest) })
		for _, part := range parts {
			if n > 0 && part.pool.quota < len(part.pool.places) {
				part.pool.quota++
				n--
			}
		}
	}
}

// claim returns the weight of what is left of the pool.
func (p *pool) claim() int {
	if p.key.unsure {
		return unsureRate * (len(p.places) - p.quota)
	}
	return sureRate * (len(p.places) - p.quota)
}

// lacking returns how many labels each pool needs so that its category and verdict has
// enough: half of them from what the judge is unsure of, as far as there is so much.
func lacking(pools []*pool) []int {
	list := make([]int, len(pools))
	for i, p := range pools {
		need, other := enough-p.labelled, 0
		for _, q := range pools {
			if q != p && q.key.category == p.key.category && q.key.yes == p.key.yes {
				need, other = need-q.labelled, len(q.places)
			}
		}
		need = max(need, 0)
		part := need / 2
		if p.key.unsure {
			part = need - part
		}
		list[i] = min(len(p.places), max(part, need-other))
	}
	return list
}
