package run_test

import (
	"testing"

	"deem/internal/run"
)

// BenchmarkAdd plans prompts of 1.4 KB that differ in one line.
func BenchmarkAdd(b *testing.B) {
	p := run.NewPlanner(run.PlanOptions{Model: "openai:gpt-4o-mini"})
	for i := 0; b.Loop(); i++ {
		if err := p.Add(b.Context(), prompt(i)); err != nil {
			b.Fatal(err)
		}
	}
}
