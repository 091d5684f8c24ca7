package ollama_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/ollama"
)

// A model answers one question. The server here is a fake; without a BaseURL the local
// Ollama is called.
func Example() {
	server := modeltest.Serve(modeltest.Ollama(), func(modeltest.Asked) modeltest.Answer { return modeltest.Say("CORRECT") })
	defer server.Close()

	m, err := ollama.New(ollama.Options{Model: "llama3.2", BaseURL: server.URL})
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
	// Output: ollama:llama3.2 says CORRECT
}

// An address has the format of OLLAMA_HOST.
func ExampleBaseURL() {
	for _, host := range []string{"", ":8080", "0.0.0.0:11434", "gpu.example", "https://ollama.example/api"} {
		base, err := ollama.BaseURL(host)
		fmt.Println(base, err)
	}
	// Output:
	// http://127.0.0.1:11434 <nil>
	// http://127.0.0.1:8080 <nil>
	// http://127.0.0.1:11434 <nil>
	// http://gpu.example:11434 <nil>
	// https://ollama.example <nil>
}
