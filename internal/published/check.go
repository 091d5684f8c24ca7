package published

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"deem"
)

// The ways of counting that treat a missing verdict as wrong.
const (
	asWrong     = "with failures counted as wrong"
	eachAsWrong = "with each missing verdict counted as wrong"
)

// A Check is a claim with the value that the rows give.
type Check struct {
	Claim

	// Given is the value of the rows by the file's own rule, from Right of N if it counts
	// right ones. Counted is false if the rows do not have this number at all.
	Given   float64 `json:"given"`
	Right   int     `json:"right,omitempty"`
	N       int     `json:"n,omitempty"`
	Counted bool    `json:"counted"`

	// Share reports whether claim and number are shares, which are shown in percent.
	Share bool `json:"share"`

	Agrees bool `json:"agrees"`

	// How describes how the number was computed, if it is a legitimate way of counting.
	How string `json:"how,omitempty"`

	// Because describes another way of counting that gives the claimed value.
	Because string `json:"because,omitempty"`
}

// Main reports whether the claim is about all rows rather than a category or another
// number.
func (c Check) Main() bool {
	return c.about.category == "" && c.about.in == nil && c.about.stat != statAspect && c.about.stat != statTrial && c.about.stat != statTrialSD
}

// Check compares claims with the rows.
func (s *Set) Check(claims []Claim) []Check {
	t := s.tally()
	checks := make([]Check, len(claims))
	for i, c := range claims {
		checks[i] = t.check(c)
	}
	return checks
}

// A scored item is one item with its recorded verdicts.
type scored struct {
	deem.Item
	position int
	trials   []*deem.Verdict // nil for a failure
	aspects  map[string]float64
}

// A tally is all data that claims are about.
type tally struct {
	set   *Set
	items []scored
}

func (s *Set) tally() *tally {
	t := &tally{set: s}
	at := map[int]int{}
	for _, rec := range s.records {
		i, ok := at[rec.Position]
		if !ok {
			i = len(t.items)
			at[rec.Position] = i
			t.items = append(t.items, scored{Item: rec.Item, position: rec.Position})
		}
		t.items[i].trials = append(t.items[i].trials, rec.Verdict)
		if rec.Verdict != nil && rec.Verdict.Aspects != nil {
			t.items[i].aspects = rec.Verdict.Aspects
		}
	}
	return t
}

// A result is a number and how it was computed.
type result struct {
	how      string
	value    float64
	right, n int
	ok       bool
}

// check compares a claim with the legitimate ways of counting. If none of them gives it, it
// looks for another way that does.
func (t *tally) check(c Claim) Check {
	out := Check{Claim: c, Share: !c.about.isCount() && c.about.stat != statAspect && c.about.stat != statBenchmark}
	ways := t.ways(c.about)
	for i, r := range ways {
		if i == 0 {
			out.Given, out.Right, out.N, out.Counted = r.value, r.right, r.n, r.ok
		}
		if r.ok && c.is(r.value) {
			out.Given, out.Right, out.N, out.Counted = r.value, r.right, r.n, true
			out.Agrees, out.How = true, r.how
			return out
		}
	}
	if c.about.stat == statScore || c.about.stat == statRight || c.about.stat == statAspect {
		for _, r := range t.suspects(c.about) {
			if r.ok && c.is(r.value) {
				out.Because = r.how
				break
			}
		}
	}
	return out
}

// is reports whether a number equals the claimed one, to the precision of its digits.
func (c Claim) is(x float64) bool { return math.Abs(x-c.Value) <= c.slack+1e-9 }

