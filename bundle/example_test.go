package bundle_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"deem"
	"deem/bundle"
	"deem/judge/match"
)

// A run of one item is written to a bundle, and read again.
func Example() {
	it := deem.Item{ID: "q1", References: []string{"18 days"}, Response: "It took 18 days."}
	j := match.New()
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
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	r, err := bundle.NewReader(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
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

// A program judges items itself, writes the run file, and checks it as "deem verify" does.
func ExampleVerify() {
	items := func(yield func(deem.Item, error) bool) {
		_ = yield(deem.Item{ID: "q1", References: []string{"18 days"}, Response: "It took 18 days."}, nil) &&
			yield(deem.Item{ID: "q2", References: []string{"Rex"}, Response: "The dog is called Max."}, nil)
	}
	ctx, j := context.Background(), match.New()
	var records []deem.Record
	for rec, err := range deem.Run(ctx, items, j, deem.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		records = append(records, rec)
	}
	// Records come as they are judged; a run file has them in the order of the dataset.
	slices.SortFunc(records, func(a, b deem.Record) int { return cmp.Compare(a.Position, b.Position) })

	dataset, err := deem.DatasetHash(items)
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
			ID: "20261115-9f3a2c", State: "done", Created: when, Updated: when, Trials: 1, Records: len(records),
			Dataset: bundle.Dataset{Names: []string{"answers"}, Hash: dataset, Items: len(records)},
		},
		Judge:    bundle.Judge{Name: j.Name(), Hash: hash, Identity: identity, Rule: true},
		Software: "my program",
		Records: func(yield func(deem.Record, error) bool) {
			for _, rec := range records {
				if !yield(rec, nil) {
					return
				}
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	v, err := bundle.Verify(ctx, &file, bundle.VerifyOptions{
		Restore: func(bundle.Run, bundle.Judge, func(name, settings string) deem.Model, func(context.Context) (deem.Record, bool)) (bundle.Again, error) {
			return bundle.Again{Rule: j}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range v.Findings {
		fmt.Println(f)
	}
	fmt.Println("whole:", v.Total == 0, "items:", v.Items, "verdicts made again:", v.Verdicts)
	// Output:
	// whole: true items: 2 verdicts made again: 2
}
