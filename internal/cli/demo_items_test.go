package cli_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/dataset"
	"deem/judge/match"
)

// demoItems reads the items like the command.
func demoItems(t *testing.T) []deem.Item {
	t.Helper()
	d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{"demo/items.jsonl"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	if notes := d.Notes(); len(notes) > 0 {
		t.Errorf("the reader has something to say about the example: %v", notes)
	}
	var items []deem.Item
	for it, err := range d.Items() {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	return items
}

func TestDemoItemsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, it := range demoItems(t) {
		switch {
		case seen[it.ID]:
			t.Errorf("id %s occurs twice", it.ID)
		case it.ID == "" || it.Question == "" || it.Response == "" || len(it.References) == 0:
			t.Errorf("item %s lacks a part: %+v", it.ID, it)
		case strings.TrimSpace(it.Response) != it.Response:
			t.Errorf("item %s: response %q has space around it", it.ID, it.Response)
		}
		seen[it.ID] = true
	}
}

// TestDemoItemsAreBalanced checks the dataset against its README.
func TestDemoItemsAreBalanced(t *testing.T) {
	categories, clusters, human := map[string]int{}, map[string]int{}, map[string]int{}
	for _, it := range demoItems(t) {
		categories[it.Category]++
		clusters[it.Cluster]++
		human[it.Fields["human"]]++
	}
	for _, c := range []struct {
		what      string
		got, want map[string]int
	}{
		{"categories", categories, map[string]int{"single-fact": 24, "multi-fact": 24, "temporal": 24, "knowledge-update": 24, "abstention": 24}},
		{"clusters", clusters, map[string]int{"c1": 20, "c2": 20, "c3": 20, "c4": 20, "c5": 20, "c6": 20}},
		{"human verdicts", human, map[string]int{"correct": 86, "incorrect": 34}},
	} {
		if !maps.Equal(c.got, c.want) {
			t.Errorf("%s are %v, want %v", c.what, c.got, c.want)
		}
	}
}

// TestMatchJudgesDemoItems checks the rule that judges the example against the README: one
// item unsure, and few mistakes. The mistakes are not listed one by one, so that the rule
// may improve.
func TestMatchJudgesDemoItems(t *testing.T) {
	j := match.New()
	var unsure, mistaken []string
	for _, it := range demoItems(t) {
		v, err := j.Judge(t.Context(), it)
		if f, ok := errors.AsType[*deem.Failure](err); ok && f.Kind == deem.Unsure {
			unsure = append(unsure, it.ID)
		} else if err != nil {
			t.Fatalf("item %s: %v", it.ID, err)
		} else if v.Label != it.Fields["human"] {
			mistaken = append(mistaken, it.ID)
		}
	}
	if want := []string{"m074"}; !slices.Equal(unsure, want) {
		t.Errorf("match is unsure of %v, want %v", unsure, want)
	}
	if len(mistaken) > 4 {
		t.Errorf("match disagrees with people on %v, want at most 4 items", mistaken)
	}
}
