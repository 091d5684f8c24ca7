package infinitebench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/words"
)

// Options says what to read. Data are the prediction files of one system, named
// preds_TASK.jsonl, or the folder that contains them, for example results/gpt4. Responses
// must be empty: the prediction files contain them. RequireAll makes a task without a file, a
// task with fewer items than published, and a line that is not JSON errors. The param
// "system" is the name of the system, which one rule uses; "" means the name of the folder.
type Options = benchmark.Options

// A Set contains the items of checked files, which are read again on each iteration. Notes
// describes lines that are left out, missing and incomplete tasks, and how upstream treats
// odd lines.
type Set struct {
	benchmark.Reread
	in      *benchmark.Reader
	system  string
	sources map[string]*source // by file name
	order   []*source
}

// A source is one file.
type source struct {
	file     string
	task     string
	labelKey string
	rows     int

	ids      map[string]bool
	byLine   bool // ids are missing or repeated, so line numbers are used
	unknown  int  // rows without a label
	unusable []deem.Problem
}

// Open reads and checks everything. If lines are invalid, the error is a [*deem.Problems]
// with their locations. A line that is not JSON is left out and noted instead: a file that
// upstream published ends in such a line, at which its own program stops. One line is in
// memory at a time.
func Open(ctx context.Context, o Options) (benchmark.Set, error) {
	if err := benchmark.NoResponses(Name, o.Responses); err != nil {
		return nil, err
	}
	names, err := folder.Files(o.Data)
	if err != nil {
		return nil, err
	}
	in, err := benchmark.NewReader(ctx, benchmark.Input{Names: names, Stdin: o.Stdin, Format: "jsonl"}, o.Data, o.Limit)
	if err != nil {
		return nil, err
	}
	s := &Set{in: in, system: o.With["system"], sources: map[string]*source{}}
	if err := s.survey(ctx, names, o.RequireAll); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return s, nil
}

// source returns the source of a file, and creates it if necessary.
func (s *Set) source(file string) *source {
	src, ok := s.sources[file]
	if !ok {
		src = &source{file: file, task: folder.Task(file), ids: map[string]bool{}}
		s.sources[file] = src
		s.order = append(s.order, src)
	}
	return src
}

// survey reads all rows to check them and to find out how the rows of each file are
// identified, notes the oddities of each file, and reads again to compute the hash of the
// items.
func (s *Set) survey(ctx context.Context, names []string, requireAll bool) error {
	var problems benchmark.Problems
	for row, err := range s.in.Rows(ctx) {
		if p, ok := errors.AsType[deem.Problem](err); ok {
			s.source(p.File).unusable = append(s.source(p.File).unusable, p)
			continue
		}
		if err != nil {
			return err
		}
		problems.Take(s.visit(row))
	}
	// Lines that are not JSON cannot be skipped if all must be present, or if a file has no
	// other line.
	for _, src := range s.order {
		for _, p := range src.unusable {
			if requireAll || src.rows == 0 {
				problems.Add(p, "")
			}
		}
	}
	if err := problems.Err("upstream stops at such a line; the lines must be as its scripts write them"); err != nil {
		return err
	}
	if len(s.order) == 0 {
		return fmt.Errorf("read %s: there is no line in it", s.in)
	}
	// What is missing compared with the published data: tasks of the README's table without
	// a file, and tasks with a different number of items.
	var lack benchmark.Lack
	have := map[string]bool{}
	for _, src := range s.order {
		have[src.task] = true
		if t, _ := table.Of(src.task); t.size > 0 {
			lack.Size(src.task, src.rows, t.size)
		}
	}
	lack.Missing = table.Missing(have, func(t task) bool { return t.title != "" })
	if requireAll {
		if err := lack.Whole(s.in.String()); err != nil {
			return err
		}
	}
	s.in.Note(s.in.Files.Notes()...)
	for _, src := range s.order {
		for _, p := range src.unusable {
			s.in.Note(p.Error() + ": the line is left out; upstream would stop at it")
		}
		if src.byLine {
			s.in.Note("ids are missing or repeated in " + src.file + ", so that its items are known by their lines")
		}
		if src.unknown > 0 {
			s.in.Note(words.Count(src.unknown, "line") + " without a label in " + src.file + ", which upstream compares with XXXXXXXXXX")
		}
	}
	s.in.Note(lack.Notes()...)
	s.in.Note(benchmark.EmptyFiles(names, func(file string) bool { return s.sources[file] != nil })...)
	var err error
	s.Reread, err = s.in.Settle(s.read(ctx), s.read)
	return err
}

// visit checks one row and collects what is known only at the end of its file.
func (s *Set) visit(row *benchmark.Row) error {
	src := s.source(row.File)
	src.rows++
	if src.rows == 1 {
		if _, ok := table.Of(src.task); !ok {
			return deem.WithHint(benchmark.At(row, "%s", table.Unknown(src.task)), "the file of a task is named %sTASK.jsonl", filePrefix)
		}
		// The first row determines the label column, as in upstream.
		columns := []string{"ground_truth", "label"}
		i := slices.IndexFunc(columns, func(column string) bool { return benchmark.Has(row, column) })
		if i < 0 {
			return benchmark.At(row, "the first line has neither %q nor %q", "ground_truth", "label")
		}
		src.labelKey = columns[i]
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

// read yields the items of all files. Lines that are not JSON were noted already.
func (s *Set) read(ctx context.Context) iter.Seq2[deem.Item, error] {
	usable := func(yield func(*benchmark.Row, error) bool) {
		for row, err := range s.in.Rows(ctx) {
			if _, ok := errors.AsType[deem.Problem](err); ok {
				continue
			}
			if !yield(row, err) {
				return
			}
		}
	}
	return benchmark.Made(usable, func(row *benchmark.Row) (deem.Item, error) {
		return s.item(row, s.sources[row.File])
	})
}

// filePrefix begins the name of a prediction file.
const filePrefix = "preds_"

// folder is upstream's file layout.
var folder = benchmark.Folder{
	Prefix: filePrefix, Is: isPredictions, Rank: table.Rank,
	Example: "with the predictions of one system, as results/gpt4",
	Usage:   "--data results/MODEL, the folder with its predictions",
}

// isPredictions reports whether a file with this name is a prediction file, compressed or
// not.
func isPredictions(name string) bool {
	return strings.HasPrefix(name, filePrefix) && strings.Contains(name, ".jsonl")
}

// systemName returns the name of a file's folder, which upstream uses as the name of the
// system.
func systemName(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return filepath.Base(filepath.Dir(file))
}
