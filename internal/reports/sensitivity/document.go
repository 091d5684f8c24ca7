package sensitivity

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
)

// HTML writes the report as one self-contained file.
func (r Report) HTML(w io.Writer) error { return doc.HTML(w, r.Document()) }

// Document lays out the report: first all systems, then each system with its claims, its
// scores and the differences between judges.
func (r Report) Document() *doc.Document {
	names := make([]string, len(r.Systems))
	for i, s := range r.Systems {
		names[i] = s.Name
	}
	title := words.And(names)
	if len(names) > 3 {
		title = words.Count(len(names), "system")
	}
	p := &paper{Report: r, Document: &doc.Document{Title: title + " under " + words.Count(len(r.Judges), "judge")}}
	p.picture()
	p.orders()
	for _, s := range r.Systems {
		first := len(p.Sections)
		p.claims(s)
		p.scores(s)
		p.changes(s)
		p.flips(s)
		notes := []doc.Block{}
		for _, note := range s.Notes {
			notes = append(notes, say("%s", words.Fold(note)))
		}
		p.Add(doc.Section{Title: "Notes", Blocks: notes})
		p.Add(doc.Section{Title: "What was read", Blocks: []doc.Block{say("%s.", s.recognised())}})
		if len(p.Systems) > 1 {
			p.Sections = slices.Insert(p.Sections, first, doc.Section{Title: s.Name})
		}
	}
	p.pairs()
	p.Mark(r.Notes...)
	return p.Document
}

// A paper builds the document of a report.
type paper struct {
	Report
	*doc.Document
}

func say(format string, args ...any) doc.Block {
	return doc.Paragraph{Text: fmt.Sprintf(format, args...)}
}

// recognised describes in one sentence what was read: the format, the rows, the columns,
// the judge, its trials, the rule, and what was left out.
func (s System) recognised() string {
	src := s.Source
	var b strings.Builder
	files := slices.Clone(src.Files)
	for i, name := range files {
		if doc.IDs([]string{name}, 0) != name { // a longer name would be truncated
			files[i] = filepath.Base(name)
		}
	}
	fmt.Fprintf(&b, "%s from %s: %s", src.Shape, doc.IDs(files, 0), words.Count(s.Items, "item"))
	if len(src.Columns) > 0 {
		columns := make([]string, len(src.Columns))
		for i, c := range src.Columns {
			if part, column, ok := strings.Cut(c, "="); ok && part == column {
				columns[i] = part
			} else {
				columns[i] = part + " from " + column
			}
		}
		fmt.Fprintf(&b, " (%s)", doc.IDs(columns, 0))
	}
	if src.Judge == "" {
		b.WriteString(" without verdicts")
	} else {
		fmt.Fprintf(&b, ", verdicts of %s", src.Judge)
		for _, part := range []string{doc.Prefix("model ", src.Model), doc.Prefix("hash ", deem.ShortHash(src.Hash))} {
			if part != "" {
				b.WriteString(", " + part)
			}
		}
		if src.Trials > 1 {
			fmt.Fprintf(&b, ", %d on each item", src.Trials)
		}
		if src.Replies > 0 {
			fmt.Fprintf(&b, ", %s with the judge's reply", words.Comma(src.Replies))
		}
	}
	if src.Rule != "" {
		b.WriteString("; " + words.Fold(src.Rule))
	}
	if len(src.LeftOut) == 0 {
		return b.String() + "; no row was left out"
	}
	return b.String() + "; " + words.Fold(strings.Join(src.LeftOut, "; "))
}

