package longbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/benchmark/longbench"
)

// example is the folder of the example.
const example = "../../../examples/longbench"

// shown returns the output of the metrics for an example.
func shown(t *testing.T, data, reading string) string {
	t.Helper()
	var b strings.Builder
	if err := judged(t, longbench.Options{Data: []string{filepath.Join(example, data)}}, reading).Text(&b); err != nil {
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
	for _, data := range []string{"pred/tiny-model", "results/tiny-model.jsonl"} {
		if text := shown(t, data, longbench.Upstream); !strings.Contains(readme, "```text\n"+text+"```\n") {
			t.Errorf("README.md does not show\n%s", text)
		}
		if shown(t, data, longbench.Fixed) == shown(t, data, longbench.Upstream) {
			t.Errorf("%s: the readings agree, but the example is there to show that they differ", data)
		}
	}
}

// TestPage checks that the page about the benchmark names everything that it must explain.
func TestPage(t *testing.T) {
	doc := page(t, "../../../docs/benchmarks/longbench.md")
	for _, name := range append(longbench.Tasks(), "`upstream`", "`fixed`", "LongBench-E", "v2", "upstream_classes", "ground_truth") {
		if !strings.Contains(doc, name) {
			t.Errorf("the page says nothing of %s", name)
		}
	}
}
