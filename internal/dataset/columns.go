package dataset

import (
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
)

// oneReference is our name for the references of an item with one reference. Rows of one
// file may use both it and "references".
const oneReference = "reference"

// isCanonical reports whether a column has our own name for a part.
func isCanonical(target, column string) bool {
	return column == target || target == toReferences && column == oneReference
}

// columns decides which column contains which part of an item. The first row that has a
// column for a part decides for all rows.
type columns struct {
	mapping Mapping
	part    Part
	fields  []string // additional columns that the judge needs

	bound   map[string]string // part to path, mapped or decided
	missing []string          // mapped paths and needed fields that no row has had so far
	seen    []string          // names of columns in order of appearance
}

// Optional is the suffix of a field that may be missing.
const Optional = "?"

// want reports whether a column may contain a part of an item.
func (c *columns) want(column string) bool {
	if strings.HasPrefix(column, columnPrefix) {
		return true
	}
	if _, ok := parts[rows.Plain(column)]; ok || IsSystemColumn(column) {
		return true
	}
	begins := func(path string) bool {
		return path == column || strings.HasPrefix(path, column+".")
	}
	for _, path := range c.mapping {
		if begins(path) {
			return true
		}
	}
	return slices.ContainsFunc(c.fields, begins)
}

// whole reports whether an object with these keys is an item rather than a wrapper around a
// list of items: it has a response or a conversation, or a question if that is all it needs.
func (c *columns) whole(keys []string) bool {
	if c.part == Questions {
		if path, ok := c.mapping[toQuestion]; ok {
			at, _ := resolve(path, keys)
			return at >= 0
		}
		return len(c.named(toQuestion, keys)) > 0
	}
	if path, ok := c.mapping[toResponse]; ok {
		at, _ := resolve(path, keys)
		return at >= 0
	}
	return len(c.named(toResponse, keys)) > 0 || len(c.named(toMessages, keys)) > 0
}

// A slot is the position of a value in a row: a column, and the path into it.
type slot struct {
	column int // -1 if the row has none
	path   string
}

// of returns the value in the slot.
func (s slot) of(row *Row) Value {
	if s.column < 0 {
		return Value{}
	}
	return row.values[s.column].Get(s.path)
}

// A fieldSlot is a slot whose value becomes a field.
type fieldSlot struct {
	slot
	name   string
	strong bool   // the name or the mapping contains "field"
	source string // for the cost of a response: the name that implies the unit
}

// A layout is the positions of the parts of an item in rows with certain columns.
type layout struct {
	names []string

	id, category, cluster, question, references, response, messages, weight, members slot

	unanswered   bool   // the response is in another file
	responsePath string // where rows have the response, "" if none had any so far

	fields []fieldSlot // a later one of the same name wins
	ranked bool        // there may be a ranked list
}

// layouts is a cache of recent layouts: programs that omit empty members write rows of
// several kinds in turn.
type layouts struct {
	list []*layout
	next int // the index of the oldest, once the list is full
}

// find returns the layout for a row, or nil. l is the layout of the previous row.
func (ls *layouts) find(row *Row, l *layout) *layout {
	// Readers return the same slice of names while the columns are the same.
	if l != nil && len(l.names) == len(row.names) && (len(l.names) == 0 || &l.names[0] == &row.names[0]) {
		return l
	}
	for _, l := range ls.list {
		if slices.Equal(l.names, row.names) {
			return l
		}
	}
	return nil
}

// keep stores a layout and returns it.
func (ls *layouts) keep(l *layout) *layout {
	const most = 16
	if len(ls.list) < most {
		ls.list = append(ls.list, l)
		return l
	}
	ls.list[ls.next] = l
	ls.next = (ls.next + 1) % most
	return l
}

// learn records the columns of a row and decides about parts that no earlier row had. An
// error concerns this row, unless it is an [ambiguous] error.
func (c *columns) learn(names []string) error {
	const most = 200 // a file whose objects all differ must not exhaust memory
	for _, name := range names {
		if len(c.seen) == most {
			break
		}
		if !slices.Contains(c.seen, name) {
			c.seen = append(c.seen, name)
		}
	}
	// Rows may have very many columns, of which few have a known name.
	known := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		plain := rows.Plain(name)
		return parts[plain] == "" && plain != rows.Answer
	})
	for _, target := range targets {
		candidates := c.candidates(target, known)
		if _, mapped := c.mapping[target]; !mapped && sameName(candidates) {
			return undecided(target, candidates)
		}
		if path, ok := c.bound[target]; ok {
			// The file must not mix two kinds of rows.
			if _, mapped := c.mapping[target]; mapped || len(candidates) == 0 {
				continue
			}
			other := candidates[0]
			at, _ := resolve(path, names)
			switch {
			case isCanonical(target, path) && isCanonical(target, other):
				continue // "reference" here, "references" there
			case at >= 0 && !isCanonical(target, other):
				continue
			}
			return deem.WithHint(
				fmt.Errorf("column %q holds the %s here, but %q did before", other, target, path),
				"use the same columns in every row")
		}
		if len(candidates) == 0 {
			continue
		}
		ours := slices.DeleteFunc(slices.Clone(candidates), func(name string) bool { return !isCanonical(target, name) })
		switch {
		case len(ours) == 1:
			c.bound[target] = ours[0]
		case len(candidates) == 1:
			c.bound[target] = candidates[0]
		default:
			return undecided(target, candidates)
		}
	}
	return nil
}

