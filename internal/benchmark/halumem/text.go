package halumem

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"deem"
	"deem/internal/words"
)

// Text writes the metrics as text, each with its interval, n and the unjudged count. A
// withheld metric has the reason and its bounds.
func (m *Metrics) Text(w io.Writer) error {
	s := m.Summary()
	var b strings.Builder
	fmt.Fprintf(&b, "halumem, reading %s: %s, %d unjudged\n\n", s.Reading, words.Count(s.Items, "item"), s.Unjudged)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tvalid [95%]\tall\tn\tunjudged\t")
	for _, f := range s.Metrics {
		all, remark := "-", f.Withheld
		if f.All != nil {
			all = percent(f.All.Value)
		}
		if remark == "" {
			remark = f.Paper
		} else if f.Band != nil {
			remark = fmt.Sprintf("%s: somewhere from %s to %s", f.Withheld, percent(f.Band.Lo), percent(f.Band.Hi))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%s\n", f.Name, valid(f), all, standsOn(f), f.Unjudged, remark)
	}
	t.Flush() //nolint:errcheck // a Builder never fails
	groups(&b, "memory type", s.MemoryTypes)
	groups(&b, "question type", s.QuestionType)
	groups(&b, "difficulty", s.Difficulty)
	if s.Attribution.Wrong > 0 {
		fmt.Fprintf(&b, "\nwhere %s went wrong\n", words.Count(s.Attribution.Wrong, "wrong answer"))
	}
	for _, l := range s.Attribution.Losses {
		if l.N > 0 {
			fmt.Fprintf(&b, "%-17s  %d\n", l.Where, l.N)
		}
		for _, id := range l.Items {
			fmt.Fprintf(&b, "    %s\n", words.Clean(id))
		}
	}
	if s.Times.AddDialogue != nil {
		fmt.Fprintf(&b, "\nadding dialogues took %.2f minutes", *s.Times.AddDialogue)
	}
	if s.Times.Search != nil {
		fmt.Fprintf(&b, "\nsearching took %.2f minutes", *s.Times.Search)
	}
	if s.Times.AddDialogue != nil || s.Times.Search != nil {
		b.WriteByte('\n')
	}
	for _, stage := range slices.Sorted(maps.Keys(s.Failures)) {
		fmt.Fprintf(&b, "\nunjudged in %s:", words.Clean(stage))
		for _, kind := range deem.Kinds() {
			if n := s.Failures[stage][kind]; n > 0 {
				fmt.Fprintf(&b, " %d %s", n, kind)
			}
		}
	}
	if len(s.Failures) > 0 {
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	for _, note := range s.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// groups writes three figures with the same name before the colon as one row.
func groups(b *strings.Builder, title string, figures []Figure) {
	if len(figures) == 0 {
		return
	}
	fmt.Fprintln(b)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, title)
	for _, f := range figures[:perGroup] {
		_, part := nameAndPart(f)
		fmt.Fprintf(t, "\t%s", part)
	}
	fmt.Fprintln(t, "\tn\tunjudged")
	for row := range slices.Chunk(figures, perGroup) {
		name, _ := nameAndPart(row[0])
		fmt.Fprint(t, words.Clean(name))
		for _, f := range row {
			fmt.Fprintf(t, "\t%s", valid(f))
		}
		fmt.Fprintf(t, "\t%d\t%d\n", standsOn(row[0]), row[0].Unjudged)
	}
	t.Flush() //nolint:errcheck // a Builder never fails
}

// perGroup is the number of figures of a group of memory points or questions.
const perGroup = 3

// nameAndPart splits the name of a figure of a group. The name of the group may contain a
// colon.
func nameAndPart(f Figure) (name, part string) {
	at := strings.LastIndex(f.Name, ": ")
	return f.Name[:at], f.Name[at+2:]
}

// standsOn returns the number of items of a figure.
func standsOn(f Figure) int {
	if f.Valid != nil {
		return f.Valid.N
	}
	return f.Items - f.Unjudged
}

func valid(f Figure) string {
	switch {
	case f.Valid != nil:
		return percent(f.Valid.Value) + " " + f.Valid.Ends("%.1f", 100)
	case f.Items == 0:
		return "-"
	}
	return "withheld"
}

func percent(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) }
