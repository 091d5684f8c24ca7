package cascade_test

import (
	"context"
	"errors"
	"fmt"

	"deem"
	"deem/judge/cascade"
	"deem/judge/match"
)

// The rule decides the items it is confident of, and people decide the rest.
func ExampleNew() {
	sure := 0.9
	c, err := cascade.New("cheap-first", []cascade.Stage{
		{Judge: match.New(), Threshold: &sure},
		{Judge: cascade.People()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, response := range []string{"It has 46 pupils.", "There are 46 pupils now, after two joined in spring."} {
		v, err := c.Judge(context.Background(), deem.Item{ID: "q1", Question: "How many pupils has the class?", References: []string{"46"}, Response: response})
		if failure, ok := errors.AsType[*deem.Failure](err); ok {
			fmt.Println("left to people:", failure.Kind)
			continue
		}
		fmt.Println(v.Label, "by stage", v.Aspects[cascade.StageAspect], err)
	}
	// Output:
	// yes by stage 1 <nil>
	// left to people: unsure
}