// sameName reports whether two names differ only in case, spaces or punctuation. Neither
// may win silently, not even our own name.
func sameName(names []string) bool {
	for i, name := range names {
		for _, before := range names[:i] {
			if rows.Plain(name) == rows.Plain(before) {
				return true
			}
		}
	}
	return false
}

func undecided(target string, candidates []string) error {
	return deem.WithHint(
		ambiguous(fmt.Sprintf("cannot tell which column holds the %s: %s", target, strings.Join(candidates, " or "))),
		"say which: %s", mapFlag(target, candidates[0]))
}

// layout finds the parts of an item among the columns of a row. It decides nothing, so
// several goroutines can read rows once all columns are learnt.
func (c *columns) layout(names []string) *layout {
	at := func(target string) slot {
		path, ok := c.bound[target]
		if !ok {
			return slot{column: -1}
		}
		column, rest := resolve(path, names)
		if column < 0 && c.mapping[target] == "" && isCanonical(target, path) {
			column = slices.IndexFunc(names, func(name string) bool { return isCanonical(target, name) })
		}
		return slot{column, rest}
	}
	list := slices.DeleteFunc(systemSlots(names), func(f fieldSlot) bool { return c.taken(names[f.column]) })
	for _, name := range c.fields {
		if name == groundTruth && c.bound[toReferences] == name {
			continue // it is the rendering of the references, if that matters
		}
		if at, rest := resolve(name, names); at >= 0 {
			list = append(list, fieldSlot{slot: slot{at, rest}, name: name})
		}
	}
	for i, column := range names {
		if name, ok := strings.CutPrefix(column, columnPrefix); ok && name != "" {
			list = append(list, fieldSlot{slot: slot{i, ""}, name: name, strong: true})
		}
	}
	for _, target := range c.mapping.targets() {
		if name, ok := strings.CutPrefix(target, fieldPrefix); ok {
			if at, rest := resolve(c.mapping[target], names); at >= 0 {
				list = append(list, fieldSlot{slot: slot{at, rest}, name: name, strong: true})
			}
		}
	}
	return &layout{
		names:      names,
		id:         at(toID),
		category:   at(toCategory),
		cluster:    at(toCluster),
		question:   at(toQuestion),
		references: at(toReferences),
		response:   at(toResponse),
		messages:   at(toMessages),
		weight:     at(toWeight),
		members:    at(toFields),

		unanswered:   c.part == Questions,
		responsePath: c.bound[toResponse],
		fields:       list,
		ranked:       slices.ContainsFunc(names, isRetrievalColumn),
	}
}

// ambiguous is the error for columns with two possible meanings. No further row can be
// interpreted.
type ambiguous string

func (e ambiguous) Error() string { return string(e) }

// candidates returns the columns that may contain a part, without mapped columns.
func (c *columns) candidates(target string, names []string) []string {
	list := c.named(target, names)
	isAnswer := func(name string) bool { return rows.Plain(name) == rows.Answer }
	switch {
	case c.part == Questions && target == toResponse, c.part == Responses && target == toReferences:
		return nil
	case c.part == Questions:
		return list
	case c.part == Responses && target == toResponse && len(list) == 0 && c.bound[toResponse] == "":
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isAnswer(name) || c.taken(name) })
	}
	switch target {
	case toReferences:
		// "answer" is a reference only if another column has the response.
		others := slices.DeleteFunc(slices.Clone(list), isAnswer)
		response := c.bound[toResponse]
		if found := c.candidates(toResponse, names); response == "" && len(found) > 0 {
			response = found[0]
		}
		switch {
		case response == "":
			return slices.DeleteFunc(others, func(name string) bool { return rows.Plain(name) == "answers" })
		case isAnswer(response):
			return others
		}
	case toResponse:
		if len(list) > 0 || c.bound[toResponse] != "" {
			return list
		}
		references := slices.DeleteFunc(c.named(toReferences, names), isAnswer)
		if len(references) > 0 || c.mapping[toReferences] != "" {
			return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isAnswer(name) || c.taken(name) })
		}
	}
	return list
}

// named returns the unmapped columns with a name of the part. Of weaker names only the
// first counts, and only if there is no stronger one.
func (c *columns) named(target string, names []string) []string {
	for _, t := range rows.Columns() {
		if t.Target != target {
			continue
		}
		if list := c.matching(t.Names, names); len(list) > 0 {
			return list
		}
		list := c.matching(t.Also, names)
		return list[:min(1, len(list))]
	}
	return nil
}

func (c *columns) matching(wanted, names []string) []string {
	var list []string
	for _, want := range wanted {
		want = rows.Plain(want)
		for _, name := range names {
			if rows.Plain(name) == want && !c.taken(name) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// taken reports whether a column is mapped to some part.
func (c *columns) taken(column string) bool {
	for _, path := range c.mapping {
		if path == column {
			return true
		}
	}
	return false
}
