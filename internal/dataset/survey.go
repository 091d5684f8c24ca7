package dataset

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"deem"
	"deem/internal/text"
	"deem/internal/words"
)

// A survey is the first pass over a dataset: it checks every row and counts.
type survey struct {
	files   *Files
	columns *columns
	limit   int
	ids     *registry
	layouts layouts

	hash     chain
	items    int
	beyond   int // rows after the limit
	perFile  []int
	noRefs   int
	noText   int       // items without a question
	byID     int       // items whose cluster is taken from their id
	example  deem.Item // the first of these
	python   int       // references that look like a list in Python
	lone     int       // rows with half a surrogate pair
	nan      int       // rows with NaN or an infinity
	rows     uint64
	numbered []deem.Problem // the first rows without an id
	noID     int            // their number
	problems deem.Problems
	advice   string // the hint of the first problem that has one
	lacking  *lack  // if no row so far has a response
}

// mostPlaces is the maximum number of positions that are stored for each problem.
const mostPlaces = 20

// run reads all rows.
func (s *survey) run(ctx context.Context) error {
	s.perFile = make([]int, len(s.files.files))
	defer s.hash.end()
	var l *layout
	for row, err := range s.files.Rows(ctx) {
		if s.limit > 0 && s.items >= s.limit { // The rest is counted but not checked.
			if err != nil && !isProblem(err) {
				s.beyond = 0
				break
			}
			s.beyond++
			continue
		}
		if p, ok := errors.AsType[deem.Problem](err); ok {
			s.problem(p, err)
			continue
		}
		if err != nil {
			return err
		}
		s.rows++
		if l, err = s.look(row, l); err != nil {
			return err
		}
	}
	if s.items+s.problems.Total > 0 {
		for _, target := range s.columns.mapping.targets() {
			path := s.columns.mapping[target]
			if !slices.Contains(s.columns.missing, path) || len(s.columns.seen) == 0 {
				continue
			}
			err := fmt.Errorf("no row has column %q, which is mapped to %s", path, target)
			list := "the columns are " + Listed(s.columns.seen)
			if near := text.Closest(path, s.columns.seen); near != "" {
				return deem.WithHint(err, "did you mean %s? %s", near, list)
			}
			return deem.WithHint(err, "%s", list)
		}
	}
	if s.noID > 0 && s.columns.part != Whole && s.noID == s.items {
		return deem.WithHint(fmt.Errorf("%s: no id in any row: questions and responses in two files are joined by it (columns here: %s)",
			Listed(s.files.names), Listed(s.columns.seen)), "say which column holds it: --map id=COLUMN")
	}
	if s.noID > 0 && s.noID < s.items {
		for _, p := range s.numbered {
			s.problem(p, deem.WithHint(errNoID, "give every row an id, or none"))
		}
		s.problems.Total += s.noID - len(s.numbered)
	}
	if err := s.duplicates(ctx); err != nil {
		return err
	}
	if s.lacking != nil && s.lacking.rows > 1 && s.lacking.rows == s.problems.Total && s.items == 0 {
		return s.lacking.err()
	}
	if s.problems.Total > 0 {
		if s.advice == "" {
			return &s.problems
		}
		return deem.WithHint(&s.problems, "%s", s.advice)
	}
	if s.items == 0 {
		names := make([]string, len(s.files.files))
		for i, f := range s.files.files {
			names[i] = f.name
		}
		return deem.WithHint(fmt.Errorf("no items in %s", Listed(names)),
			"a .jsonl file has one item per line: {\"question\": \"...\", \"references\": \"...\", \"response\": \"...\"}")
	}
	return nil
}

