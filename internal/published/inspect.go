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

const shapeInspect = "log of inspect"

func isInspect(c *content) bool {
	first := c.pieces[0].Node
	return c.zipped || len(c.pieces) == 1 && first.Member("eval").Kind == rows.Object && first.Has("samples")
}

// readInspect reads a log of inspect, an archive of a header and samples, or one object with
// both. The samples have the scores of one or more scorers. An epoch queries the system
// again, so it is another response and another item; the items of one sample are not
// independent.
func (s *Set) readInspect(_ context.Context, src Source, c *content) error {
	s.Shape = shapeInspect
	header, samples := c.pieces[0], c.pieces[1:]
	if !c.zipped {
		samples = nil
		for i, v := range header.Member("samples").Vals {
			samples = append(samples, rows.Value{File: fmt.Sprintf("%s (samples[%d])", header.File, i), Line: header.Line, Node: v})
		}
	}
	var scorers []string
	for _, p := range samples {
		for _, name := range p.Member("scores").Keys {
			scorers = addNew(scorers, name)
		}
	}
	usual := ""
	if len(scorers) > 0 {
		usual = scorers[0]
	}
	scorer, err := s.choose(src.Pick, usual, "scorer", scorers)
	if err != nil {
		return err
	}
	epochs := slices.ContainsFunc(samples, func(p rows.Value) bool { e := p.Member("epoch"); return e.Kind == rows.Number && e.Text != "1" })
	for i, p := range samples {
		s.inspectSample(p.Node, i, scorer, epochs)
	}
	if len(s.items) == 0 {
		return deem.WithHint(fmt.Errorf("%s: the log of inspect has no samples", strings.Join(s.names, ", ")), "it was written without them: inspect eval --log-samples writes them")
	}
	s.SystemModel = header.At("eval.model").Str()
	if status := header.Member("status").Str(); status != "" && status != "success" {
		s.notes = append(s.notes, "the log says that the evaluation ended with status "+status)
	}
	s.Columns = []string{"question=input", "references=target", "response=output.completion", "label=scores." + scorer + ".value"}
	if scorer == "" {
		s.Columns = s.Columns[:3]
		return nil
	}
	s.Rule = "C counts 1, P one half, I and N count 0, numbers as they are, by scorer " + scorer
	s.identity = map[string]string{"scorer": scorer}
	// Names of scorers differ from those of scores if a scorer gives several.
	scores := header.At("results.scores")
	for i, sc := range scores.Vals {
		if name := sc.Member("name").Str(); name != scorer && sc.Member("scorer").Str() != scorer {
			continue
		}
		metrics := sc.Member("metrics")
		for j, key := range metrics.Keys {
			if name := lastOf(key, "/"); name == "accuracy" || name == "mean" { // others are errors, and custom metrics
				s.addClaim(fmt.Sprintf("results.scores[%d].metrics.%s", i, key), metrics.Vals[j].Member("value"), measure{stat: statScore})
			}
		}
	}
	return nil
}

// inspectSample makes an item and a record from a sample.
func (s *Set) inspectSample(n rows.Node, i int, scorer string, epochs bool) {
	it := deem.Item{ID: n.Member("id").Str(), Question: messageText(n.Member("input")), Category: n.At("metadata.category").Str()}
	it.ID = cmp.Or(it.ID, fmt.Sprintf("sample%d", i))
	it.References = n.Member("target").Texts()
	output := n.Member("output")
	if c := output.Member("completion"); c.Kind == rows.String && c.Text != "" {
		it.Response = c.Text
	} else if m := output.At("choices.0.message"); m.Kind != rows.Missing {
		it.Response = messageText(rows.Node{Kind: rows.List, Vals: []rows.Node{m}})
	}
	if output.Kind == rows.Missing {
		s.unanswered[len(s.items)] = true
	}
	if epochs {
		it.Cluster = it.ID
		it.ID += "/epoch" + n.Member("epoch").Str()
	}
	rec := deem.Record{Position: len(s.items)}
	s.items = append(s.items, it)
	if scorer == "" {
		return
	}
	score := n.Member("scores").Member(scorer)
	o := inspectValue(score.Member("value"))
	if e := n.Member("error"); score.Kind == rows.Missing && e.Kind != rows.Missing {
		o = failed(deem.Provider, "inspect recorded an error: %s", clip(cmp.Or(e.Member("message").Str(), e.Str())))
	}
	rec.Verdict, rec.Failure = o.verdict, o.failure
	if rec.Verdict != nil {
		rec.Verdict.Reason = score.Member("explanation").Str()
	}
	// Some scorers store the reply of the model that graded the sample.
	if grading := score.At("metadata.grading"); grading.Kind == rows.List && len(grading.Vals) > 0 {
		last := grading.Vals[len(grading.Vals)-1:]
		if reply := messageText(rows.Node{Kind: rows.List, Vals: last}); reply != "" && last[0].Member("role").Str() == "assistant" {
			rec.Calls = []deem.Call{recordedCall(reply)}
		}
	}
	s.records = append(s.records, rec)
}

// inspectValue reads the value of a score as inspect converts it to a number.
func inspectValue(v rows.Node) outcome {
	if v.Kind == rows.String {
		switch strings.TrimSpace(v.Text) {
		case "C":
			return judged("C", 1)
		case "P":
			return judged("P", 0.5)
		case "I", "N":
			return judged(strings.TrimSpace(v.Text), 0)
		}
	}
	return vocabulary{}.read(v)
}

// messageText returns the text of a prompt: a string, or the last message of the user.
func messageText(n rows.Node) string {
	if n.Kind != rows.List {
		return n.Str()
	}
	for i := len(n.Vals) - 1; i >= 0; i-- {
		m := n.Vals[i]
		if role := m.Member("role").Str(); i > 0 && role != "user" && role != "" {
			continue
		}
		if c := m.Member("content"); c.Kind != rows.List {
			return c.Str()
		}
		var parts []string
		for _, part := range m.Member("content").Vals {
			if t := part.Member("text"); t.Kind == rows.String {
				parts = append(parts, t.Text)
			}
		}
		return strings.Join(parts, "\n")
	}
	return ""
}

func lastOf(s, sep string) string { return s[strings.LastIndex(s, sep)+1:] }
