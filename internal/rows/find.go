package rows

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"deem/internal/words"
)

// A Grade says how much of a row an object is.
type Grade uint8

// The grades. Nothing inside a Strong row is a row.
const (
	// None is an object that is not a row, and may contain rows.
	None Grade = iota

	// Opaque is an object with a question and nothing said about it, or with a response to an
	// unknown question. It is not a row, and the weak rows in it are details of it.
	Opaque

	// Weak is an object with an id and a decision, but neither a question nor a response: the
	// decision about a row, or about one of the documents that a system retrieved. It is a
	// row if there is nothing better.
	Weak

	// Nameless is a row without an id and a question, by the user's own mapping. It is a row
	// if it is one of several.
	Nameless

	// Strong is a row.
	Strong
)

// A Finder finds the rows in the values of a file.
type Finder struct {
	// Grade grades an object. keyed means that its key names it, so that it needs no id.
	Grade func(o Node, keyed bool) Grade

	// Same returns what a row says. Two rows of different lists that say the same are one.
	// If it is nil, no two rows are the same.
	Same func(o Node) string

	// Question returns the question of a row, "" if it has none.
	Question func(o Node) string
}

// A Value is a value of a file: its only object, or one of its lines or elements.
type Value struct {
	Node
	File  string
	Line  int  // where it begins, from 1
	Table bool // it is the row of a table, whose cells are texts
}

// A Row is an object of a file that is about one response.
type Row struct {
	Node
	File string
	Line int // where it begins, from 1

	// Value is the index of the value that contains the row, and Path the place in it, for
	// example "by_type.temporal[3]"; "" if the row is the whole value.
	Value int
	Path  string

	Key      string // of the row in an object with a member for each row
	Group    string // the conversation that the path names; "" if it names none
	Category string // the category that the path names; "" if it names none

	section section
	grade   Grade
	lone    bool // neither an element of a list nor a member of a dictionary of rows
}

// A section is a list or an object that contains rows. The values of a file are one section.
type section struct {
	file  string
	value int // -1 for the values themselves
	path  string
}

func (s section) String() string { return words.Printable(s.path) }

// Within reports whether the row is in the object at the given path of a value.
func (r Row) Within(value int, path string) bool { return r.Value == value && within(r.Path, path) }

func within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (outer == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Found is the rows of some values.
type Found struct {
	Rows []Row // in the order of the file

	// Rest are the values that are not themselves rows, by index. They may say something
	// about the rows.
	Rest map[int]Node

	// LeftOut says which objects do not count as rows, and why.
	LeftOut []string

	// Rivals are lists of rows that answer the same questions differently, by path. At most
	// one of them should count, unless they are meant to be taken together.
	Rivals []string

	// Opaque are the objects of that grade.
	Opaque []Row
}

// deepestRow is the maximum depth of rows. Real files need five levels.
const deepestRow = 8

// Find finds the rows in the values of a file: the elements of its list, its lines, or its
// only object.
func (f Finder) Find(values []Value) Found {
	w := &walk{Finder: f, others: map[section]int{}, found: Found{Rest: map[int]Node{}}}
	var rows []Row
	for i, v := range values {
		top := section{file: v.File, value: -1}
		w.top = v
		hits := w.value(v.Node, place{value: i, section: top, element: len(values) > 1})
		if len(hits) != 1 || hits[0].Path != "" {
			w.found.Rest[i] = v.Node
		}
		if len(hits) == 0 && v.Kind == Object {
			w.others[top]++
		}
		rows = append(rows, hits...)
	}
	rows = w.strongest(w.listed(rows))
	if several := slices.ContainsFunc(rows, func(r Row) bool { return r.section != rows[0].section }); several {
		if w.Same != nil {
			rows = w.once(rows)
		}
		w.found.Rivals = w.rivals(rows)
	}
	w.found.Rows = rows
	return w.found
}

// A place is the location of a value on the way to the rows.
type place struct {
	value           int
	path            string
	section         section
	key             string
	group, category string
	byCategory      bool // the keys of the value are categories
	element         bool // the value is an element of a list, or one of several values
	depth           int
}

// A walk is the state of a search.
type walk struct {
	Finder
	found  Found
	top    Value           // the value that is searched
	others map[section]int // objects that are not rows
}

// value returns the rows in a value.
func (w *walk) value(v Node, at place) []Row {
	switch {
	case at.depth > deepestRow:
		return nil
	case v.Kind == List:
		return w.list(v, at)
	case v.Kind != Object:
		return nil
	}
	row := Row{
		Node: v, File: w.top.File, Line: w.top.Line + max(0, v.Line-1),
		Value: at.value, Path: at.path, Key: at.key, Group: at.group, Category: at.category, section: at.section,
		lone: !at.element && at.path != "",
	}
	row.grade = w.Grade(v, at.key != "")
	if row.grade == Strong {
		return []Row{row}
	}
	inner := w.members(v, at)
	switch {
	case hasStrong(inner):
		return inner
	case row.grade == Weak && !slices.ContainsFunc(inner, func(r Row) bool { return strings.HasSuffix(r.Path, "]") }),
		row.grade == Nameless && at.element:
		return []Row{row}
	case row.grade == Opaque && at.element:
		w.found.Opaque = append(w.found.Opaque, row)
		return nil
	}
	return inner
}

func hasStrong(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.grade >= Nameless })
}

