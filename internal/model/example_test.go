package model_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/model"
	"deem/model/fake"
)

// A wire is decorated once and then used like any model. As finds the inner models.
func ExampleAssemble() {
	wire, err := fake.New("labels=yes|no?tokens=120/1")
	if err != nil {
		fmt.Println(err)
		return
	}
	m := model.Assemble(wire, model.Options{
		Limit: model.LimitOptions{Concurrency: 8, RPM: 60_000},
	})
	for range 3 {
		reply, err := m.Complete(context.Background(), deem.Prompt("Is the response right?"))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(reply.Text, "cached:", reply.Cached)
	}
	totals := model.TotalsOf(m)
	fmt.Println("calls:", totals.Calls, "input tokens:", totals.Usage.Input)
	// Output:
	// yes cached: false
	// yes cached: true
	// yes cached: true
	// calls: 1 input tokens: 120
}
