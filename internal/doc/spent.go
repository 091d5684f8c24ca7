package doc

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/words"
	"deem/stat"
)

// A measure is a field with its format.
type measure struct {
	field, name, unit string
}

var measures = []measure{
	{deem.FieldTokensIn, "tokens in", "tokens"},
	{deem.FieldTokensOut, "tokens out", "tokens"},
	{deem.FieldLatency, "latency", "ms"},
	{deem.FieldCost, "cost", "USD"},
}

// SpentFields returns the fields of items with the cost of a response.
func SpentFields() []string {
	var list []string
	for _, m := range measures {
		list = append(list, m.field)
	}
	return list
}

// A Sum is the total of one field over all items that have it, judged or not.
type Sum struct {
	Field string `json:"field"` // for example "tokens_in"
	Unit  string `json:"unit"`  // "tokens", "ms" or "USD"

	N        int `json:"n"`                  // items with a valid value
	Missing  int `json:"missing,omitempty"`  // items without one
	Unusable int `json:"unusable,omitempty"` // items whose value is not a number or negative

	Mean stat.Estimate `json:"mean"` // per item

	// P50 and P95 are quantiles: at least that share of items has no larger value. For more
	// than 10,000 items they are accurate to 1%.
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`

	Total float64 `json:"total"`
}

// A Meter sums up what responses cost the system under test: tokens, time and money,
// according to the fields of the items. What the judge used is in the calls of a report.
// The zero value is ready to use. Its memory does not grow beyond 10,000 items.
type Meter struct {
	items int
	of    [4]gauge // in the order of measures
}

type gauge struct {
	values   stat.Moments
	few      []float64 // all values, up to fewValues
	sizes    Histogram
	unusable int
}

const fewValues = 10_000

func (g *gauge) quantile(q float64) float64 {
	n := g.values.N()
	if n == 0 || n > fewValues {
		return g.sizes.Quantile(q)
	}
	sorted := slices.Sorted(slices.Values(g.few))
	return sorted[int(math.Ceil(q*float64(n)))-1]
}

// A Took is the cost of one response according to the fields of its item. A value is
// negative if the item does not have it, and NaN if it is invalid.
type Took [4]float64 // in the order of measures

// TookBy returns the cost of the response of an item, nil if the item has none of the fields.
func TookBy(it deem.Item) *Took {
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
	kept := took // allocate only what is returned
	return &kept
}

// Add adds an item by the cost of its response.
func (m *Meter) Add(took *Took) {
	m.items++
	if took == nil {
		return
	}
	for i, x := range took {
		g := &m.of[i]
		switch {
		case math.IsNaN(x):
			g.unusable++
		case x >= 0:
			g.values.Add(x, 1)
			g.sizes.Add(x)
			if g.values.N() <= fewValues {
				g.few = append(g.few, x)
			}
		}
	}
}

// Sums returns the sums of the fields that some item has. clustered says that items come in
// clusters, which the intervals of the means do not allow for.
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
			Mean: stat.Mean(g.values, stat.DefaultLevel, stat.Bounds{}), Total: g.values.Sum(),
			P50: g.quantile(0.5), P95: g.quantile(0.95),
		}
		s.Mean.Lo = max(s.Mean.Lo, 0) // a cost cannot be negative
		if clustered {
			s.Mean = s.Mean.Warn(WarnIndependent)
		}
		list = append(list, s)
	}
	return list
}

// WarnIndependent warns that an interval treats items as independent.
const WarnIndependent = "the interval takes items for independent, and they come in clusters: it may be too narrow"

// AddSums adds a section with what responses cost.
func (d *Document) AddSums(sums []Sum) {
	t := Table{Columns: []Column{
		Col("system under test"), Est("mean per item [95%]"), Num("p50"), Num("p95"), Num("total"), Num("n"),
	}}
	for _, s := range sums {
		mean := Cell{Text: "-"}
		if s.N > 0 {
			mean = Cell{Text: s.Amount(s.Mean.Value), Marks: d.Mark(s.Mean.Warnings...)}
			if s.N > 1 {
				mean.Text += " [" + s.Amount(s.Mean.Lo) + ", " + s.Amount(s.Mean.Hi) + "]"
			}
		}
		row := []Cell{T(s.Name()), mean, T(s.Amount(s.P50)), T(s.Amount(s.P95)), T(s.Amount(s.Total)), N(s.N)}
		if s.Unusable > 0 {
			row[5].Marks = d.Mark(WarnUnusable)
		}
		t.Rows = append(t.Rows, row)
	}
	d.Add(Section{ID: "system", Blocks: []Block{t}})
}

// WarnUnusable warns that values were left out.
const WarnUnusable = "some items have a value here that is not a number from 0 on; these items are left out"

// Name returns the display name of the field, with its unit if the numbers do not show it.
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

// Amount formats a number in the unit of the sum.
func (s Sum) Amount(x float64) string {
	text := words.Comma(int64(math.Round(x)))
	if x < 100 {
		text = Short(x)
	}
	if s.Unit == "USD" {
		return "$" + text
	}
	return text
}
