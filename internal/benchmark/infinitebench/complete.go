package infinitebench

import (
	"deem/internal/benchmark"
	"deem/internal/words"
)

// complete notes what is missing from the files compared with the published data, or makes
// it an error.
func (s *Set) complete(names []string, requireAll bool) error {
	lack := s.lack()
	if requireAll {
		if err := lack.Whole(s.in.String()); err != nil {
			return err
		}
	}
	s.in.Note(s.in.FileNotes()...)
	for _, src := range s.order {
		s.in.Note(src.notes()...)
	}
	s.in.Note(lack.Notes()...)
	s.in.Note(benchmark.EmptyFiles(names, func(file string) bool { return s.sources[file] != nil })...)
	return nil
}

// notes describes the oddities of a file.
func (src *source) notes() []string {
	var list []string
	for _, p := range src.unusable {
		list = append(list, p.Error()+": the line is left out; upstream would stop at it")
	}
	if src.byLine {
		list = append(list, "ids are missing or repeated in "+src.file+", so that its items are known by their lines")
	}
	if src.unknown > 0 {
		list = append(list, words.Count(src.unknown, "line")+" without a label in "+src.file+", which upstream compares with XXXXXXXXXX")
	}
	return list
}

// lack returns what is missing from the files compared with the published data: tasks of
// the README's table without a file, and tasks with a different number of items.
func (s *Set) lack() benchmark.Lack {
	var lack benchmark.Lack
	have := map[string]bool{}
	for _, src := range s.order {
		have[src.task] = true
		if t, _ := table.Of(src.task); t.size > 0 {
			lack.Size(src.task, src.rows, t.size)
		}
	}
	lack.Missing = table.Missing(have, func(t task) bool { return t.title != "" })
	return lack
}
