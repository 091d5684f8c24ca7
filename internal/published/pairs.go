package published

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
)

const shapePairs = "pairs judged in both orders, as LLMBar writes them"

func hasPairs(c *content) bool { return slices.ContainsFunc(c.pieces, isPair) }

// The two orders in which a judge saw a pair, as the files name them.
var pairOrders = []string{"swap = False", "swap = True"}

// otherField is the field of an item in which judges of pairs look for the second response.
const otherField = "other"

// isPair reports whether a piece is a pair that was judged in both orders.
func isPair(p rows.Value) bool {
	return p.Has("output_1") && p.Has("output_2") && p.Has("label") && slices.ContainsFunc(p.Member("results").Vals, isVerdictOnPair)
}

// isVerdictOnPair distinguishes the verdict from what precedes it in the list: the metrics
// or the reference that the judge was given.
func isVerdictOnPair(n rows.Node) bool { return n.Has(pairOrders[0]) && n.Has(pairOrders[1]) }

// readPairs reads pairs with a human decision on which response is better. The better one
// is the item's response and the worse one its other, so a judge is right if it prefers the
// response, which is also how the judge of pairs counts. Each order is a trial.
func (s *Set) readPairs(_ context.Context, _ Source, c *content) error {
	s.Shape = shapePairs
	var rest []rows.Value
	for _, p := range c.pieces {
		if !isPair(p) {
			rest = append(rest, p)
			continue
		}
		if err := s.pair(p); err != nil {
			return err
		}
	}
	s.Columns = []string{"question=input", "response=the better of output_1 and output_2 by label", "label=results.*.winner"}
	s.Rule = "a verdict is right when its winner is the better response by label; trial 1 saw output_1 first, trial 2 output_2"
	s.identity = map[string]string{"column": "results.*.winner", "right": "label"}
	right, n := [2]int{}, len(s.items)
	both := map[int]int{}
	for _, rec := range s.records {
		if rec.Verdict != nil && rec.Verdict.Score == 1 && rec.Trial < len(right) {
			right[rec.Trial]++
			both[rec.Position]++
		}
	}
	inBoth := 0
	for _, k := range both {
		if k == len(right) {
			inBoth++
		}
	}
	s.Note("with output_1 first %d of %d are right, with output_2 first %d, in both orders %d; what has no winner counts as not right here", right[0], n, right[1], inBoth)
	if len(rest) == 1 { // Each of several is about some of the pairs.
		p := rest[0]
		about := map[string]measure{
			"correct_False":   {stat: statTrial, trial: 0},
			"correct_True":    {stat: statTrial, trial: 1},
			"correct_average": {stat: statScore},
			"correct_both":    {stat: statAll},
		}
		for i, key := range p.Keys {
			m, ok := about[key]
			if !ok || p.Vals[i].Kind != rows.String {
				continue
			}
			text := strings.TrimSpace(p.Vals[i].Text)
			share, _, _ := strings.Cut(text, "=")
			c, err := parseNumber(Claim{Name: key, Text: strings.TrimSpace(share), about: m}, text, share)
			if err == nil {
				s.Claims = append(s.Claims, c)
			}
		}
	}
	return nil
}

// pair makes an item from a pair, and a record from each verdict on it.
func (s *Set) pair(p rows.Value) error {
	better, worse := p.Member("output_1"), p.Member("output_2")
	label := p.Member("label").Str()
	switch label {
	case "1":
	case "2":
		better, worse = worse, better
	default:
		return fmt.Errorf("%s:%d: the label of a pair is %s, and should say 1 or 2", p.File, p.Line, clip(label))
	}
	position := len(s.items)
	s.items = append(s.items, deem.Item{
		ID: fmt.Sprintf("q%d", position), Question: p.Member("input").Str(), Response: better.Str(),
		Fields: map[string]string{otherField: worse.Str(), "label": label},
	})
	// The last element is the verdict. Elements before it are what the judge said on the way,
	// for example its first decisions, which it was then asked to reconcile.
	for _, results := range slices.Backward(p.Member("results").Vals) {
		if !isVerdictOnPair(results) {
			continue
		}
		for trial, order := range pairOrders {
			o := winner(results.Member(order), label)
			s.records = append(s.records, deem.Record{Position: position, Trial: trial, Verdict: o.verdict, Failure: o.failure})
		}
		break
	}
	return nil
}

// winner reads the verdict on one order of a pair. Its reason is the judge's whole reply.
func winner(n rows.Node, label string) outcome {
	var o outcome
	switch w := n.Member("winner"); w.Str() {
	case label:
		o = judged("A", 1)
	case "1", "2":
		o = judged("B", 0)
	case "":
		return failed(deem.Empty, "the file has no winner here")
	default:
		return failed(deem.Unparseable, "the file says that %s is the winner", clip(w.Str()))
	}
	if reply := n.Member("completion").Index("0"); reply.Kind == rows.String {
		o.verdict.Reason = reply.Text
	}
	return o
}
