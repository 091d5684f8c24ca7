package fake_test

import (
	"context"
	"fmt"
	"strings"

	"deem"
	"deem/model/fake"
)

// A function is a model.
func ExampleFunc() {
	m := fake.Func("toy", func(_ context.Context, req deem.Request) (deem.Reply, error) {
		return deem.Reply{Text: strings.ToUpper(req.Messages[0].Content), Stop: deem.StopEnd}, nil
	})
	reply, err := m.Complete(context.Background(), deem.Prompt("yes"))
	fmt.Println(reply.Text, err)
	// Output: YES <nil>
}

// A spec names one of the fakes that come with deem.
func ExampleNew() {
	m, err := fake.New("say=CORRECT")
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := m.Complete(context.Background(), deem.Prompt("Is it so?"))
	fmt.Println(m.Name(), reply.Text, err)
	// Output: fake:say=CORRECT CORRECT <nil>
}
