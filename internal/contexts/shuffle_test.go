package contexts_test

import (
	"fmt"
	"testing"

	"deem"
	"deem/internal/contexts"
	"deem/internal/reader"
)

// Every item gets contexts of another conversation, and never its own or those of a failed
// retrieval. The same seed gives the same contexts.
func TestShuffle(t *testing.T) {
	var list []deem.Item
	for i := range 40 {
		it := deem.Item{Cluster: fmt.Sprint(i % 4), Fields: map[string]string{reader.FieldContexts: fmt.Sprint(i)}}
		if i == 7 {
			it.Fields[reader.FieldStatus] = "timeout"
		}
		list = append(list, it)
	}
	all := func(yield func(deem.Item, error) bool) {
		for _, it := range list {
			if !yield(it, nil) {
				return
			}
		}
	}
	got, err := contexts.Shuffle(all, 1)
	if err != nil {
		t.Fatal(err)
	}
	different := 0
	for i, text := range got {
		var from int
		if _, err := fmt.Sscan(text, &from); err != nil || from == 7 || from%4 == i%4 {
			t.Errorf("item %d has the contexts of %q, want those of another conversation", i, text)
		}
		if i > 0 && text != got[0] {
			different++
		}
	}
	if different < 20 {
		t.Errorf("only %d items differ from the first", different)
	}
	again, err := contexts.Shuffle(all, 1)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
		t.Errorf("the same seed gives other contexts: %v", err)
	}
	list = list[:1]
	if _, err := contexts.Shuffle(all, 1); err == nil {
		t.Error("one item alone was shuffled")
	}
}
