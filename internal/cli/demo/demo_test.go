package demo_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/cli/demo"
	"deem/judge/rule"
)

// An item is a line of the dataset as it is written, before any reader.
type item struct {
	ID, Category, Cluster, Question, Reference, Response string
	References                                           []string
	Fields                                               map[string]string
}

func read(t *testing.T) []item {
	t.Helper()
	var items []item
	lines := bufio.NewScanner(bytes.NewReader(demo.Items))
	for lines.Scan() {
		var it item
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&it); err != nil {
			t.Fatalf("line %d: %v", len(items)+1, err)
		}
		if it.Reference != "" {
			it.References = append(it.References, it.Reference)
		}
		items = append(items, it)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return items
}

func TestItemsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, it := range read(t) {
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

// TestItemsAreBalanced holds the dataset to what its README says.
func TestItemsAreBalanced(t *testing.T) {
	categories, clusters, human := map[string]int{}, map[string]int{}, map[string]int{}
	for _, it := range read(t) {
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

// TestMatchJudgesTheItems holds the rule that judges the example to what the
// README says of it: one item unsure, and few mistakes. The mistakes are not
// listed one by one, so that the rule may grow wiser.
func TestMatchJudgesTheItems(t *testing.T) {
	j := rule.Match()
	var unsure, mistaken []string
	for _, it := range read(t) {
		v, err := j.Judge(t.Context(), deem.Item{ID: it.ID, Question: it.Question, References: it.References, Response: it.Response})
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
