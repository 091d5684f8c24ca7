package agree

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"deem/internal/agreement"
)

// A Candidate is an item that may be labelled.
type Candidate struct {
	Category string
	Yes      bool // the judge's decision
	Labelled bool // it already has a label
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
		key := cell{c.Category, c.Yes}
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
		return cmp.Or(cmp.Compare(x.key.category, y.key.category), cmp.Compare(agreement.Number(x.key.yes), agreement.Number(y.key.yes)))
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

// A pool is the items of one category and verdict.
type pool struct {
	key      cell
	places   []int // indices of items without a label
	labelled int
	quota    int // how many of them to draw
}

// allot sets the quotas: first what each pool needs to have enough, then the rest in
// proportion, by the largest remainders.
func allot(pools []*pool, n int) {
	left, lacking := 0, 0
	for _, p := range pools {
		left += len(p.places)
		lacking += p.lacks()
	}
	n = min(n, left)
	if lacking <= n/2 {
		for _, p := range pools {
			p.quota = p.lacks()
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
			free += len(p.places) - p.quota
		}
		var parts []part
		more := n
		for _, p := range pools {
			room := len(p.places) - p.quota
			p.quota += more * room / free
			n -= more * room / free
			parts = append(parts, part{p, more * room % free})
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

// lacks returns how many labels the pool needs to have enough.
func (p *pool) lacks() int { return min(len(p.places), max(0, enough-p.labelled)) }
