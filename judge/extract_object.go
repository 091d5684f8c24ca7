package judge

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Object is a JSON object found in prose.
type Object struct {
	// Fields has the values that were complete: string, json.Number, bool, nil, []any or
	// map[string]any. A duplicate key has its last value.
	Fields map[string]any

	// Start and End are the object's position in the text.
	Start, End int

	// Repaired means that the text was not valid JSON.
	Repaired bool

	// Truncated means that the text ended before the object did.
	Truncated bool

	// HalfKey and HalfText are the key and the beginning of a string value that was cut
	// off. It is not in Fields, because half a label is not a label; half a reason may
	// still be worth showing.
	HalfKey, HalfText string

	// Twice lists the keys with different values in this object.
	Twice []string
}

// Text returns the string under key, or its beginning if it was cut off.
func (o Object) Text(key string) string {
	if v, ok := o.Field(key); ok {
		s, _ := v.(string)
		return s
	}
	if sameKey(o.HalfKey, key) {
		return o.HalfText
	}
	return ""
}

// Field returns the value under key. It compares keys like [FindObject].
func (o Object) Field(key string) (any, bool) {
	if v, ok := o.Fields[key]; ok {
		return v, true
	}
	names := make([]string, 0, len(o.Fields))
	for k := range o.Fields {
		if sameKey(k, key) {
			names = append(names, k)
		}
	}
	if len(names) == 0 {
		return nil, false
	}
	// Two spellings of one key: any deterministic choice will do.
	return o.Fields[slices.Min(names)], true
}

// Objects returns the JSON objects in text, in order. They may be bare, fenced, surrounded
// by prose, broken in the ways that models break JSON, or cut off at the end. Nested
// objects are values of the outer ones.
func Objects(text string) []Object {
	out := []Object{}
	for o := range scanObjects(text, beginning(text)) {
		out = append(out, o.export())
	}
	return out
}

// FindObject returns the last object that has all the keys. Comparison of keys ignores case,
// surrounding space, and whether a space, hyphen or underscore joins their words. Nested
// objects are found too; they have the position of the outer object.
func FindObject(text string, keys ...string) (Object, bool) {
	for o := range findObjects(text, nil).backward() {
		if in := o.having(keys); in != nil {
			return in.exportWithin(o), true
		}
	}
	return Object{}, false
}

// lastOfAny returns the last object that has the first of the keys, or else the last one
// that has the second, and so on, and the key. It compares keys like [FindObject].
func lastOfAny(text string, keys ...string) (o Object, key string, ok bool) {
	best := len(keys)
	for outer := range findObjects(text, nil).backward() {
		for i, k := range keys[:best] {
			if in := outer.having([]string{k}); in != nil {
				o, key, ok, best = in.exportWithin(outer), k, true, i
				break
			}
		}
		if best == 0 {
			break
		}
	}
	return o, key, ok
}

// sameKey reports whether two keys differ only in their spelling.
func sameKey(a, b string) bool { return a == b || keyOf(a) == keyOf(b) }

// keyOf returns the canonical spelling of a key.
func keyOf(k string) string {
	k = strings.ToLower(strings.Trim(strings.TrimSpace(k), "*_`"))
	return strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return '_'
		}
		return r
	}, k)
}

// An object is a parsed object with the positions of its values.
type object struct {
	fields              []field
	start, end          int
	repaired, truncated bool
	halfKey, halfText   string
}

// A field is one key of an object, with its value and the value's position.
type field struct {
	key        string
	value      any // string, json.Number, bool, nil, []any or *object
	start, end int
}

// get returns the last field with the key.
func (o *object) get(key string) (field, bool) {
	for _, f := range slices.Backward(o.fields) {
		if sameKey(f.key, key) {
			return f, true
		}
	}
	return field{}, false
}

// having returns the last object within o, or o itself, that has all the keys.
func (o *object) having(keys []string) *object {
	missing := slices.ContainsFunc(keys, func(k string) bool {
		_, ok := o.get(k)
		return !ok
	})
	if !missing {
		return o
	}
	for _, f := range slices.Backward(o.fields) {
		for _, in := range slices.Backward(objectsIn(f.value)) {
			if found := in.having(keys); found != nil {
				return found
			}
		}
	}
	return nil
}

// halved reports whether the text was cut off in the value of key, at any depth.
func (o *object) halved(key string) bool {
	if o.halfKey != "" {
		return sameKey(o.halfKey, key)
	}
	if len(o.fields) == 0 {
		return false
	}
	in := objectsIn(o.fields[len(o.fields)-1].value)
	return len(in) > 0 && in[len(in)-1].halved(key)
}

// objectsIn returns the objects that a value is or lists.
func objectsIn(v any) []*object {
	switch v := v.(type) {
	case *object:
		return []*object{v}
	case []any:
		var out []*object
		for _, e := range v {
			out = append(out, objectsIn(e)...)
		}
		return out
	}
	return nil
}

// twice lists the keys of o that have different values. Lists and objects always differ,
// because they are not repeated by accident.
func (o *object) twice() []string {
	var out []string
	seen := map[string]any{}
	for _, f := range o.fields {
		k := keyOf(f.key)
		_, list := f.value.([]any)
		if old, ok := seen[k]; ok && (list || old != f.value) && !slices.Contains(out, k) {
			out = append(out, k)
		}
		seen[k] = f.value
	}
	return out
}

// export returns o for callers.
func (o *object) export() Object {
	return Object{
		Fields: o.plain(), Start: o.start, End: o.end,
		Repaired: o.repaired, Truncated: o.truncated,
		HalfKey: o.halfKey, HalfText: o.halfText,
		Twice: o.twice(),
	}
}

// exportWithin returns o, which is nested in outer, with the position of outer.
func (o *object) exportWithin(outer *object) Object {
	out := o.export()
	out.Start, out.End = outer.start, outer.end
	out.Repaired, out.Truncated = outer.repaired, outer.truncated
	return out
}

// plain returns the fields as a map.
func (o *object) plain() map[string]any {
	m := make(map[string]any, len(o.fields))
	for _, f := range o.fields {
		m[f.key] = export(f.value)
	}
	return m
}

// export converts a parsed value for callers.
func export(v any) any {
	switch v := v.(type) {
	case *object:
		return v.plain()
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = export(e)
		}
		return out
	}
	return v
}

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
