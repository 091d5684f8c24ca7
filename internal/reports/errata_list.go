package reports

import (
	"iter"
	"slices"
	"strings"

	"deem"
)

// An Erratum is one known error in an answer key.
type Erratum struct {
	ID       string `json:"id,omitempty"`       // of the item; at least one of ID and Question is set
	Question string `json:"question,omitempty"` // of the item
	Category string `json:"category,omitempty"` // of the item, if given
	Kind     string `json:"kind"`               // the kind of error, in the words of the list

	// Published are the wrong references, if given.
	Published []string `json:"published,omitempty"`

	// References are the correct answers. They are empty if the list does not give them or
	// the question cannot be answered.
	References []string `json:"references,omitempty"`

	// Corrupts reports whether the error can change a score. A right reference that cites
	// the wrong turns does not.
	Corrupts bool `json:"corrupts"`
}

// ErrataList are the known errors of one answer key.
type ErrataList struct {
	name   string
	hash   string
	list   []Erratum
	id     func(string) string
	byID   map[string]int
	byText map[string][]int
}

// Name returns the name of the file without its folder.
func (e *ErrataList) Name() string { return e.name }

// Hash returns the SHA-256 of the list in hexadecimal. Lists with the same errata in
// the same order have the same hash, whatever the format of the file.
func (e *ErrataList) Hash() string { return e.hash }

// List returns the errata in the order of the file.
func (e *ErrataList) List() []Erratum { return slices.Clone(e.list) }

// plain returns text normalized for comparison: in lower case, with single spaces. Files
// with the same question differ in these.
func plain(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// A Matched is a list of errata matched with the items of a run.
type Matched struct {
	errata *ErrataList
	of     map[string]int // item id to the index of its erratum
	mended int            // items whose reference is already corrected
	absent int            // errata that can change a score and match no item of the run
}

// Match finds the items that the errata apply to, in one pass over all items of a run.
//
// An erratum with an id applies only to the item with that id, because equal questions need
// not have equal errors. If there is no such item, because the dataset uses other ids, or
// if the erratum has no id, it applies to every item with its question, its category and
// its wrong reference, as far as these are given. It does not apply to an item whose
// reference is already the corrected one.
func (e *ErrataList) Match(items iter.Seq2[deem.Item, error]) (*Matched, error) {
	byID, byText := map[int][]deem.Item{}, map[int][]deem.Item{}
	for it, err := range items {
		if err != nil {
			return nil, err
		}
		if i, ok := e.byID[e.id(it.ID)]; ok && e.list[i].asks(it) {
			byID[i] = append(byID[i], slim(it))
			continue
		}
		for _, i := range e.byText[plain(it.Question)] {
			if e.list[i].describes(it) {
				byText[i] = append(byText[i], slim(it))
			}
		}
	}
	m := &Matched{errata: e, of: map[string]int{}}
	for i := range e.list {
		found := byID[i]
		if len(found) == 0 {
			found = byText[i]
		}
		m.take(i, found)
	}
	return m, nil
}

// slim returns the parts of an item that are needed until the end of the pass.
func slim(it deem.Item) deem.Item { return deem.Item{ID: it.ID, References: it.References} }

// take adds the items that the i-th erratum applies to.
func (m *Matched) take(i int, found []deem.Item) {
	x := m.errata.list[i]
	if !x.Corrupts {
		return
	}
	if len(found) == 0 {
		m.absent++
	}
	for _, it := range found {
		if x.mended(it) {
			m.mended++
		} else if _, taken := m.of[it.ID]; !taken {
			m.of[it.ID] = i
		}
	}
}

// asks reports whether an item with the erratum's id does not have a different question. It
// has one if two files number their items differently.
func (x Erratum) asks(it deem.Item) bool {
	return x.Question == "" || it.Question == "" || plain(x.Question) == plain(it.Question)
}

// describes reports whether nothing in an item with the erratum's question contradicts
// the erratum.
func (x Erratum) describes(it deem.Item) bool {
	if x.Category != "" && it.Category != "" && x.Category != it.Category {
		return false
	}
	return len(x.Published) == 0 || len(it.References) == 0 || overlap(x.Published, it.References)
}

// mended reports whether an item already has the corrected references.
func (x Erratum) mended(it deem.Item) bool {
	if len(x.References) == 0 || len(it.References) == 0 || overlap(x.Published, it.References) {
		return false
	}
	return !slices.ContainsFunc(it.References, func(ref string) bool { return !overlap(x.References, []string{ref}) })
}

// overlap reports whether two lists have a text in common.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return plain(x) == plain(y) })
	})
}

// Errata returns the whole list.
func (m *Matched) Errata() *ErrataList { return m.errata }

// Faulty returns how many items have a wrong reference.
func (m *Matched) Faulty() int { return len(m.of) }

// Of returns the erratum that applies to an item, and whether there is one.
func (m *Matched) Of(it deem.Item) (Erratum, bool) {
	i, ok := m.of[it.ID]
	if !ok {
		return Erratum{}, false
	}
	return m.errata.list[i], true
}
