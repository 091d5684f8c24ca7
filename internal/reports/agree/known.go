package agree

import (
	"cmp"
	"slices"
)

// A Known is a disagreement that was reviewed and recorded.
type Known struct {
	Item   string `json:"item"`
	Judge  bool   `json:"judge"`
	People bool   `json:"people"`
	Why    string `json:"why,omitempty"`
}

// A RegistryCheck lists how the disagreements differ from the known ones. Every difference
// needs a look: a new disagreement may be an error of the judge, and one that disappeared
// may mean that the judge changed.
type RegistryCheck struct {
	Known    int     `json:"known"`    // in the registry
	Appeared []Known `json:"appeared"` // but not in the registry
	Gone     []Gone  `json:"gone"`     // in the registry, but not found
}

// Gone is a known disagreement that no longer exists or could not be checked.
type Gone struct {
	Known
	Now string `json:"now"` // the current state
}

// Pass reports whether nothing differs.
func (c RegistryCheck) Pass() bool { return len(c.Appeared) == 0 && len(c.Gone) == 0 }

// A registry is compared with the disagreements as items are added.
type registry struct {
	known map[string]Known
	now   map[string]string // the current state of known items, if it is not as known
	met   map[string]bool

	appeared []Known
}

// skip records why an item cannot be checked.
func (r *registry) skip(id, why string) {
	if r == nil {
		return
	}
	if _, known := r.known[id]; known {
		r.met[id], r.now[id] = true, why
	}
}

// check returns the differences by item; nil without a registry.
func (r *registry) check() *RegistryCheck {
	if r == nil {
		return nil
	}
	c := &RegistryCheck{Known: len(r.known), Appeared: append([]Known{}, r.appeared...), Gone: []Gone{}}
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