// look checks one row. l is the layout of the previous row; look returns that of this row.
func (s *survey) look(row *Row, l *layout) (*layout, error) {
	if known := s.layouts.find(row, l); known != nil {
		l = known
	} else {
		err := s.columns.learn(row.names)
		if _, ok := errors.AsType[ambiguous](err); ok {
			return nil, deem.WithHint(located(row, err), "%s", deem.HintOf(err))
		}
		if err != nil {
			s.problem(located(row, err), err)
			return nil, nil
		}
		l = s.layouts.keep(s.columns.layout(row.names))
	}
	if len(s.columns.missing) > 0 {
		s.columns.missing = slices.DeleteFunc(s.columns.missing, func(path string) bool { return row.Get(path).form != absent })
	}
	it, err := l.item(row)
	if err != nil {
		if errors.Is(err, errNoResponse) {
			s.lack(row)
		}
		s.problem(located(row, err), err)
		return l, nil
	}
	v := l.references.of(row)
	if v.form == cell && bytes.HasPrefix(v.data, []byte("['")) && bytes.HasSuffix(v.data, []byte("']")) {
		s.python++
	}
	s.items++
	s.perFile[row.file]++
	if len(it.References) == 0 {
		s.noRefs++
	}
	if it.Question == "" {
		s.noText++
	}
	if it.Cluster != "" && optional(l.cluster.of(row)) == "" {
		if s.byID++; s.byID == 1 {
			s.example = deem.Item{ID: it.ID, Cluster: it.Cluster}
		}
	}
	if row.lone {
		s.lone++
	}
	if row.python {
		s.nan++
	}
	if it.ID == "" {
		s.noID++
		if len(s.numbered) < mostPlaces {
			s.numbered = append(s.numbered, located(row, errNoID))
		}
		it.ID = strconv.Itoa(s.items)
	} else if err := s.ids.add(it.ID, s.rows); err != nil {
		return l, err
	}
	s.hash.add(it)
	return l, nil
}

// located adds the position of a row to an error.
func located(row *Row, err error) deem.Problem {
	return deem.Problem{File: row.File, Line: row.Line, Element: row.element, Message: err.Error()}
}

// problem adds a problem and keeps the hint of err, if it is the first.
func (s *survey) problem(p deem.Problem, err error) {
	s.problems.Add(p)
	s.advice = cmp.Or(s.advice, deem.HintOf(err))
}

var errNoID = errors.New("no id, but other rows have one")

// duplicates reports duplicate ids. The positions of the rows and the ids themselves are
// not stored, so it reads the files again.
func (s *survey) duplicates(ctx context.Context) error {
	list, total, err := s.ids.duplicates()
	if err != nil || total == 0 {
		return err
	}
	firsts := map[uint64]uint64{} // inverted: duplicate to first
	places := map[uint64]deem.Problem{}
	for _, d := range list {
		firsts[d.again], places[d.first] = d.first, deem.Problem{}
	}
	var found []deem.Problem
	within := false // one file has an id twice
	var l *layout
	n := uint64(0)
	for row, err := range s.files.Rows(ctx) {
		if isProblem(err) {
			continue
		}
		if err != nil {
			return err
		}
		if l = s.layouts.find(row, l); l == nil {
			l = s.layouts.keep(s.columns.layout(row.names))
		}
		n++
		if _, ok := places[n]; ok {
			places[n] = deem.Problem{File: row.File, Line: row.Line}
		}
		if first, ok := firsts[n]; ok {
			before := places[first]
			within = within || before.File == row.File
			found = append(found, located(row, fmt.Errorf("id %s again, first at %s:%d", excerpt([]byte(l.id.of(row).Str())), before.File, before.Line)))
			if delete(firsts, n); len(firsts) == 0 {
				break
			}
		}
	}
	if !within && len(found) > 0 {
		before, again := places[list[0].first].File, found[0].File
		return deem.WithHint(fmt.Errorf("%s and %s have %s in common: they look like two systems that answered the same questions", before, again, words.Count(total, "id")),
			"judge each and compare them: deem run --data %s; deem run --data %s; deem compare last~1 last", before, again)
	}
	for _, p := range found {
		s.problem(p, deem.WithHint(p, "ids must be unique: they tell which items a run has judged already"))
	}
	s.problems.Total += total - len(list)
	return nil
}

