package infinitebench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/benchmark"
	"deem/internal/benchmark/infinitebench"
)

// example is the folder of the example.
const example = "../../../examples/infinitebench"

// shown returns the output of the metrics for the example.
func shown(t *testing.T, reading string) string {
	t.Helper()
	var b strings.Builder
	m, _, _ := judged(t, infinitebench.Options{Data: []string{filepath.Join(example, "results/tiny-model")}}, reading)
	if err := m.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestExample judges the example, and checks that its page shows the result.
func TestExample(t *testing.T) {
	readme := page(t, filepath.Join(example, "README.md"))
	for _, reading := range benchmark.Readings() {
		if text := shown(t, reading); !strings.Contains(readme, "```text\n"+text+"```\n") {
			t.Errorf("README.md does not show\n%s", text)
		}
	}
}

// TestPage checks that the page about the benchmark names everything that it must explain.
func TestPage(t *testing.T) {
	doc := page(t, "../../../docs/benchmarks/infinitebench.md")
	for _, name := range append(infinitebench.Tasks(), "`upstream`", "`fixed`", "ground_truth", "XXXXXXXXXX", "gpt4") {
		if !strings.Contains(doc, name) {
			t.Errorf("the page says nothing of %s", name)
		}
	}
}
