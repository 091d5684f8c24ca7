package agree

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"deem/internal/agreement"
	"deem/stat"
)

// A Bridge chooses which items of a judge's run another judge is called for, so that its score
// of all items is known as well as so many calls allow. Half of the calls are spread over the
// categories and verdicts of the first judge in proportion to their size. The other half goes
// where the answers to the first differ most from each other.
//
// Source: J. Neyman, "On the two different aspects of the representative method", Journal of
// the Royal Statistical Society 97 (1934), 558-625, for the sizes; P. V. Sukhatme, "Contribution
// to the theory of the representative method", Supplement to the Journal of the Royal
// Statistical Society 2 (1935), 253-268, for learning them from a first part of the sample.
type Bridge struct {
	pairs []Pair
	calls int
	parts []*bridgePart
	of    []int // of each item: its part
}

// A bridgePart is the items of one category and verdict, in random order.
type bridgePart struct {
	places       []int
	yes          bool
	called       int
	sum, squares float64 // of the answers
	answers      int
}

// enoughCalls is how many of the calls a category and verdict should get on average. Smaller
// ones of a verdict are put together.
const enoughCalls = 6

// NewBridge returns a bridge for the items of a run, all with a verdict, and a number of calls.
func NewBridge(pairs []Pair, calls int, seed uint64) *Bridge {
	b := &Bridge{pairs: slices.Clone(pairs), calls: min(calls, len(pairs)), of: make([]int, len(pairs))}
	sizes := map[cell]int{}
	for _, p := range b.pairs {
		sizes[cell{category: p.Item.Category, yes: p.Verdict.Yes()}]++
	}
	cells := map[cell][]int{}
	for i := range b.pairs {
		p := &b.pairs[i]
		verdict := *p.Verdict
		verdict.Confidence = nil // The parts do not depend on it, as those of a plan do.
		p.Truth, p.Verdict = nil, &verdict
		key := cell{category: p.Item.Category, yes: p.Verdict.Yes()}
		if sizes[key]*b.calls < enoughCalls*len(pairs) {
			key.category = ""
		}
		p.Item.Category = key.category
		cells[key] = append(cells[key], i)
	}
	rng := rand.New(rand.NewPCG(seed, 40))
	keys := slices.SortedFunc(maps.Keys(cells), func(x, y cell) int {
		return cmp.Or(cmp.Compare(x.category, y.category), cmp.Compare(agreement.Number(x.yes), agreement.Number(y.yes)))
	})
	for _, key := range keys {
		places := cells[key]
		for _, i := range places {
			b.of[i] = len(b.parts)
		}
		rng.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
		b.parts = append(b.parts, &bridgePart{places: places, yes: key.yes})
	}
	return b
}

// First returns the indices of the items of the first half of the calls.
func (b *Bridge) First() []int {
	return b.call((b.calls+1)/2, func(p *bridgePart) float64 { return float64(len(p.places)) })
}

// Second returns the indices of the items of the other half, once the answers to the first are
// known.
func (b *Bridge) Second() []int {
	used := 0
	for _, p := range b.parts {
		used += p.called
	}
	return b.call(b.calls-used, func(p *bridgePart) float64 { return float64(len(p.places)) * b.spread(p) })
}

// Answer takes what the other judge says of an item.
func (b *Bridge) Answer(i int, t *Truth) {
	p := b.parts[b.of[i]]
	b.pairs[i].Truth = t
	p.sum += t.Score
	p.squares += t.Score * t.Score
	p.answers++
}

// spread returns the standard deviation of the answers in a part, to which three answers of
// all parts with the verdict were added, so that a few equal answers do not claim that all are.
func (b *Bridge) spread(p *bridgePart) float64 {
	var sum, squares, n float64
	for _, q := range b.parts {
		if q.yes == p.yes {
			sum, squares, n = sum+q.sum, squares+q.squares, n+float64(q.answers)
		}
	}
	const added = 8
	sum, squares, n = (sum+0.5)/(n+1), (squares+0.5)/(n+1), float64(p.answers)+added
	mean := (p.sum + added*sum) / n
	return math.Sqrt(max((p.squares+added*squares)/n-mean*mean, 0))
}

// call returns the next n items to call for, so that all calls together are in proportion to
// the sizes that are wanted, and at least two in each part.
func (b *Bridge) call(n int, want func(*bridgePart) float64) []int {
	var chosen []int
	for ; n > 0; n-- {
		var next *bridgePart
		most := 0.0
		for _, p := range b.parts {
			if p.called == len(p.places) {
				continue
			}
			lacks := (want(p) + 1e-9) / (float64(p.called) + 0.5)
			if p.called < 2 {
				lacks += float64(len(b.pairs))
			}
			if next == nil || lacks > most {
				next, most = p, lacks
			}
		}
		if next == nil {
			break
		}
		chosen = append(chosen, next.places[next.called])
		next.called++
	}
	return chosen
}

// Score returns what the other judge would say of all items.
func (b *Bridge) Score(o Options) agreement.Prediction {
	builder := New(o)
	for i, p := range b.pairs {
		if part := b.parts[b.of[i]]; p.Truth != nil {
			truth := *p.Truth
			truth.Stratum, truth.Of = fmt.Sprint("bridge-", b.of[i]), len(part.places)
			truth.Probability = float64(part.answers) / float64(len(part.places))
			p.Truth = &truth
		}
		builder.Add(p)
	}
	k := builder.Corrected()
	if k == nil {
		return agreement.Prediction{Estimate: stat.NoInterval(0.5, 0, stat.DefaultLevel, stat.Unit, "there is no answer to estimate from"), Items: len(b.pairs)}
	}
	score := k.PPI
	score.Items = len(b.pairs)
	if score.Estimate = k.Quoted(); k.Quote != quotePPI {
		score.Lambda = 0 // It is that of another estimate.
	}
	score.Alone = alone(score.Estimate, k.Raw, score.Known, len(b.pairs))
	return score
}

// Raw returns the score of all items by the first judge.
func (b *Bridge) Raw() stat.Estimate {
	builder := New(Options{})
	for _, p := range b.pairs {
		builder.Add(p)
	}
	return builder.scored(builder.meanScore())
}

// alone returns the interval of a score from n items drawn at random. They come from clusters
// as all items do, which count for as much less as in the score of all of them.
func alone(score, whole stat.Estimate, n, all int) stat.Estimate {
	effect := 1.0
	if whole.Clusters > 0 && whole.EffectiveN > 0 {
		effect = 1 + max(float64(all)/whole.EffectiveN-1, 0)*float64(n)/float64(all)
	}
	est := stat.Estimate{Value: score.Value, Level: score.Level, N: n, Clusters: score.Clusters, Method: "wilson"}
	est.Lo, est.Hi = stat.Wilson(score.Value, float64(n)/effect, stat.StudentQuantile(score.Level, max(float64(n-1), 1)))
	return est
}
