package agree

import (
	"slices"
	"strings"

	"deem"
	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/stat"
)

// A Party is one of two judges that are compared.
type Party struct {
	Run       string `json:"run,omitempty"`
	Judge     string `json:"judge"`
	JudgeHash string `json:"judge_hash,omitempty"`
	Model     string `json:"model,omitempty"`
}

// A Pairing is the agreement of two judges on the same items. A verdict is a yes if it
// passes or, without a pass mark, if its score is at least one half.
type Pairing struct {
	First  Party `json:"first"`
	Second Party `json:"second"`

	All        Crossing   `json:"all"`
	Categories []Crossing `json:"categories"` // sorted by name; empty if no item has one

	// FirstOnly and SecondOnly are the items that only one judge accepts.
	FirstOnly  Differing `json:"first_only"`
	SecondOnly Differing `json:"second_only"`

	// Unpaired counts the items without a verdict of both.
	Unpaired int `json:"unpaired"`

	// Note is a note on the two judges, or "".
	Note string `json:"note,omitempty"`
}

// A Crossing is the contingency table of two judges' verdicts with its measures.
type Crossing struct {
	Category   string `json:"category,omitempty"` // "(none)" for items without one
	BothYes    int    `json:"both_yes"`
	FirstOnly  int    `json:"first_only"`
	SecondOnly int    `json:"second_only"`
	BothNo     int    `json:"both_no"`

	Agreement stat.Estimate `json:"agreement"` // the share of items on which they agree
	Kappa     stat.Estimate `json:"kappa"`     // agreement beyond chance
}

// Differing are items on which two judges differ.
type Differing struct {
	N        int      `json:"n"`
	Examples []string `json:"examples"` // ids of the first ones
}

// maxDiffering is the maximum number of differing items that are listed.
const maxDiffering = 10

// Pairs compares two judges item by item. It keeps counts by cluster and a few ids, for any
// number of items.
type Pairs struct {
	pairing    Pairing
	all        agreement.Cross // with the first judge as the truth
	categories map[string]*agreement.Cross
}

// NewPairs returns a comparison of two judges.
func NewPairs(first, second Party) *Pairs {
	return &Pairs{pairing: Pairing{First: first, Second: second}, categories: map[string]*agreement.Cross{}}
}

// Add adds the verdicts of both judges on one item; nil means no verdict. Items should be
// added in the order of the dataset, because the first ones are listed.
func (p *Pairs) Add(it deem.Item, first, second *deem.Verdict) {
	if first == nil || second == nil {
		p.pairing.Unpaired++
		return
	}
	a, b := first.Yes(), second.Yes()
	weight, _ := doc.WeightOf(it)
	for _, to := range []*agreement.Cross{&p.all, doc.Entry(p.categories, strings.Clone(it.Category))} {
		to.Add(strings.Clone(it.Cluster), weight, a, b)
	}
	switch {
	case a && !b:
		p.pairing.FirstOnly.add(it.ID)
	case b && !a:
		p.pairing.SecondOnly.add(it.ID)
	}
}

func (d *Differing) add(id string) {
	if d.N++; len(d.Examples) < maxDiffering {
		d.Examples = append(d.Examples, strings.Clone(id))
	}
}

// crossing returns the measures of some items.
func crossing(category string, of *agreement.Cross) Crossing {
	c := of.Counts()
	return Crossing{
		Category: category, BothYes: c.TP, FirstOnly: c.FN, SecondOnly: c.FP, BothNo: c.TN,
		Agreement: of.Agreement(stat.DefaultLevel), Kappa: of.Kappa(stat.DefaultLevel),
	}
}

// Pairing returns the result.
func (p *Pairs) Pairing() Pairing {
	a := p.pairing
	a.All = crossing("", &p.all)
	a.Categories = []Crossing{}
	if _, one := p.categories[""]; !one || len(p.categories) > 1 {
		for name, c := range p.categories {
			a.Categories = append(a.Categories, crossing(doc.OrNone(name), c))
		}
		slices.SortFunc(a.Categories, func(x, y Crossing) int { return strings.Compare(x.Category, y.Category) })
	}
	return a
}
