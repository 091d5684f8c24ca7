package server

import (
	"context"
	"strconv"
	"strings"

	"deem"
	"deem/internal/findings"
	"deem/internal/words"
	"deem/report/compare"
)

// A compareView is what the page of a comparison shows.
type compareView struct {
	Title string
	Ask   compareAsk
	compare.Comparison
	Level string // of the intervals, as "95%"

	Sides   []sideView
	Advice  string // what to do about runs that are not compared
	Anyway  string // the address that compares them all the same
	Agree   string // the address that sets their judges beside each other, "" when that makes no sense
	Ranks   *rankView
	Pairs   []pairView
	Changes []changeView
	All     string // the address without a choice of these
	Flips   []flipView
	Total   int // items on which runs differ
	Pager   pager
	CSV     string
	Notes   []pageNote
}

// A sideView is a run with its own numbers.
type sideView struct {
	compare.Side
	URL    string
	Judged figure
	N      int
	Strict figure
}

// compareView lays a comparison out.
func (s *Server) compareView(ctx context.Context, b *beside, ask compareAsk) (compareView, error) {
	v := compareView{Ask: ask, Comparison: b.Comparison, Level: percents(b.Level)}
	v.Title = titleOf(b.Comparison)
	var notes footnotes
	for _, side := range b.Runs {
		v.Sides = append(v.Sides, newSide(side, &notes))
	}
	if b.Refused {
		v.refused(b)
		v.Notes = notes.notes() // The numbers of each run are shown all the same.
		return v, nil
	}
	v.Ranks = newRanks(b.Comparison, &notes)
	for i, p := range b.Pairs {
		v.Pairs = append(v.Pairs, newPair(b.Comparison, i, p, &notes))
	}
	notes.mark(b.Notes...)
	v.Notes = notes.notes()
	return v, s.addFlips(ctx, &v, b)
}

func titleOf(c compare.Comparison) string {
	names := make([]string, len(c.Runs))
	for i, run := range c.Runs {
		names[i] = words.Clip(run.Name, forestLetter)
	}
	return strings.Join(names, " beside ")
}

// refused says why runs are not compared and what to do about it.
func (v *compareView) refused(b *beside) {
	v.Anyway = v.Ask.link("/compare", "anyway", "1")
	v.Advice = "Judge all of them in the same way; or compare them all the same, and say what differs wherever you quote the difference."
	if len(b.runs) == 2 && b.runs[0].Dataset.Hash == b.runs[1].Dataset.Hash {
		v.Advice = "Both runs judged the same responses: it is their judges that differ, and how far these agree is a question of its own."
		v.Agree = agreementURL(b.runs[0].ID, "with", b.runs[1].ID)
	}
}

func newSide(side compare.Side, notes *footnotes) sideView {
	v := sideView{Side: side, URL: runURL(side.Run.Run), N: side.Items - side.Unjudged}
	v.Judged.Text = "no estimate"
	if v.N > 0 {
		v.Judged.Text = "withheld"
	}
	if side.Figures.Judged != nil {
		v.Judged = notes.shareFigure(*side.Figures.Judged)
	}
	if side.Items > 0 {
		v.Strict = notes.shareFigure(side.Figures.Strict)
	}
	return v
}

// A rankView orders more than two runs.
type rankView struct {
	Places  []placeView
	Heads   []string // of the columns with differences
	Order   string   // what the ranks say
	Cochran string
	Marks   []int
	Holm    int // how many pairs the p-values are adjusted over
}

type placeView struct {
	compare.Place
	Figure figure
	Less   []string   // the runs of the columns
	Blank  []struct{} // a cell for each run below
}

// newRanks returns nil for two runs, whose difference says it all.
func newRanks(c compare.Comparison, notes *footnotes) *rankView {
	r := c.Ranking
	if r == nil || len(r.Places) < 3 {
		return nil
	}
	v := &rankView{Holm: len(r.Pairs)}
	for i, p := range r.Places {
		place := placeView{Place: p, Figure: notes.shareFigure(p.Estimate)}
		for _, column := range r.Places[:i] {
			place.Less = append(place.Less, r.Between(column.Run, p.Run))
		}
		place.Blank = make([]struct{}, max(0, len(r.Places)-1-i))
		v.Places = append(v.Places, place)
		if i < len(r.Places)-1 {
			v.Heads = append(v.Heads, words.Clip(p.Name, 14))
		}
	}
	v.Order = words.UpperFirst(compare.NoOrder)
	if r.Ordered {
		v.Order = "A rank is one more than the number of runs that are better"
	}
	if q := r.Cochran; q != nil {
		v.Cochran = words.UpperFirst(r.EquallyGood())
		v.Marks = notes.mark(q.Warnings...)
	}
	return v
}

// A pairView is the difference of a run from the baseline.
type pairView struct {
	ID            string
	First, Second string
	Conclusions   []string
	Outcome       string // a class
	Plot          *forest
	Rows          []differenceView
	Unjudged      bool // some item has not two verdicts
}

