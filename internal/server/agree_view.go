package server

import (
	"fmt"
	"strings"

	"deem/internal/store"
	"deem/internal/words"
	"deem/report"
	"deem/report/agree"
	"deem/stat"
)

// An agreeView is what the page of an agreement shows.
type agreeView struct {
	Run  store.Run
	Tabs []tab
	Ask  agreeAsk
	agree.Agreement

	Who        string // who is taken to be right
	Truth      string // the same in the head of a table
	OtherRun   string // the id of the other run, "" for people
	Others     []store.Run
	Annotators []annotatorView
	LabelURL   string
	Left       string // labels that could not be used

	Cards      []pageCard
	Matrix     []matrixRow
	Measures   []measureRow
	Categories []categoryRow
	Score      *scoreTable
	Curve      *confidenceChart
	CurveWords string
	Grades     []measureRow
	Among      []measureRow // people among themselves
	AmongWords string
	Own        []ownRow
	OwnWords   string
	Worst      []worstItem
	Notes      []pageNote
}

// An annotatorView is a person to choose.
type annotatorView struct {
	Name   string
	N      int // items that they labelled, among those that were asked for
	Chosen bool
}

// A matrixRow is one row of the confusion matrix; its cells open their items.
type matrixRow struct {
	Name    string
	Yes, No matrixCell
	Sum     int
}

type matrixCell struct {
	N     int
	URL   string
	Agree bool
	Words string
}

// A measureRow is a number with its name and what it is.
type measureRow struct {
	Name string
	figure
	About string
	Quote bool // this is the number to quote
}

type categoryRow struct {
	Name, URL string
	N         int
	Cells     [4]matrixCell // both yes, judge alone, people alone, both no
	Agreement figure
	Kappa     figure
}

// newAgreeView lays an agreement out.
func (s *Server) newAgreeView(ask agreeAsk, got *agreed) agreeView {
	v := agreeView{
		Run: ask.run, Tabs: s.runTabs(ask.run, "agreement"), Ask: ask, Agreement: got.Agreement,
		Who: got.Who(), Truth: "people", Annotators: got.annotators(ask),
	}
	if _, err := s.labels(); err == nil {
		v.LabelURL = labelURL(ask.run.ID)
	}
	if ask.other != nil {
		v.OtherRun, v.Truth = ask.other.ID, "truth"
	}
	if got.other > 0 {
		v.Left = words.Plural(got.other, "label is", "labels are") + " about another response than the one that was judged, and left out"
	}
	if got.Counts.Both == 0 {
		return v
	}
	var notes footnotes
	v.matrix()
	v.measures(&notes)
	v.Score = v.scoreTable(&notes)
	v.cards(&notes)
	v.categories(got, &notes)
	v.curve()
	v.grades(&notes)
	v.among(&notes)
	v.own(&notes)
	v.worst()
	notes.mark(got.Notes...)
	v.Notes = notes.notes()
	return v
}

// cell returns a cell of the matrix with the way to its items.
func (v *agreeView) cell(n int, judge, people bool, category string) matrixCell {
	says := func(yes bool) string { return map[bool]string{true: saysYes, false: saysNo}[yes] }
	more := []string{"judge", says(judge), "people", says(people)}
	if category != "" {
		more = append(more, "category", category)
	}
	c := matrixCell{N: n, Agree: judge == people}
	if n > 0 {
		c.URL = v.Ask.link("/items", more...)
	}
	c.Words = fmt.Sprintf("%s: the judge says %s and %s %s", words.Plural(n, "item", "items"), says(judge), v.Who, says(people))
	return c
}

func (v *agreeView) matrix() {
	c := v.All.Confusion
	v.Matrix = []matrixRow{
		{"Judge says yes", v.cell(c.TP, true, true, ""), v.cell(c.FP, true, false, ""), c.TP + c.FP},
		{"Judge says no", v.cell(c.FN, false, true, ""), v.cell(c.TN, false, false, ""), c.FN + c.TN},
	}
}

func outOf(k, n int, what string) string {
	return fmt.Sprintf("%s of %s %s", words.Comma(k), words.Comma(n), what)
}

func (v *agreeView) measures(notes *footnotes) {
	m, c := v.All, v.All.Confusion
	v.Measures = []measureRow{
		{Name: "Accuracy", figure: notes.shareFigure(m.Agreement), About: "of the judge: " + outOf(c.TP+c.TN, c.N(), "items on which it says what "+v.Who+" say")},
		{Name: "Cohen's kappa", figure: notes.coefficient(m.Kappa), About: "agreement beyond chance"},
		{Name: "Gwet's AC1", figure: notes.coefficient(m.AC1), About: "the same, steady when one answer is rare"},
		{Name: "Krippendorff's alpha", figure: notes.coefficient(m.Alpha), About: "the same, with one rate of yes for both"},
		{Name: "False accepts", figure: notes.shareFigure(m.FalseAccept), About: outOf(c.FP, c.FP+c.TN, "wrong answers accepted")},
		{Name: "False rejects", figure: notes.shareFigure(m.FalseReject), About: outOf(c.FN, c.FN+c.TP, "right answers rejected")},
		{Name: "Base rate, " + v.Truth, figure: notes.shareFigure(m.PeopleRate), About: outOf(c.TP+c.FN, c.N(), "items to which "+v.Who+" say yes")},
		{Name: "Base rate, judge", figure: notes.shareFigure(m.JudgeRate), About: outOf(c.TP+c.FP, c.N(), "items to which the judge says yes")},
	}
}

