package judge_test

import (
	"context"
	"errors"
	"testing"

	"deem"
	"deem/judge"
	"deem/model/fake"
)

// An eager protocol accepts every reply: "right" is right, "?" is unreadable, and anything
// else is wrong.
type eager struct{}

func (eager) Name() string { return "eager" }

func (eager) Request(it deem.Item) (deem.Request, error) { return deem.Prompt(it.Question), nil }

func (eager) Read(_ deem.Item, reply deem.Reply) (deem.Verdict, error) {
	switch reply.Text {
	case "right":
		return deem.Verdict{Label: "right", Score: 1}, nil
	case "?", "I'm sorry, but I can't assist with that.":
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "what?")
	case "9":
		return deem.Verdict{}, deem.Failf(deem.OutOfRange, "9")
	}
	return deem.Verdict{Label: "wrong"}, nil
}

// TestReplies checks how a judge treats a reply before and after its protocol reads it. A
// protocol cannot turn an empty reply into a verdict.
func TestReplies(t *testing.T) {
	for name, tt := range map[string]struct {
		reply deem.Reply
		want  string // the label, or the kind of failure
	}{
		"a verdict":               {deem.Reply{Text: "right", Stop: deem.StopEnd}, "right"},
		"a verdict before a cut":  {deem.Reply{Text: "right", Stop: deem.StopLength}, "right"},
		"refused by the vendor":   {deem.Reply{Text: "right", Refusal: "no", Stop: deem.StopEnd}, "refused"},
		"refused without text":    {deem.Reply{Refusal: "no"}, "refused"},
		"filtered":                {deem.Reply{Text: "right", Stop: deem.StopFilter}, "refused"},
		"filtered without text":   {deem.Reply{Stop: deem.StopFilter}, "refused"},
		"empty":                   {deem.Reply{Stop: deem.StopEnd}, "empty"},
		"white space":             {deem.Reply{Text: " \n\t", Stop: deem.StopEnd}, "empty"},
		"white space of Python":   {deem.Reply{Text: "\x1c\x1f\u2003", Stop: deem.StopEnd}, "empty"},
		"cut before it began":     {deem.Reply{Stop: deem.StopLength}, "truncated"},
		"cut after white space":   {deem.Reply{Text: "\n", Stop: deem.StopLength}, "truncated"},
		"unreadable":              {deem.Reply{Text: "?", Stop: deem.StopEnd}, "unparseable"},
		"unreadable and cut":      {deem.Reply{Text: "?", Stop: deem.StopLength}, "truncated"},
		"unreadable as a refusal": {deem.Reply{Text: "I'm sorry, but I can't assist with that.", Stop: deem.StopEnd}, "refused"},
		"out of range and cut":    {deem.Reply{Text: "9", Stop: deem.StopLength}, "out_of_range"},
	} {
		m := fake.Func("m", func(context.Context, deem.Request) (deem.Reply, error) { return tt.reply, nil })
		v, err := judge.New(eager{}, m).Judge(t.Context(), deem.Item{ID: "1", Question: "q"})
		got := v.Label
		if f, ok := errors.AsType[*deem.Failure](err); ok {
			got = string(f.Kind)
		}
		if got != tt.want {
			t.Errorf("%s: the reply %+v gives %q (%v), want %q", name, tt.reply, got, err, tt.want)
		}
	}
}
