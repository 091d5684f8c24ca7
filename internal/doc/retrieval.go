package doc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"deem"
	"deem/internal/words"
	"deem/stat"
)

// The fields of an item with a ranked list and with the documents that it should contain,
// both as JSON lists of ids. The first name that is present counts.
var (
	rankedFields = []string{"retrieved", "context_ids"}
	goldFields   = []string{"gold_ids", "evidence"}
)

// A RankedList is what a system retrieved for one question.
type RankedList struct {
	Cluster string
	Ranked  []string // ids of documents, best first
	Gold    []string // ids of the documents that contain the answer
}

// RankedBy returns the list in the fields of an item, and false if there is none.
func RankedBy(it deem.Item) (RankedList, bool) {
	l := RankedList{Cluster: it.Cluster}
	var ranked, gold bool
	l.Ranked, ranked = ids(it.Fields, rankedFields)
	l.Gold, gold = ids(it.Fields, goldFields)
	return l, ranked && gold
}

func ids(fields map[string]string, names []string) ([]string, bool) {
	for _, name := range names {
		if text := fields[name]; text != "" {
			var list []string // declared here, so that an item without a list allocates nothing
			err := json.Unmarshal([]byte(text), &list)
			return list, err == nil
		}
	}
	return nil, false
}

// DefaultK returns the default depths at which lists are scored.
func DefaultK() []int { return []int{5, 10} }

// A metric is a number between 0 and 1 for one list.
type metric struct {
	name, about string
	of          func(found []bool, gold int) float64 // of the first k places
}

var atK = []metric{
	{"hit", "1 when any gold document is among the first k", func(found []bool, _ int) float64 { return indicator(count(found) > 0) }},
	{"recall", "the share of the gold documents among the first k", func(found []bool, gold int) float64 { return float64(count(found)) / float64(gold) }},
	{"all", "1 when every gold document is among the first k", func(found []bool, gold int) float64 { return indicator(count(found) == gold) }},
	{"precision", "gold documents among the first k, divided by k", func(found []bool, _ int) float64 { return float64(count(found)) / float64(len(found)) }},
	{"nDCG", "discounted gain over the best possible, place i discounted by log2(i+1)", func(found []bool, gold int) float64 {
		return ndcg(found, gold, func(i int) float64 { return math.Log2(float64(i + 1)) })
	}},
	{"LongMemEval-ndcg_any", "the same, place i discounted by log2(i) from the second on, as LongMemEval has it", func(found []bool, gold int) float64 {
		return ndcg(found, gold, func(i int) float64 { return math.Max(math.Log2(float64(i)), 1) })
	}},
}

const (
	mrr      = "MRR"
	mrrAbout = "1 divided by the place of the first gold document, 0 without one"
)

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func count(found []bool) (n int) {
	for _, f := range found {
		if f {
			n++
		}
	}
	return n
}

// ndcg returns the gain of the list divided by the gain of the ideal list.
func ndcg(found []bool, gold int, discount func(place int) float64) float64 {
	got, best := 0.0, 0.0
	for i, f := range found {
		if f {
			got += 1 / discount(i+1)
		}
		if i < gold {
			best += 1 / discount(i+1)
		}
	}
	return got / best
}

// A RetrievalFigure is one metric over all lists.
type RetrievalFigure struct {
	Metric   string        `json:"metric"` // for example "recall@5"
	About    string        `json:"about"`
	Estimate stat.Estimate `json:"estimate"`
}

// A Retrieval is the scores of ranked lists of documents against the documents that contain
// the answer. Each metric has one name and one definition, because publications confuse
// hit@k, recall@k and all@k: a list that finds one of two documents has a hit, a recall of
// one half, and not all.
type Retrieval struct {
	Version string            `json:"version"` // "deem.retrieval/1"
	N       int               `json:"n"`       // scored lists
	NoGold  int               `json:"no_gold"` // lists without a gold document, which are not scored
	Short   int               `json:"short"`   // lists with fewer documents than the largest k
	Figures []RetrievalFigure `json:"figures"`

	// Apart is set, and there are no figures, if no gold document of any list is in any list.
	Apart *Apart `json:"apart,omitempty"`
}

// An Apart has a gold and a retrieved document as examples of ids that never meet: one side
// may name turns and the other sessions.
type Apart struct {
	Gold      string `json:"gold"`
	Retrieved string `json:"retrieved"`
}

// Err returns an error if the lists cannot be scored.
func (r *Retrieval) Err() error {
	if r.Apart == nil {
		return nil
	}
	return fmt.Errorf("no gold document is in any ranked list (%s): gold documents are called %q, retrieved documents %q",
		words.Count(r.N, "list"), r.Apart.Gold, r.Apart.Retrieved)
}

