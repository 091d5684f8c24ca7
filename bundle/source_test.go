package bundle_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"deem"
	"deem/bundle"
	"deem/judge"
	"deem/judge/match"
	"deem/model/fake"
)

var epoch = time.Date(2026, 11, 15, 16, 30, 0, 123456789, time.UTC)

// A judged run is one that deem.Run made, with what a bundle is written from.
type judged struct {
	bundle.Source
	records []deem.Record
}

// items returns n items, some with oddities in them.
func items(n int) []deem.Item {
	list := make([]deem.Item, n)
	for i := range list {
		list[i] = deem.Item{
			ID: fmt.Sprintf("q%05d", i), Category: []string{"a", "b", ""}[i%3], Cluster: fmt.Sprintf("c%d", i/10),
			Question:   fmt.Sprintf("How many <years> has number %d been a nurse?\n\u2028", i),
			References: []string{fmt.Sprintf("%d years", i)},
			Response:   fmt.Sprintf("It is %d years & more.", i+i%2),
			Fields:     map[string]string{"evidence": "because of é"},
		}
	}
	return list
}

// run judges items and returns the run.
func run(t testing.TB, list []deem.Item, j deem.Judge, trials int) judged {
	t.Helper()
	var recs []deem.Record
	unjudged := 0
	for rec, err := range deem.Run(context.Background(), seq(list), j, deem.Options{Trials: trials}) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range rec.Calls {
			rec.Calls[i].Started = epoch
		}
		if rec.Failure != nil {
			unjudged++
		}
		recs = append(recs, rec)
	}
	slices.SortFunc(recs, func(a, b deem.Record) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Trial, b.Trial))
	})
	hash, err := deem.DatasetHash(seq(list))
	if err != nil {
		t.Fatal(err)
	}
	judgeHash, err := deem.JudgeHash(j)
	if err != nil {
		t.Fatal(err)
	}
	identity, err := deem.Canonical(j.(deem.Identified).Identity())
	if err != nil {
		t.Fatal(err)
	}
	src := bundle.Source{
		Run: bundle.Run{
			ID: "20261115-9f3a2c", State: "done", Created: epoch, Updated: epoch.Add(time.Minute), Trials: trials,
			Dataset: bundle.Dataset{Names: []string{"answers.jsonl"}, Hash: hash, Items: len(list)},
			Records: len(recs), Unjudged: unjudged, Settings: json.RawMessage(`{"concurrency": 8}`),
		},
		Judge:    bundle.Judge{Name: j.Name(), Hash: judgeHash, Identity: identity},
		Prices:   json.RawMessage(`{"date":"2026-11-15","prices":[]}`),
		Software: "deem test",
		Records:  seq(recs),
		Numbers:  &tally{},
	}
	if judge.SpecOf(j).Kind == judge.KindModel {
		src.Run.Model = "fake:labels"
	} else {
		src.Judge.Rule = true
	}
	return judged{src, recs}
}

// asked returns a run of the judge universal with a model that answers, stammers and
// fails.
func asked(t testing.TB, n, trials int) judged {
	t.Helper()
	d, ok := judge.Builtin("universal")
	if !ok {
		t.Fatal("there is no judge universal")
	}
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	return run(t, items(n), judge.New(p, fake.Func("fake:labels", answer)), trials)
}

// answer answers by the prompt, so that it is the same each time.
func answer(_ context.Context, req deem.Request) (deem.Reply, error) {
	reply := deem.Reply{Stop: deem.StopEnd, Usage: deem.Usage{Input: 100, Output: 2}, Attempts: 1, Latency: time.Millisecond, Key: req.Hash()}
	switch req.Hash()[0] % 8 {
	case 0:
		return deem.Reply{}, &deem.ModelError{Kind: deem.Timeout, Err: context.DeadlineExceeded}
	case 1:
		reply.Text = "Hard to tell."
	case 2, 3:
		reply.Text = "INCORRECT"
		reply.Logprobs = []deem.TokenLogprob{{Token: "INCORRECT", Logprob: -0.25, Top: []deem.TokenLogprob{{Token: "CORRECT", Logprob: -1.5}}}}
	default:
		reply.Text = "CORRECT"
	}
	return reply, nil
}

// ruled returns a run of the rule match.
func ruled(t testing.TB, n int) judged {
	t.Helper()
	return run(t, items(n), match.New(), 1)
}

func seq[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// A tally is a counter as a test needs it.
type tally struct {
	N      int     `json:"n"`
	Score  float64 `json:"score"`
	Labels map[string]int
}

func (c *tally) Add(rec deem.Record) {
	c.N++
	if c.Labels == nil {
		c.Labels = map[string]int{}
	}
	if rec.Verdict != nil {
		c.Score += rec.Verdict.Score
		c.Labels[rec.Verdict.Label]++
	}
}

func (c *tally) Numbers() (json.RawMessage, []string, error) {
	text, err := json.Marshal(c)
	return text, nil, err
}

// Options say how a bundle is written.
type options struct {
	Redact bool
	Key    ed25519.PrivateKey
}

// The functions that a restored judge is made with.
type (
	modelOf  = func(name, settings string) deem.Model
	recordOf = func(context.Context) (deem.Record, bool)
)

// write returns the bytes of a bundle.
func (j judged) write(t testing.TB, o options) []byte {
	t.Helper()
	var buf bytes.Buffer
	src := j.Source
	src.Numbers, src.Redact, src.Key = &tally{}, o.Redact, o.Key
	if _, err := bundle.Write(&buf, src); err != nil {
		t.Fatalf("Write: %v", err)
	}
	return buf.Bytes()
}

// again restores the judges of these tests.
func again(_ bundle.Run, j bundle.Judge, _ modelOf, _ recordOf) (bundle.Again, error) {
	if j.Rule {
		return bundle.Again{Rule: match.New()}, nil
	}
	p, err := restore(j.Identity)
	if err != nil {
		return bundle.Again{}, err
	}
	return bundle.Again{Protocol: p}, nil
}

// full checks everything.
var full = bundle.VerifyOptions{
	Restore:  again,
	Numbers:  func(bundle.Run, bundle.Judge, bool) (bundle.Counter, error) { return &tally{}, nil },
	Software: "deem test",
}

// verify checks a bundle.
func verify(t testing.TB, file []byte, o bundle.VerifyOptions) *bundle.Verification {
	t.Helper()
	v, err := bundle.Verify(context.Background(), bytes.NewReader(file), o)
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	return v
}

// first returns the first record with the given label.
func (j *judged) first(label string) *deem.Record {
	for i := range j.records {
		if v := j.records[i].Verdict; v != nil && v.Label == label {
			return &j.records[i]
		}
	}
	panic("no record with the label " + label)
}

// A watch is a tally that somebody looks at.
type watch struct {
	*tally
	look func()
}

func (w watch) Add(rec deem.Record) {
	w.look()
	w.tally.Add(rec)
}

// restore makes the protocol of a declared judge from its spec.
func restore(text []byte) (judge.Readable, error) {
	s, err := judge.ParseSpec(text)
	if err != nil {
		return nil, err
	}
	return s.Protocol()
}
