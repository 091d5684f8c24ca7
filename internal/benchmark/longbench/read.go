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
	"deem/internal/benchmark"
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

// A Set is the items of files that have been checked. They are read again whenever
// they are asked for. Notes tells of tasks that are not there or not whole, and what
// upstream makes of odd lines.
type Set struct {
	benchmark.Reread
	in      *benchmark.Reader
	edition string
	sources map[string]*source // by the name of the file
	order   []*source
	ids     map[string]int // of LongBench v2: the line of each
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
	names, err := folder.Files(o.Data)
	if err != nil {
		return nil, err
	}
	in, err := benchmark.NewReader(ctx, benchmark.Input{Names: names, Stdin: o.Stdin, Whole: isRow}, o.Data, o.Limit)
	if err != nil {
		return nil, err
	}
	s := &Set{in: in, edition: o.Edition, sources: map[string]*source{}, ids: map[string]int{}}
	if err := s.survey(ctx, names, o.RequireAll); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return s, nil
}

// check reports options that cannot be followed.
func (o Options) check() error {
	if err := benchmark.NoResponses(Name, o.Responses); err != nil {
		return err
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
	var problems benchmark.Problems
	for row, err := range s.in.Rows(ctx) {
		if err == nil {
			err = s.visit(row, names)
		}
		if err != nil && !problems.Take(err) {
			return err
		}
	}
	if err := problems.Err("upstream stops at such a line; the lines must be as pred.py writes them"); err != nil {
		return err
	}
	if len(s.order) == 0 {
		return fmt.Errorf("read %s: there is no line in it", s.in)
	}
	if err := s.complete(names, requireAll); err != nil {
		return err
	}
	var err error
	s.Reread, err = s.in.Settle(s.read(ctx), s.read)
	return err
}

// visit checks one row and remembers what is known only at the end of its file.
func (s *Set) visit(row *benchmark.Row, names []string) error {
	if s.edition == "" {
		s.edition = editionOf(row)
	}
	src, ok := s.sources[row.File]
	if !ok {
		src = &source{file: row.File, task: folder.Task(row.File)}
		s.sources[row.File] = src
		s.order = append(s.order, src)
	}
	src.rows++
	if s.edition == V2 && len(names) > 1 {
		return benchmark.At(row, "LongBench v2 has one file for each system, but %d files are given", len(names))
	}
	it, err := s.item(row, src)
	if err != nil {
		return err
	}
	if first, ok := s.ids[it.ID]; ok && s.edition == V2 {
		return benchmark.At(row, "question %q was given before, at line %d", it.ID, first)
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
func editionOf(row *benchmark.Row) string {
	switch {
	case !row.Get("difficulty").Missing() && row.Get("answers").Missing():
		return V2
	case isEven(row.File):
		return E
	}
	return V1
}

// read yields the items of all files.
func (s *Set) read(ctx context.Context) iter.Seq2[deem.Item, error] {
	return benchmark.Made(s.in.Rows(ctx), s.itemOf)
}

// itemOf returns the whole item of a row, with what its file has to say.
func (s *Set) itemOf(row *benchmark.Row) (deem.Item, error) {
	src := s.sources[row.File]
	it, err := s.item(row, src)
	if err == nil && src.classes != "" {
		benchmark.SetField(&it, fieldUpstream, src.classes)
	}
	return it, err
}

// Edition returns which edition of the benchmark the files are of.
func (s *Set) Edition() string { return s.edition }
