// Package rule provides judges that do not use a model.
//
// They are free, instant and repeatable. Use them to score short and literal references, as
// a baseline for a model, and as the first stage of a cascade. The best one to start with is
// in package match; [Named] returns those of this package. "exact", "contains" and "f1" are
// the classics, exactly as published; so are "rougeL", "bleu", "chrf" and others, which
// measure how much of the reference is in the response, not whether the response is correct.
// [Names] lists them, and [Doc] describes one.
//
// Instructions hidden in a response have no effect on a rule.
package rule

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"deem"
	"deem/judge"
)

// spec returns the spec of a rule. The version is increased whenever verdicts may change.
func spec(name string, pass *float64, options map[string]string) judge.Spec {
	return judge.Spec{Kind: judge.KindRule, Name: name, Version: 1, Pass: pass, Options: options}
}

// An entry is a rule with its description.
type entry struct {
	deem.Judge
	doc string
}

// table lists every rule, in display order.
var table = sync.OnceValue(func() []entry {
	return slices.Concat(literals(), metrics(), nltkMetrics(), []entry{
		{METEOR(nil), meteorDoc},
		{Semantic(nil), semanticDoc},
	})
})

// find returns the index of a rule in the table, or -1.
func find(name string) int {
	return slices.IndexFunc(table(), func(e entry) bool { return e.Name() == name })
}

// Named returns the named rule, and reports whether it exists. A rule that needs an
// embedder or a thesaurus has none and returns an error for each item; [Semantic] and
// [METEOR] return them with one.
func Named(name string) (deem.Judge, bool) {
	if i := find(name); i >= 0 {
		return table()[i].Judge, true
	}
	return nil, false
}

// NeedsEmbedder reports whether the named rule needs an embedder.
func NeedsEmbedder(name string) bool {
	j, _ := Named(name)
	_, ok := j.(*semantic)
	return ok
}

// Names returns the names of all rules.
func Names() []string {
	var names []string
	for _, e := range table() {
		names = append(names, e.Name())
	}
	return names
}

// Doc describes the named rule in one line. It is "" if the rule does not exist.
func Doc(name string) string {
	if i := find(name); i >= 0 {
		return table()[i].doc
	}
	return ""
}

// A graded rule returns a score that can have a pass mark.
type graded interface {
	deem.Judge
	withPass(mark float64) deem.Judge
}

// WithPass returns the rule j with a pass mark from 0 to 1: its verdicts say whether the
// score reaches the mark. Only rules with a graded score accept one.
func WithPass(j deem.Judge, mark float64) (deem.Judge, error) {
	g, ok := j.(graded)
	if !ok {
		var names []string
		for _, e := range table() {
			if _, ok := e.Judge.(graded); ok {
				names = append(names, e.Name())
			}
		}
		return nil, deem.WithHint(fmt.Errorf("judge %q takes no pass mark", j.Name()),
			"the judges with a graded score are %s", strings.Join(names, ", "))
	}
	if !(mark >= 0 && mark <= 1) { // written like this to reject NaN too
		return nil, fmt.Errorf("pass mark %v of judge %q is not between 0 and 1", mark, j.Name())
	}
	return g.withPass(mark), nil
}

// ready returns an error if the item cannot be compared with references: ctx is done, or
// there are none.
func ready(ctx context.Context, it deem.Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(it.References) == 0 {
		return deem.Failf(deem.Input, "no reference to compare with")
	}
	return nil
}
