package panel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/judge/panel"
)

// says is a judge that returns the same verdict for every item. Its error is a failure, or
// ends the run.
type says struct {
	name  string
	score float64
	pass  *bool
	err   error
	calls int
}

func (s says) Name() string { return s.name }

func (s says) Judge(ctx context.Context, _ deem.Item) (deem.Verdict, error) {
	for range s.calls {
		deem.NoteCall(ctx, deem.Call{Model: s.name, Request: fmt.Sprint(deem.TrialOf(ctx))})
	}
	return deem.Verdict{Label: "x", Score: s.score, Pass: s.pass, Reason: s.name + " thinks so"}, s.err
}

// members returns members that vote as in a string such as "yyn?": yes, no, and a failure.
func members(votes string) []panel.Member {
	var list []panel.Member
	for i, v := range votes {
		s := says{name: fmt.Sprint("m", i)}
		switch v {
		case 'y':
			s.score = 1
		case '?':
			s.err = deem.Failf(deem.Timeout, "no answer")
		case '!':
			s.err = deem.Failf(deem.Refused, "I will not")
		}
		list = append(list, panel.Member{Judge: s})
	}
	return list
}

func TestRules(t *testing.T) {
	for _, tt := range []struct {
		votes string
		o     panel.Options
		want  string // the label, or the kind of the failure
	}{
		{"yyn", panel.Options{}, "yes"},
		{"ynn", panel.Options{}, "no"},
		{"yn?", panel.Options{}, "unsure"},
		{"yy?", panel.Options{}, "yes"},
		{"y??", panel.Options{}, "timeout"},
		{"y?!", panel.Options{}, "unsure"},
		{"???", panel.Options{}, "timeout"},
		{"y??", panel.Options{Quorum: 1}, "yes"},
		{"yy?", panel.Options{Quorum: 3}, "timeout"},
		{"yynn", panel.Options{}, "unsure"},
		{"yynn", panel.Options{Tie: panel.First}, "yes"},
		{"?nny", panel.Options{Tie: panel.First}, "no"},
		{"?nyny", panel.Options{Tie: panel.First}, "no"},
		{"nyny", panel.Options{Tie: panel.Yes}, "yes"},
		{"ynyn", panel.Options{Tie: panel.No}, "no"},
		{"yyyn", panel.Options{Rule: panel.Veto}, "no"},
		{"yyyy", panel.Options{Rule: panel.Veto}, "yes"},
		{"yyy?", panel.Options{Rule: panel.Veto}, "yes"},
		{"yyy?", panel.Options{Rule: panel.Veto, Quorum: 4}, "timeout"},
		{"n???", panel.Options{Rule: panel.Veto}, "no"},
		{"yn", panel.Options{Rule: panel.Mean}, "yes"},
		{"yn", panel.Options{Rule: panel.Mean, Pass: 0.6}, "no"},
		{"yn", panel.Options{Rule: panel.Weighted}, "unsure"},
	} {
		p, err := panel.New(members(tt.votes), tt.o)
		if err != nil {
			t.Fatalf("%s %+v: %v", tt.votes, tt.o, err)
		}
		v, err := p.Judge(t.Context(), deem.Item{})
		got := v.Label
		if f, ok := errors.AsType[*deem.Failure](err); ok {
			got = string(f.Kind)
		} else if err != nil {
			t.Fatal(err)
		}
		if got != tt.want {
			t.Errorf("%s %+v: %s, want %s", tt.votes, tt.o, got, tt.want)
		}
	}
}

func TestWeights(t *testing.T) {
	list := members("ynn")
	for i, w := range []float64{0.3, 0.1, 0.2} {
		list[i].Weight = w
	}
	p, err := panel.New(list, panel.Options{Rule: panel.Weighted})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := p.Judge(t.Context(), deem.Item{}); err == nil {
		t.Errorf("0.3 against 0.1 and 0.2: verdict %+v, want a tie", v)
	}
	list[0].Weight = 0.4
	if p, err = panel.New(list, panel.Options{Rule: panel.Mean, Pass: 0.57}); err != nil {
		t.Fatal(err)
	}
	v, err := p.Judge(t.Context(), deem.Item{})
	if err != nil || v.Score < 0.5714 || v.Score > 0.5715 || v.Pass == nil || !*v.Pass {
		t.Errorf("weighted mean: %+v, %v, want 4/7, which passes", v, err)
	}
}