// claims lists the claims about all rows, and all claims that do not agree. The others are
// only counted.
func (p *paper) claims(s System) {
	if s.Source.Judge == "" {
		return
	}
	name := doc.Col("claim")
	name.Width = 44 // the name is a path in a file
	t := doc.Table{Columns: []doc.Column{name, doc.Num("claimed"), doc.Num("the rows"), doc.Num(""), doc.Col("")}}
	blocks := []doc.Block{}
	for _, c := range s.Claims {
		if c.Agrees && (!c.Main || len(t.Rows) >= mainClaims) && c != s.headline() {
			continue
		}
		outcome := doc.Cell{Text: "agrees", Tone: doc.Good}
		switch {
		case !c.Agrees && !c.Counted:
			outcome = doc.Cell{Text: "cannot be counted", Tone: doc.Bad}
		case !c.Agrees:
			outcome = doc.Cell{Text: "not confirmed", Tone: doc.Bad}
		case c.How != "":
			outcome.Text = "agrees, " + words.Fold(c.How)
		}
		t.Rows = append(t.Rows, []doc.Cell{doc.T(c.Name), doc.T(c.Claimed), doc.T(c.Rows()), doc.T(c.counts()), outcome})
		if c.Because != "" {
			blocks = append(blocks, say("%s agrees when counted in another way: %s.", c.Name, words.Fold(c.Because)))
		}
	}
	if quiet := len(s.Claims) - len(t.Rows); quiet > 0 {
		blocks = append(blocks, say("%s more %s, by category and the like.", words.Comma(quiet), words.Form(quiet, "agrees", "agree")))
	}
	if len(s.Claims) == 0 {
		blocks = append(blocks, say("The file claims no number; --claimed says what was published."))
	}
	p.Add(doc.Section{Title: "Claimed, and what the rows give", Blocks: append([]doc.Block{t}, blocks...)})
	also := doc.Table{Columns: []doc.Column{doc.Col("also in the rows"), doc.Num("mean"), doc.Num("n")}}
	for _, a := range s.Also {
		if math.IsNaN(a.Mean) {
			continue // no row has a number
		}
		also.Rows = append(also.Rows, []doc.Cell{doc.T(a.Name), doc.T(fmt.Sprintf("%.4f", a.Mean)), doc.N(a.N)})
	}
	p.Add(doc.Section{Blocks: []doc.Block{also}})
}

// headline returns the claim that the file publishes over fewer items than its rows have, as
// LoCoMo without category 5, and an empty one if there is none.
func (s System) headline() Claim {
	var head Claim
	for _, c := range s.Claims {
		if c.Agrees && strings.HasPrefix(c.How, "without ") && c.N < s.Items && c.N > head.N {
			head = c
		}
	}
	return head
}

// mainClaims is the maximum number of agreeing claims that are listed.
const mainClaims = 24

// Rows formats what the rows give, like the claim.
func (c Claim) Rows() string {
	switch {
	case !c.Counted:
		return "nothing"
	case c.Share:
		return fmt.Sprintf("%.2f%%", 100*c.Given)
	case c.Given == float64(int64(c.Given)):
		return words.Comma(int64(c.Given))
	}
	return fmt.Sprintf("%.4f", c.Given)
}

func (c Claim) counts() string {
	switch {
	case c.N == 0:
		return ""
	case c.Share && math.Abs(c.Given-float64(c.Right)/float64(c.N)) > 1e-6:
		return "mean of " + words.Comma(c.N)
	case c.Right > 0 || c.Share && c.Given == 0:
		return fmt.Sprintf("%s of %s", words.Comma(c.Right), words.Comma(c.N))
	}
	return doc.NEquals(c.N)
}

// name returns a name that distinguishes a judge from the others.
func (r Report) name(j int) string {
	judge := r.Judges[j]
	if judge.Kind != Rejudged {
		return judge.Kind
	}
	name := judge.Name
	if judge.Reading != "" {
		name += " [" + judge.Reading + "]"
	}
	if judge.Model != "" {
		name += " (" + judge.Model + ")"
	}
	return name
}