// list returns the rows in the elements of a list.
func (w *walk) list(v Node, at place) []Row {
	var rows []Row
	here := section{w.top.File, at.value, at.path}
	for i, e := range v.Vals {
		if e.Kind != Object {
			w.others[here]++
			continue
		}
		hits := w.value(e, place{
			value: at.value, path: fmt.Sprintf("%s[%d]", at.path, i), section: here, group: at.group, category: at.category, element: true, depth: at.depth + 1,
		})
		if len(hits) == 0 {
			w.others[here]++
		}
		rows = append(rows, hits...)
	}
	return rows
}

// members returns the rows in the members of an object. If several of them are rows once
// their keys name them, the object is a dictionary of rows.
func (w *walk) members(o Node, at place) []Row {
	if group := groupOf(o); group != "" {
		at.group = group
	}
	keyed, graded := 0, 0
	for _, v := range o.Vals {
		if v.Kind == Object && w.Grade(v, true) == Strong {
			keyed++
		}
		if v.Kind == Object && w.Grade(v, false) >= Weak {
			graded++
		}
	}
	var rows []Row
	for i, v := range o.Vals {
		key := o.Keys[i]
		inner := place{
			value: at.value, path: strings.TrimPrefix(at.path+"."+key, "."), section: section{w.top.File, at.value, at.path},
			group: at.group, category: at.category, byCategory: ByCategory(key), depth: at.depth + 1,
		}
		if at.byCategory {
			inner.category = key
		}
		if inner.group == "" && v.Kind == List && !at.byCategory && !isContainer(key) {
			inner.group = key
		}
		if v.Kind == Object && keyed > 1 && w.Grade(v, true) == Strong {
			inner.key = key
		}
		inner.element = inner.key != "" || graded > 1
		rows = append(rows, w.value(v, inner)...)
	}
	return rows
}

// groupOf returns the name of the conversation that an object is about.
func groupOf(o Node) string {
	for _, name := range Names(Cluster) {
		for i, key := range o.Keys {
			if v := o.Vals[i]; v.IsScalar() && !v.Blank() && Plain(key) == Plain(name) {
				return v.Str()
			}
		}
	}
	return ""
}

// categoryKeys are the keys of objects with a member for each category, without case and
// punctuation.
var categoryKeys = []string{
	"bytype", "byquestiontype", "bycategory", "percategory", "pertype", "categoryaccuracies", "categorybreakdown", "bydim", "categories", "categoryscores",
}

// ByCategory reports whether the members of an object with this key are categories.
func ByCategory(key string) bool { return slices.Contains(categoryKeys, Letters(key)) }

// containerWords are parts of keys under which files store their rows and that do not name a
// conversation.
var containerWords = []string{
	"qa", "result", "conversations", "data", "item", "question", "row", "answer", "response", "prediction", "sample", "evaluation",
	"detail", "record", "label", "entries", "all",
}

// isContainer reports whether a key says that rows follow, and not which.
func isContainer(key string) bool {
	letters := Letters(key)
	if strings.ContainsAny(letters, "0123456789") {
		return false
	}
	return slices.ContainsFunc(containerWords, func(word string) bool { return strings.Contains(letters, word) })
}

// listed leaves out objects that are not in a list, if there are lists of rows: settings may
// have a prompt and an output, too.
func (w *walk) listed(rows []Row) []Row {
	if !slices.ContainsFunc(rows, func(r Row) bool { return !r.lone }) {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool {
		if r.lone {
			w.leave("%s left out because it is not in a list of rows", words.Printable(r.Path))
		}
		return r.lone
	})
}

