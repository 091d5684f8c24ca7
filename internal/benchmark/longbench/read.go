package longbench

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

// Options says what to read. Data are the prediction files of one system, or the folder that
// contains them, for example pred/llama2-7b-chat-4k. The file name up to its first dot is the
// task. The single file of LongBench v2 may have any name, or be standard input. Responses
// must be empty: the prediction files contain them. RequireAll makes a task without a file,
// or with fewer lines than published, an error. The param "edition" is one of [Editions]; ""
// detects it: files in a folder pred_e are E, and rows with a difficulty are V2.
type Options = benchmark.Options

// A Set contains the items of checked files, which are read again on each iteration. Notes
// describes missing and incomplete tasks, and how upstream treats odd lines.
type Set struct {
	benchmark.Reread
	in      *benchmark.Reader
	edition string
	sources map[string]*source // by file name
	order   []*source
	ids     map[string]int // of LongBench v2: the line of each
}

// A source is one file.
type source struct {
	task    string
	classes string // those of its last line, as JSON; "" for none
	rows    int
	bare    int // rows without a reference
}

// Open reads and checks everything. If lines are invalid, the error is a [*deem.Problems]
// with their locations: upstream would stop at each of them. One line is in memory at a
// time.
func Open(ctx context.Context, o Options) (benchmark.Set, error) {
	if err := benchmark.NoResponses(Name, o.Responses); err != nil {
		return nil, err
	}
	edition := o.With["edition"]
	if edition != "" && !slices.Contains(Editions(), edition) {
		return nil, deem.WithHint(fmt.Errorf("%s has no edition %q", Name, edition), "it may be %s", strings.Join(Editions(), ", "))
	}
	names, err := folder.Files(o.Data)
	if err != nil {
		return nil, err
	}
	in, err := benchmark.NewReader(ctx, benchmark.Input{Names: names, Stdin: o.Stdin, Whole: isRow}, o.Data, o.Limit)
	if err != nil {
		return nil, err
	}
	s := &Set{in: in, edition: edition, sources: map[string]*source{}, ids: map[string]int{}}
	if err := s.survey(ctx, names, o.RequireAll); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return s, nil
}

// isRow reports whether a single object with these keys is a row.
func isRow(keys []string) bool {
	return slices.Contains(keys, "pred") || slices.Contains(keys, "response")
}

// survey reads all rows to check them and to find the classes of each last line, notes what
// is odd or missing, and reads again to compute the hash of the items.
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
	// What is missing from the files compared with the published data of their edition. The
	// sizes of LongBench-E are unknown here.
	var lack benchmark.Lack
	var uneven []string
	have := map[string]bool{}
	bare := 0
	for _, src := range s.order {
		have[src.task] = true
		bare += src.bare
		t, known := table.Of(src.task)
		switch {
		case s.edition == V2:
			lack.Size(src.task, src.rows, sizeV2)
		case s.edition == V1 && known:
			lack.Size(src.task, src.rows, t.size)
		case s.edition == E && !t.even:
			uneven = append(uneven, "task "+src.task+" is not one of the 13 of LongBench-E")
		}
	}
	if s.edition != V2 {
		lack.Missing = table.Missing(have, func(t task) bool { return s.edition != E || t.even })
	}
	if requireAll {
		if err := lack.Whole(s.in.String()); err != nil {
			return err
		}
	}
	s.in.Note(s.in.Files.Notes()...)
	s.in.Note(lack.Notes()...)
	s.in.Note(benchmark.EmptyFiles(names, func(file string) bool { return s.sources[file] != nil })...)
	if bare > 0 {
		s.in.Note(words.Count(bare, "item") + " without a reference, which upstream scores 0")
	}
	s.in.Note(uneven...)
	var err error
	s.Reread, err = s.in.Settle(s.read(ctx), s.read)
	return err
}

// sizeV2 is the number of questions in LongBench v2.
const sizeV2 = 503

// visit checks one row and collects what is known only at the end of its file.
func (s *Set) visit(row *benchmark.Row, names []string) error {
	if s.edition == "" {
		switch {
		case !row.Get("difficulty").Missing() && row.Get("answers").Missing():
			s.edition = V2
		case isEven(row.File):
			s.edition = E
		default:
			s.edition = V1
		}
	}
	src, ok := s.sources[row.File]
	if !ok {
		src = &source{task: folder.Task(row.File)}
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

// read yields the items of all files, with the values of their files.
func (s *Set) read(ctx context.Context) iter.Seq2[deem.Item, error] {
	return benchmark.Made(s.in.Rows(ctx), func(row *benchmark.Row) (deem.Item, error) {
		src := s.sources[row.File]
		it, err := s.item(row, src)
		if err == nil && src.classes != "" {
			benchmark.SetField(&it, fieldUpstream, src.classes)
		}
		return it, err
	})
}

// folder is the file layout of pred.py.
var folder = benchmark.Folder{
	Is: isPredictions, Rank: table.Rank,
	Example: "that pred.py wrote, as pred/llama2-7b-chat-4k",
	Usage:   "--data pred/MODEL, the folder that pred.py wrote",
}

// isPredictions reports whether upstream reads a file with this name, or would if it were
// uncompressed.
func isPredictions(name string) bool {
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return strings.HasSuffix(name, "jsonl")
}

// isEven reports whether a file is in a folder pred_e, like those of LongBench-E.
func isEven(file string) bool {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(file)), "/"), "pred_e")
}
