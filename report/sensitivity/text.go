package sensitivity

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/words"
	"deem/report/internal/page"
	"deem/stat"
)

// Text writes the report for a person.
func (r Report) Text(w io.Writer) error {
	p := &sheet{r: r}
	for i, s := range r.Systems {
		if i > 0 {
			p.WriteByte('\n')
		}
		p.system(s)
	}
	p.pairs()
	p.picture()
	p.orders()
	p.Notes(r.Notes...)
	_, err := io.WriteString(w, p.String())
	return err
}

// A sheet is the page of a report.
type sheet struct {
	page.Page
	r Report
}

// nameWidth is how wide the name of a claim may become: it is a path in a file.
const nameWidth = 44

func (p *sheet) system(s System) {
	fmt.Fprintf(p, "%s\n\n", page.Cell(s.Name, page.IDWidth))
	p.Wrap("", s.recognised())
	p.claims(s)
	p.also(s)
	p.scores(s)
	p.changed(s)
	p.flips(s)
	if len(s.Notes) > 0 {
		p.Section("beware")
		for _, note := range s.Notes {
			p.Wrap("  ", words.Fold(note))
		}
	}
}

// short returns paths as they are or, where they would be cut, their last names.
func short(paths []string) []string {
	list := make([]string, len(paths))
	for i, path := range paths {
		if list[i] = path; len(path) > page.IDWidth {
			list[i] = filepath.Base(path)
		}
	}
	return list
}

