package errata

import (
	"iter"
	"slices"
	"strings"

	"deem"
)

// An Erratum is one known fault of an answer key.
type Erratum struct {
	ID       string `json:"id,omitempty"`       // of the item, or
	Question string `json:"question,omitempty"` // its question; or both
	Category string `json:"category,omitempty"` // of the item, if the list says so
	Kind     string `json:"kind"`               // what is wrong, as the list calls it

	// Published are the references that are wrong, if the list says so.
	Published []string `json:"published,omitempty"`

	// References are what is right. They are empty when the list does not say, or
	// when nothing is: a question that cannot be answered.
	References []string `json:"references,omitempty"`

	// Corrupts says that the fault can move a score. A reference that is right and
	// cites the wrong turns does not.
	Corrupts bool `json:"corrupts"`
}

// Errata are the known faults of one answer key.
type Errata struct {
	name   string
	hash   string
	list   []Erratum
	id     func(string) string
	byID   map[string]int
	byText map[string][]int
}

// Name returns the name of the file without its folder.
func (e *Errata) Name() string { return e.name }

// Hash returns the SHA-256 of the list in hexadecimal. Lists with the same errata in
// the same order have the same hash, whatever the format of the file.
func (e *Errata) Hash() string { return e.hash }

// List returns the errata in the order of the file.
func (e *Errata) List() []Erratum { return slices.Clone(e.list) }

// plain returns text as it is compared: in lower case, with single spaces. Files that
// keep the same question differ in such things.
func plain(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// A Matched list knows which items of a run it is about.
type Matched struct {
	errata *Errata
	of     map[string]int // item id to the place of its erratum
	mended int            // items whose reference is corrected already
	absent int            // errata that can move a score and name no item of the run
}

// Match finds the items that the errata are about, in one pass over all items of a run.
//
// An erratum with an id means the item of that id alone, since equal questions need not
// have equal faults. If there is no such item, because the dataset numbers its items
// otherwise, or if the erratum has no id, it means every item with its question, its
// category and the reference that it calls wrong, as far as it says these. An item whose
// reference is the corrected one already has no fault any more.
func (e *Errata) Match(items iter.Seq2[deem.Item, error]) (*Matched, error) {
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

// slim returns what is needed of an item to the end of the pass.
func slim(it deem.Item) deem.Item { return deem.Item{ID: it.ID, References: it.References} }

// take enters the items that the i-th erratum is about.
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

// asks reports whether the question of an item with the erratum's id is not another
// one, which it is when two files number their items differently.
func (x Erratum) asks(it deem.Item) bool {
	return x.Question == "" || it.Question == "" || plain(x.Question) == plain(it.Question)
}

// describes reports whether nothing in an item with the erratum's question contradicts
// the erratum.
func (x Erratum) describes(it deem.Item) bool {
	if x.Category != "" && it.Category != "" && x.Category != it.Category {
		return false
	}
	return len(x.Published) == 0 || len(it.References) == 0 || share(x.Published, it.References)
}

// mended reports whether an item has the corrected references already.
func (x Erratum) mended(it deem.Item) bool {
	if len(x.References) == 0 || len(it.References) == 0 || share(x.Published, it.References) {
		return false
	}
	return !slices.ContainsFunc(it.References, func(ref string) bool { return !share(x.References, []string{ref}) })
}

// share reports whether two lists have a text in common.
func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return plain(x) == plain(y) })
	})
}

// Errata returns the whole list.
func (m *Matched) Errata() *Errata { return m.errata }

// Faulty returns how many items have a wrong reference.
func (m *Matched) Faulty() int { return len(m.of) }

// Of returns the erratum because of which the reference of an item is wrong, and
// whether there is one.
func (m *Matched) Of(it deem.Item) (Erratum, bool) {
	i, ok := m.of[it.ID]
	if !ok {
		return Erratum{}, false
	}
	return m.errata.list[i], true
}
