package judge

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits on how many objects are kept at once, and from how much text. A reply may be a
// million objects, and each takes twenty times the memory of its text.
const (
	blockObjects = 64
	blockBytes   = 1 << 16
)

// A place is a position from which the search for objects continues.
type place struct {
	pos       int
	allowance int // bytes that may still be read
}

// beginning returns the place where the search for objects in text begins. A failed attempt
// to read an object may have read far before it failed, and the next brace may cause the
// same. The allowance keeps the total linear in the length of the text.
func beginning(text string) place { return place{allowance: 8*len(text) + 4096} }

// scanObjects yields the objects in text after a place, each with the place that follows
// it.
func scanObjects(text string, from place) iter.Seq2[*object, place] {
	return func(yield func(*object, place) bool) {
		p := parser{allowance: from.allowance}
		for pos := from.pos; p.allowance > 0; {
			i := strings.IndexAny(text[pos:], "{｛")
			if i < 0 {
				return
			}
			pos += i
			p = parser{s: text, pos: pos, allowance: p.allowance}
			o, ok := p.object(0)
			if !ok {
				_, n := utf8.DecodeRuneInString(text[pos:])
				pos += n
				continue
			}
			o.end, o.repaired, o.truncated = p.pos, p.repaired, p.cut
			pos = p.pos
			if !yield(o, place{pos, p.allowance}) {
				return
			}
		}
	}
}

// objects are the objects in a text. All but the last few are parsed again on demand.
type objects struct {
	text   string
	blocks []place   // start of each block of objects
	tail   []*object // the objects of the last block
	next   place     // after them
}

// findObjects finds the objects in text and calls do, which may be nil, with each.
func findObjects(text string, do func(*object)) *objects {
	x := &objects{text: text, blocks: []place{beginning(text)}}
	for o, next := range scanObjects(text, x.blocks[0]) {
		if do != nil {
			do(o)
		}
		begin := x.blocks[len(x.blocks)-1].pos
		if len(x.tail) == blockObjects || len(x.tail) > 0 && o.end-begin > blockBytes {
			x.blocks = append(x.blocks, x.next)
			clear(x.tail)
			x.tail = x.tail[:0]
		}
		x.tail, x.next = append(x.tail, o), next
	}
	return x
}

// backward yields the objects from the last to the first.
func (x *objects) backward() iter.Seq[*object] {
	return func(yield func(*object) bool) {
		block := x.tail
		for i := len(x.blocks) - 1; ; i-- {
			for _, o := range slices.Backward(block) {
				if !yield(o) {
					return
				}
			}
			if i == 0 {
				return
			}
			block = nil
			for o, next := range scanObjects(x.text, x.blocks[i-1]) {
				block = append(block, o)
				if next.pos >= x.blocks[i].pos {
					break
				}
			}
		}
	}
}
