package text

import "hash/maphash"

// A Number gives each distinct element the next number, from 0. The zero value is
// ready to use.
//
// It is a hash table with open addressing. The texts that metrics compare are short,
// so what counts is that a table costs little to begin: this one is two slices, knows
// beforehand how large it may get, and can be used again after [Number.Reset], while
// a map would grow step by step for each text. A Number may be used by one goroutine
// at a time.
type Number[T comparable] struct {
	slots []int32 // a number plus one, or 0 where there is none; a power of two, at most half full
	list  []T     // the elements by their numbers
}

// numberSeed makes the places in the tables other ones in each process, so that no
// text can be made to fill them badly. Numbers do not depend on it.
var numberSeed = maphash.MakeSeed()

// The slots of a new table, and how many may be made ready for a list beforehand. A
// longer list is expected to repeat itself.
const (
	fewestSlots = 1 << 6
	readySlots  = 1 << 12
)

// Of returns the numbers of the elements of a list.
func (n *Number[T]) Of(list []T) []int32 {
	return n.AppendOf(make([]int32, 0, len(list)), list)
}

// AppendOf adds the numbers of the elements of a list to ids.
func (n *Number[T]) AppendOf(ids []int32, list []T) []int32 {
	n.ready(len(list))
	for _, x := range list {
		ids = append(ids, n.Add(x))
	}
	return ids
}

// Add returns the number of x, which is the next one if x is new.
func (n *Number[T]) Add(x T) int32 {
	if 2*len(n.list) >= len(n.slots) {
		n.grow(max(2*len(n.slots), fewestSlots))
	}
	i := n.slot(x)
	if n.slots[i] == 0 {
		n.list = append(n.list, x)
		n.slots[i] = int32(len(n.list))
	}
	return n.slots[i] - 1
}

// Find returns the number of x, or -1 if it has none.
func (n *Number[T]) Find(x T) int32 {
	if len(n.list) == 0 {
		return -1
	}
	return n.slots[n.slot(x)] - 1
}

// Len returns how many elements have a number.
func (n *Number[T]) Len() int { return len(n.list) }

// Reset takes all numbers back. It keeps the memory, except that of a long list, which
// would have to be cleared again after each short one.
func (n *Number[T]) Reset() {
	if len(n.slots) > readySlots {
		*n = Number[T]{}
		return
	}
	clear(n.slots)
	clear(n.list) // so that no text is kept alive by its words
	n.list = n.list[:0]
}

// slot returns the place of x, or the free one where it belongs.
func (n *Number[T]) slot(x T) int {
	last := len(n.slots) - 1
	i := int(maphash.Comparable(numberSeed, x)) & last
	for n.slots[i] != 0 && n.list[n.slots[i]-1] != x {
		i = (i + 1) & last
	}
	return i
}

// ready makes room for so many more elements, within reason.
func (n *Number[T]) ready(more int) {
	slots := max(len(n.slots), fewestSlots)
	for slots < readySlots && slots < 2*(len(n.list)+more) {
		slots *= 2
	}
	if slots > len(n.slots) {
		n.grow(slots)
	}
}

func (n *Number[T]) grow(slots int) {
	n.slots = make([]int32, slots)
	for i, x := range n.list {
		n.slots[n.slot(x)] = int32(i + 1)
	}
}
