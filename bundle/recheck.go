package bundle

import (
	"context"
	"errors"
	"fmt"
	"math"

	"deem"
	"deem/judge"
)

// recheck runs the judge again on the item of a record, without calling a model: the
// replies are in the record.
//
// The judge was restored from the file, which is untrusted. A judge that panics on forged
// input must not abort the check.
func (c *checker) recheck(ctx context.Context, rec deem.Record, out *outcome) {
	defer func() {
		if p := recover(); p != nil {
			out.findIn(checkJudge, rec, fmt.Sprintf("the judge in the file panics over this record: %v", p))
		}
	}()
	switch {
	case rec.Failure != nil && rec.Failure.Kind == unfinished:
		// Only an open run can have one: otherwise an unwanted verdict could be replaced
		// by it.
		if c.out.Run.State == "done" {
			out.findIn(checkRecord, rec, "the item is unfinished, and the run is done")
		}
	case c.again.Judge != nil:
		c.replay(ctx, rec, out)
	case c.again.Rule != nil:
		if len(rec.Calls) > 0 {
			out.findIn(checkRecord, rec, "calls are recorded, and a rule makes none")
		}
		v, err := c.again.Rule.Judge(ctx, rec.Item)
		out.compare(rec, v, err)
	case c.again.Protocol != nil:
		for _, call := range rec.Calls {
			if call.Model != c.out.Run.Model {
				out.findIn(checkRecord, rec, fmt.Sprintf("one of its calls is to %q, and the run asks %q", call.Model, c.out.Run.Model))
			}
		}
		c.recheckPrompt(rec, out)
	}
}

// unfinished is the kind of a record that only stores the calls of an item whose judge was
// interrupted between them. A judge never returns it.
const unfinished deem.Kind = "unfinished"

// recheckPrompt renders the prompt again, compares it and the parameters with what was sent,
// and parses the reply of the last call again, which gave the verdict. Earlier calls belong
// to abandoned attempts.
func (c *checker) recheckPrompt(rec deem.Record, out *outcome) {
	p := c.again.Protocol
	if d, ok := p.(judge.Decider); ok {
		if v, ok := d.Decide(rec.Item); ok {
			if len(rec.Calls) > 0 {
				out.findIn(checkPrompt, rec, "the judge decides this item without asking, and calls are recorded")
			}
			out.compare(rec, v, nil)
			return
		}
	}
	req, err := p.Request(rec.Item)
	if err != nil {
		if len(rec.Calls) > 0 {
			out.findIn(checkPrompt, rec, fmt.Sprintf("a call is recorded, and there is no prompt for this item: %v", err))
		}
		out.compare(rec, deem.Verdict{}, err)
		return
	}
	if len(rec.Calls) == 0 {
		if rec.Verdict != nil {
			out.findIn(checkVerdict, rec, "there is a verdict, and no reply that gives it")
		}
		return
	}
	out.prompts++
	req.Trial = rec.Trial
	hash := req.Hash()
	for i, call := range rec.Calls {
		if call.Request != hash {
			out.findIn(checkPrompt, rec, fmt.Sprintf("the prompt rendered again has hash %s, and call %d says %s", deem.ShortHash(hash), i+1, deem.ShortHash(call.Request)))
		}
	}
	for _, call := range rec.Calls {
		if call.Reply == nil {
			continue
		}
		problem, checked := checkSent(req, c.settings, *call.Reply)
		if checked {
			out.wires++
		}
		if problem != "" {
			out.findIn(checkWire, rec, problem)
		}
	}
	last := rec.Calls[len(rec.Calls)-1]
	if last.Reply != nil {
		v, err := judge.Read(p, rec.Item, *last.Reply)
		out.compare(rec, v, err)
		return
	}
	out.verdicts++
	switch {
	case rec.Verdict != nil:
		out.findIn(checkVerdict, rec, "there is a verdict, and the last call brought no reply: "+last.Error)
	case rec.Failure != nil && rec.Failure.Detail != last.Error:
		out.findIn(checkVerdict, rec, fmt.Sprintf("the failure says %q, and the last call %q", rec.Failure.Detail, last.Error))
	}
}

