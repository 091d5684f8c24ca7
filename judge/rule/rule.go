// Package rule holds the judges that ask no model.
//
// They are free, instant and repeatable, so they serve three ends: scoring where
// the reference is short and literal, a baseline to set a model beside, and the
// first stage of a cascade. [match.New] is the one to begin with. [Named] makes the others by
// name: "exact", "contains" and "f1" are the classics, exactly as published; so are "rougeL",
// "bleu", "chrf" and others, which say how much of the reference is there, and not whether
// the response is right. [Names] lists them, and [Doc] says what one does.
//
// A rule is not moved by instructions hidden in a response: it does not follow
// any.
package rule

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/judge"
	"deem/judge/match"
)

// spec returns the spec of a rule. A rule gets another version whenever its verdicts
// may change.
func spec(name string, pass *float64, options map[string]string) judge.Spec {
	return judge.Spec{Kind: judge.KindRule, Name: name, Version: 1, Pass: pass, Options: options}
}

// An entry is one judge of the table.
type entry struct {
	deem.Judge
	doc string
}

// table lists every rule, in the order in which they are shown.
var table = slices.Concat([]entry{
	{match.New(), "correct or incorrect by numbers, dates, units, lists, negation and abstention; unsure without evidence"},
	{match.Forced(), "match, but takes the likelier label where it would be unsure"},
}, literals, metrics, nltkMetrics, []entry{
	{METEOR(nil), meteorDoc},
	{Semantic(nil), semanticDoc},
})

// find returns the place of a rule in the table, or -1.
func find(name string) int {
	return slices.IndexFunc(table, func(e entry) bool { return e.Name() == name })
}

// Named returns the rule of that name, and whether there is one. A rule that needs
// an embedder or a thesaurus has none, and says so for each item; see [NamedWith] and
// [NeedsThesaurus].
func Named(name string) (deem.Judge, bool) {
	if i := find(name); i >= 0 {
		return table[i].Judge, true
	}
	return nil, false
}

// NamedWith returns the rule of that name, and whether there is one. A rule that
// needs an embedder asks e.
func NamedWith(name string, e Embedder) (deem.Judge, bool) {
	j, ok := Named(name)
	if NeedsEmbedder(name) {
		return Semantic(e), true
	}
	return j, ok
}

// NeedsEmbedder reports whether the rule of that name needs an embedder.
func NeedsEmbedder(name string) bool {
	j, _ := Named(name)
	_, ok := j.(*semantic)
	return ok
}

// Names returns the name of every rule.
func Names() []string {
	var names []string
	for _, e := range table {
		names = append(names, e.Name())
	}
	return names
}

// Doc says in one line what the rule of that name does, or "" if there is none.
func Doc(name string) string {
	if i := find(name); i >= 0 {
		return table[i].doc
	}
	return ""
}

// A graded rule gives a score on which a pass mark can be set.
type graded interface {
	deem.Judge
	withPass(mark float64) deem.Judge
}

// WithPass returns the rule j with a pass mark: verdicts say whether their score
// reaches it. Only the rules that give a graded score take one, and the mark lies
// from 0 to 1.
func WithPass(j deem.Judge, mark float64) (deem.Judge, error) {
	g, ok := j.(graded)
	if !ok {
		var names []string
		for _, e := range table {
			if _, ok := e.Judge.(graded); ok {
				names = append(names, e.Name())
			}
		}
		return nil, deem.WithHint(fmt.Errorf("judge %q takes no pass mark", j.Name()),
			"the judges with a graded score are %s", strings.Join(names, ", "))
	}
	if !(mark >= 0 && mark <= 1) { // so written to refuse NaN too
		return nil, fmt.Errorf("pass mark %v of judge %q is not between 0 and 1", mark, j.Name())
	}
	return g.withPass(mark), nil
}

// ready returns why it cannot be judged in ctx by comparison with references, or
// nil if it can.
func ready(ctx context.Context, it deem.Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(it.References) == 0 {
		return deem.Failf(deem.Input, "no reference to compare with")
	}
	return nil
}
