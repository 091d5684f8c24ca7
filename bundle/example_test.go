package bundle_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"deem"
	"deem/bundle"
	"deem/judge/rule"
)

// A run of one item is written to a bundle, and read again.
func Example() {
	it := deem.Item{ID: "q1", References: []string{"18 days"}, Response: "It took 18 days."}
	j := rule.Match()
	v, err := j.Judge(context.Background(), it)
	if err != nil {
		fmt.Println(err)
		return
	}
	hash, _ := deem.JudgeHash(j)
	identity, _ := deem.Canonical(j.(deem.Identified).Identity())
	when := time.Date(2026, time.November, 15, 9, 0, 0, 0, time.UTC)

	var file bytes.Buffer
	_, err = bundle.Write(&file, bundle.Source{
		Run: bundle.Run{
			ID: "20261115-9f3a2c", State: "done", Created: when, Updated: when, Trials: 1, Records: 1,
			Dataset: bundle.Dataset{Names: []string{"answers.jsonl"}, Items: 1},
		},
		Judge:    bundle.Judge{Name: j.Name(), Hash: hash, Identity: identity, Rule: true},
		Software: "my program",
		Records: func(yield func(deem.Record, error) bool) {
			yield(deem.Record{Item: it, Judge: j.Name(), Verdict: &v}, nil)
		},
	}, bundle.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}

	r, err := bundle.NewReader(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close() //nolint:errcheck // It has nothing to say.
	fmt.Println(r.Header.Format, "of", r.Header.Software)
	for rec, err := range r.Records() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(rec.Item.ID, rec.Verdict.Label)
	}
	// Output:
	// deem.bundle/1 of my program
	// q1 correct
}