// compare compares the judge's current verdict or failure with the record.
func (out *outcome) compare(rec deem.Record, v deem.Verdict, err error) {
	out.verdicts++
	if err == nil {
		if problem := differ(rec, v); problem != "" {
			out.findIn(checkVerdict, rec, problem)
		}
		return
	}
	f, ok := errors.AsType[*deem.Failure](err)
	switch {
	case !ok:
		out.findIn(checkVerdict, rec, fmt.Sprintf("the judge cannot be asked again: %v", err))
	case rec.Failure == nil && rec.Verdict != nil:
		out.findIn(checkVerdict, rec, fmt.Sprintf("the record says %q, and the judge now %s", rec.Verdict.Label, f.Error()))
	case rec.Failure != nil && !same(rec.Failure.Probability, f.Probability, near):
		out.findIn(checkVerdict, rec, "the record and the judge now differ in the probability that the response is right")
	case rec.Failure != nil && (rec.Failure.Kind != f.Kind || rec.Failure.Detail != f.Detail):
		out.findIn(checkVerdict, rec, fmt.Sprintf("the record says %q, and the judge now %q", rec.Failure.Error(), f.Error()))
	}
}

// differ describes how a verdict differs from that of the record.
func differ(rec deem.Record, v deem.Verdict) string {
	old := rec.Verdict
	switch {
	case rec.Failure != nil:
		// deem.Run turns an invalid verdict into a failure.
		if v.Label == "" || !(v.Score >= 0 && v.Score <= 1) {
			return ""
		}
		return fmt.Sprintf("the record says %q, and the judge now %q", rec.Failure.Error(), v.Label)
	case old == nil:
		return "" // already reported
	case old.Label != v.Label:
		return fmt.Sprintf("the record says %q, and the judge now %q", old.Label, v.Label)
	case !near(old.Score, v.Score):
		return fmt.Sprintf("the record has score %v, and the judge now gives %v", old.Score, v.Score)
	case !same(old.Pass, v.Pass, func(a, b bool) bool { return a == b }):
		return "the record and the judge now differ in whether the item passes"
	case !same(old.Confidence, v.Confidence, near):
		return "the record and the judge now differ in confidence"
	case old.Reason != clean(v.Reason):
		return "the record and the judge now differ in the reason"
	case len(old.Parts) != len(v.Parts):
		return fmt.Sprintf("the record has %d criteria, and the judge now gives %d", len(old.Parts), len(v.Parts))
	}
	for i, p := range v.Parts {
		o := old.Parts[i]
		equal := o.Name == clean(p.Name) && o.Label == p.Label && o.Reason == clean(p.Reason) && same(o.Score, p.Score, near) &&
			same(o.Failure, p.Failure, func(a, b deem.Failure) bool { return a.Kind == b.Kind && a.Detail == clean(b.Detail) })
		if !equal {
			return fmt.Sprintf("the record and the judge now differ in criterion %d", i+1)
		}
	}
	if len(old.Aspects) != len(v.Aspects) {
		return fmt.Sprintf("the record has %d aspects, and the judge now gives %d", len(old.Aspects), len(v.Aspects))
	}
	for name, x := range v.Aspects {
		if y, ok := old.Aspects[clean(name)]; !ok || !near(x, y) {
			return fmt.Sprintf("the record and the judge now differ in aspect %q", name)
		}
	}
	return ""
}

// same compares two optional values.
func same[T any](a, b *T, equal func(T, T) bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return equal(*a, *b)
}

// tolerance allows for rounding differences between processors.
const tolerance = 1e-9

// near reports whether two numbers are the same.
func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}
