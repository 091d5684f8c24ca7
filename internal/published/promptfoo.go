package published

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
)

const shapePromptfoo = "results of promptfoo"

func isPromptfoo(c *content) bool {
	first := c.pieces[0].node
	return len(c.pieces) == 1 && first.at("results.results").kind == list && first.at("results.stats").kind == object
}

// readPromptfoo reads the output of "promptfoo eval --output results.json". A row is one
// test with one prompt and one provider; those of the two that vary identify the system.
func (s *Set) readPromptfoo(_ context.Context, src Source, c *content) error {
	p := c.pieces[0]
	s.Shape = shapePromptfoo
	rows := p.at("results.results").vals
	var systems []string
	for _, r := range rows {
		systems = addNew(systems, promptfooSystem(r))
	}
	pick := src.Pick
	switch {
	case pick == "" && len(systems) > 1:
		return deem.WithHint(&SeveralError{Systems: systems, text: fmt.Sprintf("%s holds the results of several systems: %s", p.file, listed(systems))},
			"choose one: --pick %q; or take each by itself: --pick each", systems[0])
	case pick != "" && !slices.Contains(systems, pick):
		return noPick(pick, "system", systems)
	case pick == "" && len(systems) == 1:
		pick = systems[0]
	}
	for i, r := range rows {
		if promptfooSystem(r) == pick {
			s.promptfooRow(r, i)
		}
	}
	if len(s.items) == 0 {
		return fmt.Errorf("%s: there is no row in results.results", p.file)
	}
	s.Columns = []string{"response=response.output", "label=success"}
	s.Rule = "a row is right when success is true"
	s.identity = map[string]string{"column": "success", "pick": src.Pick}
	s.SystemModel = rowProvider(rows[0])
	if len(systems) > 1 {
		return nil // The numbers of the file cover all systems together.
	}
	stats := p.at("results.stats")
	s.addClaim("results.stats.successes", stats.member("successes"), measure{stat: statRight})
	s.addClaim("results.stats.failures", stats.member("failures"), measure{stat: statWrong})
	s.addClaim("results.stats.errors", stats.member("errors"), measure{stat: statUnjudged})
	return nil
}

// promptfooSystem names the system of a row: its provider, and its prompt if there are
// several.
func promptfooSystem(r node) string {
	name := rowProvider(r)
	if i := r.member("promptIdx"); i.kind == number && i.text != "0" {
		name += "#" + i.text
	}
	return name
}

func rowProvider(r node) string {
	p := r.member("provider")
	for _, v := range []node{p.member("label"), p.member("id"), p} {
		if v.kind == str && v.text != "" {
			return v.text
		}
	}
	return ""
}

// promptfooRow makes an item and a record from a row.
func (s *Set) promptfooRow(r node, i int) {
	vars := r.member("vars")
	if vars.kind != object {
		vars = r.at("testCase.vars")
	}
	it := deem.Item{ID: fmt.Sprintf("test%d", i), Category: r.at("testCase.metadata.category").str()}
	if v := r.member("testIdx"); v.kind == number {
		it.ID = "test" + v.text
	}
	question := valueByName(vars, partQuestion)
	it.Question = question.str()
	if question.kind == missing {
		it.Question = r.at("prompt.raw").str()
		if len(vars.vals) == 1 && vars.vals[0].kind == str { // the only variable of the test
			it.Question = cmp.Or(vars.vals[0].text, it.Question)
		}
	}
	it.References = valueByName(vars, partReferences).texts()
	if len(it.References) == 0 {
		for _, a := range r.at("testCase.assert").vals {
			kind := a.member("type").str()
			if v := a.member("value"); v.isScalar() && (strings.Contains(kind, "equals") || strings.Contains(kind, "contains") || kind == "factuality" || kind == "similar") && !strings.HasPrefix(kind, "not-") {
				it.References = append(it.References, v.str())
			}
		}
	}
	output := r.at("response.output")
	it.Response = output.str()
	if output.kind == missing {
		s.unanswered[len(s.items)] = true
	}
	rec := deem.Record{Position: len(s.items)}
	s.items = append(s.items, it)
	s.promptfooVerdict(&rec, r)
	s.records = append(s.records, rec)
}

// promptfooVerdict reads the outcome of a row. The third failure reason is an error, in
// which case nothing was judged.
func (s *Set) promptfooVerdict(rec *deem.Record, r node) {
	const failedByError = "2"
	reason := r.member("failureReason")
	errored := reason.text == failedByError || reason.kind == missing && !r.member("error").blank() && r.member("gradingResult").kind != object
	if errored {
		rec.Failure = deem.Failf(deem.Provider, "promptfoo recorded an error: %s", clip(r.member("error").str()))
		return
	}
	o := vocabulary{}.read(r.member("success"))
	rec.Verdict, rec.Failure = o.verdict, o.failure
	if rec.Verdict == nil {
		return
	}
	rec.Verdict.Label = map[bool]string{true: "pass", false: "fail"}[rec.Verdict.Score == 1]
	rec.Verdict.Reason = r.at("gradingResult.reason").str()
	aspects := map[string]float64{}
	if x, ok := r.member("score").float(); ok {
		aspects["score"] = x
	}
	named := r.member("namedScores")
	for i, key := range named.keys {
		if x, ok := named.vals[i].float(); ok {
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
