package bedrock_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/bedrock"
)

// A model answers one question. The server here is a fake; without a BaseURL the vendor is
// called.
func Example() {
	server := modeltest.Serve(modeltest.Bedrock(), func(modeltest.Asked) modeltest.Answer { return modeltest.Say("CORRECT") })
	defer server.Close()

	m, err := bedrock.New(bedrock.Options{Model: "amazon.nova-lite-v1:0", BaseURL: server.URL, Key: "a key of yours"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := m.Complete(context.Background(), deem.Prompt("Is 18 days the same as eighteen days?"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Name(), "says", reply.Text)
	// Output: bedrock:amazon.nova-lite-v1:0 says CORRECT
}