// TestKeepsWhatWasSaid checks the votes, reasons, calls and confidence in the verdict.
func TestKeepsWhatWasSaid(t *testing.T) {
	fail, pass := false, true
	p, err := panel.New([]panel.Member{
		{Name: "strict, (odd) yes", Judge: says{name: "a", score: 0.6, pass: &fail, calls: 2}},
		{Judge: says{name: "b", score: 0.2, pass: &pass, calls: 1}},
		{Judge: says{name: "c", err: deem.Failf(deem.Refused, "never"), calls: 1}},
		{Judge: says{name: "d", score: 1}},
	}, panel.Options{Name: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, calls := deem.WithLedger(t.Context(), 5)
	v, err := p.Judge(ctx, deem.Item{})
	if err != nil {
		t.Fatal(err)
	}
	sure := 2.0 / 3
	want := deem.Verdict{
		Label: "yes", Score: 1, Confidence: &sure,
		Aspects: map[string]float64{"member/strict, (odd) yes": 0, "member/b": 1, "member/d": 1},
		Reason: "2 of 3 say yes (strict, (odd) yes no, b yes, c unjudged, d yes)\n" +
			"strict, (odd) yes: a thinks so\nb: b thinks so\nc: refused: never\nd: d thinks so",
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
	var noted []string
	for _, c := range calls() {
		noted = append(noted, c.Model+c.Request)
	}
	if got := strings.Join(noted, " "); got != "a5 a5 b5 c5" {
		t.Errorf("calls %q, want those of each member in the panel's trial, in their order", got)
	}
	votes, ok := panel.Votes(panel.Members(p), deem.Record{Verdict: &v})
	if diff := cmp.Diff([]panel.Vote{panel.VoteNo, panel.VoteYes, panel.VoteNone, panel.VoteYes}, votes); !ok || diff != "" {
		t.Errorf("votes (-want +got):\n%s", diff)
	}
}

// TestVotesReadAgain checks that Votes recovers the votes from the text of any outcome.
func TestVotesReadAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("yn?!")), 2, 7, -1).Draw(rt, "votes")
		p, err := panel.New(members(word), panel.Options{Rule: rapid.SampledFrom(panel.Rules()).Draw(rt, "rule")})
		if err != nil {
			rt.Fatal(err)
		}
		v, err := p.Judge(context.Background(), deem.Item{})
		rec := deem.Record{Verdict: &v}
		if f, ok := errors.AsType[*deem.Failure](err); ok {
			rec = deem.Record{Failure: f}
		}
		votes, ok := panel.Votes(panel.Members(p), rec)
		if !ok {
			rt.Fatalf("%s: the votes were not found in %+v", word, rec)
		}
		for i, v := range votes {
			want := map[byte]panel.Vote{'y': panel.VoteYes, 'n': panel.VoteNo, '?': panel.VoteNone, '!': panel.VoteNone}[word[i]]
			if v != want {
				rt.Fatalf("%s: vote %d is %v, want %v", word, i, v, want)
			}
		}
	})
	if _, ok := panel.Votes([]string{"a"}, deem.Record{Verdict: &deem.Verdict{Reason: "1 of 1 say yes (b yes)"}}); ok {
		t.Error("votes of another member were taken for those of a")
	}
}

