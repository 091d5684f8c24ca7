package probe

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"deem"
	"deem/internal/words"
	"deem/probe"
	"deem/report/internal/page"
	"deem/stat"
)

// JSON writes the card as JSON.
func JSON(w io.Writer, c probe.Card) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

// Text writes the card for a person.
func Text(w io.Writer, c probe.Card) error {
	s := &sheet{c: c}
	s.head()
	s.kinds(false, "wrong answers, accepted")
	s.kinds(true, "right answers, rejected")
	s.injection()
	s.length()
	s.consistency()
	s.order()
	s.mistakes()
	s.Notes(c.Notes...)
	_, err := io.WriteString(w, s.String())
	return err
}

// A sheet is the page of a card.
type sheet struct {
	page.Page
	c probe.Card
}

func (s *sheet) head() {
	c := s.c
	s.WriteString("judge card\n\n")
	s.Line("judge", page.Cell(c.Judge, page.IDWidth), page.Cell(c.Model, page.IDWidth),
		page.Prefix("hash ", deem.ShortHash(c.JudgeHash)), page.Prefix("run ", page.Cell(c.Run, page.IDWidth)))
	s.Line("probes", words.Comma(c.Probes)+from(c), fmt.Sprintf("seed %d", c.Seed), page.Unjudged(c.Unjudged)+because(c))
	s.WriteByte('\n')
	g := &page.Grid{Align: "lell"}
	s.headline(g, "false accepts", c.FalseAccepts)
	s.headline(g, "false rejects", c.FalseRejects)
	if c.Injected != nil {
		s.headline(g, "injection", c.Injected.Turned)
	}
	s.Grid(g, "")
}

// headline adds a rate, unless there are no probes that it could be about.
func (s *sheet) headline(g *page.Grid, name string, r probe.Rate) {
	if r.Probes > 0 {
		g.Add(name, s.rate(r), n(r), page.Unjudged(r.Unjudged)+band(r))
	}
}

// from says what the probes were made of.
func from(c probe.Card) string {
	if c.Sources == 0 {
		return ""
	}
	return " made from " + words.Count(c.Sources, "item")
}

// because lists why probes are unjudged.
func because(c probe.Card) string {
	var reasons []string
	for _, f := range c.Failures {
		reasons = append(reasons, fmt.Sprintf("%s %s", f.Kind, words.Comma(f.N)))
	}
	if len(reasons) == 0 {
		return ""
	}
	return " (" + strings.Join(reasons, ", ") + ")"
}

// rate returns a rate with its interval and the marks of its warnings.
func (s *sheet) rate(r probe.Rate) string {
	if r.Estimate == nil {
		return page.Absent(r.Judged > 0)
	}
	return page.Share(*r.Estimate) + page.Prefix(" ", s.Mark(r.Estimate.Warnings...))
}

func n(r probe.Rate) string { return page.NEquals(r.Judged) }

// band says between what bounds the rate lies, when probes are unjudged.
func band(r probe.Rate) string {
	if r.Unjudged == 0 {
		return ""
	}
	return fmt.Sprintf(", between %s and %s", page.Percent(r.Band[0]), page.Percent(r.Band[1]))
}

// kinds writes a table of the kinds that are right, or of those that are wrong.
func (s *sheet) kinds(want bool, title string) {
	g := &page.Grid{Align: "lerrll"}
	axis := page.Axis{Lo: 0, Hi: 1, Width: 20}
	g.Add("", "", "n", "unjudged", axis.Head(), "")
	rows := 0
	for _, k := range s.c.Kinds {
		if k.Want != want {
			continue
		}
		rows++
		drawn := ""
		if k.Estimate != nil {
			drawn = axis.Bar(*k.Estimate)
		}
		g.Add(page.Cell(string(k.Kind), page.NameWidth), s.rate(k.Rate), words.Comma(k.Judged), words.Comma(k.Unjudged), drawn, k.About)
	}
	if rows > 0 {
		s.Section(title)
		s.Grid(g, "  ")
	}
}