// scores lists the score of each judge. A single system is plotted here, several systems
// are plotted below on one axis.
func (p *paper) scores(s System) {
	t := doc.Table{Columns: []doc.Column{doc.Col("judge"), doc.Est("score [95%]"), doc.Num("items"), doc.Num("unjudged")}}
	if len(p.Systems) == 1 && len(s.Scores) > 1 {
		t.Draw = &doc.Draw{Column: 1, Caption: "Lines are 95% confidence intervals."}
	}
	blocks := []doc.Block{}
	if c := s.headline(); c.Name != "" {
		blocks = append(blocks, say("The file publishes %s (%s), %s. The scores here count all %s.", c.Rows(), c.Name, c.How, words.Count(s.Items, "item")))
	}
	for _, score := range s.Scores {
		t.Rows = append(t.Rows, []doc.Cell{doc.T(p.name(score.Judge)), p.estimate(score), doc.N(score.Items), doc.N(score.Unjudged)})
		if score.Undecided > 0 {
			blocks = append(blocks, say("%s", p.undecided(score)))
		}
		if score.Withheld {
			blocks = append(blocks, say("%s is withheld: %s of %s %s unjudged. If all of these were wrong it would be %s, if all were right %s.",
				p.name(score.Judge), words.Comma(score.Unjudged), words.Count(score.Items, "item"), words.IsAre(score.Unjudged), doc.Percent(score.Lo), doc.Percent(score.Hi)))
		}
	}
	if b := s.Band; b != nil && doc.Percent(b.Lo) == doc.Percent(b.Hi) {
		blocks = append(blocks, say("The same responses score %s under every judge.", doc.Percent(b.Lo)))
	} else if b != nil {
		blocks = append(blocks, say("The same responses score from %s to %s, %.1f pp apart.", doc.Percent(b.Lo), doc.Percent(b.Hi), 100*(b.Hi-b.Lo)))
	}
	p.Add(doc.Section{Title: "Scores", Blocks: append([]doc.Block{t}, blocks...)})
}

// undecided says how far a score depends on items that its judge did not decide.
func (p *paper) undecided(s Score) string {
	text := fmt.Sprintf("%s decided %s of %s and counts the other %s by probability.", p.name(s.Judge),
		words.Comma(s.Items-s.Unjudged-s.Undecided), words.Count(s.Items, "item"), words.Comma(s.Undecided))
	if s.Decided != nil {
		text += fmt.Sprintf(" Over decided items it is %s.", p.Share(*s.Decided).Text)
	}
	return text + fmt.Sprintf(" With all open items wrong it would be %s, with all right %s.", doc.Percent(s.Lo), doc.Percent(s.Hi))
}

func (p *paper) estimate(s Score) doc.Cell {
	if s.Estimate == nil {
		return doc.T(doc.Absent(s.Withheld))
	}
	return p.Share(*s.Estimate)
}

// changes shows how each judge differs from the first.
func (p *paper) changes(s System) {
	t := doc.Table{Columns: []doc.Column{doc.Col("judge"), doc.Num("to yes"), doc.Num("to no"), doc.Est("difference [95%]"), doc.Num("p")}}
	blocks := []doc.Block{}
	for _, score := range s.Scores {
		c := score.Change
		if c == nil {
			continue
		}
		if c.Up.N+c.Down.N == 0 && c.Difference.Value == 0 {
			blocks = append(blocks, say("%s gives the same verdicts as %s.", p.name(score.Judge), p.name(s.Scores[0].Judge)))
			continue
		}
		cell := doc.T(doc.Points(c.Difference))
		if c.Difference.Lo <= 0 && c.Difference.Hi >= 0 {
			cell.Text += " ~"
		}
		t.Rows = append(t.Rows, []doc.Cell{doc.T(p.name(score.Judge)), doc.T(fmt.Sprintf("+%d", c.Up.N)), doc.T(fmt.Sprintf("-%d", c.Down.N)), cell, doc.T(fmt.Sprintf("%.2g", c.P))})
		for i, it := range []Items{c.Up, c.Down} {
			if it.N > 0 {
				blocks = append(blocks, say("%s, from %s: %s: %s", p.name(score.Judge), []string{"no to yes", "yes to no"}[i], words.Count(it.N, "item"), doc.IDs(it.Examples, it.N)))
			}
		}
	}
	title := "Verdicts that changed (~ = not distinguishable from zero at 5%)"
	if len(t.Rows) == 0 {
		title = "No verdict changed"
	}
	p.Add(doc.Section{Title: title, Blocks: append([]doc.Block{t}, blocks...)})
}

