package answer_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/reader"
	"deem/judge"
	"deem/judge/answer"
	"deem/judge/rule"
	"deem/model/fake"
)

// A reader answers the question from its contexts, and a rule judges the answer.
func ExampleNew() {
	d, err := reader.Open(reader.Default)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := fake.Func("fake:reader", func(context.Context, deem.Request) (deem.Reply, error) {
		return deem.Reply{Text: "Porto", Stop: deem.StopEnd}, nil
	})
	j := answer.New(judge.New(d.Protocol(), m), rule.Exact())
	contexts, err := reader.EncodeContexts([]reader.Context{{Text: "Mara moved to Porto."}})
	if err != nil {
		fmt.Println(err)
		return
	}
	items := func(yield func(deem.Item, error) bool) {
		yield(deem.Item{
			ID: "q1", Question: "Where does Mara live?", References: []string{"Porto"},
			Fields: map[string]string{reader.FieldContexts: contexts},
		}, nil)
	}
	for rec, err := range deem.Run(context.Background(), items, j, deem.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(rec.Item.Response, rec.Verdict.Score)
	}
	// Output: Porto 1
}