// cards shows the numbers that people look for in large letters.
func (v *agreeView) cards(notes *footnotes) {
	c, m := v.All.Confusion, v.All
	beyond := fmt.Sprintf("95%% interval %s, n=%s", m.Kappa.Ends("%.2f", 1), words.Comma(c.N()))
	v.Cards = append(v.Cards, pageCard{
		Name: "accuracy of the judge", Value: percent(m.Agreement.Value), Marks: notes.mark(m.Agreement.Warnings...),
		Small: fmt.Sprintf("%s, n=%s", ends(m.Agreement), words.Comma(c.N())),
	}, pageCard{
		Name: "Cohen's kappa", Value: fmt.Sprintf("%.2f", m.Kappa.Value), Marks: notes.mark(m.Kappa.Warnings...),
		Small: beyond,
	})
	k := v.Corrected
	if k == nil {
		return
	}
	quoted := k.Quoted()
	v.Cards = append(v.Cards, pageCard{
		Name: "corrected score", Value: percent(quoted.Value), Marks: notes.mark(quoted.Warnings...),
		Small: fmt.Sprintf("%s, %s, %s; the judge alone has %s", ends(quoted), v.QuotedName(), words.Plural(c.N(), "label", "labels"), percent(k.Raw.Value)),
	})
}

// A scoreTable sets the run's score as the judge has it beside what others would have.
type scoreTable struct {
	Rows     []measureRow
	Plot     *forest
	Meaning  string
	More     string
	Unjudged int
	Held     string // why there is none
}

func (v *agreeView) scoreTable(notes *footnotes) *scoreTable {
	t := &scoreTable{Unjudged: v.Counts.Unjudged}
	if h := v.Withheld; h != nil {
		t.Held = fmt.Sprintf("%s of %s are unjudged, and more than %s withholds the score", words.Comma(h.Unjudged), words.Plural(h.Items, "item", "items"), percent(h.MaxUnjudged))
		return t
	}
	k := v.Corrected
	if k == nil {
		return nil
	}
	quoted := v.QuotedName()
	var drawn []plotted
	add := func(name string, est stat.Estimate, about string) {
		row := measureRow{Name: name, figure: notes.shareFigure(est), About: fmt.Sprintf("%s, n=%s", about, words.Comma(est.N)), Quote: name == quoted}
		class := ""
		if row.Quote {
			class = "first"
		}
		t.Rows = append(t.Rows, row)
		drawn = append(drawn, plotted{Name: name, Value: row.Text, Class: class, Est: est})
	}
	add("raw", k.Raw, "the judge's verdicts as they are")
	if k.Unlabelled > 0 {
		add("PPI++", k.PPI.Estimate, "its verdicts, corrected by the labels")
		add("Rogan-Gladen", k.RoganGladen, "of the unlabelled items, by its error rates")
		add("stratified", k.Stratified, "by category and verdict")
	}
	add(v.alone(), k.People, "without the judge")
	t.Plot = newForest("score-plot", drawn, nil, percents).line(k.Raw.Value)
	t.Meaning, t.More = v.Meaning(), moreWords(k.More)
	return t
}

// alone names the score in which the judge has no part.
func (v *agreeView) alone() string {
	if v.People {
		return "labels alone"
	}
	return "truth alone"
}

// moreWords says how many labels are missing.
func moreWords(m *agree.More) string {
	if m == nil {
		return ""
	}
	now, wide := fmt.Sprintf("%.1f pp", 100*m.Now), fmt.Sprintf("%.1f pp", 100*m.Width)
	switch {
	case m.Labels == 0 && m.Enough:
		return fmt.Sprintf("The interval of PPI++ is %s wide, within the %s wished for.", now, wide)
	case m.Enough:
		return fmt.Sprintf("The interval of PPI++ is %s wide with %s; about %s more, drawn at random, would make it %s.",
			now, words.Plural(m.Present, "label", "labels"), words.Comma(m.Labels), wide)
	default:
		return fmt.Sprintf("The interval of PPI++ is %s wide, and not even labelling every item would make it %s: that takes more items.", now, wide)
	}
}

func (v *agreeView) categories(got *agreed, notes *footnotes) {
	for _, m := range got.Categories {
		c := m.Confusion
		row := categoryRow{Name: m.Category, URL: v.Ask.link("/items", "category", m.Category), N: c.N(), Agreement: notes.shareFigure(m.Agreement)}
		row.Cells = [4]matrixCell{
			v.cell(c.TP, true, true, m.Category), v.cell(c.FP, true, false, m.Category),
			v.cell(c.FN, false, true, m.Category), v.cell(c.TN, false, false, m.Category),
		}
		row.Kappa = notes.coefficient(m.Kappa)
		v.Categories = append(v.Categories, row)
	}
}

