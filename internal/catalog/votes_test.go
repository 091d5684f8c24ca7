package catalog_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"deem"
	"deem/internal/catalog"
	"deem/model/fake"
)

// TestVendorVotes checks that EverMemOS asks three times and takes the mean.
func TestVendorVotes(t *testing.T) {
	c, err := catalog.Choose("locomo/evermemos", catalog.JudgeOptions{}, false)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	m := fake.Func("votes", func(context.Context, deem.Request) (deem.Reply, error) {
		return deem.Reply{Stop: deem.StopEnd, Text: fmt.Sprintf(`{"label": %q}`, []string{"CORRECT", "WRONG", "CORRECT"}[asked.Add(1)%3])}, nil
	})
	j, err := c.WithModels([]deem.Model{m}).Judge()
	if err != nil {
		t.Fatal(err)
	}
	v, err := j.Judge(t.Context(), deem.Item{ID: "1", Category: "4", Question: "Q", References: []string{"R"}, Response: "A"})
	if err != nil || asked.Load() != 3 || v.Score < 0.66 || v.Score > 0.67 {
		t.Errorf("asked %d times, score %v (%v), want 3 times and two thirds", asked.Load(), v.Score, err)
	}
}
