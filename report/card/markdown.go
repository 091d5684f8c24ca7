package card

import (
	"fmt"
	"io"
	"strings"
	"time"

	"deem/internal/words"
	"deem/report"
	"deem/report/internal/page"
	"deem/stat"
)

// Markdown writes the card of a report as a table for a README.
func Markdown(w io.Writer, r report.Report) error {
	s := &sheet{}
	s.card(r)
	s.notes()
	return s.flush(w)
}

// Write writes a report as Markdown: the numbers, the tables by category and kind of
// failure, the card, and the notes. Names come from data, so they stand in code spans,
// in which neither markup nor the name of a person has an effect.
func Write(w io.Writer, r report.Report) error {
	s := &sheet{}
	s.printf("## %s\n\n", title(r))
	if r.Hold != nil {
		s.printf("**The headline is withheld: %s.**\n\n", r.Hold.Reason)
	}
	s.metrics(r)
	s.categories(r.Categories, r.Withheld())
	s.failures(r.Failures)
	s.published(r)
	s.printf("### Harness card\n\n")
	s.card(r)
	for _, n := range r.Notes {
		s.mark(n)
	}
	s.notes()
	return s.flush(w)
}

// A sheet is a text as it is written, with its notes.
type sheet struct {
	strings.Builder
	footnotes []string
}

func (s *sheet) printf(format string, args ...any) { fmt.Fprintf(s, format, args...) }

func (s *sheet) flush(w io.Writer) error {
	_, err := io.WriteString(w, strings.TrimRight(s.String(), "\n")+"\n")
	return err
}

// row writes a row of a table. Cells are Markdown already.
func (s *sheet) row(cells ...string) { s.printf("| %s |\n", strings.Join(cells, " | ")) }

// rule writes the line below the names of the columns, those of numbers to the right.
func (s *sheet) rule(align string) {
	cells := make([]string, 0, len(align))
	for _, a := range align {
		if a == 'r' {
			cells = append(cells, "---:")
		} else {
			cells = append(cells, "---")
		}
	}
	s.row(cells...)
}

// mark returns the marks of warnings, whose texts are written by notes.
func (s *sheet) mark(warnings ...string) string {
	marks := ""
	for i, w := range warnings {
		at := indexOf(s.footnotes, w)
		if at < 0 {
			at = len(s.footnotes)
			s.footnotes = append(s.footnotes, w)
		}
		if indexOf(warnings[:i], w) < 0 {
			marks += fmt.Sprintf(" (%d)", at+1)
		}
	}
	return marks
}

func indexOf(list []string, s string) int {
	for i, e := range list {
		if e == s {
			return i
		}
	}
	return -1
}

// notes writes what the marks mean.
func (s *sheet) notes() {
	if len(s.footnotes) == 0 {
		return
	}
	s.printf("\n")
	for i, n := range s.footnotes {
		s.printf("%d. %s\n", i+1, plain(n))
	}
}

// title returns what the numbers are about.
func title(r report.Report) string {
	what := code(r.Head.System)
	if what == "" {
		what = "Responses"
	}
	if r.Head.Dataset != "" {
		what += " on " + code(r.Head.Dataset)
	}
	return what + ", judged by " + code(page.OrNone(r.Head.Judge))
}

// metrics writes the three numbers of each metric.
func (s *sheet) metrics(r report.Report) {
	s.row("", "value", "95% interval", "n", "unjudged")
	s.rule("lrlrr")
	for _, f := range r.Metrics {
		if f.Judged == nil {
			s.row("**"+plain(f.Metric)+"**", page.Absent(r.Withheld()), "", words.Comma(r.Judged), words.Comma(f.Unjudged))
		} else {
			s.estimate("**"+plain(f.Metric)+"**", *f.Judged, f.Unjudged)
		}
		if f.Items == 0 {
			continue
		}
		s.estimate("strict, "+page.Treatment(f.Unjudged, "failures counted as wrong"), f.Strict, f.Unjudged)
		s.row("band, "+page.Treatment(f.Unjudged, "from all failures wrong to all right"),
			page.Percent(f.Band.Lo)+" to "+page.Percent(f.Band.Hi), "", words.Comma(f.Items), words.Comma(f.Unjudged))
	}
	if u := r.Upstream; u != nil && r.Items > 0 {
		s.estimate(code(u.Name), u.Estimate, u.Unjudged)
	}
	s.printf("\n")
}

func (s *sheet) estimate(name string, est stat.Estimate, unjudged int) {
	s.row(name, page.Percent(est.Value), interval(est)+s.mark(est.Warnings...), words.Comma(est.N), words.Comma(unjudged))
}

// interval returns the ends of an interval in percent, "-" when there is none.
func interval(est stat.Estimate) string {
	if est.Method == stat.MethodNone {
		return "-"
	}
	return fmt.Sprintf("%.1f to %.1f", 100*est.Lo, 100*est.Hi)
}

// categories writes a row for each category.
func (s *sheet) categories(rows []report.Category, withheld bool) {
	if len(rows) == 0 {
		return
	}
	s.row("category", plain(rows[0].Metric), "95% interval", "n", "unjudged", "strict")
	s.rule("lrlrrr")
	for _, c := range rows {
		mark := ""
		if c.Differs() {
			mark = s.mark(report.Differs)
		}
		value, ends := page.Absent(withheld), ""
		if c.Judged != nil {
			value, ends = page.Percent(c.Judged.Value), interval(*c.Judged)+s.mark(c.Judged.Warnings...)
		}
		s.row(code(c.Name)+mark, value, ends, words.Comma(c.Items-c.Unjudged), words.Comma(c.Unjudged), page.Percent(c.Strict.Value))
	}
	s.printf("\n")
}

