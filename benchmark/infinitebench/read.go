package infinitebench

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
	// Data are the files of predictions of one system, each named preds_TASK.jsonl,
	// or the folder with them, as results/gpt4.
	Data []string

	// Responses must be empty: the files of predictions have them.
	Responses []string

	Stdin io.Reader // never read: the task is the name of the file

	// RequireAll makes a task without a file, a task with fewer items than are
	// published, and a line that is no JSON errors.
	RequireAll bool

	Limit int // only the first so many items; 0 means all

	// System is the name of the system, at which one rule looks; "" means the name
	// of the folder.
	System string
}

// A Set is the items of files that have been checked.
type Set struct {
	files   *dataset.Files
	names   []string
	notes   []string
	system  string
	sources map[string]*source // by the name of the file
	order   []*source
	limit   int
	size    int
	hash    string
}

// A source is one file.
type source struct {
	file     string
	task     string
	labelKey string
	rows     int

	ids      map[string]bool
	byLine   bool // ids are missing or repeated, so that lines take their place
	unknown  int  // rows without a label
	unusable []deem.Problem
}

// Open reads everything once and checks it. When lines are wrong, the error is a
// [*deem.Problems] with their places. A line that is no JSON is left out and noted
// instead: a file that upstream published ends in such a line, and its own program
// stops there. One line is in memory at a time.
func Open(ctx context.Context, o Options) (*Set, error) {
	if len(o.Responses) > 0 {
		return nil, deem.WithHint(errors.New("infinitebench takes no separate file of responses"),
			"the files of predictions hold the responses; give them with --data")
	}
	names, err := expand(o.Data)
	if err == nil {
		err = checkNames(names)
	}
	if err != nil {
		return nil, err
	}
	files, err := dataset.OpenFiles(ctx, dataset.Input{Names: names, Stdin: o.Stdin, Format: "jsonl"})
	if err != nil {
		return nil, err
	}
	s := &Set{files: files, names: slices.Clone(o.Data), system: o.System, limit: o.Limit, sources: map[string]*source{}}
	if err := s.survey(ctx, names, o.RequireAll); err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return s, nil
}

// source returns the source of a file, new if there was none.
func (s *Set) source(file string) *source {
	src, ok := s.sources[file]
	if !ok {
		src = &source{file: file, task: taskName(file), ids: map[string]bool{}}
		s.sources[file] = src
		s.order = append(s.order, src)
	}
	return src
}

// survey reads all rows to check them and to learn how the rows of each file are
// told apart, then once more to take the hash of the items.
func (s *Set) survey(ctx context.Context, names []string, requireAll bool) error {
	ps := &deem.Problems{}
	advice := ""
	for row, err := range s.files.Rows(ctx) {
		if p, ok := errors.AsType[deem.Problem](err); ok {
			s.source(p.File).unusable = append(s.source(p.File).unusable, p)
			continue
		}
		if err != nil {
			return err
		}
		err = s.visit(row)
		if p, ok := errors.AsType[deem.Problem](err); ok {
			ps.Add(p)
			advice = firstOf(advice, deem.HintOf(err))
		}
	}
	if err := s.unusable(ps, requireAll); err != nil {
		return deem.WithHint(err, "%s", firstOf(advice, "upstream stops at such a line; the lines must be as its scripts write them"))
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

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// unusable adds the lines that are no JSON to the problems where they cannot be
// passed over: when all must be there, and when a file has no other line.
func (s *Set) unusable(ps *deem.Problems, requireAll bool) error {
	for _, src := range s.order {
		for _, p := range src.unusable {
			if requireAll || src.rows == 0 {
				ps.Add(p)
			}
		}
	}
	return ps.Err()
}

// visit checks one row and remembers what is known only at the end of its file.
func (s *Set) visit(row *dataset.Row) error {
	src := s.source(row.File)
	src.rows++
	if src.rows == 1 {
		if err := src.begin(row); err != nil {
			return err
		}
	}
	id := row.Get("id")
	if id.Blank() || src.ids[id.Str()] {
		src.byLine = true
	} else {
		src.ids[id.Str()] = true
	}
	it, err := s.item(row, src)
	if err == nil && it.Fields[fieldLabel] == noLabel {
		src.unknown++
	}
	return err
}

// begin decides by the first row where the labels are, as upstream does.
func (src *source) begin(row *dataset.Row) error {
	if _, ok := taskOf(src.task); !ok {
		return deem.WithHint(at(row, "%s", unknownTask(src.task)), "the file of a task is named %sTASK.jsonl", filePrefix)
	}
	for _, key := range []string{"ground_truth", "label"} {
		if has(row, key) {
			src.labelKey = key
			return nil
		}
	}
	return at(row, "the first line has neither %q nor %q", "ground_truth", "label")
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

// read yields the items of all files. Lines that are no JSON were noted already.
func (s *Set) read(ctx context.Context) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for row, err := range s.files.Rows(ctx) {
			if _, ok := errors.AsType[deem.Problem](err); ok {
				continue
			}
			var it deem.Item
			if err == nil {
				it, err = s.item(row, s.sources[row.File])
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

// Len returns the number of items.
func (s *Set) Len() int { return s.size }

// Hash returns the SHA-256 over the hashes of all items in order.
func (s *Set) Hash() string { return s.hash }

// Names returns the names of the files or folders as the options gave them.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Notes returns what the user should know about the files: lines that are left out,
// tasks that are not there or not whole, and what upstream makes of odd lines.
func (s *Set) Notes() []string { return slices.Clone(s.notes) }

// Close removes temporary files. No items can be read after it.
func (s *Set) Close() error { return s.files.Close() }
