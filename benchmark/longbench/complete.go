package longbench

import (
	"fmt"
	"strings"

	"deem"
)

// sizeV2 is how many questions LongBench v2 has.
const sizeV2 = 503

// complete notes what the files lack of what is published, or makes it an error. The
// sizes of LongBench-E are not known here.
func (s *Set) complete(names []string, requireAll bool) error {
	short := s.short()
	missing := s.missing()
	if requireAll && len(short)+len(missing) > 0 {
		return deem.WithHint(fmt.Errorf("read %s: the benchmark is not whole: %s", strings.Join(s.names, ", "), strings.Join(append(missing, short...), ", ")),
			"without --require-all the rest is judged")
	}
	s.notes = s.files.Notes()
	if len(missing) > 0 {
		s.notes = append(s.notes, plural(len(missing), "task")+" without an item, in no number: "+strings.Join(missing, ", "))
	}
	if len(short) > 0 {
		s.notes = append(s.notes, "fewer or more items than published, so that scores are not comparable: "+strings.Join(short, ", "))
	}
	for _, name := range names {
		if _, ok := s.sources[name]; !ok && name != "-" {
			s.notes = append(s.notes, name+" has no line; upstream would stop at it")
		}
	}
	if bare := s.bare(); bare > 0 {
		s.notes = append(s.notes, plural(bare, "item")+" without a reference, which upstream scores 0")
	}
	s.uneven()
	return nil
}

// short returns the tasks that do not have as many items as published.
func (s *Set) short() []string {
	var list []string
	for _, src := range s.order {
		want := src.rows
		if t, ok := taskOf(src.task); ok && s.edition == V1 {
			want = t.size
		}
		if s.edition == V2 {
			want = sizeV2
		}
		if src.rows != want {
			list = append(list, fmt.Sprintf("%s has %d of %d", src.task, src.rows, want))
		}
	}
	return list
}

// missing returns the tasks of the edition that no file has.
func (s *Set) missing() []string {
	if s.edition == V2 {
		return nil
	}
	have := map[string]bool{}
	for _, src := range s.order {
		have[src.task] = true
	}
	var list []string
	for _, t := range tasks {
		if !have[t.name] && (s.edition != E || t.even) {
			list = append(list, t.name)
		}
	}
	return list
}

// bare returns how many items have no reference.
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
		if t, _ := taskOf(src.task); !t.even {
			s.notes = append(s.notes, "task "+src.task+" is not one of the 13 of LongBench-E")
		}
	}
}

// plural returns "1 item", "2 items" and so on.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
