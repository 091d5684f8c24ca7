package minilm

import (
	"container/list"
	"crypto/sha256"
	"slices"
)

// recent is an LRU cache of vectors. References are repeated with each system and each
// trial, and embedding a text is expensive. It is not safe for concurrent use.
type recent struct {
	max    int
	order  *list.List // of *kept, most recent first
	places map[[sha256.Size]byte]*list.Element
}

// A kept is a vector with the hash of its text. The text itself may be long.
type kept struct {
	key    [sha256.Size]byte
	vector []float32
}

func newRecent(entries int) *recent {
	return &recent{max: entries, order: list.New(), places: make(map[[sha256.Size]byte]*list.Element)}
}

// get returns a copy of the vector of text, which the caller may write to, and makes it the
// most recent.
func (r *recent) get(text string) ([]float32, bool) {
	e, ok := r.places[sha256.Sum256([]byte(text))]
	if !ok {
		return nil, false
	}
	r.order.MoveToFront(e)
	return slices.Clone(e.Value.(*kept).vector), true
}

// put stores a copy of the vector of text and drops the least recently used if there are
// too many.
func (r *recent) put(text string, vector []float32) {
	key := sha256.Sum256([]byte(text))
	if e, ok := r.places[key]; ok {
		r.drop(e)
	}
	r.places[key] = r.order.PushFront(&kept{key, slices.Clone(vector)})
	if r.order.Len() > r.max {
		r.drop(r.order.Back())
	}
}

// drop removes one vector.
func (r *recent) drop(e *list.Element) {
	delete(r.places, r.order.Remove(e).(*kept).key)
}
