package published

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
)

const shapePandaLM = "pairs with preferences, as PandaLM writes them"

func hasPreferences(c *content) bool {
	return slices.ContainsFunc(c.pieces, func(p rows.Value) bool { return len(preferenceColumns(p.Node)) > 0 })
}

// preferenceName matches the columns with preferences.
var preferenceName = regexp.MustCompile(`^annotator_?[0-9]+$|_result$`)

// preferenceColumns returns the columns with a preference, of a row with two responses.
func preferenceColumns(n rows.Node) []string {
	if !n.Has("response1") || !n.Has("response2") {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(n.Keys), func(key string) bool { return !preferenceName.MatchString(key) })
}

// readPreferences reads pairs for which the better response is unknown: there are only
// preferences, and each annotator is a judge. The score is the preference for the first
// response, and a tie is one half. All annotators together are the trials of one judge;
// --pick selects one of them.
func (s *Set) readPreferences(_ context.Context, src Source, c *content) error {
	s.Shape = shapePandaLM
	pieces := c.pieces
	var judges []string
	for _, p := range pieces {
		for _, column := range preferenceColumns(p.Node) {
			judges = addNew(judges, column)
		}
	}
	if src.Pick != "" && src.Pick != All {
		if !slices.Contains(judges, src.Pick) {
			return noPick(src.Pick, "annotator", judges)
		}
		judges = []string{src.Pick}
	}
	for _, p := range pieces {
		position := len(s.items)
		question := p.Member("instruction").Str()
		if input := p.Member("input").Str(); input != "" {
			question += "\n\n" + input
		}
		s.items = append(s.items, deem.Item{
			ID:       cmp.Or(p.Member("idx").Str(), fmt.Sprintf("q%d", position)),
			Question: question,
			Response: p.Member("response1").Str(),
			Category: p.Member("motivation_app").Str(),
			Fields:   map[string]string{otherField: p.Member("response2").Str()},
		})
		for trial, judge := range judges {
			rec := deem.Record{Position: position, Trial: trial}
			switch v := p.Member(judge); strings.ToLower(strings.TrimSpace(v.Str())) {
			case "1":
				rec.Verdict = &deem.Verdict{Label: "A", Score: 1}
			case "2":
				rec.Verdict = &deem.Verdict{Label: "B"}
			case "0", "tie":
				rec.Verdict = &deem.Verdict{Label: "tie", Score: 0.5}
			case "":
				rec.Failure = deem.Failf(deem.Empty, "the file has no preference of %s here", judge)
			default:
				rec.Failure = deem.Failf(deem.Unparseable, "the file says %s, which is not 1, 2 or a tie", clip(v.Str()))
			}
			s.records = append(s.records, rec)
		}
	}
	s.Columns = []string{"question=instruction and input", "response=response1", "label=" + strings.Join(judges, " and ")}
	s.Rule = "the score is the preference for response1: 1 counts 1, 2 counts 0, and a tie (0) one half"
	s.identity = map[string]string{"column": strings.Join(judges, ","), "right": "response1"}
	s.noteAnnotators(judges)
	return nil
}

// noteAnnotators reports how often each pair of judges agrees, among three choices.
func (s *Set) noteAnnotators(judges []string) {
	labels := make([]map[int]string, len(judges))
	for i := range labels {
		labels[i] = map[int]string{}
	}
	for _, rec := range s.records {
		if rec.Verdict != nil {
			labels[rec.Trial][rec.Position] = rec.Verdict.Label
		}
	}
	var list []string
	for i := range judges {
		for j := range judges[:i] {
			same, both := 0, 0
			for position, label := range labels[i] {
				if other, ok := labels[j][position]; ok {
					both++
					if other == label {
						same++
					}
				}
			}
			list = append(list, fmt.Sprintf("%s and %s on %d of %d", judges[j], judges[i], same, both))
		}
	}
	if len(list) > 0 {
		s.Note("of three choices, the same is preferred by %s", listed(list))
	}
}