// strongest leaves out weak rows, unless they are in a list with a strong one or there is
// no strong one at all.
func (w *walk) strongest(rows []Row) []Row {
	strong := map[section]bool{}
	for _, r := range rows {
		if r.grade >= Nameless {
			strong[r.section] = true
		}
	}
	weak := map[section]int{}
	var order []section
	kept := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool {
		drop := len(strong) > 0 && !strong[r.section]
		if drop {
			if weak[r.section]++; weak[r.section] == 1 {
				order = append(order, r.section)
			}
		}
		return drop
	})
	for _, section := range order {
		w.leave("%s left out for having neither a question nor a response", inSection(weak[section], section))
	}
	seen := map[section]bool{}
	for _, r := range kept {
		if n := w.others[r.section]; n > 0 && !seen[r.section] {
			seen[r.section] = true
			w.leave("%s left out because not every object there is a row", inSection(n, r.section))
		}
	}
	return kept
}

func (w *walk) leave(format string, args ...any) {
	w.found.LeftOut = append(w.found.LeftOut, fmt.Sprintf(format, args...))
}

// inSection says how many objects of a section there are.
func inSection(n int, s section) string {
	if s.path == "" {
		return words.Count(n, "object")
	}
	return words.Count(n, "object") + " of " + s.String()
}

// A content is what the rows of one section say.
type content struct {
	section
	at    int            // its position among the sections
	says  map[string]int // how often each thing is said
	size  int
	width int // the number of columns of all rows, and of categories that paths give
}

// contents returns the sections of rows in the order of the file.
func (w *walk) contents(rows []Row) []*content {
	var list []*content
	of := map[section]*content{}
	for _, r := range rows {
		c := of[r.section]
		if c == nil {
			c = &content{section: r.section, at: len(list), says: map[string]int{}}
			of[r.section] = c
			list = append(list, c)
		}
		c.says[w.Same(r.Node)]++
		c.size++
		c.width += len(r.Keys)
		if r.Category != "" {
			c.width++
		}
	}
	return list
}

// once leaves out what sections repeat: a list of all rows next to a list for each type, or
// the first wrong ones as examples. A section repeats others if more than half of its rows
// stand there, too; two sections may have a row in common by chance. Of equal rows, those of the section with more columns stay, then those
// of the larger and of the first one.
func (w *walk) once(rows []Row) []Row {
	all := w.contents(rows)
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b *content) int {
		return cmp.Or(cmp.Compare(a.width*b.size, b.width*a.size), cmp.Compare(a.size, b.size), cmp.Compare(b.at, a.at))
	})
	said := map[[2]string]int{} // how often, by file
	for _, c := range all {
		for what, n := range c.says {
			said[[2]string{c.file, what}] += n
		}
	}
	again := func(c *content) (rows map[string]int, n int) { // what stands elsewhere, too
		rows = map[string]int{}
		for what, times := range c.says {
			rows[what] = min(times, said[[2]string{c.file, what}]-times)
			n += rows[what]
		}
		return rows, n
	}
	repeating := map[string]bool{} // the files in which a section repeats others
	for _, c := range all {
		if _, n := again(c); 2*n > c.size {
			repeating[c.file] = true
		}
	}
	repeats := map[section]map[string]int{}
	for _, c := range order {
		same, n := again(c)
		if n == 0 || !repeating[c.file] {
			continue
		}
		for what, times := range same {
			said[[2]string{c.file, what}] -= times
		}
		repeats[c.section] = same
		w.leave("%s of %s left out because other lists of the file have the same rows", words.Count(n, "row"), c)
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool {
		same, what := repeats[r.section], w.Same(r.Node)
		if same[what] == 0 {
			return false
		}
		same[what]--
		return true
	})
}

// conversationName matches the names of conversations. The same question may be asked in
// several of them.
var conversationName = regexp.MustCompile(`^(conv|conversation|sample|session|chat|dialog|dialogue|user|group|locomo)?[0-9]+$`)

// rivals returns the sections of a file that answer the same questions: at least half of
// those of the smaller section. Conversations are never rivals.
func (w *walk) rivals(rows []Row) []string {
	asked := map[section]map[string]bool{}
	for _, r := range rows {
		if asked[r.section] == nil {
			asked[r.section] = map[string]bool{}
		}
		if q := w.Question(r.Node); q != "" && !conversationName.MatchString(Letters(r.Group)) {
			asked[r.section][q] = true
		}
	}
	same := func(a, b section) bool {
		both := 0
		for q := range asked[a] {
			if asked[b][q] {
				both++
			}
		}
		return both > 0 && 2*both >= min(len(asked[a]), len(asked[b]))
	}
	var names []string
	seen := map[section]bool{}
	for _, r := range rows {
		if seen[r.section] {
			continue
		}
		seen[r.section] = true
		for other := range asked {
			if other != r.section && other.file == r.section.file && same(r.section, other) {
				names = append(names, r.section.String())
				break
			}
		}
	}
	return names
}

// In reports whether the row belongs to the section with this path.
func (r Row) In(path string) bool { return r.section.String() == path }

// Letters returns a name without case and punctuation.
func Letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(s))
}