func TestErrorsEndTheRun(t *testing.T) {
	list := members("yyy")
	broken := errors.New("no key")
	list[2].Judge = says{name: "broken", err: broken}
	p, err := panel.New(list, panel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Judge(t.Context(), deem.Item{}); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the member", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Judge(ctx, deem.Item{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func TestRefusals(t *testing.T) {
	heavy := members("yy")
	heavy[0].Weight = 2
	same := []panel.Member{{Name: "a", Judge: says{name: "x"}}, {Name: "b", Judge: says{name: "x"}}}
	named := []panel.Member{{Name: "a", Judge: says{name: "x"}}, {Name: "a", Judge: says{name: "y"}}}
	for _, tt := range []struct {
		list []panel.Member
		o    panel.Options
		want string
	}{
		{members("y"), panel.Options{}, "two members or more"},
		{same, panel.Options{}, "the same judge"},
		{named, panel.Options{}, "two members have the name a"},
		{members("yy"), panel.Options{Rule: "best"}, "no rule"},
		{members("yy"), panel.Options{Tie: "coin"}, "a tie cannot"},
		{members("yy"), panel.Options{Quorum: 3}, "a quorum of 3"},
		{heavy, panel.Options{}, "does not heed"},
		{members("yy"), panel.Options{Rule: panel.Mean, Pass: 2}, "outside 0 to 1"},
	} {
		if _, err := panel.New(tt.list, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want one with %q", tt.o, err, tt.want)
		}
	}
	if _, err := panel.Repeat(says{}, 1, panel.Options{}); err == nil {
		t.Error("repeating once: no error")
	}
}

// A wavering judge says yes in even trials.
type wavering struct{}

func (wavering) Name() string { return "wavering" }

func (wavering) Judge(ctx context.Context, _ deem.Item) (deem.Verdict, error) {
	trial := deem.TrialOf(ctx)
	deem.NoteCall(ctx, deem.Call{Request: fmt.Sprint(trial)})
	return deem.Verdict{Label: "x", Score: float64((trial + 1) % 2)}, nil
}

// TestRepeat checks that each repetition is a separate trial, and the share of pairs that
// differ.
func TestRepeat(t *testing.T) {
	p, err := panel.Repeat(wavering{}, 3, panel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for trial, want := range []struct{ calls, label string }{{"[0 1 2]", "yes"}, {"[3 4 5]", "no"}} {
		ctx, calls := deem.WithLedger(t.Context(), trial)
		v, err := p.Judge(ctx, deem.Item{})
		if err != nil {
			t.Fatal(err)
		}
		var trials []string
		for _, c := range calls() {
			trials = append(trials, c.Request)
		}
		if got := fmt.Sprint(trials); got != want.calls || v.Label != want.label {
			t.Errorf("trial %d asked in trials %s and said %s, want %s and %s", trial, got, v.Label, want.calls, want.label)
		}
		if got := v.Aspects["flips"]; got < 0.666 || got > 0.667 {
			t.Errorf("flips %v, want 2 of 3 pairs", got)
		}
	}
}

func TestIdentity(t *testing.T) {
	hash := func(list []panel.Member, o panel.Options) string {
		p, err := panel.New(list, o)
		if err != nil {
			t.Fatal(err)
		}
		h, err := deem.JudgeHash(p)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	seen := map[string]int{}
	for i, h := range []string{
		hash(members("yy"), panel.Options{}), hash(members("yyy"), panel.Options{}), hash(members("yyy"), panel.Options{Quorum: 3}),
		hash(members("yyy"), panel.Options{Rule: panel.Veto}), hash(members("yyy"), panel.Options{Tie: panel.No}),
		hash(members("yyy"), panel.Options{Rule: panel.Mean}), hash(members("yyy"), panel.Options{Rule: panel.Mean, Pass: 0.7}),
	} {
		if j, twice := seen[h]; twice {
			t.Errorf("panels %d and %d have the same hash", i, j)
		}
		seen[h] = i
	}
	if hash(members("yyy"), panel.Options{}) != hash(members("nnn"), panel.Options{Quorum: 2, Tie: panel.Unsure, Rule: panel.Majority}) {
		t.Error("a default that is written out makes another judge")
	}
}