// A RetrievalBuilder collects lists. Make one with [NewRetrieval].
type RetrievalBuilder struct {
	ks     []int // sorted
	values map[string]*stat.Clustered
	counts Retrieval // without its figures

	// The documents so far and an example of each side, until a gold document is found in
	// a list.
	met             bool
	gold, retrieved map[string]bool
	apart           Apart
}

// NewRetrieval returns a builder that scores at the given depths, by default [DefaultK].
func NewRetrieval(ks ...int) *RetrievalBuilder {
	if len(ks) == 0 {
		ks = DefaultK()
	}
	ks = slices.Compact(slices.Sorted(slices.Values(ks)))
	return &RetrievalBuilder{
		ks: ks, values: map[string]*stat.Clustered{}, counts: Retrieval{Version: "deem.retrieval/1"},
		gold: map[string]bool{}, retrieved: map[string]bool{},
	}
}

// Add adds a list. A list without gold documents has no score, because there was nothing to
// find.
func (b *RetrievalBuilder) Add(l RankedList) {
	gold := map[string]bool{}
	for _, id := range l.Gold {
		gold[id] = true
	}
	if len(gold) == 0 {
		b.counts.NoGold++
		return
	}
	b.counts.N++
	largest := b.ks[len(b.ks)-1]
	if len(l.Ranked) < largest {
		b.counts.Short++
	}
	found, seen, reciprocal := make([]bool, max(len(l.Ranked), largest)), map[string]bool{}, 0.0
	for i, id := range l.Ranked {
		// A duplicate document counts at its first place.
		if found[i] = gold[id] && !seen[id]; found[i] && reciprocal == 0 {
			reciprocal = 1 / float64(i+1)
		}
		seen[id] = true
	}
	for _, m := range atK {
		for _, k := range b.ks {
			Entry(b.values, metricAt(m, k)).Add(l.Cluster, m.of(found[:k], len(gold)), 1)
		}
	}
	Entry(b.values, mrr).Add(l.Cluster, reciprocal, 1)
	b.meet(l)
}

// meet notes whether a gold document of any list is in any list.
func (b *RetrievalBuilder) meet(l RankedList) {
	if b.met {
		return
	}
	for _, id := range l.Gold {
		b.gold[id], b.apart.Gold = true, cmp.Or(b.apart.Gold, id)
	}
	for _, id := range l.Ranked {
		b.retrieved[id], b.apart.Retrieved = true, cmp.Or(b.apart.Retrieved, id)
	}
	b.met = slices.ContainsFunc(l.Gold, func(id string) bool { return b.retrieved[id] }) ||
		slices.ContainsFunc(l.Ranked, func(id string) bool { return b.gold[id] })
	if b.met {
		b.gold, b.retrieved = nil, nil
	}
}

func metricAt(m metric, k int) string { return m.name + "@" + strconv.Itoa(k) }

// Retrieval returns the scores, or nil if no list was added.
func (b *RetrievalBuilder) Retrieval() *Retrieval {
	if b.counts.N+b.counts.NoGold == 0 {
		return nil
	}
	r := b.counts
	if !b.met && len(b.retrieved) > 0 {
		r.Apart = new(b.apart)
		return &r
	}
	figure := func(name, about string) {
		if c := b.values[name]; c != nil {
			r.Figures = append(r.Figures, RetrievalFigure{name, about, c.Score(stat.DefaultLevel, false)})
		}
	}
	for _, k := range b.ks {
		for _, m := range atK {
			figure(metricAt(m, k), m.about)
		}
	}
	figure(mrr, mrrAbout)
	return &r
}

// AddTo adds the numbers to a document.
func (r *Retrieval) AddTo(d *Document) {
	if r == nil {
		return
	}
	if err := r.Err(); err != nil {
		d.Add(Section{ID: "retrieval", Blocks: []Block{Paragraph{Text: fmt.Sprintf("Retrieval is not scored: %v.", err)}}})
		return
	}
	t := Table{Columns: []Column{Col("retrieval"), Est("mean [95%]"), Num("n"), Col("is").InDetail()}}
	for _, f := range r.Figures {
		t.Rows = append(t.Rows, []Cell{T(f.Metric), d.Coefficient(f.Estimate, 3), N(r.N), T(f.About)})
	}
	blocks := []Block{t}
	if r.NoGold > 0 {
		blocks = append(blocks, Paragraph{Text: fmt.Sprintf("%s without a gold document, in no number.", words.Count(r.NoGold, "list"))})
	}
	if r.Short > 0 {
		blocks = append(blocks, Paragraph{Text: fmt.Sprintf("%s with fewer documents than the largest k: the missing ones count as not found.", words.Count(r.Short, "list"))})
	}
	d.Add(Section{ID: "retrieval", Blocks: blocks})
}
