package fake

import (
	"context"

	"deem"
)

// A kind is one way to answer.
type kind struct {
	name string
	spec string // its notation
	doc  string
	text textRule

	answer answer
}

type answer func(ctx context.Context, f *model, req deem.Request) (deem.Reply, error)

// A textRule says whether a kind takes text after an equals sign.
type textRule int

const (
	noText textRule = iota
	someText
	someLabels
	maybeLabels
	maybeVerdict // labels of a judge, the accepting one first
)

// kinds are all fakes, in the order of the list.
var kinds = []kind{
	{"say", "say=TEXT", "always says TEXT", someText, say},
	{"labels", "labels=A|B|...", "says one of the labels, chosen by the prompt; ?p=0.8 is the share of the first", someLabels, label},
	{"echo", "echo", "says the prompt back", noText, echo},
	{"gibberish", "gibberish", "says words that mean nothing", noText, gibberish},
	{"empty", "empty", "says nothing at all", noText, empty},
	{"refuse", "refuse", "refuses, marked as a refusal", noText, refuse},
	{"refuse-text", "refuse-text", "refuses in plain text", noText, refuseText},
	{"truncate", "truncate", "is cut off before it comes to the point", noText, truncate},
	{"filter", "filter", "is stopped by a content filter", noText, filter},
	{"error", "error", "fails with HTTP 500, which may pass", noText, serverError},
	{"busy", "busy", "fails with HTTP 429, which may pass", noText, busy},
	{"timeout", "timeout", "gives no answer in time, which may pass", noText, timeout},
	{"fatal", "fatal", "fails with HTTP 401, which stops a run", noText, fatal},
	{"hang", "hang", "never answers until it is interrupted", noText, hang},
	{"lenient", "lenient[=A|B|...]", "a judge that says the first label (of CORRECT|INCORRECT if none are given) to what shares a word with question or reference, else the last", maybeVerdict, lenient},
	{"obedient", "obedient[=A|B|...]", "a judge that says the first label (of CORRECT|INCORRECT if none are given) when a text outside a fence tells it to, else the last", maybeVerdict, obedient},
	{"mixed", "mixed[=A|B|...]", "says a label (yes|no if none are given) to four prompts of five, and makes every kind of trouble that does not stop a run with the rest", maybeLabels, mixed},
}

// The answers that are always the same.
var (
	empty       = replies(deem.Reply{})
	refuse      = replies(deem.Reply{Refusal: "I'm sorry, but I can't help with that."})
	refuseText  = replies(deem.Reply{Text: "I'm sorry, but I can't help with that."})
	truncate    = replies(deem.Reply{Text: "To decide this, I first compare the response with the refer", Stop: deem.StopLength})
	filter      = replies(deem.Reply{Stop: deem.StopFilter})
	serverError = fails(deem.ModelError{Kind: deem.Provider, Status: 500, Passing: true, Err: errFake})
	busy        = fails(deem.ModelError{Kind: deem.Provider, Status: 429, Passing: true, Err: errFake})
	timeout     = fails(deem.ModelError{Kind: deem.Timeout, Passing: true, Err: errFake})
	fatal       = fails(deem.ModelError{
		Kind: deem.Provider, Status: 401, Fatal: true,
		Err: deem.WithHint(errFake, "choose another fake: fake:fatal stands for a key that is not accepted"),
	})
)

func replies(reply deem.Reply) answer {
	return func(context.Context, *model, deem.Request) (deem.Reply, error) { return reply, nil }
}

// fails returns an answer that is a copy of an error.
func fails(me deem.ModelError) answer {
	return func(context.Context, *model, deem.Request) (deem.Reply, error) {
		err := me
		return deem.Reply{}, &err
	}
}

func say(_ context.Context, f *model, _ deem.Request) (deem.Reply, error) {
	return deem.Reply{Text: f.text}, nil
}

// label says a label. The first has the share p, the others share the rest.
func label(_ context.Context, f *model, req deem.Request) (deem.Reply, error) {
	n := len(f.labels)
	if n == 1 {
		return deem.Reply{Text: f.labels[0]}, nil
	}
	p := 1 / float64(n)
	if f.mods.p != nil {
		p = *f.mods.p
	}
	x := f.chance(req, 1)
	if x < p {
		return deem.Reply{Text: f.labels[0]}, nil
	}
	i := int((x - p) / (1 - p) * float64(n-1))
	return deem.Reply{Text: f.labels[1+min(i, n-2)]}, nil
}

func echo(_ context.Context, _ *model, req deem.Request) (deem.Reply, error) {
	return deem.Reply{Text: prompt(req)}, nil
}

func gibberish(_ context.Context, f *model, req deem.Request) (deem.Reply, error) {
	texts := [...]string{
		"Blorp snizzle frob wug tove.",
		"Mimsy quux, gyre plugh gimble; xyzzy.",
		"Fnord fnord slithy vorp zant.",
	}
	return deem.Reply{Text: texts[int(f.chance(req, 2)*float64(len(texts)))]}, nil
}

func hang(ctx context.Context, _ *model, _ deem.Request) (deem.Reply, error) {
	<-ctx.Done()
	return deem.Reply{}, ctx.Err()
}

// troubles are the failures of mixed, in addition to its labels. Its errors concern their
// item and are final: transient errors would be retried and never succeed, since the prompt
// decides, and each would keep a run waiting for seconds.
var troubles = []answer{
	gibberish, empty, refuse, refuseText, truncate, filter,
	fails(deem.ModelError{Kind: deem.Provider, Status: 500, Err: errFake}), fails(deem.ModelError{Kind: deem.Timeout, Err: errFake}),
}

// mixedTrouble is the share of prompts for which mixed fails.
const mixedTrouble = 0.2

func mixed(ctx context.Context, f *model, req deem.Request) (deem.Reply, error) {
	x := f.chance(req, 3)
	if x >= mixedTrouble {
		return label(ctx, f, req)
	}
	i := int(x / mixedTrouble * float64(len(troubles)))
	return troubles[min(i, len(troubles)-1)](ctx, f, req)
}
