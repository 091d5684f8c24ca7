package report

import (
	"maps"
	"math/bits"
	"slices"

	"deem"
	"deem/stat"
)

// How many groups a tally tells apart: of items that name a cluster, of items that
// name none, of either when an interval is resampled, and of either when a category is
// tested, from the most down to the least for hundreds of categories. When groups are put together, the
// spread between n of them is known to one part in sqrt(2n): 0.3%, 2%, 0.8% and 1% to 4%
// of an interval's width. Two thousand draws do not say more than 1.6%.
const (
	maxNamed    = 1 << 16
	maxAlone    = 1 << 10
	maxResample = 1 << 13
	maxTested   = 1 << 12
	minTested   = 1 << 8
)

// A member says which group an item belongs to: that of its cluster or, if it names
// none, one of its own.
type member struct {
	key   uint64
	named bool
}

// memberOf returns the group of an item.
func memberOf(it deem.Item) member {
	if it.Cluster != "" {
		return member{key: scatter(it.Cluster), named: true}
	}
	return member{key: scatter(it.ID)}
}

// scatter returns 64 bits that look random and depend on nothing but the name. Among
// the 65,536 groups that are told apart, two names get the same bits with a chance of
// one in ten thousand million, and would then count as one cluster.
//
// Source: the FNV-1a hash of Fowler, Noll and Vo, and the last step of Appleby's
// MurmurHash3, which spreads what FNV leaves in the lower bits.
func scatter(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// A group is what the items of one cluster sum up to.
type group struct {
	w       fixed // the weight of judged items
	missing fixed // the weight of the others
	score   fixed // weight times score
	pass    fixed // the weight of those that pass
	items   uint32

	// lostScore and lostPass are how much of score and pass is lost when failed trials of
	// judged items count as wrong.
	lostScore, lostPass fixed

	guessed fixed // the weight of undecided items, which is part of w
	guess   fixed // weight times probability of these, which is part of score and of pass
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

// Groups are the sums of clusters by their keys. When there are more of them than the
// limit, groups become one, at random and as often as needed. That keeps
// memory bounded and intervals honest: items that are not independent still do, so
// a coarser group is a cluster too. Which groups become one depends on their names
// alone, and not on the order in which they came.
type groups struct {
	of    map[uint64]group
	shift uint // keys have lost so many bits
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

// coarser returns how many bits keys lose next when there are more than limit. Losing
// one of 64 bits would make hardly any two keys one, so all are lost at once but one
// more than the limit needs.
func coarser(shift uint, limit int) uint {
	return max(shift+1, uint(64-bits.Len(uint(limit))))
}

// coarse returns the groups with keys that have lost so many bits.
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

// atMost returns at most so many groups.
func (gs *groups) atMost(limit int) groups {
	out := *gs
	for len(out.of) > limit {
		out = out.coarse(coarser(out.shift, limit))
	}
	return out
}

// without returns the groups of the items that are not in other, a part of them.
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

// sum returns what all groups sum up to.
func (gs *groups) sum() group {
	var all group
	for _, g := range gs.of {
		all = all.plus(g)
	}
	return all
}

// keys returns the keys in order, for sums that depend on it.
func (gs *groups) keys() []uint64 { return slices.Sorted(maps.Keys(gs.of)) }

// several reports whether a group holds more than one item.
func (gs *groups) several() bool {
	for _, g := range gs.of {
		if g.items > 1 {
			return true
		}
	}
	return false
}

// A side says which numbers of a group a metric is made of.
type side struct {
	metric  string
	strict  bool // failures and undecided items count as wrong
	decided bool // undecided items do not count
}

// of returns the weight of the group and its mean, and whether it has any weight.
func (s side) of(g group) (mean, weight float64, ok bool) {
	sum, lost, w := g.score, g.lostScore, g.w
	if s.metric == PassRate {
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

// atMost returns a cast with at most so many groups of each kind.
func (c *cast) atMost(limit int) cast {
	return cast{named: c.named.atMost(limit), alone: c.alone.atMost(limit)}
}

// clustered returns the groups as package stat wants them. Each is one value there,
// its mean, with the weight of all its items: the sums of a cluster are all that its
// estimates ask for.
func (c *cast) clustered(s side) *stat.Clustered {
	out := &stat.Clustered{}
	for _, gs := range []groups{c.named, c.alone} {
		for _, g := range gs.of {
			if mean, weight, ok := s.of(g); ok {
				out.Add("", mean, weight)
			}
		}
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

// clone returns a copy that shares nothing.
func (c *cast) clone() cast {
	return cast{
		named: groups{maps.Clone(c.named.of), c.named.shift},
		alone: groups{maps.Clone(c.alone.of), c.alone.shift},
	}
}