// ways returns the legitimate ways of counting, the file's own first.
func (t *tally) ways(m measure) []result {
	items := t.of(m)
	switch m.stat {
	case statScore:
		ways := []result{mean(items), mean(items).strict(len(items)), strictVerdicts(items)}
		ways = append(ways, shares(items)...)
		ways = append(ways, t.withoutAdversarial(m, items, mean)...)
		return append(ways, t.byOtherColumns(items, false)...)
	case statRight:
		ways := []result{counting(items, isYes, ""), counting(items, firstYes, "by the first of several verdicts"), inAll(items)}
		return slices.Concat(ways, meanCounts(items), t.byOtherColumns(items, true))
	case statWrong:
		ways := []result{counting(items, isNo, ""), {how: asWrong, value: float64(len(items) - counting(items, isYes, "").right), ok: len(items) > 0}}
		for _, r := range meanCounts(items) {
			r.value = float64(r.n) - r.value
			ways = append(ways, r)
		}
		return ways
	case statUnjudged:
		n := len(items) - counting(items, isYes, "").right - counting(items, isNo, "").right
		return []result{{value: float64(n), n: len(items), ok: true}}
	case statMajority:
		r := counting(items, isYes, "")
		r.value /= float64(max(1, r.n))
		return []result{r}
	case statTrial:
		r := trial(items, m.trial)
		return []result{r, r.strict(len(items))}
	case statAll, statAny:
		return []result{united(items, m.stat == statAny)}
	case statTrialSD:
		return t.deviations(items)
	case statCategories:
		return []result{t.categoryMean(items)}
	case statAbstention:
		return []result{mean(slices.DeleteFunc(slices.Clone(items), func(it scored) bool { return !strings.HasSuffix(it.ID, "_abs") }))}
	case statAspect:
		one := func(items []scored) result { return aspectMean(items, m.aspect) }
		ways := append([]result{one(items)}, t.withoutAdversarial(m, items, one)...)
		for _, name := range t.set.aspects {
			if name != m.aspect && strings.Contains(name, m.aspect) { // f1_mem0 is an f1, too
				r := aspectMean(items, name)
				r.how = "as " + name
				ways = append(ways, r)
			}
		}
		return ways
	}
	x, ok := t.set.stats[m.aspect]
	return []result{{value: x, ok: ok}}
}

// shares returns the ways to compute a share from scores and several trials: the share of
// items with a score of at least one half, and the mean of the trials as a whole number of
// items.
func shares(items []scored) []result {
	var list []result
	if len(items) >= manyItems { // With few items, one more or less changes the share.
		list = meanCounts(items)
	}
	graded := func(v *deem.Verdict) bool { return v != nil && v.Score != 0 && v.Score != 1 }
	half := func(it scored) bool { x, ok := it.score(); return ok && x >= 0.5 }
	judged := slices.DeleteFunc(slices.Clone(items), func(it scored) bool { _, ok := it.score(); return !ok })
	if slices.ContainsFunc(items, func(it scored) bool { return slices.ContainsFunc(it.trials, graded) }) {
		list = append(list,
			counting(judged, half, "as the share of items with a score of at least .5"),
			counting(items, half, "as the share of items with a score of at least .5, with failures counted as wrong"))
	}
	for i := range list {
		list[i].value /= float64(max(1, list[i].n))
	}
	return list
}

// manyItems is the number of items from which a single one hardly affects a share.
const manyItems = 100

// meanCounts returns the mean score as a number of items, truncated or rounded, if items
// have several verdicts.
func meanCounts(items []scored) []result {
	m := mean(items)
	trials := 0
	for _, it := range items {
		trials = max(trials, len(it.trials))
	}
	if trials < 2 {
		return nil
	}
	var list []result
	for _, n := range []int{len(items), m.n} {
		whole := math.Floor(m.value*float64(n) + 1e-9)
		near := math.Round(m.value * float64(n))
		list = append(list,
			result{how: "as the mean of the trials, cut to a whole number of items", value: whole, right: int(whole), n: n, ok: m.ok},
			result{how: "as the mean of the trials, rounded to a whole number of items", value: near, right: int(near), n: n, ok: m.ok})
	}
	return list
}

// byOtherColumns counts the values of other columns: a claim that names no judge may be
// about them.
func (t *tally) byOtherColumns(items []scored, count bool) []result {
	var list []result
	for _, column := range slices.Sorted(maps.Keys(t.set.elsewhere)) {
		verdicts := t.set.elsewhere[column]
		other := make([]scored, 0, len(items))
		for _, it := range items {
			if it.position < len(verdicts) {
				other = append(other, scored{Item: it.Item, trials: []*deem.Verdict{verdicts[it.position]}})
			}
		}
		r := mean(other)
		if count {
			r = counting(other, isYes, "")
		}
		r.how = "by the verdicts in " + column
		list = append(list, r)
	}
	return list
}

