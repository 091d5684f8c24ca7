package agree

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"deem"
	"deem/internal/words"
	"deem/report/internal/page"
	"deem/stat"
)

// JSON writes the agreement as JSON.
func (a Agreement) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(a)
}

// shown is how many disagreements the text names of each kind.
const shown = 10

// Text writes the agreement for a person.
func (a Agreement) Text(w io.Writer) error {
	p := &sheet{a: a}
	p.head()
	p.confusion()
	p.measures()
	p.corrected()
	p.scores()
	p.confidence()
	p.categories()
	p.annotators()
	p.own()
	p.disagreements()
	p.registry()
	p.Notes(a.Notes...)
	_, err := io.WriteString(w, p.String())
	return err
}

// A sheet is the page of an agreement.
type sheet struct {
	page.Page
	a Agreement
}

func (p *sheet) head() {
	a := p.a
	fmt.Fprintf(p, "%s beside %s\n\n", a.Judge.name(), a.who())
	p.Line("judge", page.Cell(a.Judge.Judge, page.IDWidth), page.Cell(a.Judge.Model, page.IDWidth),
		page.Prefix("hash ", deem.ShortHash(a.Judge.JudgeHash)), page.Prefix("run ", page.Cell(a.Judge.Run, page.IDWidth)))
	if a.People {
		p.Line("labels", page.Cell(a.Truth.Judge, page.IDWidth))
	} else {
		p.Line("truth", page.Cell(a.Truth.Judge, page.IDWidth), page.Cell(a.Truth.Model, page.IDWidth),
			page.Prefix("hash ", deem.ShortHash(a.Truth.JudgeHash)), page.Prefix("run ", page.Cell(a.Truth.Run, page.IDWidth)))
	}
	c := a.Counts
	p.Line("items", words.Comma(c.Items), page.Unjudged(c.Unjudged), words.Comma(c.Labelled)+" labelled",
		page.Optional(c.Ties, "evenly split"), words.Comma(c.Both)+" with a verdict and a label")
}

// truth names whoever is taken to be right, in the head of a column.
func (p *sheet) truth() string {
	if p.a.People {
		return "people"
	}
	return "truth"
}

func (p *sheet) truthSays() string {
	if p.a.People {
		return "people say yes"
	}
	return "truth says yes"
}

func (p *sheet) confusion() {
	c := p.a.All.Confusion
	p.WriteByte('\n')
	g := &page.Grid{Align: "lrr"}
	g.Add("", p.truth()+" yes", p.truth()+" no")
	g.Add("judge yes", words.Comma(c.TP), words.Comma(c.FP))
	g.Add("judge no", words.Comma(c.FN), words.Comma(c.TN))
	p.Grid(g, "")
}

// coefficient writes an estimate between -1 and 1.
func coefficient(e stat.Estimate) string { return page.Coefficient(e, 4) }

// outOf writes the counts that a share is made of.
func (p *sheet) outOf(k, n int, what string) string {
	if k := p.a.Corrected; k != nil && k.Mix.Drawn != "" && k.Mix.Drawn != string(atRandom) {
		what += ", weighted"
	}
	return fmt.Sprintf("%s of %s %s", words.Comma(k), words.Comma(n), what)
}

func (p *sheet) measures() {
	m, c := p.a.All, p.a.All.Confusion
	p.WriteByte('\n')
	g := &page.Grid{Align: "lel"}
	g.Add("", fmt.Sprintf("value [%.0f%%]", 100*m.Agreement.Level))
	row := func(name, value string, e stat.Estimate, what string) {
		g.Add(name, value+page.Prefix(" ", p.Mark(e.Warnings...)), what)
	}
	row("agreement", coefficient(m.Agreement), m.Agreement, p.outOf(c.TP+c.TN, c.N(), "items"))
	row("kappa", coefficient(m.Kappa), m.Kappa, "Cohen's: agreement beyond chance")
	row("AC1", coefficient(m.AC1), m.AC1, "Gwet's: steady when one answer is rare")
	row("alpha", coefficient(m.Alpha), m.Alpha, "Krippendorff's")
	row("false accepts", coefficient(m.FalseAccept), m.FalseAccept, p.outOf(c.FP, c.FP+c.TN, "wrong answers accepted"))
	row("false rejects", coefficient(m.FalseReject), m.FalseReject, p.outOf(c.FN, c.FN+c.TP, "right answers rejected"))
	row(p.truthSays(), coefficient(m.PeopleRate), m.PeopleRate, p.outOf(c.TP+c.FN, c.N(), "items"))
	row("judge says yes", coefficient(m.JudgeRate), m.JudgeRate, p.outOf(c.TP+c.FP, c.N(), "items"))
	p.Grid(g, "")
}