func (s *sheet) injection() {
	i := s.c.Injected
	if i == nil {
		return
	}
	s.Section("instructions to the judge")
	if i.Accepted.Judged == 0 {
		s.Wrap("  ", "No wrong answer with an instruction behind it was judged.")
		return
	}
	s.Wrap("  ", fmt.Sprintf("A wrong answer with an instruction behind it is accepted in %s (%s). Of answers that are rejected without it, %s (%s) are accepted with it.",
		s.rate(i.Accepted), n(i.Accepted), s.rate(i.Turned), n(i.Turned)))
	if len(i.Strings) == 0 {
		return
	}
	const most = 12
	var names []string
	for _, str := range i.Strings[:min(most, len(i.Strings))] {
		names = append(names, fmt.Sprintf("%s (%d of %d)", page.Cell(str.Name, page.NameWidth), str.Accepted, str.Judged))
	}
	more := ""
	if left := len(i.Strings) - most; left > 0 {
		more = fmt.Sprintf(" and %d more", left)
	}
	s.Wrap("  ", "It does as it is told by "+strings.Join(names, ", ")+more+".")
}

func (s *sheet) length() {
	l := s.c.Length
	if l == nil {
		return
	}
	s.Section("the same answer in a long text is accepted more often by")
	g := &page.Grid{Align: "lell"}
	s.shift(g, "wrong answers", l.Wrong)
	s.shift(g, "right answers", l.Right)
	s.Grid(g, "  ")
}

func (s *sheet) shift(g *page.Grid, name string, sh *probe.Shift) {
	if sh == nil {
		return
	}
	g.Add(name, points(sh.Estimate)+page.Prefix(" ", s.Mark(sh.Estimate.Warnings...)), page.NEquals(sh.Estimate.N),
		fmt.Sprintf("%s as it is, %s in a long text, %+.1f pp per 100 words", page.Percent(sh.Plain), page.Percent(sh.Long), 100*sh.Per100))
}

// points returns a difference of shares in percentage points. One whose interval holds 0
// may be noise, and is marked so.
func points(e stat.Estimate) string {
	text := fmt.Sprintf("%.1f pp ", 100*e.Value) + e.Ends("%.1f", 100)
	if e.Lo <= 0 && e.Hi >= 0 {
		text += " ~"
	}
	return text
}

func (s *sheet) consistency() {
	c := s.c.Consistency
	if c == nil {
		return
	}
	s.Section("the same probe again")
	s.Wrap("  ", fmt.Sprintf("All %d trials agree on %s of %s; two trials differ with a chance of %s.",
		s.c.Trials, page.Share(c.Steady), words.Count(c.Probes, "probe"), page.Percent(c.Flips)))
}

func (s *sheet) order() {
	o := s.c.Order
	if o == nil {
		return
	}
	s.Section("the order of two responses")
	text := fmt.Sprintf("It decides %s of %s", page.Share(o.Flips), words.Count(o.Pairs, "pair"))
	if o.Flips.Value > 0 {
		text += fmt.Sprintf("; the first place wins in %s of these", page.Percent(o.First))
	}
	s.Wrap("  ", text+".")
}

func (s *sheet) mistakes() {
	if len(s.c.Mistakes) == 0 {
		return
	}
	s.Section("for example")
	last := probe.Kind("")
	for _, m := range s.c.Mistakes {
		if m.Kind == last {
			continue // one of each kind; the page has more
		}
		last = m.Kind
		s.Wrap("  ", fmt.Sprintf("%s: %s where %s is right: %s", page.Cell(m.ID, page.IDWidth), short(m.Response), short(m.Reference), page.Cell(m.Label, page.NameWidth)))
	}
}

// short returns a text that fits into a line, in quotes.
func short(text string) string {
	return `"` + page.Cell(strings.Join(strings.Fields(text), " "), 60) + `"`
}
