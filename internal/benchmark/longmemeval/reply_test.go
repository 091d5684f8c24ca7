package longmemeval_test

import (
	"errors"
	"strings"
	"testing"

	"deem"
	"deem/internal/benchmark/longmemeval"
	"deem/judge"
)

// outcome returns the label of a reply, or the kind of its failure in brackets.
func outcome(t *testing.T, reading string, reply deem.Reply) string {
	t.Helper()
	v, err := judge.Read(protocol(t, reading), deem.Item{}, reply)
	if err != nil {
		f, ok := errors.AsType[*deem.Failure](err)
		if !ok {
			t.Fatalf("Read(%+v): %v, want a failure", reply, err)
		}
		return "[" + string(f.Kind) + "]"
	}
	if v.Score != map[string]float64{"yes": 1, "no": 0}[v.Label] {
		t.Errorf("Read(%+v) = %+v: label and score differ", reply, v)
	}
	return v.Label
}

func TestRead(t *testing.T) {
	const unparseable, refused, truncated, empty = "[unparseable]", "[refused]", "[truncated]", "[empty]"
	end := func(s string) deem.Reply { return deem.Reply{Text: s, Stop: deem.StopEnd} }
	for _, c := range []struct {
		reply                  deem.Reply
		upstream, strict, seed string
	}{
		{end("yes"), "yes", "yes", "yes"},
		{end("Yes."), "yes", "yes", "yes"},
		{end(" YES\n"), "yes", "yes", "yes"},
		{end("no"), "no", "no", "no"},
		{end("No."), "no", "no", "no"},
		{end("- No, it is wrong"), "no", unparseable, "no"},
		{end("Yes, the response is correct"), "yes", unparseable, "yes"},
		{end("\u2003Yes\u2003"), "yes", "yes", "yes"},
		{end("\x1cyes\x1f"), "yes", "yes", "yes"}, // white space in Python

		// Replies on which the readings differ.
		{end("No, yes would be wrong"), "yes", unparseable, "no"},
		{end("Yesterday it was"), "yes", unparseable, "yes"},
		{end("Nothing of the kind"), "no", unparseable, "no"},
		{end("Note that yes is meant"), "yes", unparseable, "no"},
		{end("no_answer"), "no", unparseable, "no"},
		{end("The answer is yes."), "yes", unparseable, unparseable},
		{end("The answer is no."), "no", unparseable, unparseable},
		{end("**Yes**"), "yes", "yes", unparseable},
		{end("Correct."), "no", unparseable, unparseable},
		{end("I don't know"), "no", unparseable, unparseable},
		{end("..."), "no", unparseable, unparseable},
		{end("I'm sorry, but I can't assist with that."), "no", refused, refused},
		{end("是"), "no", unparseable, unparseable},
		{end("Ja"), "no", unparseable, unparseable},

		// A reply that was truncated after its label says it, but not in the demanded form.
		{deem.Reply{Text: "Yes, the response correctly", Stop: deem.StopLength}, "yes", truncated, "yes"},
		{deem.Reply{Text: "No", Stop: deem.StopLength}, "no", truncated, "no"},
		{deem.Reply{Text: "The model response states that the", Stop: deem.StopLength}, "no", truncated, truncated},

		// Replies without a judgement.
		{end(""), empty, empty, empty},
		{end(" \n\t"), empty, empty, empty},
		{deem.Reply{Stop: deem.StopLength}, truncated, truncated, truncated},
		{deem.Reply{Stop: deem.StopFilter}, refused, refused, refused},
		{deem.Reply{Text: "yes", Stop: deem.StopFilter}, refused, refused, refused},
		{deem.Reply{Refusal: "I will not judge this", Stop: deem.StopEnd}, refused, refused, refused},
		{deem.Reply{Text: "yes", Refusal: "no comment", Stop: deem.StopEnd}, refused, refused, refused},
	} {
		for reading, want := range map[string]string{
			longmemeval.Upstream: c.upstream, longmemeval.Strict: c.strict, longmemeval.Seed: c.seed,
		} {
			if got := outcome(t, reading, c.reply); got != want {
				t.Errorf("%s reads %+v as %s, want %s", reading, c.reply, got, want)
			}
		}
	}
}

func TestReread(t *testing.T) {
	for reading, other := range map[string]string{"upstream": "strict", "strict": "upstream", "seed": "strict"} {
		p := protocol(t, reading)
		if got := p.Reread().Reading(); got != other {
			t.Errorf("%s reread is %s, want %s", reading, got, other)
		}
		it := deem.Item{ID: "q_abs", Category: "multi-session", Question: "q", References: []string{"a"}}
		a, _ := p.Request(it)
		if b, _ := p.Reread().Request(it); a.Hash() != b.Hash() {
			t.Errorf("%s reread asks something else", reading)
		}
		if got, want := p.FailuresWrong(), reading == "seed"; got != want {
			t.Errorf("%s: FailuresWrong() = %v, want %v", reading, got, want)
		}
	}
}

// TestDetail checks that the detail of a failure is short and on one line.
func TestDetail(t *testing.T) {
	_, err := protocol(t, "strict").Read(deem.Item{}, deem.Reply{Text: strings.Repeat("é\n", 500), Stop: deem.StopEnd})
	f, ok := errors.AsType[*deem.Failure](err)
	if !ok || strings.Contains(f.Detail, "\n") || len([]rune(f.Detail)) > 200 || !strings.HasSuffix(f.Detail, "...") {
		t.Errorf("failure %v, want a short detail of one line", err)
	}
}

// FuzzRead checks that no reply gives a label that was not offered, that upstream labels
// every reply with text by its one rule, and that strict never accepts more than the seed.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"yes", "No.", "", "YESTERDAY", "- no", "İyes", "\xffyes", "no\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := map[string]string{}
		for _, reading := range longmemeval.Readings() {
			got[reading] = outcome(t, reading, deem.Reply{Text: s, Stop: deem.StopEnd})
			if l := got[reading]; l != "yes" && l != "no" && !strings.HasPrefix(l, "[") {
				t.Fatalf("%s reads %q as %s", reading, s, l)
			}
		}
		if strings.Contains(strings.ToLower(s), "yes") && got["upstream"] != "yes" {
			t.Fatalf("upstream reads %q as %s", s, got["upstream"])
		}
		if l := got["strict"]; !strings.HasPrefix(l, "[") && l != got["seed"] {
			t.Fatalf("strict reads %q as %s, the seed as %s", s, l, got["seed"])
		}
		if got["strict"] == "yes" && got["upstream"] != "yes" {
			t.Fatalf("strict reads %q as yes, upstream as %s", s, got["upstream"])
		}
	})
}
