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

// frontiers shows the score of each run versus the cost of its responses.
func (p *paper) frontiers() {
	if len(p.Frontiers) == 0 {
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("run"), doc.Num(p.Metric)}}
	for _, s := range p.Runs {
		score := doc.T(doc.Absent(s.Items > s.Unjudged))
		if s.Judged != nil {
			score = doc.T(doc.Percent(s.Judged.Value))
		}
		t.Rows = append(t.Rows, []doc.Cell{doc.T(s.called()), score})
	}
	var drawings []doc.Figure
	for _, f := range p.Frontiers {
		var dots []doc.Dot
		var first *doc.Sum
		on := map[int]bool{}
		for _, point := range f.Points {
			s := p.Runs[point.Run]
			first, on[point.Run] = s.sum(f.Field), point.OnFrontier
			dots = append(dots, doc.Dot{Name: s.called(), X: point.Mean, Y: *s.Judged, Joins: point.OnFrontier})
		}
		t.Columns = append(t.Columns, doc.Num(first.Name()))
		for i, s := range p.Runs {
			cell := doc.T("-")
			if sum := s.sum(f.Field); sum != nil {
				cell = doc.Cell{Text: sum.Amount(sum.Mean.Value)}
				if sum.Missing+sum.Unusable > 0 {
					cell.Marks = p.Mark(fmt.Sprintf("the mean is over the items that say it: %s of %s do not", words.Comma(sum.Missing+sum.Unusable), words.Count(s.Items, "item")))
				}
				if on[i] {
					cell.Text, cell.Tone = "* "+cell.Text, doc.Good
				}
			}
			t.Rows[i] = append(t.Rows[i], cell)
		}
		drawings = append(drawings, doc.Scatter(p.Metric+" against "+first.Name(), dots, first.Amount))
	}
	p.Add(doc.Section{
		ID: "frontier", Title: "The " + p.Metric + " against what a response took on average",
		Blocks: []doc.Block{t, doc.Paragraph{
			Text: "* on the frontier: no other run scores as high for less, or higher for as much. This goes by the values; whether two scores differ at all is said by the tests.",
			Tone: doc.Dim,
		}, doc.Together(drawings)},
	})
}
