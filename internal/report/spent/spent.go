// Package spent sums up what responses took the system under test: tokens, time and
// money, as the fields of the items say. What the judge took is another matter, and a
// report has it under calls.
package spent

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// A measure is one field with how it is shown.
type measure struct {
	field, name, unit string
}

var measures = []measure{
	{deem.FieldTokensIn, "tokens in", "tokens"},
	{deem.FieldTokensOut, "tokens out", "tokens"},
	{deem.FieldLatency, "latency", "ms"},
	{deem.FieldCost, "cost", "USD"},
}

// Fields returns the fields of items that say what a response took.
func Fields() []string {
	var list []string
	for _, m := range measures {
		list = append(list, m.field)
	}
	return list
}

// A Sum is one of the fields over all items that have it, judged or not.
type Sum struct {
	Field string `json:"field"` // as "tokens_in"
	Unit  string `json:"unit"`  // "tokens", "ms" or "USD"

	N        int `json:"n"`                  // items with a usable value
	Missing  int `json:"missing,omitempty"`  // items without one
	Unusable int `json:"unusable,omitempty"` // items whose value is not a number from 0 on

	Mean stat.Estimate `json:"mean"` // per item

	// P50 and P95 are values of items: at least that share of items takes no more. Of more
	// than 10,000 items they are within 1%.
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`

	Total float64 `json:"total"`
}

// A Meter gathers items. The zero value is ready to use. Its memory does not grow with
// the number of items beyond 10,000.
type Meter struct {
	items int
	of    [4]gauge // as measures
}

type gauge struct {
	values   stat.Moments
	few      []float64 // all values, as long as there are not more than fewValues
	sizes    stat.Histogram
	unusable int
}

const fewValues = 10_000

func (g *gauge) add(x float64) {
	g.values.Add(x, 1)
	g.sizes.Add(x)
	if g.values.N() <= fewValues {
		g.few = append(g.few, x)
	}
}

func (g *gauge) quantile(q float64) float64 {
	n := g.values.N()
	if n == 0 || n > fewValues {
		return g.sizes.Quantile(q)
	}
	sorted := slices.Sorted(slices.Values(g.few))
	return sorted[int(math.Ceil(q*float64(n)))-1]
}

// A Took is what one response took, as the fields of its item say: less than 0 where the
// item does not say it, and NaN where it says something else than a number from 0 on.
type Took [4]float64 // as measures

// Of returns what the response of an item took, nil when the item says nothing of it.
func Of(it deem.Item) *Took {
	took, said := Took{-1, -1, -1, -1}, false
	for i := range measures {
		text, ok := it.Fields[measures[i].field]
		if !ok {
			continue
		}
		said = true
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if took[i] = x; err != nil || !(x >= 0 && x <= 1e18) { // also NaN
			took[i] = math.NaN()
		}
	}
	if !said {
		return nil
	}
	kept := took // Only what is kept is allocated.
	return &kept
}

// Add adds an item by what its response took.
func (m *Meter) Add(took *Took) {
	m.items++
	if took == nil {
		return
	}
	for i, x := range took {
		switch {
		case math.IsNaN(x):
			m.of[i].unusable++
		case x >= 0:
			m.of[i].add(x)
		}
	}
}

// Sums returns the sums of the fields that some item has. Clustered says that items come
// in clusters, for which the intervals of the means do not allow.
func (m *Meter) Sums(clustered bool) []Sum {
	var list []Sum
	for i := range m.of {
		g := &m.of[i]
		n := g.values.N()
		if n == 0 && g.unusable == 0 {
			continue
		}
		s := Sum{
			Field: measures[i].field, Unit: measures[i].unit, N: n, Missing: m.items - n - g.unusable, Unusable: g.unusable,
			Mean: stat.Mean(g.values, stat.DefaultLevel), Total: g.values.Sum(),
			P50: g.quantile(0.5), P95: g.quantile(0.95),
		}
		s.Mean.Lo = max(s.Mean.Lo, 0) // no response takes less than nothing
		if clustered {
			s.Mean = s.Mean.Warn(WarnIndependent)
		}
		list = append(list, s)
	}
	return list
}

// WarnIndependent says that an interval takes items for independent.
const WarnIndependent = "the interval takes items for independent, and they come in clusters: it may be too narrow"

// AddTo adds a section with the sums to a document.
func AddTo(d *doc.Document, sums []Sum) {
	t := doc.Table{Columns: []doc.Column{
		doc.Col("system under test"), doc.Est("mean per item [95%]"), doc.Num("p50"), doc.Num("p95"), doc.Num("total"), doc.Num("n"),
	}}
	for _, s := range sums {
		mean := doc.Cell{Text: "-"}
		if s.N > 0 {
			mean = doc.Cell{Text: s.Amount(s.Mean.Value), Marks: d.Mark(s.Mean.Warnings...)}
			if s.N > 1 {
				mean.Text += " [" + s.Amount(s.Mean.Lo) + ", " + s.Amount(s.Mean.Hi) + "]"
			}
		}
		row := []doc.Cell{doc.T(s.Name()), mean, doc.T(s.Amount(s.P50)), doc.T(s.Amount(s.P95)), doc.T(s.Amount(s.Total)), doc.N(s.N)}
		if s.Unusable > 0 {
			row[5].Marks = d.Mark(WarnUnusable)
		}
		t.Rows = append(t.Rows, row)
	}
	d.Add(doc.Section{ID: "system", Blocks: []doc.Block{t}})
}

// WarnUnusable says that values were left out.
const WarnUnusable = "some items have a value here that is not a number from 0 on; these items are left out"

// Name returns the name of the field for people, with its unit where the numbers do not
// show it.
func (s Sum) Name() string {
	i := slices.IndexFunc(measures, func(m measure) bool { return m.field == s.Field })
	if i < 0 {
		return s.Field
	}
	if s.Unit == "ms" {
		return measures[i].name + " (ms)"
	}
	return measures[i].name
}

// Amount returns a number in the unit of the sum.
func (s Sum) Amount(x float64) string {
	text := words.Comma(int64(math.Round(x)))
	if x < 100 {
		text = doc.Short(x)
	}
	if s.Unit == "USD" {
		return "$" + text
	}
	return text
}
