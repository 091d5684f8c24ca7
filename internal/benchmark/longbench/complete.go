package longbench

import (
	"deem/internal/benchmark"
	"deem/internal/words"
)

// sizeV2 is the number of questions in LongBench v2.
const sizeV2 = 503

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
	s.in.Note(lack.Notes()...)
	s.in.Note(benchmark.EmptyFiles(names, func(file string) bool { return s.sources[file] != nil })...)
	if bare := s.bare(); bare > 0 {
		s.in.Note(words.Count(bare, "item") + " without a reference, which upstream scores 0")
	}
	s.uneven()
	return nil
}

// lack returns what is missing from the files compared with the published data of their
// edition. The sizes of LongBench-E are unknown here.
func (s *Set) lack() benchmark.Lack {
	var lack benchmark.Lack
	have := map[string]bool{}
	for _, src := range s.order {
		have[src.task] = true
		t, known := table.Of(src.task)
		switch {
		case s.edition == V2:
			lack.Size(src.task, src.rows, sizeV2)
		case s.edition == V1 && known:
			lack.Size(src.task, src.rows, t.size)
		}
	}
	if s.edition != V2 {
		lack.Missing = table.Missing(have, func(t task) bool { return s.edition != E || t.even })
	}
	return lack
}

// bare returns the number of items without a reference.
func (s *Set) bare() int {
	n := 0
	for _, src := range s.order {
		n += src.bare
	}
	return n
}

// uneven notes the tasks that LongBench-E does not have.
func (s *Set) uneven() {
	if s.edition != E {
		return
	}
	for _, src := range s.order {
		if t, _ := table.Of(src.task); !t.even {
			s.in.Note("task " + src.task + " is not one of the 13 of LongBench-E")
		}
	}
}
