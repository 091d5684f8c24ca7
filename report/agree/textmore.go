package agree

import (
	"fmt"
	"strings"

	"deem/internal/words"
	"deem/report/internal/page"
	"deem/stat"
)

// own writes how the judge does on answers of its own kind.
func (p *sheet) own() {
	o := p.a.Own
	if o == nil || o.Own == nil {
		return
	}
	p.Section("own answers, of the model family " + page.Cell(o.Family, page.NameWidth))
	g := &page.Grid{Align: "lreee"}
	g.Add("", "n", "agreement", "wrong accepted", "judge minus "+p.truth())
	row := func(name string, m *Measures, l *stat.Estimate) {
		if m != nil {
			g.Add(name, words.Comma(m.Confusion.N()), page.Share(m.Agreement), acceptance(m.FalseAccept), page.Share(*l))
		}
	}
	row("own", o.Own, o.OwnLeniency)
	row("others'", o.Others, o.OthersLeniency)
	p.Grid(g, "  ")
	if d := o.FalseAccept; d != nil && d.N > 0 {
		p.Wrap("  ", leniencySentence(*d))
	}
}

// acceptance returns a share of wrong answers, or that there are none.
func acceptance(est stat.Estimate) string {
	if est.N == 0 {
		return "no wrong answer"
	}
	return page.Share(est)
}

// leniencySentence says whether the judge favours its own.
func leniencySentence(d stat.Estimate) string {
	gap := page.Points(d)
	switch {
	case d.Lo > 0:
		return "Wrong answers of its own family are accepted more often than others': " + gap + "."
	case d.Hi < 0:
		return "Wrong answers of its own family are accepted less often than others': " + gap + "."
	default:
		return "Wrong answers of its own family and others' are accepted about equally often: ~ " + gap + "."
	}
}

// disagreements names the worst of either kind.
func (p *sheet) disagreements() {
	for _, accepts := range []bool{true, false} {
		var list []Disagreement
		for _, d := range p.a.Disagreements {
			if d.Judge == accepts {
				list = append(list, d)
			}
		}
		if len(list) == 0 {
			continue
		}
		title := fmt.Sprintf("the judge says yes and %s no", p.a.who())
		if !accepts {
			title = fmt.Sprintf("the judge says no and %s yes", p.a.who())
		}
		p.Section(fmt.Sprintf("%s: %s%s", title, words.Count(len(list), "item"), order(list)))
		p.listed(list)
	}
}

// order says in which order they come.
func order(list []Disagreement) string {
	if list[0].Confidence != nil || list[0].Of > 1 {
		return ", the worst first"
	}
	return ""
}

func (p *sheet) listed(list []Disagreement) {
	g := &page.Grid{Align: "llll"}
	for _, d := range list[:min(len(list), shown)] {
		sure := ""
		if d.Confidence != nil {
			sure = fmt.Sprintf("confidence %.2f", *d.Confidence)
		}
		votes := ""
		if d.Of > 1 {
			votes = fmt.Sprintf("%d of %d annotators", d.For, d.Of)
		}
		g.Add(page.Cell(d.Item, page.IDWidth), page.Cell(d.Category, page.NameWidth), sure, votes)
	}
	p.Grid(g, "  ")
	if more := len(list) - shown; more > 0 {
		p.WriteString("  and " + words.Comma(more) + " more; --json has all\n")
	}
}

// registry says how the disagreements differ from those that are known.
func (p *sheet) registry() {
	c := p.a.Registry
	if c == nil {
		return
	}
	p.Section(fmt.Sprintf("known disagreements: %s", words.Comma(c.Known)))
	if c.Pass() {
		p.WriteString("  every one is still there, and there is no other\n")
		return
	}
	for _, k := range c.Appeared {
		p.Wrap("  ", fmt.Sprintf("appeared: %s: the judge says %s and %s %s",
			page.Cell(k.Item, page.IDWidth), yesNo(k.Judge), p.a.who(), yesNo(k.People)))
	}
	for _, k := range c.Gone {
		text := fmt.Sprintf("gone: %s: %s", page.Cell(k.Item, page.IDWidth), k.Now)
		if k.Why != "" {
			text += " (known as: " + strings.TrimSuffix(words.Fold(k.Why), ".") + ")"
		}
		p.Wrap("  ", text)
	}
}
