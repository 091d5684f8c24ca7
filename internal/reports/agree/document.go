package agree

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"deem"
	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// JSON writes the agreement as JSON.
func (a Agreement) JSON(w io.Writer) error { return doc.JSON(w, a) }

// Who returns the side treated as correct: "people", or the name of another judge.
func (a Agreement) Who() string {
	if a.People {
		return "people"
	}
	return a.Truth.name()
}

// name returns the name of a judge in a sentence.
func (p Party) name() string {
	if p.Model != "" {
		return p.Judge + " (" + p.Model + ")"
	}
	return p.Judge
}

// The items that a cell of the document refers to, as the query of a link.
const (
	ByJudge    = "judge" // the judge's decision
	ByPeople   = "people"
	ByCategory = "category"
	SaysYes    = "yes"
	SaysNo     = "no"
)

// Document lays out the agreement: the result first, then the details.
func (a Agreement) Document() *doc.Document {
	p := &paper{Agreement: a, truth: "truth", Document: &doc.Document{NotesInDetail: true}}
	if a.People {
		p.truth = "people"
	}
	p.Title = fmt.Sprintf("Judge %s versus %s · %s judged by both", doc.OrNone(a.Judge.name()), a.Who(), words.Count(a.Counts.Both, "item"))
	p.headline()
	if a.Counts.Both > 0 {
		c := p.All.Confusion
		p.Add(doc.Section{ID: "matrix", Blocks: []doc.Block{doc.Table{
			Columns: []doc.Column{doc.Col(""), doc.Num(p.truth + " yes"), doc.Num(p.truth + " no")},
			Rows: [][]doc.Cell{
				{doc.T("judge yes"), p.cell(c.TP, true, true, ""), p.cell(c.FP, true, false, "")},
				{doc.T("judge no"), p.cell(c.FN, false, true, ""), p.cell(c.TN, false, false, "")},
			},
		}}})
		p.labels()
		p.votes()
		p.categories()
		p.disagreements()
	}
	p.registry()
	if a.Counts.Both > 0 {
		p.Add(p.counts)
		p.measures()
		p.corrected()
		p.grades()
		p.confidence()
		p.annotators()
		p.own()
	}
	party := func(of Party) string {
		return doc.Join(", ", of.Judge, of.Model, doc.Prefix("hash ", deem.ShortHash(of.JudgeHash)), doc.Prefix("run ", of.Run))
	}
	facts := doc.Facts{
		{Name: "judge", Text: party(p.Judge)},
		{Name: map[bool]string{true: "labels", false: "truth"}[p.People], Text: party(p.Truth)},
		{Name: "items", Text: doc.Join(", ", words.Comma(a.Counts.Items), words.Comma(a.Counts.Unjudged)+" unjudged", doc.Optional(a.Counts.Undecided, "undecided"), words.Comma(a.Counts.Labelled)+" labelled",
			doc.Optional(a.Counts.Ties, "evenly split"), words.Comma(a.Counts.Both)+" with a verdict and a label")},
	}
	p.Add(doc.Section{ID: "made", Title: "How this was made", Detail: true, Blocks: []doc.Block{facts}})
	p.Mark(a.Notes...)
	return p.Document
}

// A paper builds the document of an agreement.
type paper struct {
	Agreement
	*doc.Document
	truth  string      // the column heading of the side treated as correct
	counts doc.Section // of categories, for the details
}

// warning returns the most important note.
func (p *paper) warning() string {
	c := p.Counts
	if c.Both >= few && (p.Corrected == nil || !p.Corrected.Mix.Differs || p.Corrected.Mix.Planned()) || len(p.Agreement.Notes) == 0 {
		return ""
	}
	return p.Agreement.Notes[0]
}

// outOf formats the counts of a share.
func (p *paper) outOf(k, n int, what string) string {
	if c := p.Corrected; p.Weighted || c != nil && c.Quote != "" && c.Mix.Drawn != "" && c.Mix.Drawn != string(atRandom) {
		what += ", weighted"
	}
	return fmt.Sprintf("%s of %s %s", words.Comma(k), words.Comma(n), what)
}