// flips shows items on which more than two judges differ.
func (p *paper) flips(s System) {
	if len(p.Judges) < 3 || s.Flips == 0 {
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("item")}}
	for j := range p.Judges {
		t.Columns = append(t.Columns, doc.Col(doc.Clip(p.name(j), 18)))
	}
	for _, f := range s.Examples {
		row := []doc.Cell{doc.T(f.Item)}
		for j := range p.Judges {
			says := "no"
			switch {
			case f.Says[j] == "":
				says = "-"
			case f.Yes[j]:
				says = "yes"
			}
			row = append(row, doc.T(says))
		}
		t.Rows = append(t.Rows, row)
	}
	p.Add(doc.Section{Title: fmt.Sprintf("Judges differ on %s of %s", words.Comma(s.Flips), words.Count(s.Judged, "item")), Detail: true, Blocks: []doc.Block{t}})
}

// pairs lists the agreement of judges if there are more than two. With two, the changes
// show it.
func (p *paper) pairs() {
	if len(p.Pairs) < 2 && len(p.Systems) < 2 {
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("judges"), doc.Est("agreement"), doc.Est("kappa"), doc.Num("only first"), doc.Num("only second"), doc.Num("both yes").InDetail(), doc.Num("both no").InDetail()}}
	t.Columns[0].Width = 60
	for _, a := range p.Pairs {
		t.Rows = append(t.Rows, []doc.Cell{
			doc.T(p.name(a.First) + " - " + p.name(a.Second)), doc.T(doc.Percent(a.Agreement.Value)), p.Coefficient(a.Kappa, 2),
			doc.N(a.FirstOnly), doc.N(a.SecondOnly), doc.N(a.BothYes), doc.N(a.BothNo),
		})
	}
	p.Add(doc.Section{Title: "Agreement of judges", Blocks: []doc.Block{t}})
}

// picture plots the score of every system under every judge on one axis.
func (p *paper) picture() {
	if len(p.Systems) < 2 {
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("system and judge"), doc.Est("score [95%]")}, Draw: &doc.Draw{Column: 1, Caption: "Lines are 95% confidence intervals."}}
	for _, s := range p.Systems {
		t.Rows = append(t.Rows, []doc.Cell{doc.T(s.Name)})
		for _, score := range s.Scores {
			t.Rows = append(t.Rows, []doc.Cell{doc.T(p.name(score.Judge)), p.estimate(score)})
		}
	}
	p.Add(doc.Section{Title: "Every score", Blocks: []doc.Block{t}})
}

// orders shows whether systems keep their order, and each pair of systems.
func (p *paper) orders() {
	if len(p.Orders) == 0 {
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("systems and judge"), doc.Est("difference [95%]"), doc.Num("n"), doc.Col("")}}
	t.Columns[0].Width = 60
	for _, o := range p.Orders {
		head := fmt.Sprintf("%s over %s: %s", o.A, o.B, outcomes[o.Outcome])
		if !o.Paired {
			head += ", not paired: different questions"
		}
		t.Rows = append(t.Rows, []doc.Cell{doc.T(head)})
		for _, lead := range o.Under {
			text := doc.Points(lead.Difference)
			if !lead.Difference.LeavesOut(0) {
				text += " ~"
			}
			t.Rows = append(t.Rows, []doc.Cell{doc.T(p.name(lead.Judge)), doc.T(text), doc.N(lead.N)})
		}
	}
	ranks := doc.Table{Columns: []doc.Column{doc.Col("judges"), doc.Num("Kendall's tau of their rankings")}}
	ranks.Columns[0].Width = 60
	for _, k := range p.Ranks {
		tau := "-"
		if k.Tau != nil {
			tau = fmt.Sprintf("%.2f", *k.Tau)
		}
		ranks.Rows = append(ranks.Rows, []doc.Cell{doc.T(p.name(k.First) + " - " + p.name(k.Second)), doc.T(tau)})
	}
	p.Add(doc.Section{Title: "Does the order of systems depend on the judge?", Blocks: []doc.Block{doc.Paragraph{Text: p.Survives()}, t, ranks}})
}

// outcomes describes an order under each judge.
var outcomes = map[string]string{
	Stands:  "holds, and every judge establishes it",
	Kept:    "same order, not established by every judge",
	Unclear: "no common order is established",
	Turned:  "REVERSED: judges establish opposite orders",
}
