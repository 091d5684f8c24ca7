package benchmark_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"deem"
	"deem/benchmark"
	"deem/judge"
)

// A craftedReply is one line of testdata/replies.jsonl: a reply, made to be misread, to a
// judge's question about a response.
type craftedReply struct {
	Judge    string `json:"judge"`
	Category string `json:"category"`
	Response string `json:"response"`
	Reply    string `json:"reply"`
	Want     string `json:"want"` // the label; top or bottom of the scale; or - for no verdict
}

// strictly returns the strict protocol of a judge. BEAM calls its strict reading fixed.
func strictly(t *testing.T, name string) judge.Readable {
	t.Helper()
	if d, ok := judge.Builtin(name); ok {
		p, err := d.Protocol(judge.Strict)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	reading := judge.Strict
	if strings.HasPrefix(name, "beam/") {
		reading = "fixed"
	}
	b, ok := benchmark.All().OfJudge(name)
	if !ok {
		t.Fatalf("no benchmark has the judge %s", name)
	}
	j, err := b.Judge(name, benchmark.Options{Reading: reading})
	if err != nil {
		t.Fatal(err)
	}
	return j.Protocol
}

// TestCraftedReplies checks that a strict reading finds the verdict of a reply in the form
// that the prompt demands, and none in any other reply. Most of the others quote the
// response, which tries to choose its verdict.
func TestCraftedReplies(t *testing.T) {
	f, err := os.Open("testdata/replies.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	protocols := map[string]judge.Readable{}
	n, quoting := 0, 0
	for dec := json.NewDecoder(f); ; n++ {
		var c craftedReply
		if err := dec.Decode(&c); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if c.Response != "Lisbon." {
			quoting++
		}
		p := protocols[c.Judge]
		if p == nil {
			p = strictly(t, c.Judge)
			protocols[c.Judge] = p
		}
		it := deem.Item{ID: "1", Category: c.Category, Question: "Which town?", References: []string{"Lisbon"}, Response: c.Response}
		v, err := judge.Read(p, it, reply(c.Reply))
		got := v.Label
		switch _, failed := errors.AsType[*deem.Failure](err); {
		case failed:
			got = "-"
		case err != nil:
			got = err.Error()
		case c.Want == "top" && v.Score == 1 || c.Want == "bottom" && v.Score == 0:
			got = c.Want
		}
		if got != c.Want {
			t.Errorf("%s: the reply %q about %q is read as %q (%v), want %q", c.Judge, c.Reply, c.Response, got, err, c.Want)
		}
	}
	if n < 300 || quoting < n/2 {
		t.Errorf("%d replies, %d of them about a response with a verdict; want 300, and half of them", n, quoting)
	}
}