// headline shows the main numbers and what they mean for the score.
func (p *paper) headline() {
	m, c := p.All, p.All.Confusion
	if c.N() == 0 {
		p.Add(doc.Section{ID: "score", Blocks: []doc.Block{doc.Paragraph{Text: p.warning(), Tone: doc.Warning}}})
		return
	}
	tile := func(name string, est stat.Estimate, text, about string) doc.Tile {
		value, interval, _ := strings.Cut(strings.TrimSuffix(text, " -"), " ")
		return doc.Tile{Name: name, Value: value, Interval: interval, About: about, Marks: p.Mark(est.Warnings...)}
	}
	compared := "items"
	if p.Counts.Undecided > 0 {
		compared = "decided items"
	}
	tiles := doc.Tiles{
		tile("agreement", m.Agreement, doc.Share(m.Agreement), p.outOf(c.TP+c.TN, c.N(), compared)),
		tile("Cohen's kappa", m.Kappa, doc.Coefficient(m.Kappa, 2), "agreement beyond chance"),
	}
	blocks := []doc.Block{}
	if h := p.Withheld; h != nil {
		blocks = append(blocks, doc.Paragraph{Tone: doc.Warning, Text: fmt.Sprintf("The score is withheld: %s of %s are unjudged, and the limit is %s.",
			words.Comma(h.Unjudged), words.Count(h.Items, "item"), doc.Percent(h.MaxUnjudged))})
	}
	if k := p.Corrected; k != nil {
		about := fmt.Sprintf("%s, %s; the judge alone gives %s", p.quoted(k.Quote), words.Count(k.PPI.Known, "label"), doc.Percent(k.Raw.Value))
		if k.Quote == "" {
			about = fmt.Sprintf("not known from these labels; the judge alone gives %s", doc.Percent(k.Raw.Value))
		}
		tiles = append(tiles, tile("corrected score", k.Quoted(), doc.Share(k.Quoted()), about))
		blocks = append(blocks, doc.Paragraph{Text: p.meaning(*k)}, doc.Paragraph{Text: k.More.words()})
	}
	blocks = append(blocks, doc.Paragraph{Text: p.warning(), Tone: doc.Warning}, doc.Paragraph{Text: p.clusters(), Tone: doc.Warning})
	p.Add(doc.Section{ID: "score", Blocks: append([]doc.Block{tiles}, blocks...)})
}

// clusters returns the warning about the clusters of the main numbers, if there is one.
func (p *paper) clusters() string {
	warning := doc.ClusterWarning(p.All.Agreement)
	if p.Corrected != nil {
		warning = cmp.Or(doc.ClusterWarning(p.Corrected.Quoted()), doc.ClusterWarning(p.Corrected.Raw), warning)
	}
	return words.UpperFirst(warning)
}

// quoted returns the name of the score to quote.
func (p *paper) quoted(quote string) string {
	switch quote {
	case quotePeople:
		return p.alone()
	case quoteStratified:
		return "stratified"
	default:
		return "PPI++"
	}
}

// alone names the score that does not use the judge.
func (p *paper) alone() string {
	if p.People {
		return "labels alone"
	}
	return "truth alone"
}

// meaning says in one sentence what the corrected score means for the judge's own.
func (p *paper) meaning(k Corrected) string {
	est, own := k.Quoted(), "the judge's "+doc.Percent(k.Raw.Value)
	if k.Quote == quotePeople {
		return fmt.Sprintf("Every judged item has a label, so nothing needs correcting: the judge gives %s, %s %s.",
			doc.Percent(k.Raw.Value), p.Who(), doc.Percent(est.Value))
	}
	if est.Method == stat.MethodNone {
		return "These labels cannot correct the score of the run: they leave a part of it out."
	}
	said := fmt.Sprintf("Share of such items that %s would accept: %s.", p.Who(), doc.Share(est))
	if k.Metric == doc.MeanScore {
		return fmt.Sprintf("Mean score that %s would give such items: %s; %s is the mean of its scores. In the table a score counts as yes from the judge's pass mark on, or from 0.5.", p.Who(), doc.Share(est), own)
	}
	c := k.Confusion
	more := float64(c.FP-c.FN) / float64(c.N())
	switch {
	case c.FP == c.FN:
		return said + " On the labels the judge accepts as many as they do."
	case est.Clusters > 0 || p.Weighted || k.Mix.Drawn != string(atRandom):
		return fmt.Sprintf("%s On the labels, each counted once, the judge accepts %s.", said, moreOrFewer(more))
	}
	return fmt.Sprintf("%s On the labels the judge accepts %s (McNemar p = %.4f).", said, moreOrFewer(more), stat.McNemar(c.FP, c.FN).P)
}

