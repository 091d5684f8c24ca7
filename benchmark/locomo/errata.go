package locomo

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/benchmark/internal/itemset"
	"deem/text"
)

// An Erratum is one known fault of the answer key.
type Erratum struct {
	ID        string `json:"id,omitempty"`        // of the question, as "conv-26/q12" or "locomo_0_qa12"; or
	Question  string `json:"question,omitempty"`  // its text
	Category  string `json:"category,omitempty"`  // its category, if the list says so
	Reference string `json:"reference,omitempty"` // what is right; "" when nothing is
	Kind      string `json:"kind"`                // what is wrong, as the list calls it
}

// Corrupts reports whether the fault can move a score. One that only cites the wrong
// turns cannot: the reference itself is right.
func (e Erratum) Corrupts() bool { return !strings.Contains(strings.ToLower(e.Kind), "citation") }

// Errata are the known faults of an answer key. A system that answers all questions
// rightly gets those wrong whose reference is wrong, so that there is a score above
// which something is odd: the ceiling.
type Errata struct {
	name   string
	list   []Erratum
	byID   map[string]int
	byText map[string][]int
}

// The columns of a list of errata, in ours and in the form of the locomo-audit
// project, errors.json.
var (
	kindColumns      = []string{"kind", "error_type"}
	correctedColumns = []string{"corrected", "corrected_reference", "correct_answer", "reference"}
)

// ReadErrata reads a list of errata: JSON or JSONL with an "id" or a "question", what
// is right as "corrected" (or "reference"), and a "kind"; or the file errors.json of
// the locomo-audit project. Faults of a kind that has "citation" in its name leave
// scores alone. When rows are wrong, the error is a [*deem.Problems].
func ReadErrata(ctx context.Context, path string) (*Errata, error) {
	in := itemset.Input{Names: []string{path}, Whole: func(keys []string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { return k == questionColumn || slices.Contains(idColumns, k) })
	}}
	e := &Errata{name: filepath.Base(path), byID: map[string]int{}, byText: map[string][]int{}}
	var problems itemset.Problems
	if _, err := itemset.Visit(ctx, in, &problems, e.row); err != nil {
		return nil, err
	}
	err := problems.Err("")
	if err == nil && len(e.list) == 0 {
		problems.Add(deem.Problem{File: path, Message: "there is no erratum in it"}, "")
		err = problems.Err("")
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// row takes one row of the file.
func (e *Errata) row(r *itemset.Row) error {
	o := rowObject(r)
	x := Erratum{
		ID: canonicalID(o.scalar(idColumns...)), Question: o.scalar(questionColumn),
		Category: o.scalar("category"), Kind: o.scalar(kindColumns...), Reference: o.scalar(correctedColumns...),
	}
	if x.ID == "" && x.Question == "" {
		return itemset.At(r, "the erratum names no question: it has neither \"id\" nor \"question\"")
	}
	if x.Kind == "" {
		return itemset.At(r, "the erratum has no \"kind\"")
	}
	if x.Category != "" {
		if _, ok := categoryOf(x.Category); !ok {
			return itemset.At(r, "category %q is none of 1 to 5", x.Category)
		}
	}
	if x.ID != "" {
		if _, ok := e.byID[x.ID]; ok {
			return itemset.At(r, "there was an erratum of %s before", x.ID)
		}
		e.byID[x.ID] = len(e.list)
	}
	if x.Question != "" {
		e.byText[key(x.Question)] = append(e.byText[key(x.Question)], len(e.list))
	}
	e.list = append(e.list, x)
	return nil
}

// Name returns the name of the file without its folder.
func (e *Errata) Name() string { return e.name }

// List returns the errata in the order of the file.
func (e *Errata) List() []Erratum { return slices.Clone(e.list) }

// Of returns the erratum of an item that can move its score, and whether there is
// one. An item that has an id as the list has them is looked up by it alone, because
// equal questions need not have equal faults; any other by question and category.
func (e *Errata) Of(it deem.Item) (Erratum, bool) {
	if i, ok := e.byID[canonicalID(it.ID)]; ok {
		return e.list[i], e.list[i].Corrupts()
	}
	for _, i := range e.byText[key(it.Question)] {
		x := e.list[i]
		if x.Category != "" && it.Category != "" && x.Category != it.Category {
			continue
		}
		if isOurs(x.ID) && isOurs(canonicalID(it.ID)) {
			continue // The list means another question of the same text.
		}
		if x.Corrupts() {
			return x, true
		}
	}
	return Erratum{}, false
}

// isOurs reports whether an id is that of a published question.
func isOurs(id string) bool {
	conversation, _, ok := strings.Cut(id, "/q")
	return ok && slices.Contains(published, conversation)
}

// correct replaces the references that have an erratum, and returns how many those
// are. Where nothing is right, the reference stays: an item without a reference could
// not be judged.
func (e *Errata) correct(items []deem.Item) int {
	n := 0
	for i, it := range items {
		x, ok := e.Of(it)
		if !ok || x.Reference == "" {
			continue
		}
		items[i].References = []string{text.Strip(x.Reference)}
		n++
	}
	return n
}

// A CeilingLine is how high a score can be over some items when each item with a
// wrong reference counts as wrong.
type CeilingLine struct {
	Category string  `json:"category,omitempty"` // "" over all
	Name     string  `json:"name"`
	N        int     `json:"n"`
	Faulty   int     `json:"faulty"` // items with a wrong reference
	Ceiling  float64 `json:"ceiling"`
}

// A Ceiling is how high scores can be, by category and over all.
type Ceiling struct {
	Categories []CeilingLine `json:"categories"`
	Overall    CeilingLine   `json:"overall"`
}

// Ceiling returns how high a score over the items can be.
func (e *Errata) Ceiling(items iter.Seq2[deem.Item, error]) (Ceiling, error) {
	lines := map[string]*CeilingLine{}
	overall := CeilingLine{Name: overallName}
	for it, err := range items {
		if err != nil {
			return Ceiling{}, err
		}
		l := lines[it.Category]
		if l == nil {
			l = &CeilingLine{Category: it.Category}
			if c, ok := categoryOf(it.Category); ok {
				l.Name = c.Name
			}
			lines[it.Category] = l
		}
		_, faulty := e.Of(it)
		l.add(faulty)
		overall.add(faulty)
	}
	c := Ceiling{Overall: overall.done()}
	for _, id := range sorted(lines) {
		c.Categories = append(c.Categories, lines[id].done())
	}
	return c, nil
}

func (l *CeilingLine) add(faulty bool) {
	l.N++
	if faulty {
		l.Faulty++
	}
}

func (l CeilingLine) done() CeilingLine {
	if l.N > 0 {
		l.Ceiling = float64(l.N-l.Faulty) / float64(l.N)
	}
	return l
}
