package agree

import (
	"cmp"
	"slices"
)

// A Known is a disagreement that somebody has looked at and written down.
type Known struct {
	Item   string `json:"item"`
	Judge  bool   `json:"judge"`
	People bool   `json:"people"`
	Why    string `json:"why,omitempty"`
}

// A RegistryCheck says how the disagreements differ from those that are known. Any
// difference is a reason to look: a new one may be a fault of the judge, and one that
// went away a judge that changed.
type RegistryCheck struct {
	Known    int     `json:"known"`    // in the registry
	Appeared []Known `json:"appeared"` // and not in the registry
	Gone     []Gone  `json:"gone"`     // in the registry, and no longer there
}

// Gone is a known disagreement that is there no longer, or could not be looked at.
type Gone struct {
	Known
	Now string `json:"now"` // what is the case
}

// Pass reports whether nothing differs.
func (c RegistryCheck) Pass() bool { return len(c.Appeared) == 0 && len(c.Gone) == 0 }

// A registry is compared with the disagreements as they are seen.
type registry struct {
	known map[string]Known
	now   map[string]string // of known items, what is the case where it is not as known
	met   map[string]bool

	appeared []Known
}

// newRegistry returns nil without a registry.
func newRegistry(list []Known) *registry {
	if list == nil {
		return nil
	}
	r := &registry{known: map[string]Known{}, now: map[string]string{}, met: map[string]bool{}}
	for _, k := range list {
		r.known[k.Item] = k
	}
	return r
}

// see notes what judge and people say of an item.
func (r *registry) see(id string, judge, people bool) {
	if r == nil {
		return
	}
	k, known := r.known[id]
	r.met[id] = known
	switch {
	case known && k.Judge == judge && k.People == people:
	case judge != people:
		r.appeared = append(r.appeared, Known{Item: id, Judge: judge, People: people})
		r.now[id] = "they differ the other way round"
	default:
		r.now[id] = "both say " + yesNo(judge)
	}
}

// skip notes that nothing can be said of an item.
func (r *registry) skip(id, why string) {
	if r == nil {
		return
	}
	if _, known := r.known[id]; known {
		r.met[id], r.now[id] = true, why
	}
}

// check returns what differs, by item; nil without a registry.
func (r *registry) check() *RegistryCheck {
	if r == nil {
		return nil
	}
	c := &RegistryCheck{Known: len(r.known), Appeared: slices.Clone(r.appeared), Gone: []Gone{}}
	if c.Appeared == nil {
		c.Appeared = []Known{}
	}
	for id, k := range r.known {
		now, differs := r.now[id]
		if !r.met[id] {
			now, differs = "the run has no such item", true
		}
		if differs {
			c.Gone = append(c.Gone, Gone{k, now})
		}
	}
	slices.SortFunc(c.Gone, func(x, y Gone) int { return cmp.Compare(x.Item, y.Item) })
	return c
}
