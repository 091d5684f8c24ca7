package report

import (
	"maps"
	"math"
	"math/bits"
	"slices"

	"deem/internal/doc"
	"deem/stat"
)

// The number of groups that a tally keeps apart: for items with a cluster, for items
// without one, for either if intervals are resampled, and for either if categories are
// tested, from the maximum down to the minimum for hundreds of categories. If groups are
// merged into n, the spread between them is known to one part in sqrt(2n): 0.3%, 3%, 0.8%
// and 1% to 4% of an interval's width. Two thousand draws are not more precise than 1.6%.
const (
	maxNamed    = 1 << 16
	maxAlone    = 1 << 9
	maxResample = 1 << 13
	maxTested   = 1 << 12
	minTested   = 1 << 8
)

// A member is the group that an item belongs to: that of its cluster or, without a cluster,
// its own.
type member struct {
	key   uint64
	named bool
}

// scatter returns a 64-bit hash of the name. Among the 65,536 groups that are kept apart,
// two names collide with a probability of one in ten billion, and would then count as one
// cluster.
//
// Source: the FNV-1a hash of Fowler, Noll and Vo, and the finalizer of Appleby's
// MurmurHash3, which mixes the lower bits that FNV leaves weak.
func scatter(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// A group is the sums over the items of one cluster.
type group struct {
	w       fixed // the weight of judged items
	missing fixed // the weight of the others
	score   fixed // weight times score
	pass    fixed // the weight of those that pass
	items   uint32

	// lostScore and lostPass are the parts of score and pass that are lost if failed trials
	// of judged items count as wrong.
	lostScore, lostPass fixed

	guessed fixed // the weight of undecided items, included in w
	guess   fixed // weight times probability of these, included in score and pass
}

func (g group) plus(o group) group {
	return group{
		g.w.plus(o.w), g.missing.plus(o.missing), g.score.plus(o.score), g.pass.plus(o.pass), g.items + o.items,
		g.lostScore.plus(o.lostScore), g.lostPass.plus(o.lostPass), g.guessed.plus(o.guessed), g.guess.plus(o.guess),
	}
}

func (g group) minus(o group) group {
	return group{
		g.w.minus(o.w), g.missing.minus(o.missing), g.score.minus(o.score), g.pass.minus(o.pass), g.items - o.items,
		g.lostScore.minus(o.lostScore), g.lostPass.minus(o.lostPass), g.guessed.minus(o.guessed), g.guess.minus(o.guess),
	}
}

// groups are the sums of clusters by their keys. If there are more than the limit, groups
// are merged at random, repeatedly if needed. This bounds memory and keeps intervals valid:
// dependent items stay in the same group, so a merged group is still a cluster. Which
// groups are merged depends only on their names, not on the order of arrival.
type groups struct {
	of    map[uint64]group
	shift uint // the number of bits removed from keys
}

// add adds an item to its group.
func (gs *groups) add(key uint64, g group, limit int) {
	if gs.of == nil {
		gs.of = map[uint64]group{}
	}
	key >>= gs.shift
	gs.of[key] = gs.of[key].plus(g)
	for len(gs.of) > limit {
		*gs = gs.coarse(coarser(gs.shift, limit))
	}
}

// coarser returns how many bits to remove from keys next if there are more than limit.
// Removing one of 64 bits would merge hardly any two keys, so the first step removes all
// bits but one more than the limit needs.
func coarser(shift uint, limit int) uint {
	return max(shift+1, uint(64-bits.Len(uint(limit))))
}

// coarse returns the groups with shift bits removed from their keys.
func (gs *groups) coarse(shift uint) groups {
	if shift <= gs.shift {
		return *gs
	}
	out := groups{of: make(map[uint64]group, len(gs.of)/2), shift: shift}
	for key, g := range gs.of {
		key >>= shift - gs.shift
		out.of[key] = out.of[key].plus(g)
	}
	return out
}

// atMost returns at most limit groups.
func (gs *groups) atMost(limit int) groups {
	out := *gs
	for len(out.of) > limit {
		out = out.coarse(coarser(out.shift, limit))
	}
	return out
}

// without returns the groups of the items that are not in other, which must be a subset.
func (gs *groups) without(other *groups) groups {
	shift := max(gs.shift, other.shift)
	all, part := gs.coarse(shift), other.coarse(shift)
	out := groups{of: make(map[uint64]group, len(all.of)), shift: shift}
	for key, g := range all.of {
		if g = g.minus(part.of[key]); g.items > 0 {
			out.of[key] = g
		}
	}
	return out
}

// sum returns the total of all groups.
func (gs *groups) sum() group {
	var all group
	for _, g := range gs.of {
		all = all.plus(g)
	}
	return all
}

// keys returns the keys in order, for sums that depend on the order.
func (gs *groups) keys() []uint64 { return slices.Sorted(maps.Keys(gs.of)) }

// A side selects the numbers of a group that a metric uses.
type side struct {
	metric  string
	strict  bool // failures and undecided items count as wrong
	decided bool // undecided items do not count
}

// of returns the weight of the group and its mean, and whether it has any weight.
func (s side) of(g group) (mean, weight float64, ok bool) {
	sum, lost, w := g.score, g.lostScore, g.w
	if s.metric == doc.PassRate {
		sum, lost = g.pass, g.lostPass
	}
	if s.strict {
		sum, w = sum.minus(lost), w.plus(g.missing)
	}
	if s.decided {
		sum, w = sum.minus(g.guess), w.minus(g.guessed)
	}
	if w == (fixed{}) {
		return 0, 0, false
	}
	weight = w.float()
	return min(sum.float()/weight, 1), weight, true
}

// A cast is all groups of a tally.
type cast struct{ named, alone groups }

// atMost returns a cast with at most limit groups of each kind.
func (c *cast) atMost(limit int) cast {
	return cast{named: c.named.atMost(limit), alone: c.alone.atMost(limit)}
}

// clustered returns the groups as input for package stat. Each group is one value, its
// mean, with the weight of all its items, because the estimates need only the sums of a
// cluster.
func (c *cast) clustered(s side) *stat.Clustered {
	out := &stat.Clustered{}
	means, weights := c.values(s)
	for i, mean := range means {
		out.Add("", mean, weights[i])
	}
	return out
}

// values returns the means of groups and their weights.
func (c *cast) values(s side) (means, weights []float64) {
	for _, gs := range []groups{c.named, c.alone} {
		for _, g := range gs.of {
			if mean, weight, ok := s.of(g); ok {
				means, weights = append(means, mean), append(weights, weight)
			}
		}
	}
	return means, weights
}

// clone returns a deep copy.
func (c *cast) clone() cast {
	return cast{
		named: groups{maps.Clone(c.named.of), c.named.shift},
		alone: groups{maps.Clone(c.alone.of), c.alone.shift},
	}
}

// unitBits is the number of fraction bits of a [fixed]. The largest sum is then 2^56, which
// seventy million items of the largest weight do not reach, and an item of weight 1 is
// counted to 22 decimals.
const unitBits = 72

// A fixed is a fixed-point sum of non-negative numbers. Each number is rounded before it is
// added, and integer addition is associative, so the sum, and every interval computed from
// it, does not depend on the order of the records. It needs 16 bytes, which matters because
// there is one per cluster.
type fixed struct{ hi, lo uint64 }

// fixedOf returns x, which must not be negative, as a fixed-point number.
func fixedOf(x float64) fixed {
	if !(x > 0) {
		return fixed{}
	}
	fraction, exponent := math.Frexp(x)
	mantissa := uint64(fraction * (1 << 53))
	switch shift := exponent - 53 + unitBits; {
	case shift > 75: // more than the largest sum
		return fixed{math.MaxUint64, math.MaxUint64}
	case shift >= 64:
		return fixed{hi: mantissa << (shift - 64)}
	case shift >= 0:
		return fixed{hi: mantissa >> (64 - shift), lo: mantissa << shift}
	case shift > -54:
		return fixed{lo: (mantissa>>(-shift-1) + 1) >> 1} // to the nearest step
	}
	return fixed{}
}

// plus returns the sum of a and b, or the largest value on overflow.
func (a fixed) plus(b fixed) fixed {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, over := bits.Add64(a.hi, b.hi, carry)
	if over != 0 {
		return fixed{math.MaxUint64, math.MaxUint64}
	}
	return fixed{hi, lo}
}

// minus returns a minus b, which must not exceed a.
func (a fixed) minus(b fixed) fixed {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, under := bits.Sub64(a.hi, b.hi, borrow)
	if under != 0 {
		return fixed{}
	}
	return fixed{hi, lo}
}

// float returns the sum as a float64.
func (a fixed) float() float64 {
	return math.Ldexp(float64(a.hi), 64-unitBits) + math.Ldexp(float64(a.lo), -unitBits)
}
