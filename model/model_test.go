package model_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"deem"
	"deem/model"
)

func ExampleOptions_Open() {
	m, err := model.Options{Concurrency: 8, Budget: 0.5}.Open("fake:labels=yes|no?tokens=120/1")
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 { // the second and third reply come from the cache
		if _, err := m.Complete(context.Background(), deem.Prompt("Is the response right?")); err != nil {
			fmt.Println(err)
			return
		}
	}
	t := model.TotalsOf(m)
	fmt.Println("calls:", t.Calls, "input tokens:", t.Usage.Input, "dollars:", t.Cost)
	// Output: calls: 1 input tokens: 120 dollars: 0
}

// TestOpen checks what is reported before any call.
func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir()) // without a file .env
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "MISTRAL_API_KEY"} {
		t.Setenv(name, "")
		_ = os.Unsetenv(name)
	}
	for _, c := range []struct {
		name, model, want string
		o                 model.Options
	}{
		{"no vendor", "gpt-4o-mini", `unknown model "gpt-4o-mini"`, model.Options{}},
		{"no key", "openai:gpt-4o-mini", "no key for openai:gpt-4o-mini", model.Options{}},
		{"a program", "command:rm -r x", "only deem run and deem doctor", model.Options{}},
		{"an option of another vendor", "fake:say=yes", "beta", model.Options{Vendor: map[string]string{"beta": "x"}}},
		{"a budget below 0", "fake:say=yes", "positive sum", model.Options{Budget: -1}},
		{"a budget without a price", "openai:unheard-of", "the price of openai:unheard-of is not known", model.Options{Budget: 1, BaseURL: "http://127.0.0.1:1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := c.o.Open(c.model); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
		})
	}
}

// TestBudget checks that no call starts that the budget cannot pay for.
func TestBudget(t *testing.T) {
	m, err := model.Options{Budget: 0.000001, BaseURL: "http://127.0.0.1:1"}.Open("openai:gpt-4o")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Complete(t.Context(), deem.Prompt("Is it right?")); err == nil || !strings.Contains(err.Error(), "budget") {
		t.Errorf("the error is %v", err)
	}
	if n := model.TotalsOf(m).Calls; n != 0 {
		t.Errorf("%d calls", n)
	}
}