// A differenceView is a difference, overall or in a category.
type differenceView struct {
	Name          string
	First, Second string
	Text, Class   string
	P, Adjusted   string
	Counted       bool // there are items won and lost
	Wins, Losses  int
	Ties          int
	Unjudged      int
	Strict        string
	Marks         []int
}

func newPair(c compare.Comparison, i int, p compare.Pair, notes *footnotes) pairView {
	v := pairView{
		ID:    "pair" + strconv.Itoa(i+1),
		First: c.Runs[p.First].Name, Second: c.Runs[p.Second].Name,
		Conclusions: c.Conclusions(p), Outcome: outcomeClass(p.Overall.Outcome), Unjudged: p.Overall.Unjudged > 0,
	}
	var drawn []plotted
	for _, d := range p.Rows() {
		row := newDifference(c, d, notes)
		v.Rows = append(v.Rows, row)
		if d.Estimate != nil {
			drawn = append(drawn, plotted{Name: d.Category, Value: row.Text, Class: row.Class, Est: *d.Estimate})
		}
	}
	v.Plot = newForest(v.ID+"-plot", drawn, []float64{0}, points).line(0)
	return v
}

func newDifference(c compare.Comparison, d compare.Difference, notes *footnotes) differenceView {
	v := differenceView{
		Name: d.Category, Text: "no estimate", Class: outcomeClass(d.Outcome),
		Counted: d.Counted(), Wins: d.Wins, Losses: d.Losses, Ties: d.Ties, Unjudged: d.Unjudged, Strict: compare.Interval(d.Strict),
	}
	if c.Hold != nil && d.N > 0 {
		v.Text = "withheld"
	}
	if est := d.Estimate; est != nil {
		v.First, v.Second, v.Text = percent(d.First), percent(d.Second), compare.Interval(*est)
		if mark := d.Mark(); mark != "" {
			v.Text += " " + mark
		}
		v.Marks = notes.mark(est.Warnings...)
	}
	if d.Test != nil {
		v.P = compare.P(d.Test.P)
	}
	if d.Adjusted != nil {
		v.Adjusted = compare.P(*d.Adjusted)
	}
	return v
}

// outcomeClass returns the name of an outcome in the style sheet.
func outcomeClass(outcome string) string {
	if outcome == compare.Better || outcome == compare.Worse {
		return outcome
	}
	return "within"
}

// A changeView is one way in which runs differ on items.
type changeView struct {
	Title   string
	N       int
	URL     string
	Current bool
}

// A flipView is an item on which runs differ.
type flipView struct {
	compare.FlipText
	Title string
	Sides []flipSide
}

type flipSide struct {
	compare.Outcome
	Name, URL string
	Response  string
	Cut       bool // the response is longer
	Reason    string
}

// flipsPerPage is how many items a page shows with their answers.
const flipsPerPage = 20

// flipText is how much of a response is shown beside others, in bytes.
const flipText = 4000

// addFlips enters the items on which runs differ.
func (s *Server) addFlips(ctx context.Context, v *compareView, b *beside) error {
	v.Total, v.All = len(b.flips), v.Ask.link("/compare", "change", "", "page", "")+"#flips"
	v.addChanges(b)
	list := b.listed(v.Ask.Change)
	v.CSV = v.Ask.link("/compare/flips.csv")
	v.Pager = newPager(v.Ask.page, len(list), flipsPerPage, func(n int) string { return v.Ask.link("/compare", "page", strconv.Itoa(n)) + "#flips" })
	from, to := v.Pager.span(len(list), flipsPerPage)
	for f, err := range findings.FlipTexts(ctx, s.store, b.runs, list[from:to]) {
		if err != nil {
			return err
		}
		v.Flips = append(v.Flips, newFlip(b, f))
	}
	return nil
}

// addChanges lists the ways in which runs differ, in the order in which they occur.
func (v *compareView) addChanges(b *beside) {
	at := map[string]int{}
	for _, f := range b.flips {
		change := f.Change()
		i, ok := at[change]
		if !ok {
			i = len(v.Changes)
			at[change] = i
			v.Changes = append(v.Changes, changeView{
				Title: words.UpperFirst(b.Passing(f)), URL: v.Ask.link("/compare", "change", change, "page", "") + "#flips", Current: change == v.Ask.Change,
			})
		}
		v.Changes[i].N++
	}
}

func newFlip(b *beside, f compare.FlipText) flipView {
	v := flipView{FlipText: f, Title: b.Passing(f.Flip)}
	for i, o := range f.Outcomes {
		side := flipSide{Outcome: o, Name: b.Runs[i].Name, URL: itemURL(b.runs[i].ID, f.ID), Response: f.Responses[i], Reason: excerpt(f.Reasons[i])}
		if len(side.Response) > flipText {
			side.Response, side.Cut = strings.ToValidUTF8(side.Response[:flipText], ""), true
		}
		v.Sides = append(v.Sides, side)
	}
	return v
}

// Missing reports whether a run does not have the item at all.
func (f flipSide) Missing() bool { return f.Yes == nil && f.Failure == deem.Kind("") }
