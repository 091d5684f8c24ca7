package longbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"deem"
	"deem/internal/dataset"
)

// Options say what to read.
type Options struct {
	// Data are the files of predictions of one system, or the folder with them, as
	// pred/llama2-7b-chat-4k. The name of a file before its first point is the task.
	// The one file of LongBench v2 has any name. "-" is standard input, for v2 only.
	Data []string

	// Responses must be empty: the files of predictions have them.
	Responses []string

	Stdin io.Reader // what "-" reads

	// RequireAll makes a task without a file, or with fewer lines than are
	// published, an error.
	RequireAll bool

	Limit int // only the first so many items; 0 means all

	// Edition is one of [Editions]; "" finds out: files in a folder pred_e are of E,
	// rows with a difficulty are of V2.
	Edition string
}

// A Set is the items of files that have been checked.
type Set struct {
	files   *dataset.Files
	names   []string
	notes   []string
	edition string
	sources map[string]*source // by the name of the file
	order   []*source
	ids     map[string]int // of LongBench v2: the line of each
	limit   int
	size    int
	hash    string
}

// A source is one file.
type source struct {
	file    string
	task    string
	classes string // those of its last line, as JSON; "" for none
	rows    int
	bare    int // rows without a reference
}

// Open reads everything once and checks it. When lines are wrong, the error is a
// [*deem.Problems] with their places: upstream would stop at each of them. One line
// is in memory at a time.
func Open(ctx context.Context, o Options) (*Set, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	names, err := expand(o.Data)
	if err == nil {
		err = checkNames(names)
	}
	if err != nil {
		return nil, err
	}
	files, err := dataset.OpenFiles(ctx, dataset.Input{Names: names, Stdin: o.Stdin, Whole: isRow})
	if err != nil {
		return nil, err
	}
	s := &Set{files: files, names: slices.Clone(o.Data), edition: o.Edition, limit: o.Limit, sources: map[string]*source{}, ids: map[string]int{}}
	if err := s.survey(ctx, names, o.RequireAll); err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return s, nil
}

// check reports options that cannot be followed.
func (o Options) check() error {
	if len(o.Responses) > 0 {
		return deem.WithHint(errors.New("longbench takes no separate file of responses"),
			"the files of predictions hold the responses; give them with --data")
	}
	if o.Edition != "" && !slices.Contains(Editions(), o.Edition) {
		return deem.WithHint(fmt.Errorf("%s has no edition %q", Name, o.Edition), "it may be %s", strings.Join(Editions(), ", "))
	}
	return nil
}

// isRow reports whether a lone object with these keys is a row.
func isRow(keys []string) bool {
	return slices.Contains(keys, "pred") || slices.Contains(keys, "response")
}

// survey reads all rows to check them and to learn the classes of each last line,
// then once more to take the hash of the items.
func (s *Set) survey(ctx context.Context, names []string, requireAll bool) error {
	ps := &deem.Problems{}
	advice := ""
	for row, err := range s.files.Rows(ctx) {
		if err == nil {
			err = s.visit(row, names)
		}
		p, ok := errors.AsType[deem.Problem](err)
		switch {
		case err == nil:
			continue
		case !ok:
			return err
		case advice == "":
			advice = deem.HintOf(err)
		}
		ps.Add(p)
	}
	if ps.Total > 0 {
		if advice == "" {
			advice = "upstream stops at such a line; the lines must be as pred.py writes them"
		}
		return deem.WithHint(ps, "%s", advice)
	}
	if len(s.order) == 0 {
		return fmt.Errorf("read %s: there is no line in it", strings.Join(s.names, ", "))
	}
	if err := s.complete(names, requireAll); err != nil {
		return err
	}
	var err error
	s.hash, err = dataset.HashItems(s.counted(ctx))
	return err
}

// visit checks one row and remembers what is known only at the end of its file.
func (s *Set) visit(row *dataset.Row, names []string) error {
	if s.edition == "" {
		s.edition = editionOf(row)
	}
	src, ok := s.sources[row.File]
	if !ok {
		src = &source{file: row.File, task: taskName(row.File)}
		s.sources[row.File] = src
		s.order = append(s.order, src)
	}
	src.rows++
	if s.edition == V2 && len(names) > 1 {
		return at(row, "LongBench v2 has one file for each system, but %d files are given", len(names))
	}
	it, err := s.item(row, src)
	if err != nil {
		return err
	}
	if first, ok := s.ids[it.ID]; ok && s.edition == V2 {
		return at(row, "question %q was given before, at line %d", it.ID, first)
	}
	if s.edition == V2 { // the others have the line in their id
		s.ids[it.ID] = row.Line
	}
	src.classes = it.Fields[fieldClasses]
	if len(it.References) == 0 {
		src.bare++
	}
	return nil
}

// editionOf recognises the edition by a row and its file.
func editionOf(row *dataset.Row) string {
	switch {
	case !row.Get("difficulty").Missing() && row.Get("answers").Missing():
		return V2
	case isEven(row.File):
		return E
	}
	return V1
}

// counted yields the items and counts them.
func (s *Set) counted(ctx context.Context) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for it, err := range s.read(ctx) {
			s.size++
			if !yield(it, err) || s.size == s.limit {
				return
			}
		}
	}
}

// read yields the items of all files.
func (s *Set) read(ctx context.Context) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for row, err := range s.files.Rows(ctx) {
			var it deem.Item
			if err == nil {
				it, err = s.itemOf(row)
			}
			if err != nil {
				yield(deem.Item{}, changed(err))
				return
			}
			if !yield(it, nil) {
				return
			}
		}
	}
}

// itemOf returns the whole item of a row, with what its file has to say.
func (s *Set) itemOf(row *dataset.Row) (deem.Item, error) {
	src := s.sources[row.File]
	it, err := s.item(row, src)
	if err == nil && src.classes != "" {
		setField(&it, fieldUpstream, src.classes)
	}
	return it, err
}

// changed says of a row that was right when it was checked, and now is wrong, that
// the file has changed.
func changed(err error) error {
	if _, ok := errors.AsType[deem.Problem](err); ok {
		return fmt.Errorf("the data are not what was checked: %w", err)
	}
	return err
}

// Items yields the items in the order of the files, reading them again. It may be
// called several times, also at once by several goroutines. An error is the last
// thing that it yields.
func (s *Set) Items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		n := 0
		for it, err := range s.read(context.Background()) {
			if n++; !yield(it, err) || err != nil || n == s.size {
				return
			}
		}
		if n != s.size {
			yield(deem.Item{}, fmt.Errorf("read %s: it had %d items, now it has %d", strings.Join(s.names, ", "), s.size, n))
		}
	}
}

// Edition returns which edition of the benchmark the files are of.
func (s *Set) Edition() string { return s.edition }

// Len returns the number of items.
func (s *Set) Len() int { return s.size }

// Hash returns the SHA-256 over the hashes of all items in order.
func (s *Set) Hash() string { return s.hash }

// Names returns the names of the files or folders as the options gave them.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Notes returns what the user should know about the files: tasks that are not
// there or not whole, and what upstream makes of odd lines.
func (s *Set) Notes() []string { return slices.Clone(s.notes) }

// Close removes temporary files. No items can be read after it.
func (s *Set) Close() error { return s.files.Close() }
