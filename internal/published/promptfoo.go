package published

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
)

const shapePromptfoo = "results of promptfoo"

func isPromptfoo(c *content) bool {
	first := c.pieces[0].Node
	return len(c.pieces) == 1 && first.At("results.results").Kind == rows.List && first.At("results.stats").Kind == rows.Object
}

// readPromptfoo reads the output of "promptfoo eval --output results.json". A row is one
// test with one prompt and one provider; those of the two that vary identify the system.
func (s *Set) readPromptfoo(_ context.Context, src Source, c *content) error {
	p := c.pieces[0]
	s.Shape = shapePromptfoo
	found := p.At("results.results").Vals
	var systems []string
	for _, r := range found {
		systems = addNew(systems, promptfooSystem(r))
	}
	pick := src.Pick
	switch {
	case pick == "" && len(systems) > 1:
		return deem.WithHint(&SeveralError{Systems: systems, text: fmt.Sprintf("%s holds the results of several systems: %s", p.File, listed(systems))},
			"choose one: --pick %q; or take each by itself: --pick each", systems[0])
	case pick != "" && !slices.Contains(systems, pick):
		return noPick(pick, "system", systems)
	case pick == "" && len(systems) == 1:
		pick = systems[0]
	}
	for i, r := range found {
		if promptfooSystem(r) == pick {
			s.promptfooRow(r, i)
		}
	}
	if len(s.items) == 0 {
		return fmt.Errorf("%s: there is no row in results.results", p.File)
	}
	s.Columns = []string{"response=response.output", "label=success"}
	s.Rule = "a row is right when success is true"
	s.identity = map[string]string{"column": "success", "pick": src.Pick}
	s.SystemModel = rowProvider(found[0])
	if len(systems) > 1 {
		return nil // The numbers of the file cover all systems together.
	}
	stats := p.At("results.stats")
	s.addClaim("results.stats.successes", stats.Member("successes"), measure{stat: statRight})
	s.addClaim("results.stats.failures", stats.Member("failures"), measure{stat: statWrong})
	s.addClaim("results.stats.errors", stats.Member("errors"), measure{stat: statUnjudged})
	return nil
}

// promptfooSystem names the system of a row: its provider, and its prompt if there are
// several.
func promptfooSystem(r rows.Node) string {
	name := rowProvider(r)
	if i := r.Member("promptIdx"); i.Kind == rows.Number && i.Text != "0" {
		name += "#" + i.Text
	}
	return name
}

func rowProvider(r rows.Node) string {
	p := r.Member("provider")
	for _, v := range []rows.Node{p.Member("label"), p.Member("id"), p} {
		if v.Kind == rows.String && v.Text != "" {
			return v.Text
		}
	}
	return ""
}

// promptfooRow makes an item and a record from a row.
func (s *Set) promptfooRow(r rows.Node, i int) {
	vars := r.Member("vars")
	if vars.Kind != rows.Object {
		vars = r.At("testCase.vars")
	}
	it := deem.Item{ID: fmt.Sprintf("test%d", i), Category: r.At("testCase.metadata.category").Str()}
	if v := r.Member("testIdx"); v.Kind == rows.Number {
		it.ID = "test" + v.Text
	}
	question := valueByName(vars, partQuestion)
	it.Question = question.Str()
	if question.Kind == rows.Missing {
		it.Question = r.At("prompt.raw").Str()
		if len(vars.Vals) == 1 && vars.Vals[0].Kind == rows.String { // the only variable of the test
			it.Question = cmp.Or(vars.Vals[0].Text, it.Question)
		}
	}
	it.References = valueByName(vars, partReferences).Texts()
	if len(it.References) == 0 {
		for _, a := range r.At("testCase.assert").Vals {
			kind := a.Member("type").Str()
			if v := a.Member("value"); v.IsScalar() && (strings.Contains(kind, "equals") || strings.Contains(kind, "contains") || kind == "factuality" || kind == "similar") && !strings.HasPrefix(kind, "not-") {
				it.References = append(it.References, v.Str())
			}
		}
	}
	output := r.At("response.output")
	it.Response = output.Str()
	if output.Kind == rows.Missing {
		s.unanswered[len(s.items)] = true
	}
	rec := deem.Record{Position: len(s.items)}
	s.items = append(s.items, it)
	s.promptfooVerdict(&rec, r)
	s.records = append(s.records, rec)
}

// promptfooVerdict reads the outcome of a row. The third failure reason is an error, in
// which case nothing was judged.
func (s *Set) promptfooVerdict(rec *deem.Record, r rows.Node) {
	const failedByError = "2"
	reason := r.Member("failureReason")
	errored := reason.Text == failedByError || reason.Kind == rows.Missing && !r.Member("error").Blank() && r.Member("gradingResult").Kind != rows.Object
	if errored {
		rec.Failure = deem.Failf(deem.Provider, "promptfoo recorded an error: %s", clip(r.Member("error").Str()))
		return
	}
	o := vocabulary{}.read(r.Member("success"))
	rec.Verdict, rec.Failure = o.verdict, o.failure
	if rec.Verdict == nil {
		return
	}
	rec.Verdict.Label = map[bool]string{true: "pass", false: "fail"}[rec.Verdict.Score == 1]
	rec.Verdict.Reason = r.At("gradingResult.reason").Str()
	aspects := map[string]float64{}
	if x, ok := r.Member("score").Float(); ok {
		aspects["score"] = x
	}
	named := r.Member("namedScores")
	for i, key := range named.Keys {
		if x, ok := named.Vals[i].Float(); ok {
			aspects[key] = x
		}
	}
	s.addAspects(rec, aspects)
}

// addAspects adds aspects to a verdict.
func (s *Set) addAspects(rec *deem.Record, aspects map[string]float64) {
	if len(aspects) == 0 || rec.Verdict == nil {
		return
	}
	rec.Verdict.Aspects = aspects
	for name := range aspects {
		s.aspects = addNew(s.aspects, name)
	}
	slices.Sort(s.aspects)
}