// failures writes the unjudged items by kind.
func (s *sheet) failures(rows []report.Failures) {
	if len(rows) == 0 {
		return
	}
	s.row("unjudged", "items", "as")
	s.rule("lrl")
	for _, f := range rows {
		ids := make([]string, len(f.Examples))
		for i, id := range f.Examples {
			ids[i] = code(page.Cell(page.OrNone(id), page.IDWidth))
		}
		s.row(code(page.OrNone(string(f.Kind))), words.Comma(f.N), strings.Join(ids, ", "))
	}
	s.printf("\n")
}

// published writes a benchmark's own numbers as its package prints them.
func (s *sheet) published(r report.Report) {
	if r.PublishedText == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(r.PublishedText, "\n"), "\n")
	s.printf("### As the benchmark publishes it\n\n")
	for _, line := range lines {
		s.printf("%s\n", strings.TrimRight("    "+words.Clean(line), " "))
	}
	s.printf("\n")
}

// card writes the table of the harness.
func (s *sheet) card(r report.Report) {
	c := New(r)
	s.row("harness", "")
	s.rule("ll")
	for _, f := range facts(r, c) {
		if f[1] != "" {
			s.row(f[0], f[1])
		}
	}
}

// facts returns the rows of the card, as Markdown.
func facts(r report.Report, c Card) [][2]string {
	rows := [][2]string{
		{"judge", joined(code(page.OrNone(c.Judge)), plain(c.JudgeKind), page.Prefix("hash ", code(c.JudgeHash)))},
		{"", plain(words.Fold(c.JudgeNote))},
		{"reading", plain(c.Reading)},
	}
	for _, p := range c.Prompts {
		rows = append(rows, [2]string{"prompt", joined(code(p.Name), "sha256 "+code(p.SHA256))})
	}
	rows = append(rows, [2]string{"parameters", codes(report.Harness{Params: c.Params}.ParamList())}, [2]string{"not sent", plain(strings.Join(report.Harness{Dropped: c.Dropped}.DroppedList(), "; "))}, [2]string{"model", code(c.Model)}, [2]string{"seen", codes(r.Seen())})
	rows = append(rows, [][2]string{
		{"system", joined(code(c.System), page.Prefix("model ", code(c.SystemModel)))},
		{"dataset", joined(code(c.Dataset), page.Prefix("hash ", code(c.DatasetHash)), words.Count(c.Items, "item"))},
		{"counts", plain(r.Counts())},
	}...)
	if len(c.Metrics) > 0 && c.Metrics[0].Items > 0 {
		rows = append(rows, score(c)...)
	}
	rows = append(rows, [2]string{"errata", errata(c.Errata)}, [2]string{"lock", lock(c.Lock)})
	return append(rows, [2]string{"deem", code(c.Deem)}, [2]string{"run", joined(code(c.Run), when(c))})
}

// score returns the headline for the card, and the strict number beside it.
func score(c Card) [][2]string {
	f := c.Metrics[0]
	head := page.Absent(c.Withheld != nil)
	if f.Judged != nil {
		head = fmt.Sprintf("%s, 95%% interval %s", page.Percent(f.Judged.Value), interval(*f.Judged))
	}
	strict := fmt.Sprintf("%s, 95%% interval %s", page.Percent(f.Strict.Value), interval(f.Strict))
	return [][2]string{
		{plain(f.Metric), fmt.Sprintf("%s, n=%d, %s", head, c.Judged, page.Unjudged(f.Unjudged))},
		{"strict", fmt.Sprintf("%s, n=%d", strict, f.Strict.N)},
	}
}

func errata(e *report.ErrataFile) string {
	if e == nil {
		return ""
	}
	return joined(code(e.File), "hash "+code(e.Hash), words.Count(e.Faulty, "item")+" with a wrong reference")
}

func lock(l *report.Lock) string {
	if l == nil {
		return ""
	}
	return joined("hash "+code(l.Hash), plain(l.Words()))
}

// when says how far the run is, and when it began.
func when(c Card) string {
	state := "complete"
	if !c.Complete {
		state = "not complete"
	}
	if c.Started.IsZero() {
		return state
	}
	return state + ", started " + c.Started.UTC().Format(time.DateTime) + " UTC"
}

func joined(parts ...string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, ", ")
}

func codes(list []string) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = code(s)
	}
	return strings.Join(parts, ", ")
}

// code returns text as a code span in a table: nothing in it is markup. A fence of
// backticks is longer than any inside, and a bar is escaped, as tables want it there too.
func code(s string) string {
	if s = words.Clean(s); s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.Trim(s, " ") != s {
		s = " " + s + " "
	}
	return fence + strings.ReplaceAll(s, "|", `\|`) + fence
}

// marks are the characters that mean something in Markdown.
const marks = "\\`*_{}[]<>#|~!@&"

// plain returns words as they are, with what would be markup escaped. Behind @ and # an
// empty comment keeps hosts from calling a person, or linking an issue, of that name.
func plain(s string) string {
	var b strings.Builder
	for _, r := range words.Clean(s) {
		if strings.ContainsRune(marks, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		if r == '@' || r == '#' {
			b.WriteString("<!-- -->")
		}
	}
	return b.String()
}
