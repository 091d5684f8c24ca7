package agree

import (
	"fmt"
	"slices"

	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// A LabelTable is the agreement of judge and people on the judge's labels, if it has more
// than two. Yes and no are derived from these labels.
type LabelTable struct {
	Labels []string `json:"labels"` // highest score first

	// Ordered reports whether each label has a different score, so that some labels are
	// closer to each other than others.
	Ordered bool `json:"ordered"`

	// Counts[i][j] is the number of items with label i from people and label j from the
	// judge. Others is the number of items with a verdict and a label of which one is not
	// in Labels.
	Counts [][]int `json:"counts"`
	Others int     `json:"others"`

	Agreement stat.Estimate  `json:"agreement"`           // the share of items with the same label
	Kappa     stat.Estimate  `json:"kappa"`               // Cohen's, in which only equal labels agree
	Linear    *stat.Estimate `json:"linear,omitempty"`    // weighted kappa; nil unless labels are ordered
	Quadratic *stat.Estimate `json:"quadratic,omitempty"` // with squared distances
}

// labelTable counts labels. It returns nil if the judge has at most two labels, or people
// gave none of them.
func (b *Builder) labelTable() *LabelTable {
	k := len(b.o.Labels)
	if k < 3 || len(b.both) == 0 {
		return nil
	}
	t := &LabelTable{Labels: b.o.Labels, Ordered: b.o.Ordered, Counts: make([][]int, k)}
	weights := make(agreement.Crossed, k)
	for i := range k {
		t.Counts[i], weights[i] = make([]int, k), make([]float64, k)
	}
	s := b.sampleOf(b.both, b.alone)
	var list []labelled
	hits, total := 0.0, 0.0
	for n, it := range s.both {
		i, j := slices.Index(t.Labels, it.truthLabel), slices.Index(t.Labels, it.label)
		if i < 0 || j < 0 {
			t.Others++
			continue
		}
		w := s.weight[n]
		t.Counts[i][j]++
		weights[i][j] += w
		list = append(list, labelled{i, j, s.place[n], w})
		if total += w; i == j {
			hits += w
		}
	}
	if len(list) == 0 {
		return nil // people say only yes and no
	}
	share := hits / total
	d := designOf(list, func(i, j int) float64 { return agreement.Number(i == j) - share })
	t.Agreement = d.Share(share, len(list), stat.DefaultLevel)
	kappa := func(w agreement.Weighting) stat.Estimate {
		return weights.Kappa(w, len(list), designOf(list, weights.Influence(w)), stat.DefaultLevel)
	}
	t.Kappa = kappa(agreement.Unweighted)
	if t.Ordered {
		t.Linear, t.Quadratic = new(kappa(agreement.Linear)), new(kappa(agreement.Quadratic))
	}
	return t
}

// A labelled is an item of a table of labels: the labels of people and judge, and the
// cluster and weight of the item.
type labelled struct {
	people, judge, cluster int
	weight                 float64
}

// designOf returns the design of an estimate from the influence of its items. It ignores
// strata, which would narrow an interval, so it is conservative.
func designOf(list []labelled, z func(people, judge int) float64) agreement.Design {
	var whole, apart []stat.Cluster
	at := map[int]int{}
	total, squares, both := 0.0, 0.0, 0.0
	for _, it := range list {
		x := z(it.people, it.judge)
		place, known := at[it.cluster]
		if !known {
			place, at[it.cluster] = len(whole), len(whole)
			whole = append(whole, stat.Cluster{})
		}
		whole[place].Weight += it.weight
		whole[place].Influence += it.weight * x
		apart = append(apart, stat.Cluster{Weight: it.weight, Influence: it.weight * x})
		total += it.weight
		squares += it.weight * x * x
		both += it.weight * it.weight * x * x
	}
	d := agreement.Design{Effect: 1}
	if len(whole) < len(list) {
		d = agreement.InClusters(whole, apart)
	}
	if squares > 0 {
		d.Effect *= both / (total * squares) * float64(len(list))
	}
	return d
}

// labels shows the table of labels.
func (p *paper) labels() {
	l := p.Labels
	if l == nil {
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("")}}
	same, n := 0, 0
	for _, name := range l.Labels {
		t.Columns = append(t.Columns, doc.Num(p.truth+" "+name))
	}
	for j, name := range l.Labels {
		row := []doc.Cell{doc.T("judge " + name)}
		for i := range l.Labels {
			c := doc.N(l.Counts[i][j])
			n += l.Counts[i][j]
			switch {
			case i == j:
				same += l.Counts[i][j]
				c.Tone = doc.Good
			case l.Counts[i][j] > 0:
				c.Tone = doc.Bad
			}
			row = append(row, c)
		}
		t.Rows = append(t.Rows, row)
	}
	m := measured("labels")
	add := func(name string, value doc.Cell, about string) {
		m.Rows = append(m.Rows, []doc.Cell{doc.T(name), value, doc.T(about)})
	}
	add("same label", p.Share(l.Agreement), p.outOf(same, n, "items"))
	add("Cohen's kappa", p.Coefficient(l.Kappa, 2), "only equal labels agree")
	if l.Ordered {
		add("linear kappa", p.Coefficient(*l.Linear, 2), "near labels agree in part")
		add("quadratic kappa", p.Coefficient(*l.Quadratic, 2), "the same, far labels count more")
	}
	others := ""
	if l.Others > 0 {
		others = fmt.Sprintf("Left out: %s with a label that the judge does not have, as yes or no.", words.Count(l.Others, "item"))
	}
	p.Add(doc.Section{ID: "labels", Title: "The judge's " + words.Count(len(l.Labels), "label"), Blocks: []doc.Block{t, m, doc.Paragraph{Text: others}}})
}
