package published

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
)

const shapeInspect = "log of inspect"

func isInspect(c *content) bool {
	first := c.pieces[0].node
	return c.zipped || len(c.pieces) == 1 && first.member("eval").kind == object && first.has("samples")
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
		for i, v := range header.member("samples").vals {
			samples = append(samples, piece{file: fmt.Sprintf("%s (samples[%d])", header.file, i), line: header.line, node: v})
		}
	}
	var scorers []string
	for _, p := range samples {
		for _, name := range p.member("scores").keys {
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
	epochs := slices.ContainsFunc(samples, func(p piece) bool { e := p.member("epoch"); return e.kind == number && e.text != "1" })
	for i, p := range samples {
		s.inspectSample(p.node, i, scorer, epochs)
	}
	if len(s.items) == 0 {
		return deem.WithHint(fmt.Errorf("%s: the log of inspect has no samples", strings.Join(s.names, ", ")), "it was written without them: inspect eval --log-samples writes them")
	}
	s.SystemModel = header.at("eval.model").str()
	if status := header.member("status").str(); status != "" && status != "success" {
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
	scores := header.at("results.scores")
	for i, sc := range scores.vals {
		if name := sc.member("name").str(); name != scorer && sc.member("scorer").str() != scorer {
			continue
		}
		metrics := sc.member("metrics")
		for j, key := range metrics.keys {
			if name := lastOf(key, "/"); name == "accuracy" || name == "mean" { // others are errors, and custom metrics
				s.addClaim(fmt.Sprintf("results.scores[%d].metrics.%s", i, key), metrics.vals[j].member("value"), measure{stat: statScore})
			}
		}
	}
	return nil
}

// inspectSample makes an item and a record from a sample.
func (s *Set) inspectSample(n node, i int, scorer string, epochs bool) {
	it := deem.Item{ID: n.member("id").str(), Question: messageText(n.member("input")), Category: n.at("metadata.category").str()}
	it.ID = cmp.Or(it.ID, fmt.Sprintf("sample%d", i))
	it.References = n.member("target").texts()
	output := n.member("output")
	if c := output.member("completion"); c.kind == str && c.text != "" {
		it.Response = c.text
	} else if m := output.at("choices.0.message"); m.kind != missing {
		it.Response = messageText(node{kind: list, vals: []node{m}})
	}
	if output.kind == missing {
		s.unanswered[len(s.items)] = true
	}
	if epochs {
		it.Cluster = it.ID
		it.ID += "/epoch" + n.member("epoch").str()
	}
	rec := deem.Record{Position: len(s.items)}
	s.items = append(s.items, it)
	if scorer == "" {
		return
	}
	score := n.member("scores").member(scorer)
	o := inspectValue(score.member("value"))
	if e := n.member("error"); score.kind == missing && e.kind != missing {
		o = failed(deem.Provider, "inspect recorded an error: %s", clip(cmp.Or(e.member("message").str(), e.str())))
	}
	rec.Verdict, rec.Failure = o.verdict, o.failure
	if rec.Verdict != nil {
		rec.Verdict.Reason = score.member("explanation").str()
	}
	// Some scorers store the reply of the model that graded the sample.
	if grading := score.at("metadata.grading"); grading.kind == list && len(grading.vals) > 0 {
		last := grading.vals[len(grading.vals)-1:]
		if reply := messageText(node{kind: list, vals: last}); reply != "" && last[0].member("role").str() == "assistant" {
			rec.Calls = []deem.Call{recordedCall(reply)}
		}
	}
	s.records = append(s.records, rec)
}

// inspectValue reads the value of a score as inspect converts it to a number.
func inspectValue(v node) outcome {
	if v.kind == str {
		switch strings.TrimSpace(v.text) {
		case "C":
			return judged("C", 1)
		case "P":
			return judged("P", 0.5)
		case "I", "N":
			return judged(strings.TrimSpace(v.text), 0)
		}
	}
	return vocabulary{}.read(v)
}

// messageText returns the text of a prompt: a string, or the last message of the user.
func messageText(n node) string {
	if n.kind != list {
		return n.str()
	}
	for i := len(n.vals) - 1; i >= 0; i-- {
		m := n.vals[i]
		if role := m.member("role").str(); i > 0 && role != "user" && role != "" {
			continue
		}
		if c := m.member("content"); c.kind != list {
			return c.str()
		}
		var parts []string
		for _, part := range m.member("content").vals {
			if t := part.member("text"); t.kind == str {
				parts = append(parts, t.text)
			}
		}
		return strings.Join(parts, "\n")
	}
	return ""
}

func lastOf(s, sep string) string { return s[strings.LastIndex(s, sep)+1:] }