// moreOrFewer describes a difference of shares.
func moreOrFewer(x float64) string {
	if x < 0 {
		return fmt.Sprintf("%.1f pp fewer", -100*x)
	}
	return fmt.Sprintf("%.1f pp more", 100*x)
}

// words says how many labels are needed.
func (m *More) words() string {
	if m == nil {
		return ""
	}
	now, want := fmt.Sprintf("%.1f pp", 100*m.Now), fmt.Sprintf("%.1f pp", 100*m.Width)
	switch {
	case m.Labels == 0 && m.Enough:
		return fmt.Sprintf("The interval of PPI++ is %s wide, within the %s that you asked for.", now, want)
	case m.Enough:
		return fmt.Sprintf("The interval of PPI++ is %s wide with %s; about %s more, drawn at random, would make it %s. --plan %d chooses them.",
			now, words.Count(m.Present, "label"), words.Comma(m.Labels), want, m.Labels)
	default:
		return fmt.Sprintf("The interval of PPI++ is %s wide. Labelling every item would not make it %s: that takes more items.", now, want)
	}
}

// cell returns the count of items with these decisions of judge and people. The category ""
// means all.
func (p *paper) cell(n int, judge, people bool, category string) doc.Cell {
	c := doc.N(n)
	if n == 0 {
		return c
	}
	if c.Tone = doc.Good; judge != people {
		c.Tone = doc.Bad
	}
	c.Link.Items = url.Values{ByJudge: {yesNo(judge)}, ByPeople: {yesNo(people)}}
	if category != "" {
		c.Link.Items.Set(ByCategory, category)
	}
	c.Link.Words = fmt.Sprintf("%s: the judge says %s and %s %s", words.Count(n, "item"), yesNo(judge), p.Who(), yesNo(people))
	return c
}

// votes shows what the members of a panel are worth.
func (p *paper) votes() {
	if p.Votes != nil {
		p.Add(doc.Section{ID: "votes", Blocks: []doc.Block{doc.Paragraph{Text: p.Votes.Worth("the panel")}}})
	}
}

func (p *paper) categories() {
	t := doc.Table{
		Columns: []doc.Column{doc.Col("category"), doc.Est("agreement"), doc.Num("n"), doc.Est("kappa").InDetail()},
		Draw:    &doc.Draw{Column: 1, Line: &p.All.Agreement.Value, Caption: "Lines are 95% confidence intervals. The dashed line is the agreement over all items."},
	}
	counts := doc.Table{Columns: []doc.Column{doc.Col("category"), doc.Num("both yes"), doc.Num("judge alone"), doc.Num(p.truth + " alone"), doc.Num("both no")}}
	for _, m := range p.Categories {
		c := m.Confusion
		name := doc.Cell{Text: m.Category, Link: doc.Link{Items: url.Values{ByCategory: {m.Category}}}}
		t.Rows = append(t.Rows, []doc.Cell{name, p.Share(m.Agreement), doc.N(c.N()), p.Coefficient(m.Kappa, 2)})
		counts.Rows = append(counts.Rows, []doc.Cell{
			name, p.cell(c.TP, true, true, m.Category), p.cell(c.FP, true, false, m.Category),
			p.cell(c.FN, false, true, m.Category), p.cell(c.TN, false, false, m.Category),
		})
	}
	p.Add(doc.Section{ID: "categories", Blocks: []doc.Block{t}})
	p.counts = doc.Section{ID: "counts", Title: "Who says yes, by category", Detail: true, Blocks: []doc.Block{counts}}
}

// shown is the number of disagreements of each kind in a document; JSON has them all.
const shown = 10