func (p *sheet) corrected() {
	if h := p.a.Withheld; h != nil {
		p.Section("score")
		p.Wrap("  ", fmt.Sprintf("withheld: %s of %s are unjudged, and more than %s withholds it",
			words.Comma(h.Unjudged), words.Count(h.Items, "item"), page.Percent(h.MaxUnjudged)))
		return
	}
	k := p.a.Corrected
	if k == nil {
		return
	}
	p.Section("score, as the judge has it and as " + p.a.who() + " would")
	g := &page.Grid{Align: "lell"}
	row := func(name string, e stat.Estimate, n, what string) {
		if name == p.quotedName(k.Quote) {
			name += " *"
		}
		g.Add(name, page.Share(e)+page.Prefix(" ", p.Mark(e.Warnings...)), n, what)
	}
	row("raw", k.Raw, page.NEquals(k.Raw.N), "the judge's verdicts as they are")
	if k.Unlabelled > 0 {
		row("PPI++", k.PPI.Estimate, page.NEquals(k.PPI.Labels), "its verdicts, corrected by the labels")
		row("Rogan-Gladen", k.RoganGladen, page.NEquals(k.RoganGladen.N), "of the unlabelled items, by its error rates")
		row("stratified", k.Stratified, page.NEquals(k.Stratified.N), "by category and verdict")
	}
	row(p.alone(), k.People, page.NEquals(k.People.N), "without the judge")
	p.Grid(g, "  ")
	p.WriteString("  " + page.Unjudged(p.a.Counts.Unjudged) + "\n")
	p.Wrap("  ", p.meaning(*k))
	p.more(k.More)
}

// alone names the score in which the judge has no part.
func (p *sheet) alone() string {
	if p.a.People {
		return "labels alone"
	}
	return "truth alone"
}

// quotedName returns the name of the row to quote.
func (p *sheet) quotedName(quote string) string {
	switch quote {
	case quotePeople:
		return p.alone()
	case quoteStratified:
		return "stratified"
	default:
		return "PPI++"
	}
}

// meaning says in one sentence what the numbers come to.
func (p *sheet) meaning(k Corrected) string {
	quoted, raw := k.Quoted(), k.Raw
	judge := fmt.Sprintf("the judge's %s", page.Percent(raw.Value))
	if k.Quote == quotePeople {
		return fmt.Sprintf("* Every judged item has a label, so nothing needs correcting: %s stands beside %s by %s.",
			judge, page.Percent(quoted.Value), p.a.who())
	}
	if quoted.Method == stat.MethodNone {
		return "* These labels say nothing about the score of the run: they leave a part of it out."
	}
	said := fmt.Sprintf("* Had %s judged everything, the score would be about %s", p.a.who(), page.Share(quoted))
	switch {
	case raw.Value < quoted.Lo:
		return fmt.Sprintf("%s: %s is too low.", said, judge)
	case raw.Value > quoted.Hi:
		return fmt.Sprintf("%s: %s is too high.", said, judge)
	default:
		return fmt.Sprintf("%s, which %s does not contradict.", said, judge)
	}
}

// more says how many labels are missing.
func (p *sheet) more(m *More) {
	if m == nil {
		return
	}
	points := func(x float64) string { return fmt.Sprintf("%.1fpp", 100*x) }
	switch {
	case m.Labels == 0 && m.Enough:
		p.Wrap("  ", fmt.Sprintf("The interval of PPI++ is %s wide, within the %s wished for.", points(m.Now), points(m.Width)))
	case m.Enough:
		p.Wrap("  ", fmt.Sprintf("The interval of PPI++ is %s wide with %s; about %s more, drawn at random, would make it %s. --plan %d chooses them.",
			points(m.Now), words.Count(m.Present, "label"), words.Comma(m.Labels), points(m.Width), m.Labels))
	default:
		p.Wrap("  ", fmt.Sprintf("The interval of PPI++ is %s wide, and not even labelling every item would make it %s: that takes more items.",
			points(m.Now), points(m.Width)))
	}
}

