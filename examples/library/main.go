// Library judges three items from Go. It calls no vendor: its model is a function
// that stands where a vendor's would.
//
//	go run ./examples/library
package main

import (
	"context"
	"fmt"
	"iter"
	"log"
	"strings"

	"deem"
	"deem/judge"
	"deem/model/fake"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("library: ")
	universal, _ := judge.Builtin("universal") // comes with deem
	protocol, err := universal.Protocol("")    // "" is its default reading
	if err != nil {
		log.Fatal(err)
	}
	j := judge.New(protocol, fake.Func("toy", toy))
	for rec, err := range deem.Run(context.Background(), items(), j, deem.Options{Concurrency: 1}) {
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

// items yields what is to be judged. A stream may be longer than memory.
func items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for _, it := range []deem.Item{
			{ID: "q1", Question: "Where does Mara live?", References: []string{"Porto"}, Response: "In Porto."},
			{ID: "q2", Question: "How many hives has she?", References: []string{"5", "five"}, Response: "Six."},
			{ID: "q3", Question: "What is her dog called?", References: []string{"Pico"}, Response: "Pico, I believe."},
		} {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// toy stands for a model: it knows two of the responses and hedges on the third.
func toy(_ context.Context, req deem.Request) (deem.Reply, error) {
	text := "Hard to say."
	switch prompt := req.Messages[0].Content; {
	case strings.Contains(prompt, "In Porto."):
		text = "CORRECT"
	case strings.Contains(prompt, "Six."):
		text = "INCORRECT"
	}
	return deem.Reply{Text: text, Stop: deem.StopEnd}, nil
}
