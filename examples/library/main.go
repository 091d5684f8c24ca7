// Library judges three items from Go. It calls nobody: its model is a function
// that stands where a vendor's would.
//
//	go run ./examples/library
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"deem"
	"deem/judge"
	"deem/model/fake"
)

func main() {
	j, err := judge.Open("grade", fake.Func("toy", toy)) // a judge that comes with deem, or a YAML file
	if err != nil {
		log.Fatal(err)
	}
	for rec, err := range deem.Run(context.Background(), items, j, deem.Options{Concurrency: 1}) {
		switch {
		case err != nil: // the run cannot go on
			log.Fatal(err)
		case rec.Failure != nil: // unjudged is not wrong
			fmt.Printf("%s  unjudged    %v\n", rec.Item.ID, rec.Failure)
		default:
			fmt.Printf("%s  %-10s  score %g\n", rec.Item.ID, rec.Verdict.Label, rec.Verdict.Score)
		}
	}
}

// items yields what is to be judged. It is a stream, which may be longer than
// memory.
func items(yield func(deem.Item, error) bool) {
	_ = yield(deem.Item{ID: "q1", Question: "Where does Mara live?", References: []string{"Porto"}, Response: "In Porto."}, nil) &&
		yield(deem.Item{ID: "q2", Question: "How many hives has she?", References: []string{"5", "five"}, Response: "Six."}, nil) &&
		yield(deem.Item{ID: "q3", Question: "What is her dog called?", References: []string{"Pico"}, Response: "Pico, I believe."}, nil)
}

// toy stands for a model: it knows two of the responses and hedges on the third.
func toy(_ context.Context, req deem.Request) (deem.Reply, error) {
	prompt, text := req.Messages[0].Content, "Hard to say."
	if strings.Contains(prompt, "In Porto.") {
		text = "CORRECT"
	} else if strings.Contains(prompt, "Six.") {
		text = "INCORRECT"
	}
	return deem.Reply{Text: text, Stop: deem.StopEnd}, nil
}