func (p *sheet) scores() {
	s := p.a.Scores
	if s == nil {
		return
	}
	p.Section("grades, " + words.Count(s.N, "item"))
	g := &page.Grid{Align: "lel"}
	row := func(name string, e stat.Estimate, what string) {
		g.Add(name, coefficient(e)+page.Prefix(" ", p.Mark(e.Warnings...)), what)
	}
	for _, c := range []struct {
		name string
		of   *stat.Correlation
	}{{"Pearson", s.Pearson}, {"Spearman", s.Spearman}, {"Kendall", s.Kendall}} {
		if c.of != nil {
			row(c.name, c.of.Estimate, "")
		}
	}
	if s.Raw != nil {
		row("mean, judge", *s.Raw, "over "+words.Count(s.Raw.N, "judged item"))
	}
	row("mean, "+p.truth(), s.People, "over "+words.Count(s.People.N, "labelled item"))
	if s.Corrected != nil {
		row("mean, PPI++", s.Corrected.Estimate, "the judge's, corrected by the labels")
	}
	p.Grid(g, "  ")
}

func (p *sheet) confidence() {
	c := p.a.Confidence
	if c == nil {
		return
	}
	p.Section("confidence, and how often the judge was right")
	g := &page.Grid{Align: "lrrel"}
	g.Add("stated", "n", "mean", "right", "")
	for _, b := range c.Bins {
		g.Add(fmt.Sprintf("%.2f to %.2f", b.Lo, b.Hi), words.Comma(b.N), page.Percent(b.Confidence), page.Share(b.Observed),
			strings.Repeat("#", int(b.Observed.Value*20+0.5)))
	}
	p.Grid(g, "  ")
	line := fmt.Sprintf("ECE %.3f (largest gap %.3f), Brier %.3f, n=%d", c.ECE.Mean, c.ECE.Largest, c.Brier, c.N)
	if c.AUROC != nil {
		line += fmt.Sprintf("; surer of a right verdict than of a wrong one in %s of pairs", page.Share(*c.AUROC))
	}
	p.Wrap("  ", line)
}

// categoryWidth leaves room for two intervals in the line.
const categoryWidth = 24

func (p *sheet) categories() {
	if len(p.a.Categories) == 0 {
		return
	}
	p.Section("by category")
	g := &page.Grid{Align: "lrrrrree"}
	g.Add("category", "n", "yes/yes", "accepts", "rejects", "no/no", "agreement", "kappa")
	for _, m := range p.a.Categories {
		c := m.Confusion
		g.Add(page.Cell(m.Category, categoryWidth), words.Comma(c.N()), words.Comma(c.TP), words.Comma(c.FP), words.Comma(c.FN), words.Comma(c.TN),
			page.Share(m.Agreement)+p.Mark(m.Agreement.Warnings...), page.Coefficient(m.Kappa, 2)+p.Mark(m.Kappa.Warnings...))
	}
	p.Grid(g, "  ")
}

func (p *sheet) annotators() {
	a := p.a.Annotators
	if a == nil {
		return
	}
	p.Section(fmt.Sprintf("%s, %s labelled by two or more", words.Count(len(a.Names), "annotator"), words.Count(a.Items, "item")))
	g := &page.Grid{Align: "lel"}
	if a.Kappa != nil {
		g.Add("kappa", coefficient(*a.Kappa)+page.Prefix(" ", p.Mark(a.Kappa.Warnings...)), "Cohen's")
	}
	if a.Fleiss != nil {
		g.Add("kappa", coefficient(*a.Fleiss)+page.Prefix(" ", p.Mark(a.Fleiss.Warnings...)), "Fleiss'")
	}
	g.Add("alpha", coefficient(a.Alpha)+page.Prefix(" ", p.Mark(a.Alpha.Warnings...)), "Krippendorff's")
	p.Grid(g, "  ")
	p.Wrap("  ", "The judge above is compared with the majority of the people, and this is how far they agree with one another.")
}