// disagreements lists the worst of each kind.
func (p *paper) disagreements() {
	for _, accepts := range []bool{true, false} {
		list := slices.DeleteFunc(slices.Clone(p.Disagreements), func(d Disagreement) bool { return d.Judge != accepts })
		if len(list) == 0 {
			continue
		}
		title := fmt.Sprintf("The judge says %s and %s %s: %s", yesNo(accepts), p.Who(), yesNo(!accepts), words.Count(len(list), "item"))
		if list[0].Confidence != nil || list[0].Of > 1 {
			title += ", the worst first"
		}
		t := doc.Table{Columns: []doc.Column{{}, {}, {}, {}, {Detail: true}, {Detail: true}}}
		for _, d := range list[:min(len(list), shown)] {
			sure, votes := "", ""
			if d.Confidence != nil {
				sure = fmt.Sprintf("confidence %.2f", *d.Confidence)
			}
			if d.Of > 1 {
				votes = fmt.Sprintf("%d of %d annotators", d.For, d.Of)
			}
			t.Rows = append(t.Rows, []doc.Cell{
				{Text: d.Item, Link: doc.Link{Item: d.Item}},
				doc.T(doc.Clip(d.Category, 32)), doc.T(sure), doc.T(votes),
				doc.T(doc.Prefix("judge: ", words.Fold(d.Reason))), doc.T(doc.Prefix(p.truth+": ", words.Fold(d.Why))),
			})
		}
		blocks := []doc.Block{t}
		if len(list) > shown {
			blocks = append(blocks, doc.Paragraph{Text: "and " + words.Comma(len(list)-shown) + " more", Tone: doc.Dim})
		}
		p.Add(doc.Section{Title: title, Blocks: blocks})
	}
}

// registry shows how the disagreements differ from the known ones.
func (p *paper) registry() {
	c := p.Registry
	if c == nil {
		return
	}
	s := doc.Section{ID: "known", Title: "Known disagreements: " + words.Comma(c.Known)}
	add := func(text string) { s.Blocks = append(s.Blocks, doc.Paragraph{Text: text}) }
	if c.Pass() {
		add("All of them are still there, and there is no other.")
	}
	for _, k := range c.Appeared {
		add(fmt.Sprintf("appeared: %s: the judge says %s and %s %s", k.Item, yesNo(k.Judge), p.Who(), yesNo(k.People)))
	}
	for _, k := range c.Gone {
		text := fmt.Sprintf("gone: %s: %s", k.Item, k.Now)
		if k.Why != "" {
			text += " (known as: " + strings.TrimSuffix(words.Fold(k.Why), ".") + ")"
		}
		add(text)
	}
	p.Add(s)
}

// measured returns a table of numbers with descriptions.
func measured(name string) doc.Table {
	return doc.Table{Columns: []doc.Column{doc.Col(name), doc.Est("value [95%]"), doc.Col("")}}
}

func (p *paper) measures() {
	m, c := p.All, p.All.Confusion
	t := measured("measure")
	add := func(name string, value doc.Cell, about string) {
		t.Rows = append(t.Rows, []doc.Cell{doc.T(name), value, doc.T(about)})
	}
	add("agreement", p.Share(m.Agreement), p.outOf(c.TP+c.TN, c.N(), "items"))
	add("Cohen's kappa", p.Coefficient(m.Kappa, 4), "agreement beyond chance")
	add("Gwet's AC1", p.Coefficient(m.AC1, 4), "the same, stable when one answer is rare")
	add("Krippendorff's alpha", p.Coefficient(m.Alpha, 4), "the same, with one rate of yes for both")
	add("false accepts", p.Share(m.FalseAccept), p.outOf(c.FP, c.FP+c.TN, "wrong answers accepted"))
	add("false rejects", p.Share(m.FalseReject), p.outOf(c.FN, c.FN+c.TP, "right answers rejected"))
	add("base rate, "+p.truth, p.Share(m.PeopleRate), p.outOf(c.TP+c.FN, c.N(), "items are yes"))
	add("base rate, judge", p.Share(m.JudgeRate), p.outOf(c.TP+c.FP, c.N(), "items are yes"))
	p.Add(doc.Section{ID: "measures", Title: "All measures of agreement", Detail: true, Blocks: []doc.Block{t}})
}

