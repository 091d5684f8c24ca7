package sqlite

// recent remembers what was used lately, within a bound. What is young becomes old
// when half of the bound is full of young ones, and what was old by then and was
// not used since is forgotten. That keeps about what a list in the order of use
// would keep, without the list.
//
// The zero value with a limit is ready for use, by one goroutine at a time.
type recent[K comparable, V any] struct {
	limit      int // of the weights of all values together
	weight     int // of the young ones
	young, old map[K]weighed[V]
}

type weighed[V any] struct {
	value  V
	weight int
}

// get returns the value that was put under key, if it is remembered.
func (r *recent[K, V]) get(key K) (V, bool) {
	if w, ok := r.young[key]; ok {
		return w.value, true
	}
	w, ok := r.old[key]
	if ok {
		r.put(key, w.value, w.weight)
	}
	return w.value, ok
}

// put remembers a value. One that weighs more than half of the limit is not worth
// forgetting all others for.
func (r *recent[K, V]) put(key K, value V, weight int) {
	if weight > r.limit/2 {
		return
	}
	if _, ok := r.young[key]; ok {
		return // Nobody puts two values under one key.
	}
	if r.young == nil || r.weight+weight > r.limit/2 {
		r.young, r.old, r.weight = map[K]weighed[V]{}, r.young, 0
	}
	r.young[key] = weighed[V]{value, weight}
	r.weight += weight
}
