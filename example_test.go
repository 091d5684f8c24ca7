package deem_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"deem"
)

// A contains is the smallest judge: the response holds the first reference, or not.
type contains struct{}

func (contains) Name() string { return "contains" }

func (contains) Judge(_ context.Context, it deem.Item) (deem.Verdict, error) {
	if len(it.References) == 0 {
		return deem.Verdict{}, deem.Failf(deem.Input, "no reference")
	}
	if strings.Contains(it.Response, it.References[0]) {
		return deem.Verdict{Label: "yes", Score: 1}, nil
	}
	return deem.Verdict{Label: "no"}, nil
}

// Every item gives one record, with a verdict or with a failure.
func ExampleRun() {
	items := func(yield func(deem.Item, error) bool) {
		_ = yield(deem.Item{ID: "q1", References: []string{"Porto"}, Response: "In Porto."}, nil) &&
			yield(deem.Item{ID: "q2", References: []string{"Pico"}, Response: "I don't know."}, nil) &&
			yield(deem.Item{ID: "q3", Response: "Every minute."}, nil)
	}
	for rec, err := range deem.Run(context.Background(), items, contains{}, deem.Options{Concurrency: 1}) {
		switch {
		case err != nil:
			fmt.Println("the run ends:", err)
		case rec.Failure != nil:
			fmt.Println(rec.Item.ID, "is unjudged:", rec.Failure)
		default:
			fmt.Println(rec.Item.ID, rec.Verdict.Label, rec.Verdict.Score)
		}
	}
	// Output:
	// q1 yes 1
	// q2 no 0
	// q3 is unjudged: input: no reference
}

// Advice stands beside an error and not in its text.
func ExampleWithHint() {
	err := deem.WithHint(errors.New("answers.csv:2: no response"), "say which column holds it: --map response=%s", "output")
	fmt.Println(err)
	fmt.Println(deem.HintOf(err))
	// Output:
	// answers.csv:2: no response
	// say which column holds it: --map response=output
}

// The same value has the same hash, whatever the order of its keys.
func ExampleHash() {
	first, _ := deem.Hash(map[string]any{"prompt": "Is it so?", "temperature": 0})
	second, _ := deem.Hash(map[string]any{"temperature": 0, "prompt": "Is it so?"})
	other, _ := deem.Hash(map[string]any{"temperature": 1, "prompt": "Is it so?"})
	fmt.Println(first == second, first == other, len(deem.ShortHash(first)))
	// Output: true false 12
}