// corrected shows the score of the run by the judge, by people, and by both.
func (p *paper) corrected() {
	k := p.Corrected
	if k == nil {
		return
	}
	t := doc.Table{
		Columns: []doc.Column{doc.Col("score"), doc.Est("value [95%]"), doc.Num("n"), doc.Col("")},
		Draw:    &doc.Draw{Column: 1, Line: &k.Raw.Value, Caption: "Lines are 95% confidence intervals. The dashed line is the judge's own score. Quote the number in colour."},
	}
	row := func(name string, est stat.Estimate, n int, about string) {
		c := p.Share(est)
		if k.Quote != "" && name == p.quoted(k.Quote) {
			c.Tone, about = doc.Chosen, about+": quote this"
		}
		t.Rows = append(t.Rows, []doc.Cell{doc.T(name), c, doc.N(n), doc.T(about)})
	}
	row("raw", k.Raw, k.Raw.N, "verdicts as they are")
	if k.Unlabelled > 0 {
		row("PPI++", k.PPI.Estimate, k.PPI.Known, "corrected by the labels")
		row("Rogan-Gladen", k.RoganGladen, k.RoganGladen.N, "unlabelled, by error rates")
		row("stratified", k.Stratified, k.Stratified.N, "by category and verdict")
	}
	row(p.alone(), k.People, k.People.N, "without the judge")
	p.Add(doc.Section{ID: "corrected", Title: "Score by the judge, and as " + p.Who() + " would give it", Detail: true, Blocks: []doc.Block{t}})
}

// grades compares scores, if both sides give them.
func (p *paper) grades() {
	s := p.Scores
	if s == nil {
		return
	}
	t := measured("grades")
	add := func(name string, est stat.Estimate, about string) {
		t.Rows = append(t.Rows, []doc.Cell{doc.T(name), p.Coefficient(est, 4), doc.T(about)})
	}
	for i, c := range []*agreement.Correlation{s.Pearson, s.Spearman, s.Kendall} {
		if c != nil {
			add([]string{"Pearson's r", "Spearman's rho", "Kendall's tau-b"}[i], c.Estimate, doc.NEquals(s.N))
		}
	}
	if s.Raw != nil {
		add("mean, judge", *s.Raw, words.Count(s.Raw.N, "judged item"))
	}
	add("mean, "+p.truth, s.People, words.Count(s.People.N, "labelled item"))
	if s.Corrected != nil {
		add("mean, PPI++", s.Corrected.Estimate, "the judge's, corrected by the labels")
	}
	p.Add(doc.Section{ID: "grades", Title: "Grades", Detail: true, Blocks: []doc.Block{t}})
}

func (p *paper) confidence() {
	c := p.Confidence
	if c == nil {
		return
	}
	t := doc.Table{
		Columns: []doc.Column{doc.Col("stated confidence"), doc.Num("mean"), doc.Est("right"), doc.Num("n")},
		Draw:    &doc.Draw{Column: 2, Include: []float64{0, 1}, Caption: "Lines are 95% confidence intervals."},
	}
	for _, b := range c.Bins {
		t.Rows = append(t.Rows, []doc.Cell{doc.T(fmt.Sprintf("%.2f to %.2f", b.Lo, b.Hi)), doc.T(doc.Percent(b.Confidence)), p.Share(b.Observed), doc.N(b.N)})
	}
	text := fmt.Sprintf("Expected calibration error %.3f, largest gap %.3f, Brier score %.3f, %s.", c.ECE.Mean, c.ECE.Largest, c.Brier, doc.NEquals(c.N))
	if c.AUROC != nil {
		text += fmt.Sprintf(" The judge is more confident in a right verdict than in a wrong one in %s of pairs.", doc.Share(*c.AUROC))
	}
	p.Add(doc.Section{ID: "confidence", Title: "Confidence, and how often the judge was right", Detail: true, Blocks: []doc.Block{t, doc.Paragraph{Text: text}}})
}

