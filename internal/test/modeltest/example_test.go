package modeltest_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/openai"
)

// A local server implements a vendor's wire format and returns fixed answers.
func ExampleServe() {
	server := modeltest.Serve(modeltest.OpenAI(), func(asked modeltest.Asked) modeltest.Answer {
		if asked.Model == "gpt-broken" {
			return modeltest.Fail(401, `{"error": {"message": "no such key"}}`)
		}
		return modeltest.Say("yes")
	})
	defer server.Close()
	for _, name := range []string{"gpt-4o-mini", "gpt-broken"} {
		m, err := openai.New(openai.Options{Model: name, BaseURL: server.URL, Key: modeltest.Key})
		if err != nil {
			fmt.Println(err)
			return
		}
		reply, err := m.Complete(context.Background(), deem.Prompt("Is it so?"))
		fmt.Println(reply.Text, err != nil)
	}
	// Output:
	// yes false
	//  true
}