// notes returns information for the user.
func (s *survey) notes() []string {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for _, target := range targets {
		path := s.columns.bound[target]
		if _, mapped := s.columns.mapping[target]; path != "" && !mapped && !isCanonical(target, path) {
			name := "the " + target
			switch target {
			case toReferences:
				name = target
			case toID:
				name = "ids"
			}
			note("reading %s from column %q", name, path)
		}
	}
	if s.noID > 0 {
		note("no ids: items are numbered by position")
	}
	if s.beyond > 0 {
		note("the first %d of %d items; --sample %d takes a random sample", s.items, s.items+s.beyond, s.items)
	}
	missing := func(n int, what string) {
		switch {
		case n == s.items:
			note("no item has a %s", what)
		case n > 0:
			note("%d of %d items have no %s", n, s.items, what)
		}
	}
	if s.columns.part != Responses {
		missing(s.noRefs, "reference")
		missing(s.noText, "question")
		if s.byID > 0 {
			note("taking clusters from %d of %d ids, as %s from %s", s.byID, s.items, s.example.Cluster, s.example.ID)
		}
	}
	for i, n := range s.perFile {
		if n == 0 && s.limit == 0 {
			note("no items in %s", s.files.files[i].name)
		}
	}
	for _, name := range s.columns.fields {
		if slices.Contains(s.columns.missing, name) && !slices.Contains(s.columns.seen, toFields) {
			note("no item has the field %q, which the judge asks for", name)
		}
	}
	if s.python > 0 {
		note("%s of references as Python prints lists: each is taken as one reference; write them as JSON lists", words.Count(s.python, "cell"))
	}
	if s.lone > 0 {
		note("%s with half a surrogate pair: it is read as U+FFFD", words.Count(s.lone, "row"))
	}
	if s.nan > 0 {
		note("%s with NaN or Infinity, which Python writes and JSON does not know: NaN is read as null", words.Count(s.nan, "row"))
	}
	return append(notes, s.files.Notes()...)
}

// A chain hashes items in order: each link is the hash of the previous link and of the
// item. Only items count, not the files they come from, so the same items in another format
// are the same dataset. [deem.DatasetHash] returns the same hash for items in memory.
//
// For many items, a goroutine hashes them while the next are read, because hashing takes a
// third of the time. It ends when end is called.
type chain struct {
	link  [sha256.Size]byte // of what was hashed
	batch []deem.Item       // not handed over yet
	size  int               // of the texts in batch
	queue chan []deem.Item  // nil before the first batch
	done  chan struct{}     // closed when all of the queue is hashed
}

// The size of a batch: small enough that its memory does not matter, unless a single item
// is large.
const (
	batchItems = 64
	batchBytes = 64 << 10
)

// add appends an item.
func (c *chain) add(it deem.Item) {
	c.batch, c.size = append(c.batch, it), c.size+TextSize(it)
	if len(c.batch) < batchItems && c.size < batchBytes {
		return
	}
	if c.queue == nil {
		c.queue, c.done = make(chan []deem.Item), make(chan struct{})
		go func() {
			defer close(c.done)
			for batch := range c.queue {
				c.hash(batch)
			}
		}()
	}
	c.queue <- c.batch
	c.batch, c.size = make([]deem.Item, 0, batchItems), 0
}

func (c *chain) hash(batch []deem.Item) {
	for _, it := range batch {
		c.link = sha256.Sum256(append(c.link[:], it.Hash()...))
	}
}

// end hashes the remaining items. Nothing can be added afterwards.
func (c *chain) end() {
	if c.queue != nil {
		close(c.queue)
		<-c.done
	}
	c.hash(c.batch)
	c.batch, c.queue = nil, nil
}

// String returns the hash of all items in hexadecimal. It must be called after end.
func (c *chain) String() string { return hex.EncodeToString(c.link[:]) }

// TextSize returns the approximate size of an item in bytes: that of its texts.
func TextSize(it deem.Item) int {
	n := len(it.Question) + len(it.Response) + it.Messages.Size()
	for _, ref := range it.References {
		n += len(ref)
	}
	for _, text := range it.Fields {
		n += len(text)
	}
	return n
}

// appendString appends s as encoding/json does without HTML escaping.
func appendString(b []byte, s string) []byte {
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // every string can be marshaled
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