// of returns the items that a number is about: those of its section and its category.
func (t *tally) of(m measure) []scored {
	items := t.items
	if m.in != nil {
		items = slices.DeleteFunc(slices.Clone(items), func(it scored) bool { return !t.set.places[it.position].within(*m.in) })
	}
	return inCategory(items, m.category)
}

// inCategory returns the items of a category, all for "".
func inCategory(items []scored, category string) []scored {
	if category == "" {
		return items
	}
	return slices.DeleteFunc(slices.Clone(items), func(it scored) bool { return it.Category != category })
}

// withoutAdversarial counts without category 5 of LoCoMo, as most published scores do.
func (t *tally) withoutAdversarial(m measure, all []scored, count func([]scored) result) []result {
	if t.set.Benchmark != "locomo" || m.category != "" {
		return nil
	}
	items := slices.DeleteFunc(slices.Clone(all), func(it scored) bool { return it.Category == "5" })
	if len(items) == len(all) {
		return nil
	}
	r := count(items)
	r.how = "without category 5"
	return []result{r}
}

// score returns the mean of an item's verdicts, and whether it has any.
func (it scored) score() (float64, bool) {
	sum, n := 0.0, 0
	for _, v := range it.trials {
		if v != nil {
			sum += v.Score
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}

func isYes(it scored) bool {
	x, ok := it.score()
	return ok && (x > 0.5 || x == 0.5 && firstYes(it))
}

func isNo(it scored) bool {
	_, ok := it.score()
	return ok && !isYes(it)
}

func firstYes(it scored) bool { return it.trials[0] != nil && it.trials[0].Score >= 0.5 }

// mean is the mean score of the judged items.
func mean(items []scored) result {
	var r result
	for _, it := range items {
		if x, ok := it.score(); ok {
			r.value += x
			r.n++
			if x == 1 && len(it.trials) == 1 {
				r.right++
			}
		}
	}
	r.ok = r.n > 0
	r.value /= float64(max(1, r.n))
	return r
}

// strict returns a mean over n items with every failure counted as wrong.
func (r result) strict(n int) result {
	r.how = asWrong
	r.value *= float64(r.n) / float64(max(1, n))
	r.n = n
	return r
}

// strictVerdicts is the mean of all verdicts of all trials, with every failure counted as
// wrong. It differs from [result.strict] if only some verdicts on an item are missing.
func strictVerdicts(items []scored) result {
	r := result{how: eachAsWrong}
	for _, it := range items {
		r.n += len(it.trials)
		for _, v := range it.trials {
			if v != nil {
				r.value += v.Score
			}
		}
	}
	r.ok = r.n > len(items) // with one verdict per item it equals strict
	r.value /= float64(max(1, r.n))
	return r
}

func counting(items []scored, is func(scored) bool, how string) result {
	r := result{how: how, n: len(items), ok: true}
	for _, it := range items {
		if is(it) {
			r.right++
		}
	}
	r.value = float64(r.right)
	return r
}

// inAll counts the verdicts of all trials together.
func inAll(items []scored) result {
	r := result{how: "over all verdicts"}
	for _, it := range items {
		for _, v := range it.trials {
			if v != nil {
				r.n++
				r.value += v.Score
			}
		}
	}
	r.right, r.ok = int(r.value), r.n > len(items)
	return r
}

func trial(items []scored, n int) result {
	r := result{}
	for _, it := range items {
		if n < len(it.trials) && it.trials[n] != nil {
			r.n++
			r.value += it.trials[n].Score
		}
	}
	r.right, r.ok = int(r.value), r.n > 0
	r.value /= float64(max(1, r.n))
	return r
}

// deviations returns the standard deviation of the trials' scores, of the population and of
// a sample.
func (t *tally) deviations(items []scored) []result {
	n := float64(t.set.trials)
	if n < 2 {
		return []result{{}}
	}
	sum, squares := 0.0, 0.0
	for i := range t.set.trials {
		x := trial(items, i).value
		sum += x
		squares += x * x
	}
	variance := max(0, squares/n-sum/n*sum/n)
	return []result{
		{value: math.Sqrt(variance), n: t.set.trials, ok: true},
		{value: math.Sqrt(variance * n / (n - 1)), n: t.set.trials, ok: true, how: "as the deviation of a sample"},
	}
}

func (t *tally) categoryMean(items []scored) result {
	r, n := result{}, 0
	for _, c := range t.set.categories() {
		if m := mean(inCategory(items, c)); m.ok {
			r.value += m.value
			r.n += m.n
			n++
		}
	}
	r.ok = n > 0
	r.value /= float64(max(1, n))
	return r
}

func aspectMean(items []scored, name string) result {
	r := result{}
	for _, it := range items {
		if x, ok := it.aspects[name]; ok {
			r.value += x
			r.n++
		}
	}
	r.ok = r.n > 0
	r.value /= float64(max(1, r.n))
	return r
}

// suspects returns ways of counting that differ from the rows, by mistake or by a choice
// that should be disclosed.
func (t *tally) suspects(m measure) []result {
	items := t.of(m)
	var list []result
	add := func(r result, how string, args ...any) {
		r.how = fmt.Sprintf(how, args...)
		if m.stat == statRight {
			r.value = float64(r.right)
		}
		list = append(list, r)
	}
	if m.stat == statAspect {
		for _, name := range t.set.aspects {
			add(aspectMean(items, name), "that is the mean of %s", name)
		}
		return list
	}
	for _, label := range rightLabels(items) {
		r := counting(items, func(it scored) bool { return it.trials[0] != nil && it.trials[0].Label == label }, "")
		r.value /= float64(max(1, r.n))
		add(r, "only the label spelt %q was counted: %d of %d", label, r.right, r.n)
	}
	majority := counting(items, isYes, "")
	majority.value /= float64(max(1, majority.n))
	if t.set.trials > 1 {
		add(majority, "that is the majority of %d verdicts", t.set.trials)
		add(trial(items, 0), "that is the first of %d verdicts", t.set.trials)
		add(united(items, true), "that counts items that any of %d verdicts calls right", t.set.trials)
		add(united(items, false), "that counts items that all of %d verdicts call right", t.set.trials)
	}
	if m.category == "" {
		add(t.categoryMean(items), "that is the mean over categories, not over items")
		for _, c := range t.set.categories() {
			rest := slices.DeleteFunc(slices.Clone(items), func(it scored) bool { return it.Category == c })
			add(mean(rest), "category %s was left out", c)
			add(mean(inCategory(items, c)), "that is category %s alone", c)
		}
	}
	for _, name := range t.set.aspects {
		add(aspectMean(items, name), "that is the mean of %s", name)
	}
	wrong := mean(items)
	wrong.value = 1 - wrong.value
	add(wrong, "that is the share of wrong ones")
	return list
}

// united is the share of items for which any, or all, of the verdicts are right.
func united(items []scored, anyOf bool) result {
	r := counting(items, func(it scored) bool {
		yes := func(v *deem.Verdict) bool { return v != nil && v.Score >= 0.5 }
		if anyOf {
			return slices.ContainsFunc(it.trials, yes)
		}
		return !slices.ContainsFunc(it.trials, func(v *deem.Verdict) bool { return !yes(v) })
	}, "")
	r.value /= float64(max(1, r.n))
	return r
}

// rightLabels returns the spellings of right, if there are several.
func rightLabels(items []scored) []string {
	found := map[string]bool{}
	for _, it := range items {
		for _, v := range it.trials {
			if v != nil && v.Score == 1 {
				found[v.Label] = true
			}
		}
	}
	if len(found) < 2 || len(found) > 20 {
		return nil
	}
	return slices.Sorted(maps.Keys(found))
}

// Aspects returns the other numbers of the rows with their means and numbers of items.
func (s *Set) Aspects() []Aspect {
	t := s.tally()
	var list []Aspect
	for _, name := range s.aspects {
		if r := aspectMean(t.items, name); r.ok {
			list = append(list, Aspect{Name: name, Mean: r.value, N: r.n})
		}
	}
	return list
}

// An Aspect is another number in the rows.
type Aspect struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean"`
	N    int     `json:"n"`
}