func (p *paper) annotators() {
	a := p.Annotators
	if a == nil {
		return
	}
	t := measured("measure")
	for _, row := range []struct {
		name string
		est  *stat.Estimate
	}{{"Cohen's kappa", a.Kappa}, {"Fleiss' kappa", a.Fleiss}, {"Krippendorff's alpha", &a.Alpha}} {
		if row.est != nil {
			t.Rows = append(t.Rows, []doc.Cell{doc.T(row.name), p.Coefficient(*row.est, 4), doc.T(doc.NEquals(a.Items))})
		}
	}
	text := fmt.Sprintf("%s; %s labelled by two or more, %s evenly split. The judge is compared with the majority.",
		words.Count(len(a.Names), "annotator"), words.Count(a.Items, "item"), words.Comma(a.Ties))
	p.Add(doc.Section{ID: "annotators", Title: "Agreement among annotators", Detail: true, Blocks: []doc.Block{doc.Paragraph{Text: text}, t}})
}

// own shows how the judge treats answers of its own model family.
func (p *paper) own() {
	o := p.Own
	if o == nil || o.Own == nil {
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("answers of"), doc.Num("n"), doc.Est("agreement"), doc.Est("wrong accepted"), doc.Est("judge minus " + p.truth)}}
	row := func(name string, m *Measures, leniency *stat.Estimate) {
		if m == nil {
			return
		}
		accepted := doc.T("no wrong answer")
		if m.FalseAccept.N > 0 {
			accepted = p.Share(m.FalseAccept)
		}
		t.Rows = append(t.Rows, []doc.Cell{doc.T(name), doc.N(m.Confusion.N()), p.Share(m.Agreement), accepted, doc.T(doc.Points(*leniency))})
	}
	row("own family", o.Own, o.OwnLeniency)
	row("others", o.Others, o.OthersLeniency)
	text := ""
	if d := o.FalseAccept; d != nil && d.N > 0 {
		how := "about as often as"
		switch {
		case d.Lo > 0:
			how = "more often than"
		case d.Hi < 0:
			how = "less often than"
		}
		text = fmt.Sprintf("The judge accepts wrong answers of its own family %s those of others: %s.", how, doc.Points(*d))
	}
	p.Add(doc.Section{ID: "own", Title: "Answers of the judge's own model family, " + o.Family, Detail: true, Blocks: []doc.Block{t, doc.Paragraph{Text: text}}})
}

// Document lays out the comparison of two judges.
func (a Pairing) Document() *doc.Document {
	d := &doc.Document{Title: "Judge " + a.First.name() + " versus " + a.Second.name()}
	t := doc.Table{Columns: []doc.Column{doc.Col("category"), doc.Est("agreement"), doc.Est("kappa"), doc.Num("n")}}
	counts := doc.Table{Columns: []doc.Column{doc.Col("category"), doc.Num("both yes"), doc.Num("only first"), doc.Num("only second"), doc.Num("both no")}}
	for _, c := range append(slices.Clone(a.Categories), a.All) {
		name := doc.T(cmp.Or(c.Category, "all"))
		t.Rows = append(t.Rows, []doc.Cell{name, d.Share(c.Agreement), d.Coefficient(c.Kappa, 2), doc.N(c.Agreement.N)})
		counts.Rows = append(counts.Rows, []doc.Cell{name, doc.N(c.BothYes), doc.N(c.FirstOnly), doc.N(c.SecondOnly), doc.N(c.BothNo)})
	}
	differ := func(yes, no Party, which Differing) doc.Block {
		if which.N == 0 {
			return doc.Paragraph{}
		}
		return doc.Paragraph{Text: fmt.Sprintf("%s says yes and %s no: %s: %s", yes.name(), no.name(), words.Count(which.N, "item"), doc.IDs(which.Examples, which.N))}
	}
	unpaired := ""
	if a.Unpaired > 0 {
		unpaired = words.Count(a.Unpaired, "item") + " without a verdict of both"
	}
	d.Add(doc.Section{Blocks: []doc.Block{
		t, counts,
		doc.Paragraph{Text: unpaired},
		differ(a.First, a.Second, a.FirstOnly), differ(a.Second, a.First, a.SecondOnly),
		doc.Paragraph{Text: a.Note},
	}})
	return d
}

func yesNo(yes bool) string {
	if yes {
		return SaysYes
	}
	return SaysNo
}