// curve draws how often the judge was right when it was how sure.
func (v *agreeView) curve() {
	c := v.Confidence
	if c == nil {
		return
	}
	levels := &report.Confidence{Source: report.FromVerdicts, N: c.N}
	for _, b := range c.Bins {
		levels.Levels = append(levels.Levels, report.ConfidenceLevel{From: b.Lo, To: b.Hi, N: b.N})
	}
	v.Curve = newConfidenceChart(levels, c.Bins)
	if v.Curve == nil {
		return
	}
	var levelTexts []string
	for _, p := range v.Curve.Points {
		levelTexts = append(levelTexts, p.Words)
	}
	v.Curve.Words = strings.Join(levelTexts, "; ")
	v.CurveWords = fmt.Sprintf("Expected calibration error %.3f, largest gap %.3f, Brier score %.3f, n=%s.", c.ECE.Mean, c.ECE.Largest, c.Brier, words.Comma(c.N))
	if c.AUROC != nil {
		v.CurveWords += fmt.Sprintf(" It is surer of a right verdict than of a wrong one in %s of pairs.", share(*c.AUROC))
	}
}

// grades compares scores, where both sides give them.
func (v *agreeView) grades(notes *footnotes) {
	s := v.Scores
	if s == nil {
		return
	}
	add := func(name string, est *stat.Estimate, about string) {
		if est != nil {
			v.Grades = append(v.Grades, measureRow{Name: name, figure: notes.coefficient(*est), About: about})
		}
	}
	of := func(c *stat.Correlation) *stat.Estimate {
		if c == nil {
			return nil
		}
		return &c.Estimate
	}
	n := fmt.Sprintf("n=%s", words.Comma(s.N))
	add("Pearson's r", of(s.Pearson), n)
	add("Spearman's rho", of(s.Spearman), n)
	add("Kendall's tau-b", of(s.Kendall), n)
	if s.Raw != nil {
		add("Mean, judge", s.Raw, "over "+words.Plural(s.Raw.N, "judged item", "judged items"))
	}
	add("Mean, "+v.Truth, &s.People, "over "+words.Plural(s.People.N, "labelled item", "labelled items"))
	if s.Corrected != nil {
		add("Mean, PPI++", &s.Corrected.Estimate, "the judge's, corrected by the labels")
	}
}

// among says how far people agree with one another.
func (v *agreeView) among(notes *footnotes) {
	a := v.Agreement.Annotators
	if a == nil {
		return
	}
	v.AmongWords = fmt.Sprintf("%s: %s labelled by two or more, %s. The judge is compared with the majority of the people, and this is how far they agree with one another.",
		words.Plural(len(a.Names), "person", "people"), words.Plural(a.Items, "item", "items"), words.Plural(a.Ties, "evenly split", "evenly split"))
	if a.Items == 0 {
		return
	}
	if a.Kappa != nil {
		v.Among = append(v.Among, measureRow{Name: "Cohen's kappa", figure: notes.coefficient(*a.Kappa), About: fmt.Sprintf("n=%s", words.Comma(a.Items))})
	}
	if a.Fleiss != nil {
		v.Among = append(v.Among, measureRow{Name: "Fleiss' kappa", figure: notes.coefficient(*a.Fleiss), About: fmt.Sprintf("n=%s", words.Comma(a.Items))})
	}
	v.Among = append(v.Among, measureRow{Name: "Krippendorff's alpha", figure: notes.coefficient(a.Alpha), About: fmt.Sprintf("n=%s", words.Comma(a.Items))})
}

// An ownRow is how the judge does on answers of one kind of model.
type ownRow struct {
	Name                string
	N                   int
	Agreement, Accepted figure
	Leniency            string
}

// own says whether the judge favours its own kind.
func (v *agreeView) own(notes *footnotes) {
	o := v.Agreement.Own
	if o == nil || o.Own == nil {
		return
	}
	add := func(name string, m *agree.Measures, l *stat.Estimate) {
		if m != nil {
			v.Own = append(v.Own, ownRow{name, m.Confusion.N(), notes.shareFigure(m.Agreement), notes.shareFigure(m.FalseAccept), share(*l)})
		}
	}
	add("own family, "+o.Family, o.Own, o.OwnLeniency)
	add("others", o.Others, o.OthersLeniency)
	v.OwnWords = v.Agreement.OwnWords()
}

// A worstItem is an item on which judge and people differ.
type worstItem struct {
	agree.Disagreement
	URL   string
	Votes string
}

// maxWorst is how many of them the page names.
const maxWorst = 20

// worst names the worst disagreements.
func (v *agreeView) worst() {
	for _, d := range v.Disagreements[:min(len(v.Disagreements), maxWorst)] {
		w := worstItem{Disagreement: d, URL: itemURL(v.Run.ID, d.Item)}
		if d.Of > 1 {
			w.Votes = fmt.Sprintf("%d of %d", d.For, d.Of)
		}
		v.Worst = append(v.Worst, w)
	}
}
