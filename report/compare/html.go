package compare

import (
	_ "embed"
	"html/template"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"deem"
	"deem/internal/words"
	"deem/report/internal/page"
)

//go:embed page.html
var pageText string

// pageTemplate is parsed when the first page is shown: most commands show none.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"percent":  page.Percent,
		"share":    page.Share,
		"interval": interval,
		"points":   points,
		"p":        pValue,
		"pEquals":  pEquals,
		"comma":    words.Comma[int],
		"short":    deem.ShortHash,
		"orNone":   page.OrNone,
		"level":    percentLevel,
		"upper":    words.UpperFirst,
		"noOrder":  func() string { return words.UpperFirst(NoOrder) },
	}).Parse(page.PlotTemplate + pageText))
})

// maxShown is about how many items a page shows with their texts. A CSV file has them
// all.
const maxShown = 500

// HTML writes the comparison as one page that needs nothing else: the lint, the runs,
// a plot of the differences with their intervals, and items on which runs differ, with
// their answers side by side. Of all flips it shows some hundred, as many of each kind,
// and asks for their texts.
func (c Comparison) HTML(w io.Writer, flips []Flip, texts func([]Flip) iter.Seq2[FlipText, error]) error {
	v := pageView{Comparison: c, Total: len(flips), Groups: c.groups(flips)}
	for i := range v.Groups {
		for f, err := range texts(v.Groups[i].flips) {
			if err != nil {
				return err
			}
			v.Groups[i].Items = append(v.Groups[i].Items, f)
		}
	}
	for _, p := range c.Pairs {
		v.Plots = append(v.Plots, pairView{
			Pair: p, Plot: newPlot(p),
			First: c.Runs[p.First].Name, Second: c.Runs[p.Second].Name,
			Conclusions: conclusions(c, p),
		})
	}
	return pageTemplate().Execute(w, v)
}

// A pageView is what the page's template sees.
type pageView struct {
	Comparison
	Plots  []pairView
	Groups []group
	Total  int
}

// A group are the items on which runs differ in the same way.
type group struct {
	Title string
	N     int
	Items []FlipText
	flips []Flip
}

// groups returns the flips by how runs differ, the first of each kind, the kinds on
// which a later run passes first.
func (c Comparison) groups(flips []Flip) []group {
	byChange := map[string]*group{}
	for _, f := range flips {
		g := entry(byChange, f.Change())
		g.Title = c.passing(f)
		g.N++
		g.flips = append(g.flips, f)
	}
	most := max(maxShown/max(len(byChange), 1), 10)
	var list []group
	changes := slices.Sorted(maps.Keys(byChange))
	slices.Reverse(changes) // "won" before "lost"
	for _, change := range changes {
		g := byChange[change]
		g.flips = g.flips[:min(len(g.flips), most)]
		list = append(list, *g)
	}
	return list
}

// passing says which runs pass an item, which do not, and which have no verdict.
func (c Comparison) passing(f Flip) string {
	var sides [3][]string
	for i, o := range f.Outcomes {
		switch {
		case o.Yes == nil:
			sides[2] = append(sides[2], c.Runs[i].called())
		case *o.Yes:
			sides[0] = append(sides[0], c.Runs[i].called())
		default:
			sides[1] = append(sides[1], c.Runs[i].called())
		}
	}
	text := "passed by " + strings.Join(sides[0], ", ") + ", failed by " + strings.Join(sides[1], ", ")
	if len(sides[2]) > 0 {
		text += ", unjudged in " + strings.Join(sides[2], ", ")
	}
	return text
}

// A pairView is a pair with its plot.
type pairView struct {
	Pair
	Plot          page.Plot
	First, Second string
	Conclusions   []string
}

// Passed reports whether the run passes the item.
func (o Outcome) Passed() bool { return o.Yes != nil && *o.Yes }

// Rows returns the differences of a pair, the overall one last.
func (p Pair) Rows() []Difference {
	overall := p.Overall
	overall.Category = "overall"
	rows := append(slices.Clone(p.Categories), overall)
	if p.Corrected != nil && p.Corrected.Estimate != nil {
		rows = append(rows, p.Corrected.Difference())
	}
	if p.Score != nil {
		score := *p.Score
		score.Category = MeanScore
		rows = append(rows, score)
	}
	return rows
}

// newPlot returns the plot of the differences of a pair.
func newPlot(p Pair) page.Plot {
	reach := 0.01
	var rows []page.PlotRow
	for _, d := range p.Rows() {
		if d.Estimate != nil {
			rows = append(rows, page.PlotRow{Name: page.Cell(d.Category, 28), Label: interval(*d.Estimate) + " " + mark(d), Class: outcomeClass(d.Outcome), Est: *d.Estimate})
			lo, hi := d.Estimate.Drawn()
			reach = max(reach, -lo, hi)
		}
	}
	return page.NewPlot(rows, -reach, reach, tickStep(reach), points)
}

// outcomeClass returns the name of an outcome in a style sheet.
func outcomeClass(outcome string) string {
	if outcome == Better || outcome == Worse {
		return outcome
	}
	return "within"
}

// tickStep returns a round step that gives two to five ticks on either side of 0.
func tickStep(reach float64) float64 {
	for _, step := range []float64{0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2} {
		if reach/step <= 5 {
			return step
		}
	}
	return 0.5
}
