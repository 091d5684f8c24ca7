package compare

import (
	"cmp"
	"fmt"
	"slices"

	"deem/internal/doc"
	"deem/internal/words"
)

// A Frontier relates the scores of runs to the cost of their responses by one measure, such
// as tokens or time.
type Frontier struct {
	Field  string          `json:"field"` // for example "tokens_in"
	Unit   string          `json:"unit"`
	Points []FrontierPoint `json:"points"` // cheapest first
}

// A FrontierPoint is one run. It is on the frontier unless another run scores at least as
// high at no higher cost, and is better in one of the two.
type FrontierPoint struct {
	Run        int     `json:"run"` // index in Runs
	Score      float64 `json:"score"`
	Mean       float64 `json:"mean"` // per item
	OnFrontier bool    `json:"on_frontier"`
	BeatenBy   []int   `json:"beaten_by,omitempty"` // indices in Runs
}

// frontiers returns a frontier for each measure that at least two runs have.
func frontiers(runs []Side) []Frontier {
	var list []Frontier
	for _, field := range doc.SpentFields() {
		f := Frontier{Field: field}
		for i, s := range runs {
			if sum := s.sum(field); sum != nil && s.Judged != nil {
				f.Unit = sum.Unit
				f.Points = append(f.Points, FrontierPoint{Run: i, Score: s.Judged.Value, Mean: sum.Mean.Value})
			}
		}
		if len(f.Points) < 2 {
			continue
		}
		for i := range f.Points {
			p := &f.Points[i]
			for _, q := range f.Points {
				if q.Score >= p.Score && q.Mean <= p.Mean && (q.Score > p.Score || q.Mean < p.Mean) {
					p.BeatenBy = append(p.BeatenBy, q.Run)
				}
			}
			p.OnFrontier = len(p.BeatenBy) == 0
		}
		slices.SortFunc(f.Points, func(a, b FrontierPoint) int {
			return cmp.Or(cmp.Compare(a.Mean, b.Mean), cmp.Compare(a.Score, b.Score), cmp.Compare(a.Run, b.Run))
		})
		list = append(list, f)
	}
	return list
}

// sum returns the cost of the responses of a run by a measure, nil if no item has it.
func (s Side) sum(field string) *doc.Sum {
	i := slices.IndexFunc(s.System, func(sum doc.Sum) bool { return sum.Field == field && sum.N > 0 })
	if i < 0 {
		return nil
	}
	return &s.System[i]
}

// addSpent adds a column to a table of runs for each measure of the cost of a response: its
// mean over the items of a run. The table has the runs in the given order. If mark is true,
// runs on the frontier are marked.
func (p *paper) addSpent(t *doc.Table, order []int, mark bool, column func(string) doc.Column) {
	for _, f := range p.Frontiers {
		name := ""
		for row, i := range order {
			sum, cell := p.Runs[i].sum(f.Field), doc.T("-")
			if sum != nil {
				name, cell = sum.Name(), doc.Cell{Text: sum.Amount(sum.Mean.Value)}
				if sum.Missing+sum.Unusable > 0 {
					cell.Marks = p.Mark(fmt.Sprintf("the mean is over the items that say it: %s of %s do not", words.Comma(sum.Missing+sum.Unusable), words.Count(p.Runs[i].Items, "item")))
				}
				if mark && slices.ContainsFunc(f.Points, func(point FrontierPoint) bool { return point.Run == i && point.OnFrontier }) {
					cell.Text, cell.Tone = "* "+cell.Text, doc.Good
				}
			}
			t.Rows[row] = append(t.Rows[row], cell)
		}
		t.Columns = append(t.Columns, column(name))
	}
}

// frontiers shows the score of each run versus the cost of its responses: as drawings, or
// as a table.
func (p *paper) frontiers() {
	if len(p.Frontiers) == 0 {
		return
	}
	var drawings []doc.Figure
	for _, f := range p.Frontiers {
		var dots []doc.Dot
		var first *doc.Sum
		for _, point := range f.Points {
			s := p.Runs[point.Run]
			first = s.sum(f.Field)
			dots = append(dots, doc.Dot{Name: s.called(), X: point.Mean, Y: *s.Judged, Joins: point.OnFrontier})
		}
		drawings = append(drawings, doc.Scatter(p.Metric+" versus "+first.Name(), dots, first.Amount))
	}
	figure := doc.Together(drawings)
	figure.Table.Columns = []doc.Column{doc.Col("run"), doc.Num(p.Metric)}
	order, _ := p.order()
	for _, i := range order {
		score := doc.T(doc.Absent(p.Runs[i].Items > p.Runs[i].Unjudged))
		if est := p.Runs[i].Judged; est != nil {
			score = doc.T(doc.Percent(est.Value))
		}
		figure.Table.Rows = append(figure.Table.Rows, []doc.Cell{doc.T(p.Runs[i].called()), score})
	}
	p.addSpent(&figure.Table, order, true, doc.Num)
	p.Add(doc.Section{
		ID: "frontier", Title: words.UpperFirst(p.Metric) + " versus the cost of a response",
		Blocks: []doc.Block{figure, doc.Paragraph{
			Text: "* on the frontier: no other run scores as high for less, or higher for as much. This compares the values only; the tests say whether two scores differ.",
			Tone: doc.Dim,
		}},
	})
}
