package infinitebench

import (
	"fmt"
	"strings"

	"deem"
)

// complete notes what the files lack of what is published, or makes it an error.
func (s *Set) complete(names []string, requireAll bool) error {
	short, missing := s.short(), s.missing()
	if requireAll && len(short)+len(missing) > 0 {
		return deem.WithHint(fmt.Errorf("read %s: the benchmark is not whole: %s", strings.Join(s.names, ", "), strings.Join(append(missing, short...), ", ")),
			"without --require-all the rest is judged")
	}
	s.notes = s.files.Notes()
	for _, src := range s.order {
		s.notes = append(s.notes, src.notes()...)
	}
	if len(missing) > 0 {
		s.notes = append(s.notes, plural(len(missing), "task")+" without an item, in no number: "+strings.Join(missing, ", "))
	}
	if len(short) > 0 {
		s.notes = append(s.notes, "fewer or more items than published, so that scores are not comparable: "+strings.Join(short, ", "))
	}
	for _, name := range names {
		if _, ok := s.sources[name]; !ok {
			s.notes = append(s.notes, name+" has no line; upstream would stop at it")
		}
	}
	return nil
}

// notes tells what is odd about a file.
func (src *source) notes() []string {
	var list []string
	for _, p := range src.unusable {
		list = append(list, p.Error()+": the line is left out; upstream would stop at it")
	}
	if src.byLine {
		list = append(list, "ids are missing or repeated in "+src.file+", so that its items are known by their lines")
	}
	if src.unknown > 0 {
		list = append(list, plural(src.unknown, "line")+" without a label in "+src.file+", which upstream compares with XXXXXXXXXX")
	}
	return list
}

// short returns the tasks that do not have as many items as published.
func (s *Set) short() []string {
	var list []string
	for _, src := range s.order {
		if t, _ := taskOf(src.task); t.size > 0 && src.rows != t.size {
			list = append(list, fmt.Sprintf("%s has %d of %d", src.task, src.rows, t.size))
		}
	}
	return list
}

// missing returns the tasks of the README's table that no file has.
func (s *Set) missing() []string {
	have := map[string]bool{}
	for _, src := range s.order {
		have[src.task] = true
	}
	var list []string
	for _, t := range tasks {
		if t.title != "" && !have[t.name] {
			list = append(list, t.name)
		}
	}
	return list
}

// plural returns "1 item", "2 items" and so on.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
