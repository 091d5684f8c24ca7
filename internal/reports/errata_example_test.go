package reports_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"deem"
	"deem/internal/reports"
)

// A list of known errors is matched with the items of a dataset.
func ExampleRead() {
	dir, err := os.MkdirTemp("", "errata")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir) //nolint:errcheck // A folder that stays behind does no harm.
	path := filepath.Join(dir, "faults.jsonl")
	row := `{"id": "q12", "kind": "wrong date", "corrected": "two days before"}` + "\n"
	if err := os.WriteFile(path, []byte(row), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	list, err := reports.ReadErrata(context.Background(), path, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	items := func(yield func(deem.Item, error) bool) {
		_ = yield(deem.Item{ID: "q11", References: []string{"Porto"}}, nil) &&
			yield(deem.Item{ID: "q12", References: []string{"7 May"}}, nil)
	}
	matched, err := list.Match(items)
	if err != nil {
		fmt.Println(err)
		return
	}
	it, changed := matched.Correct(deem.Item{ID: "q12", References: []string{"7 May"}})
	fmt.Println("wrong references:", matched.Faulty(), it.References, changed)
	// Output: wrong references: 1 [two days before] true
}
