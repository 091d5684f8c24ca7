package catalog_test

import (
	"slices"
	"testing"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/catalog"
	"deem/judge"
)

// TestProtocolOnce counts how often the protocol of a judge is built, from its name to its
// verdict: once, alone and as the member of another judge.
func TestProtocolOnce(t *testing.T) {
	before := slices.Clone(benchmark.All())
	defer benchmark.Use(func() benchmark.List { return before })
	built := 0
	counted := benchmark.Benchmark{Name: "counted", Judges: []string{"counted/judge"}, Judge: func(string, benchmark.Options) (benchmark.Judge, error) {
		built++
		d, err := judge.Parse("counted.yaml", []byte("name: counted/judge\nabout: a test\nprompt: \"{question} {response}\"\nlabels: {CORRECT: 1, WRONG: 0}\nread: {how: label}\n"), nil)
		if err != nil {
			return benchmark.Judge{}, err
		}
		return benchmark.Asked(d.Protocol(""))
	}}
	benchmark.Use(func() benchmark.List { return benchmark.List{counted} })

	for _, times := range []int{1, 3} {
		built = 0
		c, err := catalog.Choose("counted/judge", catalog.JudgeOptions{}, false)
		if err == nil && times > 1 {
			c, err = catalog.Repeated(c, times, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		m, err := yes("fake:one", "")
		if err != nil {
			t.Fatal(err)
		}
		c = c.WithModels([]deem.Model{m})
		it := deem.Item{ID: "q", Question: "Where?", References: []string{"Porto"}, Response: "Porto."}
		if err := c.Try(t.Context(), it); err != nil {
			t.Fatal(err)
		}
		if reqs := c.Leaves()[0].Requests(it); len(reqs) != 1 {
			t.Errorf("%d requests for an item", len(reqs))
		}
		if _, err := c.Judge(); err != nil { // as before a run
			t.Fatal(err)
		}
		if j, err := c.Build(c.Wires()); err != nil || j.Name() != c.Name() {
			t.Fatalf("judge %v, %v", j, err)
		}
		if built != 1 {
			t.Errorf("the protocol of %s was built %d times", c.Name(), built)
		}
	}
}
