package bundle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"deem"
	"deem/bundle"
	"deem/judge"
	"deem/judge/cascade"
	"deem/judge/match"
	"deem/judge/pairwise"
	"deem/judge/panel"
	"deem/judge/rule"
	"deem/model/fake"
)

// composed are judges that are made of others, by the models that they ask.
var composed = map[string]func(t testing.TB, model func(name string) deem.Model) deem.Judge{
	"panel": func(t testing.TB, model func(string) deem.Model) deem.Judge {
		return made(t)(panel.New([]panel.Member{
			{Name: "match", Judge: match.New()},
			{Name: "one", Judge: judge.New(universal(t, "strict"), model("fake:one"))},
			{Name: "two", Judge: judge.New(universal(t, "strict"), model("fake:two"))},
		}, panel.Options{Quorum: 2}))
	},
	"repeat": func(t testing.TB, model func(string) deem.Model) deem.Judge {
		return made(t)(panel.Repeat(judge.New(universal(t, ""), model("fake:one")), 3, panel.Options{}))
	},
	"cascade": func(t testing.TB, model func(string) deem.Model) deem.Judge {
		sure := 0.97
		c, err := cascade.New("", []cascade.Stage{
			{Judge: match.New(), Threshold: &sure},
			{Judge: judge.New(universal(t, ""), model("fake:one"))},
			{Judge: cascade.People()},
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	},
	"pairwise": func(t testing.TB, model func(string) deem.Model) deem.Judge {
		p, err := pairwise.Declaration().Protocol("")
		if err != nil {
			t.Fatal(err)
		}
		return pairwise.New("", judge.New(p, model("fake:one")))
	},
}

// made returns a panel that must be one.
func made(t testing.TB) func(deem.Judge, error) deem.Judge {
	return func(p deem.Judge, err error) deem.Judge {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func universal(t testing.TB, reading string) judge.Protocol {
	t.Helper()
	d, _ := judge.Builtin("universal")
	p, err := d.Protocol(reading)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// talk answers as answer does, and about pairs too. Models of other names answer
// otherwise.
func talk(name string) deem.Model {
	return fake.Func(name, func(ctx context.Context, req deem.Request) (deem.Reply, error) {
		if name == "fake:two" {
			req.Trial += 100
		}
		reply, err := answer(ctx, req)
		if strings.Contains(req.Messages[len(req.Messages)-1].Content, "FIRST") {
			reply.Text = strings.NewReplacer("INCORRECT", "SECOND", "CORRECT", "FIRST").Replace(reply.Text)
		}
		return reply, err
	})
}

// composedRun returns a run of a composed judge, and who checks it.
func composedRun(t testing.TB, kind string, n, trials int) (judged, bundle.VerifyOptions) {
	t.Helper()
	list := items(n)
	for i := range list {
		list[i].Fields["other"] = fmt.Sprintf("It is %d years.", i+i%3)
	}
	j := run(t, list, composed[kind](t, talk), trials)
	o := full
	o.Restore = func(_ bundle.Run, _ bundle.Judge, model modelOf, _ recordOf) (bundle.Again, error) {
		return bundle.Again{Judge: composed[kind](t, func(name string) deem.Model { return model(name, "") })}, nil
	}
	return j, o
}

func TestComposedAgain(t *testing.T) {
	t.Parallel()
	for kind := range composed {
		j, o := composedRun(t, kind, 30, 2)
		calls, failed := 0, 0
		for _, rec := range j.records {
			calls += len(rec.Calls)
			if rec.Failure != nil {
				failed++
			}
		}
		if calls == 0 || failed == 0 || failed == len(j.records) {
			t.Fatalf("%s: %d calls and %d failures in %d records: the test shows nothing", kind, calls, failed, len(j.records))
		}
		v := verify(t, j.write(t, options{}), o)
		if v.Total > 0 || len(v.Notes) > 0 || v.Verdicts != 60 || v.Prompts != calls {
			t.Errorf("%s: findings %v, notes %v, %d verdicts, %d prompts, want none, none, 60, %d", kind, v.Findings, v.Notes, v.Verdicts, v.Prompts, calls)
		}
	}
}

// flip makes a reply say the contrary.
func flip(c *deem.Call) {
	reply := *c.Reply
	reply.Text = map[string]string{"CORRECT": "INCORRECT", "INCORRECT": "CORRECT", "FIRST": "SECOND", "SECOND": "FIRST"}[reply.Text]
	reply.Logprobs = nil
	c.Reply = &reply
}

// lies are changes of a record by somebody who writes a whole new file.
var lies = map[string]struct {
	change func(rec *deem.Record)
	want   string // the finding
}{
	"reply": {func(rec *deem.Record) { flip(&rec.Calls[len(rec.Calls)-1]) }, "the judge now"},
	"aspect": {func(rec *deem.Record) {
		for name, x := range rec.Verdict.Aspects {
			rec.Verdict.Aspects[name] = x + 1
			return
		}
	}, "differ in aspect"},
	"label":   {func(rec *deem.Record) { rec.Verdict.Label = "perhaps" }, `the record says "perhaps"`},
	"reason":  {func(rec *deem.Record) { rec.Verdict.Reason += "!" }, "differ in the reason"},
	"removed": {func(rec *deem.Record) { rec.Calls = rec.Calls[1:] }, "asked for something the record does not hold"},
	"model":   {func(rec *deem.Record) { rec.Calls[0].Model = "fake:better" }, "asked for something the record does not hold"},
	"prompt":  {func(rec *deem.Record) { rec.Calls[0].Request = strings.Repeat("ab", 32) }, "asked for something the record does not hold"},
	"added": {func(rec *deem.Record) {
		more := rec.Calls[0]
		more.Request = strings.Repeat("ab", 32)
		rec.Calls = append(rec.Calls, more)
	}, "nobody asked for"},
}

// tellable reports whether every lie can be told about a record: it has a verdict, and
// all its calls brought a reply that can be turned round.
func tellable(rec deem.Record) bool {
	return rec.Verdict != nil && len(rec.Calls) > 0 && !slices.ContainsFunc(rec.Calls, func(c deem.Call) bool {
		return c.Reply == nil || strings.Contains(c.Reply.Text, " ")
	})
}

func TestComposedTampered(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	for kind := range composed {
		for name, lie := range lies {
			j, o := composedRun(t, kind, 10, 2)
			at := slices.IndexFunc(j.records, tellable)
			if at < 0 {
				t.Fatalf("%s: no record to lie about", kind)
			}
			rec := &j.records[at]
			lie.change(rec)
			v := verify(t, j.write(t, options{}), o)
			found := slices.ContainsFunc(v.Findings, func(f bundle.Finding) bool { return strings.Contains(f.Message, lie.want) })
			elsewhere := slices.ContainsFunc(v.Findings, func(f bundle.Finding) bool { return f.Item != rec.Item.ID || f.Trial != rec.Trial })
			if !found || elsewhere {
				t.Errorf("%s with another %s of %s: findings %v, want one that it %q and none elsewhere", kind, name, rec.Item.ID, v.Findings, lie.want)
			}
		}
	}
}

// Calls of tries that were given up stand before the others, also those that the last
// try did not make.
func TestComposedTriedTwice(t *testing.T) {
	t.Parallel()
	j, o := composedRun(t, "cascade", 40, 1)
	at := slices.IndexFunc(j.records, tellable)
	failed := j.records[at].Calls[0]
	failed.Reply, failed.Error = nil, "HTTP 500: not now"
	j.records[at].Calls = append([]deem.Call{failed}, j.records[at].Calls...)
	if v := verify(t, j.write(t, options{}), o); v.Total > 0 {
		t.Errorf("a call that was made again: findings %v", v.Findings)
	}
}

// Two members that ask the same and read it otherwise get a reply each, and which is
// whose is known from their order.
func TestSameRequestTwice(t *testing.T) {
	t.Parallel()
	twins := func(m func() deem.Model) deem.Judge {
		return made(t)(panel.New([]panel.Member{
			{Name: "one", Judge: judge.New(universal(t, "strict"), m())},
			{Name: "two", Judge: judge.New(universal(t, "upstream"), m())},
		}, panel.Options{Tie: "first"}))
	}
	var asked atomic.Int64
	j := run(t, items(20), twins(func() deem.Model {
		return fake.Func("fake:moody", func(context.Context, deem.Request) (deem.Reply, error) {
			text := []string{"CORRECT", "INCORRECT"}[asked.Add(1)%2]
			return deem.Reply{Text: text, Stop: deem.StopEnd, Attempts: 1}, nil
		})
	}), 1)
	o := full
	o.Restore = func(_ bundle.Run, _ bundle.Judge, model modelOf, _ recordOf) (bundle.Again, error) {
		return bundle.Again{Judge: twins(func() deem.Model { return model("fake:moody", "") })}, nil
	}
	if v := verify(t, j.write(t, options{}), o); v.Total > 0 {
		t.Fatalf("findings %v", v.Findings)
	}
	at := slices.IndexFunc(j.records, func(rec deem.Record) bool { return rec.Calls[0].Reply.Text != rec.Calls[1].Reply.Text })
	if at < 0 {
		t.Fatal("the model said the same to both each time: the test shows nothing")
	}
	rec := &j.records[at]
	slices.Reverse(rec.Calls)
	if v := verify(t, j.write(t, options{}), o); v.Total == 0 || v.Findings[0].Item != rec.Item.ID {
		t.Errorf("replies of two members swapped: findings %v, want one of %s", v.Findings, rec.Item.ID)
	}
	rec.Calls = rec.Calls[1:]
	if v := verify(t, j.write(t, options{}), o); v.Total == 0 || !strings.Contains(v.Findings[0].Message, "does not hold") {
		t.Errorf("one of two calls removed: findings %v, want one of %s", v.Findings, rec.Item.ID)
	}
}

// A taken judge stands for the rule exact, and says what a function makes of the record.
type taken struct {
	record recordOf
	said   func(deem.Record) (deem.Verdict, error)
}

func (j *taken) Name() string  { return "first" }
func (j *taken) Identity() any { return judge.Spec{Kind: judge.KindRule, Name: "exact"} }

func (j *taken) Judge(ctx context.Context, _ deem.Item) (deem.Verdict, error) {
	rec, ok := j.record(ctx)
	if !ok {
		return deem.Verdict{}, errors.New("no record is being checked")
	}
	return j.said(rec)
}

// A member that cannot be made again is believed, and the others are not: neither their
// replies nor what comes of all votes can be changed.
func TestTakenMember(t *testing.T) {
	t.Parallel()
	with := func(first deem.Judge, model deem.Model) deem.Judge {
		return made(t)(panel.New([]panel.Member{
			{Name: "first", Judge: first}, {Name: "one", Judge: judge.New(universal(t, ""), model)}, {Name: "match", Judge: match.New()},
		}, panel.Options{}))
	}
	says := func(rec deem.Record) (deem.Verdict, error) {
		votes, ok := panel.Votes([]string{"first", "one", "match"}, rec)
		if !ok || votes[0] == panel.VoteNone {
			return deem.Verdict{}, deem.Failf(deem.Unsure, "not asked again")
		}
		return deem.Verdict{Label: votes[0].String(), Score: float64(votes[0] - panel.VoteNo)}, nil
	}
	o := full
	o.Restore = func(_ bundle.Run, _ bundle.Judge, model modelOf, record recordOf) (bundle.Again, error) {
		return bundle.Again{
			Judge:  with(&taken{record, says}, model("fake:one", "")),
			Partly: true, Note: "first cannot be asked", Unchecked: []string{"fake:three"},
		}, nil
	}
	for name, tt := range map[string]struct {
		change func(rec *deem.Record)
		want   string // "" for no finding
	}{
		"nothing": {func(*deem.Record) {}, ""},
		"words":   {func(rec *deem.Record) { rec.Verdict.Reason += "!" }, ""},
		"a call of its own": {func(rec *deem.Record) {
			rec.Calls = append(rec.Calls, deem.Call{Model: "fake:three", Request: "ab", Error: "no"})
		}, ""},
		"a call of others": {func(rec *deem.Record) {
			rec.Calls = append(rec.Calls, deem.Call{Model: "fake:four", Request: "ab", Error: "no"})
		}, "nobody asked for"},
		"a reply of another": {func(rec *deem.Record) { flip(&rec.Calls[0]) }, "the judge now"},
		"a vote of another":  {func(rec *deem.Record) { rec.Verdict.Aspects["member/match"]-- }, `differ in aspect "member/match"`},
		"the score":          {func(rec *deem.Record) { rec.Verdict.Score = 1 - rec.Verdict.Score }, "the record has score"},
	} {
		j := run(t, items(20), with(rule.Contains(), talk("fake:one")), 1)
		at := slices.IndexFunc(j.records, tellable)
		tt.change(&j.records[at])
		v := verify(t, j.write(t, options{}), o)
		if !slices.Equal(v.Notes, []string{"verdicts are made again in part: first cannot be asked"}) || v.Verdicts != 20 {
			t.Errorf("%s: notes %q, %d verdicts, want one that says what is left out, and 20", name, v.Notes, v.Verdicts)
		}
		if tt.want == "" && v.Total == 0 {
			continue
		}
		if v.Total == 0 || v.Findings[0].Item != j.records[at].Item.ID || !strings.Contains(v.Findings[0].Message, tt.want) || tt.want == "" {
			t.Errorf("%s of %s changed: findings %v, want %q", name, j.records[at].Item.ID, v.Findings, tt.want)
		}
	}
}