// recognised says in one sentence what was read: the shape, the rows, the columns, the
// judge, its trials, the rule, and what was left out.
func (s System) recognised() string {
	src := s.Source
	var b strings.Builder
	fmt.Fprintf(&b, "read as %s from %s: %s", src.Shape, page.Cells(short(src.Files), page.IDWidth), words.Count(s.Items, "item"))
	if len(src.Columns) > 0 {
		columns := make([]string, len(src.Columns))
		for i, c := range src.Columns {
			if part, column, ok := strings.Cut(c, "="); ok && part == column {
				columns[i] = part
			} else {
				columns[i] = part + " from " + column
			}
		}
		fmt.Fprintf(&b, " (%s)", page.Cells(columns, page.IDWidth))
	}
	if src.Judge == "" {
		b.WriteString(" without verdicts")
	} else {
		fmt.Fprintf(&b, ", verdicts of %s", page.Cell(src.Judge, page.IDWidth))
		for _, part := range []string{page.Prefix("model ", page.Cell(src.Model, page.IDWidth)), page.Prefix("hash ", deem.ShortHash(src.Hash))} {
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

// claims lists the numbers that are claimed: those about all rows, and all that do not
// come out. The others are only counted.
func (p *sheet) claims(s System) {
	if s.Source.Judge == "" {
		return
	}
	p.Section("what is claimed, and what the rows give")
	if len(s.Claims) == 0 {
		p.Wrap("  ", "the file claims no number; --claimed says what was published")
		return
	}
	g := &page.Grid{Align: "lrrll"}
	g.Add("", "claimed", "the rows")
	var shown []Claim
	quiet := 0
	for _, c := range s.Claims {
		if !c.Agrees || c.Main && len(shown) < mainClaims {
			shown = append(shown, c)
			g.Add(page.Cell(c.Name, nameWidth), page.Cell(c.Claimed, page.NameWidth), c.given(), c.counts(), c.outcome())
		} else {
			quiet++
		}
	}
	p.Grid(g, "  ")
	if quiet > 0 {
		p.Wrap("  ", fmt.Sprintf("%s more %s, by category and the like", words.Comma(quiet), agreeing(quiet)))
	}
	for _, c := range shown {
		if c.Because != "" {
			p.Wrap("  ", fmt.Sprintf("%s comes out as claimed in another way: %s", page.Cell(c.Name, nameWidth), words.Fold(c.Because)))
		}
	}
}

// mainClaims is how many claims that agree are listed.
const mainClaims = 24

func agreeing(n int) string {
	if n == 1 {
		return "agrees"
	}
	return "agree"
}

// given writes what the rows give in the form of the claim.
func (c Claim) given() string {
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
	case c.Right > 0 || c.Share && c.Given == 0:
		return fmt.Sprintf("%s of %s", words.Comma(c.Right), words.Comma(c.N))
	}
	return page.NEquals(c.N)
}

func (c Claim) outcome() string {
	switch {
	case !c.Agrees && !c.Counted:
		return "CANNOT BE COUNTED"
	case !c.Agrees:
		return "DOES NOT AGREE"
	case c.How != "":
		return "agrees, " + words.Fold(c.How)
	}
	return "agrees"
}

// also lists the other numbers of the rows.
func (p *sheet) also(s System) {
	if len(s.Also) == 0 {
		return
	}
	p.Section("further numbers of the rows")
	g := &page.Grid{Align: "lrl"}
	for _, a := range s.Also {
		g.Add(page.Cell(a.Name, page.NameWidth), fmt.Sprintf("%.4f", a.Mean), page.NEquals(a.N))
	}
	p.Grid(g, "  ")
}

// name tells a judge from the others.
func (r Report) name(j int) string {
	judge := r.Judges[j]
	if judge.Kind != Rejudged {
		return judge.Kind
	}
	name := judge.Name
	if judge.Reading != "" {
		name += " [" + judge.Reading + "]"
	}
	return page.Cell(name+page.Prefix(" with ", judge.Model), page.IDWidth)
}

// scores lists what each judge gives.
func (p *sheet) scores(s System) {
	if len(s.Scores) == 0 {
		return
	}
	p.Section("what judges say")
	g := &page.Grid{Align: "lerrll"}
	g.Add("", "score [95%]", "items", "unjudged", "changed", "difference")
	for _, score := range s.Scores {
		changed, difference := score.Change.cells()
		g.Add(p.r.name(score.Judge), p.estimate(score), words.Comma(score.Items), words.Comma(score.Unjudged), changed, difference)
	}
	p.Grid(g, "  ")
	for _, score := range s.Scores {
		if score.Withheld {
			p.Wrap("  ", fmt.Sprintf("%s is withheld: %s of %s %s unjudged; whatever they are, it lies between %s and %s",
				p.r.name(score.Judge), words.Comma(score.Unjudged), words.Count(score.Items, "item"), words.IsAre(score.Unjudged), page.Percent(score.Lo), page.Percent(score.Hi)))
		}
	}
	if b := s.Band; b != nil {
		p.Wrap("  ", fmt.Sprintf("the same responses score from %s to %s, %.1fpp apart", page.Percent(b.Lo), page.Percent(b.Hi), 100*(b.Hi-b.Lo)))
	}
}

func (p *sheet) estimate(s Score) string {
	if s.Estimate == nil {
		return page.Absent(s.Withheld)
	}
	return page.Share(*s.Estimate) + page.Prefix(" ", p.Mark(s.Estimate.Warnings...))
}

// cells writes a change.
func (c *Change) cells() (changed, difference string) {
	if c == nil {
		return "", ""
	}
	mark := ""
	if c.Difference.Lo <= 0 && c.Difference.Hi >= 0 {
		mark = "~ "
	}
	return fmt.Sprintf("+%s -%s", words.Comma(c.Up.N), words.Comma(c.Down.N)), mark + points(c.Difference) + fmt.Sprintf(" p=%.2g", c.P)
}

// points writes a difference in percentage points.
func points(e stat.Estimate) string {
	return fmt.Sprintf("%+.1fpp ", 100*e.Value) + e.Ends("%+.1f", 100)
}

// changed names the items that changed with each judge.
func (p *sheet) changed(s System) {
	if !slices.ContainsFunc(s.Scores, func(s Score) bool { return s.Change != nil && s.Change.Up.N+s.Change.Down.N > 0 }) {
		return
	}
	p.Section("items that changed")
	for _, score := range s.Scores {
		if score.Change == nil {
			continue
		}
		p.items(p.r.name(score.Judge)+", from no to yes", score.Change.Up)
		p.items(p.r.name(score.Judge)+", from yes to no", score.Change.Down)
	}
}

func (p *sheet) items(what string, it Items) {
	if it.N == 0 {
		return
	}
	ids := page.Cells(it.Examples, page.IDWidth)
	if it.N > len(it.Examples) {
		ids += ", ..."
	}
	p.Wrap("  ", fmt.Sprintf("%s: %s: %s", what, words.Count(it.N, "item"), ids))
}

// flips shows items on which more than two judges are not of one mind.
func (p *sheet) flips(s System) {
	if len(p.r.Judges) < 3 || s.Flips == 0 {
		return
	}
	p.Section(fmt.Sprintf("%s of %s on which judges differ", words.Comma(s.Flips), words.Count(s.Judged, "item")))
	g := &page.Grid{Align: "l" + strings.Repeat("l", len(p.r.Judges))}
	head := []string{""}
	for j := range p.r.Judges {
		head = append(head, page.Cell(p.r.name(j), columnWidth))
	}
	g.Add(head...)
	for _, f := range s.Examples {
		cells := []string{page.Cell(f.Item, page.NameWidth)}
		for j := range p.r.Judges {
			cells = append(cells, says(f, j))
		}
		g.Add(cells...)
	}
	p.Grid(g, "  ")
}

// columnWidth is how wide the name of a judge over a column may become.
const columnWidth = 18

func says(f Flip, j int) string {
	switch {
	case f.Says[j] == "":
		return "-"
	case f.Yes[j]:
		return "yes"
	}
	return "no"
}

// pairs lists how far judges agree, when there are more than two: with two, the
// changes say it all.
func (p *sheet) pairs() {
	if len(p.r.Pairs) < 2 && len(p.r.Systems) < 2 || len(p.r.Pairs) == 0 {
		return
	}
	p.Section("how far judges agree")
	g := &page.Grid{Align: "llrrrree"}
	g.Add("", "", "both yes", "only first", "only second", "both no", "agreement", "kappa")
	for _, a := range p.r.Pairs {
		g.Add(page.Cell(p.r.name(a.First), page.NameWidth), page.Cell(p.r.name(a.Second), page.NameWidth),
			words.Comma(a.BothYes), words.Comma(a.FirstOnly), words.Comma(a.SecondOnly), words.Comma(a.BothNo),
			page.Percent(a.Agreement.Value), page.Coefficient(a.Kappa, 2)+p.Mark(a.Kappa.Warnings...))
	}
	p.Grid(g, "  ")
}

// picture draws the score of every system under every judge on one axis.
func (p *sheet) picture() {
	rows := p.r.scored()
	if len(rows) < 2 {
		return
	}
	axis := page.Axis{Lo: 1, Width: 40}
	for _, row := range rows {
		lo, hi := row.Est.Drawn()
		axis.Lo, axis.Hi = min(axis.Lo, lo), max(axis.Hi, hi)
	}
	axis = axis.Round()
	p.Section("every score")
	g := &page.Grid{Align: "lel"}
	g.Add("", "score [95%]", axis.Head())
	last := ""
	for _, row := range rows {
		if row.Group != last && len(p.r.Systems) > 1 {
			g.Add(row.Group)
		}
		last = row.Group
		g.Add(row.Name, row.Label, axis.Bar(row.Est))
	}
	p.Grid(g, "  ")
}

// scored returns the scores that can be drawn, by system.
func (r Report) scored() []page.PlotRow {
	var rows []page.PlotRow
	for _, s := range r.Systems {
		for _, score := range s.Scores {
			if score.Estimate == nil {
				continue
			}
			name := r.name(score.Judge)
			if len(r.Systems) > 1 {
				name = "  " + name
			}
			rows = append(rows, page.PlotRow{Group: page.Cell(s.Name, page.NameWidth), Name: name, Label: page.Share(*score.Estimate), Est: *score.Estimate, Class: "within"})
		}
	}
	return rows
}

// orders says whether systems keep their order, and shows the pairs that do not.
func (p *sheet) orders() {
	if len(p.r.Orders) == 0 {
		return
	}
	p.Section("does the order of systems stand")
	if text := p.r.Survives(); text != "" {
		p.Wrap("  ", text)
	}
	if len(p.r.Ranks) > 0 {
		g := &page.Grid{Align: "llr"}
		g.Add("", "", "tau")
		for _, k := range p.r.Ranks {
			tau := "-"
			if k.Tau != nil {
				tau = fmt.Sprintf("%.2f", *k.Tau)
			}
			g.Add(page.Cell(p.r.name(k.First), page.NameWidth), page.Cell(p.r.name(k.Second), page.NameWidth), tau)
		}
		p.Grid(g, "  ")
	}
	for _, o := range p.r.Orders {
		p.Wrap("  ", o.head())
		g := &page.Grid{Align: "ler"}
		for _, lead := range o.Under {
			g.Add(p.r.name(lead.Judge), lead.text(), page.NEquals(lead.N))
		}
		p.Grid(g, "    ")
	}
}

// head says what becomes of a pair of systems.
func (o Order) head() string {
	how := ", not paired: the systems answered different questions"
	if o.Paired {
		how = ""
	}
	return fmt.Sprintf("%s over %s: %s%s", page.Cell(o.A, page.NameWidth), page.Cell(o.B, page.NameWidth), fates[o.Fate], how)
}

// fates are the fates of an order in words.
var fates = map[string]string{
	Stands:  "stands, established under every judge",
	Kept:    "the same order under every judge, not established under all",
	Unclear: "no order that all judges share, within noise",
	Turned:  "TURNED OVER: judges establish opposite orders",
}

// text returns a lead in percentage points, with ~ where it may be chance.
func (l Lead) text() string {
	mark := ""
	if !l.Difference.LeavesOut(0) {
		mark = " ~"
	}
	return points(l.Difference) + mark
}
