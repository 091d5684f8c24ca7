package google_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/google"
)

// A model answers one question. The server here is local; without a BaseURL Google is
// called, with the key from GEMINI_API_KEY.
func Example() {
	server := modeltest.Serve(modeltest.Google(), func(modeltest.Asked) modeltest.Answer { return modeltest.Say("CORRECT") })
	defer server.Close()

	noThoughts := 0
	m, err := google.New(google.Options{
		Model:          "gemini-2.5-flash",
		BaseURL:        server.URL,
		Key:            "key",
		ThinkingBudget: &noThoughts,
	})
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
	// Output: google:gemini-2.5-flash says CORRECT
}
